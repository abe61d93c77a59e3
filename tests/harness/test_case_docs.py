"""The page about writing a case says all there is, and its examples are right."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from case_help import put

from triathlon.harness import case_file, expect, fixture, setup, steps
from triathlon.harness.case_file import CaseFile, Variation
from triathlon.harness.fresh import MADE, PLACES
from triathlon.harness.lint import lint
from triathlon.harness.setup import Setup
from triathlon.harness.steps import KINDS, Step
from triathlon.harness.strict import Strict
from triathlon.harness.yaml import load
from triathlon.scripted.script import Action, Call, Fault, Guard, Reply

PAGE = Path(__file__).parents[2] / "docs" / "writing-a-case.md"
TEXT = PAGE.read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)
INLINE = re.findall(r"`[^`]+`", re.sub(r"```.*?```", "", TEXT, flags=re.DOTALL))
CODE = set(re.findall(r"[a-z_0-9]+", " ".join(INLINE + EXAMPLES)))


def keys() -> set[str]:
    models = [Reply, Call, Guard, Fault, Action]
    for module in (case_file, expect, fixture, setup, steps):
        models += [m for m in vars(module).values() if isinstance(m, type) and issubclass(m, Strict)]
    return {field.alias or name for model in models for name, field in model.model_fields.items()}


def test_every_key_of_the_format_is_on_the_page() -> None:
    # `kind` of stdin is its short form's own name.
    assert keys() - CODE == set()


def test_every_category_and_placeholder_is_on_the_page() -> None:
    assert all(category in TEXT for category in case_file.CATEGORIES)
    assert all(f"{{{{{name}}}}}" in TEXT for name in (*MADE, *PLACES))


def test_the_whole_example_is_clean(tmp_path: Path) -> None:
    put(tmp_path, EXAMPLES[0], "chained-tail")
    assert [str(finding) for finding in lint(tmp_path)[1]] == []


@pytest.mark.parametrize("text", EXAMPLES[2:])
def test_the_parts_are_right(text: str) -> None:
    part = load(text)
    assert isinstance(part, dict) and len(part) == 1
    ((key, value),) = part.items()
    if key == "workspace":
        assert Setup.model_validate(part).workspace
    elif key == "steps":
        assert [Step.model_validate(step).kind for step in value][-1] in KINDS
    elif key == "vary":
        assert [Variation.model_validate(item).changes for item in value] == [
            "tool",
            "input",
            "parameter",
            "spelling",
            "place",
        ]
    else:
        arm = {
            "run": {"prompt": "go"},
            "expect": {"exit": 0},
            "id": "x",
            "kind": "ordinary",
            "origin": {"spec": "PERM-01"},
        }
        assert CaseFile.model_validate({**arm, key: value})


def test_links_within_the_page_lead_somewhere() -> None:
    heads = {
        re.sub(r"[^a-z ]", "", head.lower()).replace(" ", "-") for head in re.findall(r"^## (.*)$", TEXT, re.MULTILINE)
    }
    assert set(re.findall(r"\(#([a-z-]+)\)", TEXT)) == heads
