"""`recall export`: a task folder for lm-evaluation-harness with `facts` and `tool_calls`.

Both become loglikelihood requests: the text up to the answer is the context, the answer the continuation, and the
metric is whether the continuation is the greedy one. Rules need two readings of one target and stay with this program.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from triathlon.errors import UsageError
from triathlon.recall.data import Dataset, Part
from triathlon.recall.files import replacing
from triathlon.recall.items import CallItem, FactItem

TASK = """# Made by `triathlon recall export`. Use with `lm_eval --include_path FOLDER --tasks {name}`.
task: {name}
dataset_path: json
dataset_kwargs:
  data_files:
    test: {data}
test_split: test
output_type: multiple_choice
doc_to_text: "{{{{context}}}}"
doc_to_choice: "{{{{[continuation]}}}}"
doc_to_target: 0
target_delimiter: ""
should_decontaminate: false
process_results: !function utils.greedy
metric_list:
  - metric: greedy
    aggregation: mean
    higher_is_better: true
  - metric: logprob
    aggregation: mean
    higher_is_better: true
metadata:
  version: 1
"""

UTILS = '''"""Whether the continuation is the greedy one; made by `triathlon recall export`."""


def greedy(doc, results):
    """results: one (log-probability, is greedy) pair, for the one continuation."""
    logprob, is_greedy = results[0]
    return {"greedy": float(is_greedy), "logprob": float(logprob)}
'''


def export(data: Dataset, out: Path) -> list[Path]:
    """Write the tasks into `out`; returns the files. Only far tool-call targets are asked."""
    parts = [p for p in data.parts if p.config in ("facts", "tool_calls")]
    if not parts:
        raise UsageError(f"{data.name}: has neither facts nor tool_calls to export")
    written = []
    for part in parts:
        name = f"recall_{part.config}_{part.length}"
        rows = out / f"{name}.jsonl"
        with replacing(rows) as beside, beside.open("w", encoding="utf-8") as handle:
            for row in _rows(part):
                handle.write(json.dumps(row, ensure_ascii=False) + "\n")
        task = out / f"{name}.yaml"
        with replacing(task) as beside:
            beside.write_text(TASK.format(name=name, data=rows.resolve()), encoding="utf-8")
        written += [rows, task]
    utils = out / "utils.py"
    with replacing(utils) as beside:
        beside.write_text(UTILS, encoding="utf-8")
    return [*written, utils]


def _rows(part: Part) -> Iterator[dict[str, Any]]:
    for index, item in enumerate(part.items()):
        if isinstance(item, FactItem):
            for at, fact in enumerate(item.targets):
                a, b = fact.answer_char
                row = {"item": index, "target": at, "context": item.text[:a], "continuation": item.text[a:b]}
                yield row | {"distance_tokens": fact.distance_tokens}
        elif isinstance(item, CallItem):
            for at, call in enumerate(item.targets):
                if call.far:
                    a, b = call.char
                    row = {"item": index, "target": at, "context": item.text[:a], "continuation": item.text[a:b]}
                    yield row | {"kind": call.kind, "fresh": call.fresh, "distance_tokens": call.distance_tokens}
