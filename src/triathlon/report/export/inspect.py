"""Inspect `.eval` logs: one a candidate, one sample a case, so that `inspect view` shows the sessions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from triathlon.errors import MissingExtra
from triathlon.report.data import Report
from triathlon.report.export.junit import reasons_of
from triathlon.store import Store

CORRECT, INCORRECT, NO_ANSWER = "C", "I", "N"
MARKS = {"passed": CORRECT, "failed": INCORRECT, "gated": INCORRECT, "none": NO_ANSWER}


def write_logs(report: Report, store: Store, folder: Path) -> list[Path]:
    """Write a log for each candidate and name the files. Raises MissingExtra without inspect-ai."""
    try:
        from inspect_ai.log import write_eval_log
    except ImportError as error:
        raise MissingExtra("Inspect logs", "inspect") from error
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for at, facts in enumerate(report.data["candidates"]):
        path = folder / f"{facts['slug']}.eval"
        write_eval_log(log_of(report, store, at), str(path))
        written.append(path)
    return written


def log_of(report: Report, store: Store, at: int) -> Any:
    """The log of one candidate."""
    from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalMetric, EvalResults, EvalScore, EvalSpec

    facts = report.data["candidates"][at]
    ids = [item.id for item in report.population.table.items]
    rate = facts["rate"]
    score = EvalScore(
        name="doc2harness",
        scorer="doc2harness",
        metrics={} if rate is None else {"accuracy": EvalMetric(name="accuracy", value=rate)},
    )
    return EvalLog(
        status="success",
        eval=EvalSpec(
            created=facts["started"] or "1970-01-01T00:00:00+00:00",
            task="triathlon/doc2harness",
            task_id=facts["slug"],
            run_id=facts["tree"][:22],
            dataset=EvalDataset(name="doc2harness", samples=len(ids), sample_ids=list(ids)),
            model=f"triathlon/{facts['model'] or facts['name']}",
            config=EvalConfig(),
            metadata={"candidate": facts["name"], "tree": facts["tree"], **report.data["foot"]["conditions"]},
        ),
        results=EvalResults(total_samples=len(ids), completed_samples=facts["verdicts"], scores=[score]),
        samples=[_sample(report, store, at, j) for j in range(len(ids))],
    )


def _sample(report: Report, store: Store, at: int, j: int) -> Any:
    from inspect_ai.log import EvalSample
    from inspect_ai.scorer import Score

    case, one = report.population.suite.cases[j], report.population.seen[at]
    verdict, row = report.population.verdicts[at][j], one.telling(case.id)
    kept = store.channels(row.key) if row else {}
    why = _text("\n".join(reasons_of(one, case)))
    return EvalSample(
        id=case.id,
        epoch=1,
        input=case.about,
        target="; ".join(case.cite) or ", ".join(case.clauses),
        messages=_messages(kept),
        scores={"doc2harness": Score(value=MARKS[verdict], explanation=why or None)},
        metadata={"verdict": verdict, "category": case.category, "kind": case.kind, "clauses": list(case.clauses)},
        total_time=row.seconds if row else None,
    )


def _messages(kept: Mapping[str, bytes]) -> list[Any]:
    """The conversation of the last request, as Inspect's messages; what is no chat is left out."""
    from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageTool, ChatMessageUser
    from inspect_ai.tool import ToolCall

    items = json.loads(kept["requests"])["items"] if "requests" in kept else []
    try:
        body = json.loads(items[-1]["raw"])
        said = [m for m in body["messages"] if isinstance(m, dict)]
    except (IndexError, KeyError, TypeError, ValueError, RecursionError):
        return []
    found: list[Any] = []
    for message in said:
        text, role = _text(_joined(message.get("content"))), message.get("role")
        if role in ("system", "developer"):
            found.append(ChatMessageSystem(content=text))
        elif role == "user":
            found.append(ChatMessageUser(content=text))
        elif role == "tool":
            found.append(ChatMessageTool(content=text, tool_call_id=_text(str(message.get("tool_call_id")))))
        elif role == "assistant":
            listed = message.get("tool_calls")
            calls = [c for c in listed if isinstance(c, dict)] if isinstance(listed, list) else []
            found.append(
                ChatMessageAssistant(
                    content=text,
                    tool_calls=[
                        ToolCall(id=_text(str(c.get("id"))), function=_text(name), arguments=_arguments(given))
                        for c in calls
                        for name, given in [_function(c.get("function"))]
                    ]
                    or None,
                )
            )
    return found


def _function(value: Any) -> tuple[str, Any]:
    return (str(value.get("name")), value.get("arguments")) if isinstance(value, dict) else ("", None)


def _arguments(given: Any) -> dict[str, Any]:
    try:
        loaded = json.loads(given)
    except (TypeError, ValueError, RecursionError):
        loaded = None
    return loaded if isinstance(loaded, dict) else {"raw": _text(str(given))}


def _joined(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _text(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
