"""Commands that need no model import no model library, no agent framework, no client."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import triathlon

HEAVY = ("torch", "transformers", "inspect_ai", "openai", "anthropic", "numpy", "scipy", "datasets", "pyarrow", "vllm")
MODEL_FREE = ("cli", "harness", "sandbox", "scripted", "store")
ROOT = Path(triathlon.__file__).parent


def loaded(program: str) -> set[str]:
    """The top-level names of all modules that a program leaves in `sys.modules`."""
    tail = (
        "\nimport json, sys\nsys.stderr.write('\\n' + json.dumps(sorted({n.partition('.')[0] for n in sys.modules})))"
    )
    done = subprocess.run([sys.executable, "-c", program + tail], capture_output=True, text=True, check=True)
    return set(json.loads(done.stderr.splitlines()[-1]))


def command(*words: str) -> str:
    return f"""
from triathlon.cli import app
from triathlon.errors import TriathlonError
try:
    app({list(words)!r})
except (SystemExit, TriathlonError):
    pass
"""


@pytest.mark.parametrize(
    "words",
    [
        ("--help",),
        ("harness", "evaluate", "--help"),
        ("harness", "cases", "list"),
        ("harness", "evaluate", "reference", "-k", "no such case"),
        ("store", "list", "--store", "/nowhere.sqlite"),
        ("doctor", "--help"),
    ],
)
def test_a_command_without_a_model_loads_none(words: tuple[str, ...]) -> None:
    assert not loaded(command(*words)) & set(HEAVY)


def test_no_module_of_a_model_free_part_loads_one() -> None:
    names = [
        ".".join(("triathlon", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")
        for part in MODEL_FREE
        for path in sorted((ROOT / part).rglob("*.py"))
        if "inside" not in path.relative_to(ROOT).parts
    ]
    assert len(names) > 40
    assert not loaded("".join(f"import {name}\n" for name in names)) & set(HEAVY)


def test_help_loads_nothing_but_the_command_line() -> None:
    heavy_for_help = {"pydantic", "yaml", "sqlite3", "pyte", "ctypes"}
    assert not loaded(command("--help")) & heavy_for_help
