"""Front matter, placeholders, custom commands, memory."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.commands import expand, split
from harness.frontmatter import BadFrontMatter, as_list, parse
from harness.memory import LIMIT, Memory
from harness.placeholders import put_in
from harness.prompts import with_arguments


def test_front_matter_and_its_three_kinds_of_lists() -> None:
    fields, body = parse("---\nname: \"x\"\na: [p, q(b,c)]\nb: p, 'q'\nc:\n- p\n- q\n---\n\n\nBody\u2028\n---\nend\n\n")
    assert (fields["name"], body) == ("x", "Body\u2028\n---\nend")
    assert [as_list(fields[key]) for key in "abc"] == [["p", "q(b,c)"], ["p", "q"], ["p", "q"]]
    assert parse("no front matter\n") == ({}, "no front matter")


@pytest.mark.parametrize("text", ["---\nname: x\n", "---\nwords\n---\n"])
def test_front_matter_that_is_none_is_an_error(text: str) -> None:
    with pytest.raises(BadFrontMatter):
        parse(text)


def test_arguments_are_put_in_once_and_literally() -> None:
    assert put_in("$1|$2|$3|$ARGUMENTS|$0|$10", " a '$1 x' ") == "a|$1 x||a '$1 x'|$0|a0"
    assert put_in("[$ARGUMENTS$1]", "") == "[]"
    assert put_in("$1 $2", "it's \"") == "it's \""
    assert with_arguments("body", "more") == "body\n\nmore"
    assert with_arguments("body $1", "more") == "body more"


@pytest.mark.parametrize(
    ("prompt", "found"),
    [
        ("/name", ("name", "")),
        ("/a:b-c_1  x  y ", ("a:b-c_1", "x  y")),
        ("/x\ny", ("x", "y")),
        ("/etc/passwd", None),
        ("/", None),
        ("say /x", None),
        ("/x.y", None),
    ],
)
def test_what_is_a_command(prompt: str, found: tuple[str, str] | None) -> None:
    assert split(prompt) == found


def test_shell_lines_are_found_before_arguments_are_put_in() -> None:
    ran: list[str] = []

    def run(command: str) -> str:
        ran.append(command)
        return "$1"

    body = "a $1\n!`echo $1`\nb !`no`\n$2"
    assert expand(body, "x !`touch`", run) == "a x\n$1\nb !`no`\n!`touch`"
    assert ran == ["echo $1"]


@pytest.fixture
def memory(workspace: Path, tmp_path: Path) -> tuple[Memory, list[str]]:
    warnings: list[str] = []
    state = tmp_path / "state"
    state.mkdir()
    (workspace / ".git").mkdir()

    def rule(path: Path, importer: Path) -> str | None:
        return "no" if path.name == "denied.md" else None

    return Memory(workspace, state, rule, warnings.append), warnings


def test_the_chain_and_its_imports(memory: tuple[Memory, list[str]]) -> None:
    chain, warnings = memory
    (chain.state / "AGENTS.md").write_text("user")
    (chain.workspace / "AGENTS.local.md").symlink_to("AGENTS.md")
    (chain.workspace / "AGENTS.md").write_text("top\n@1.md\n```\n@1.md\n```\nsee @1.md\n@denied.md\n@gone.md")
    for number in range(1, 6):
        (chain.workspace / f"{number}.md").write_text(f"n{number}\n@{number + 1}.md\n@{number}.md\n")
    text = chain.chain()
    assert text.startswith("user\n\ntop\nn1\nn2\nn3\nn4\n@5.md\n```\n@1.md\n```\nsee @1.md\n")
    assert text.endswith("@denied.md\n@gone.md")
    assert len(warnings) == 2


def test_too_much_memory_is_cut_from_the_farthest_file(memory: tuple[Memory, list[str]]) -> None:
    chain, warnings = memory
    (chain.state / "AGENTS.md").write_text("u" * 1000)
    (chain.workspace / "AGENTS.md").write_text("w" * LIMIT)
    assert chain.chain() == "w" * LIMIT
    assert len(warnings) == 1
    assert "cut" in warnings[0]


def test_memory_of_subfolders(memory: tuple[Memory, list[str]]) -> None:
    chain, _ = memory
    (chain.workspace / "AGENTS.md").write_text("top")
    (chain.workspace / "sub" / "AGENTS.md").write_text("below")
    assert [text for _, text in chain.below(chain.workspace / "sub" / "deep" / "x")] == ["below"]
    assert list(chain.below(chain.workspace / "x")) == []
    assert list(chain.below(Path("/etc/x"))) == []
