"""The data card of a built set: what it holds, where every source comes from, under which terms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from triathlon.recall.items import CONFIGS, CONTROLS
from triathlon.recall.make.session import Corpus, Origin

WHAT = {
    "facts": "numbers planted in prose, asked for again far behind",
    "tool_calls": "tool definitions and documented commands, needed to call them far behind",
    "rules_en": "a rule given in English long before it matters",
    "rules_cs": "the same rules in Czech",
    "rules_de": "the same rules in German",
    "facts_distractor": "control: a second fact of the same form with another number",
    "facts_none": "control: the fact is left out",
    "facts_paraphrase": "control: the query uses other words than the fact",
    "tool_calls_nodef": "control: the definition is left out",
    "rules_mention": "control: the command is named where the rule stood, without a rule",
    "rules_near": "control: the rule right before the action",
    "rules_reversed": "control: the rule asks for what the session did anyway",
}


def origins(corpus: Corpus) -> list[dict[str, str]]:
    """Every source data set of a corpus, by name."""
    found: dict[tuple[str, str], Origin] = {}
    for items in (corpus.articles, corpus.sessions, corpus.conversations, corpus.documents):
        for item in items:
            origin: Origin = item.origin
            found.setdefault((origin.dataset, origin.revision), origin)
    return [
        {"dataset": o.dataset, "revision": o.revision, "license": o.license, "note": o.note}
        for _, o in sorted(found.items())
    ]


def card(manifest: Mapping[str, Any]) -> str:
    """README.md of a data set, with the front matter the hub reads."""
    counts = manifest["counts"]
    lines = ["---", "license:", "- cc-by-sa-4.0", "- cc-by-4.0", "language:", "- en", "- cs", "- de", "configs:"]
    for config in CONFIGS:
        if config in counts:
            lines += [f"- config_name: {config}", "  data_files:"]
            for length in counts[config]:
                lines += [f"  - split: {length}", f"    path: data/{config}/{length}.parquet"]
    lines += [
        "---",
        "",
        "# Recall: facts, tool calls and rules far back in the context",
        "",
        f"Built by `triathlon recall make`, seed {manifest['seed']}, tokenizer `{manifest['tokenizer']['name']}`",
        f"(sha256 {manifest['tokenizer']['sha256'][:16]}). Distances and the far threshold of 512 are in its tokens.",
        "",
        "| config | what | length | tokens | items | targets | licence |",
        "|---|---|---|---|---|---|---|",
    ]
    for config in CONFIGS:
        for length, count in counts.get(config, {}).items():
            licence = "CC BY-SA 4.0" if CONTROLS.get(config, config) == "facts" else "CC BY 4.0"
            size = f"{manifest['lengths'][length]:,} | {count['items']} | {count['targets']}"
            lines.append(f"| {config} | {WHAT[config]} | {length} | {size} | {licence} |")
    lines += [
        "",
        "## Sources",
        "",
        "Text taken from other data sets stays under the licence of its source. Each item names its sources.",
        "Changes: fact sentences and queries were written over sentences of the articles; sessions were rendered in",
        "a chat format, cut and joined with further documents; rule items add one line.",
        "",
        "| data set | revision | licence | further terms |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {s['dataset']} | {s['revision']} | {s['license']} | {s['note'] or '-'} |" for s in manifest["sources"]
    ]
    return "\n".join(lines) + "\n"
