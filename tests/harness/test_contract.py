"""The contract check as a whole: what a good tree, the skeleton and broken trees get. Installed for real, each."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from triathlon import content
from triathlon.errors import UsageError
from triathlon.harness import contract_source
from triathlon.harness.contract import check
from triathlon.harness.spec import load_spec
from triathlon.sandbox import Provider, provider

INSTALL = """\
set -eu
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$1/lib"
mkdir -p "$1/bin" "$1/lib"
cp -R "$here/harness" "$1/lib/harness"
printf '#!/bin/sh\\nPYTHONPATH="%s/lib" exec python3 -m harness "$@"\\n' "$1" > "$1/bin/harness"
chmod 755 "$1/bin/harness"
"""

MAIN = """\
import json, os, sys, time

HELP = {help!r}

def main(arguments):
    if arguments == ["--version"]:
        print("harness 1.0")
    elif arguments == ["--help"]:
        print(HELP)
    elif arguments[:1] == ["serve"]:
        print(json.dumps({{"port": 1, "token": "t"}}), flush=True)
        time.sleep(60)
    elif not os.environ.get("HARNESS_BASE_URL"):
        print("error: HARNESS_BASE_URL is not set", file=sys.stderr)
        return 2
    return 0

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
"""

AGENT = """\
class Agent:
    def __init__(self, workspace, **settings):
        self.workspace = workspace

    def run(self, prompt):
        return {"type": "result", "result": prompt}
"""

SPEC = load_spec()
HELP = "\n".join([*SPEC.commands, *SPEC.flags])


@pytest.fixture(scope="module")
def made() -> Iterator[Provider]:
    with provider("none") as opened:
        yield opened


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree that keeps the contract and does nothing else."""
    where = tmp_path / "tree"
    (where / "harness").mkdir(parents=True)
    (where / "install.sh").write_text(INSTALL)
    (where / "harness" / "__init__.py").write_text("from harness.agent import Agent as Agent\n")
    (where / "harness" / "agent.py").write_text(AGENT)
    (where / "harness" / "__main__.py").write_text(MAIN.format(help=HELP))
    return where


def lines(tree: Path, made: Provider) -> list[str]:
    return [str(finding) for finding in check(tree, made)]


def test_a_tree_that_keeps_the_contract_has_no_finding(tree: Path, made: Provider) -> None:
    assert lines(tree, made) == []


def test_the_skeleton_lacks_everything_but_its_form(made: Provider) -> None:
    found = lines(content.root() / "skeleton", made)
    main = "harness/__main__.py:1: "
    stubs = [line for line in found if ": stub: " in line]
    assert [line.split(" ")[2] for line in stubs] == [
        "main",
        "Agent.__init__",
        "Agent.run",
        "Agent.step",
        "Agent.save",
        "Workspace.__init__",
        "Workspace.execute",
        "ChatModel.query",
    ]
    assert stubs[0] == "harness/__main__.py:6: stub: main has only `raise NotImplementedError`"
    rest = [line for line in found if line not in stubs]
    assert rest[0] == f"{main}`harness --version` exits 1 without key, network and home: NotImplementedError"
    assert rest[1] == f"{main}`harness --help` exits 1 without key, network and home: NotImplementedError"
    assert rest[2:-2] == [
        *(f"{main}the command `harness {command}` is not in `harness --help`" for command in SPEC.commands),
        *(f"{main}the flag {flag} is not in `harness --help`" for flag in SPEC.flags),
    ]
    assert rest[-2].startswith(f"{main}`harness -p` without an endpoint exits 1; wanted 2")
    assert rest[-1] == f"{main}`harness serve --port 0` prints no line with port and token"


def test_a_flag_and_a_command_that_are_missing_are_named(tree: Path, made: Provider) -> None:
    shorter = HELP.replace("--resume\n", "--resumed\n").replace("sessions export", "sessions exports")
    (tree / "harness" / "__main__.py").write_text(MAIN.format(help=shorter))
    assert lines(tree, made) == [
        "harness/__main__.py:1: the command `harness sessions export` is not in `harness --help`",
        "harness/__main__.py:1: the flag --resume is not in `harness --help`",
    ]


def test_a_module_that_cannot_be_imported_is_named_where_it_breaks(tree: Path, made: Provider) -> None:
    deep = tree / "harness" / "tools"
    deep.mkdir()
    (deep / "__init__.py").write_text("")
    (deep / "bad.py").write_text("x = 1\n\nimport no_such_module\n")
    (deep / "leaves.py").write_text("import sys\nsys.exit(3)\n")
    wanted = "ModuleNotFoundError: No module named 'no_such_module'"
    assert lines(tree, made) == [
        f"harness/tools/bad.py:3: the module harness.tools.bad cannot be imported: {wanted}",
        "harness/tools/leaves.py:2: the module harness.tools.leaves cannot be imported: SystemExit: 3",
    ]


def test_a_module_that_ends_the_interpreter_is_found_out(tree: Path, made: Provider) -> None:
    (tree / "harness" / "gone.py").write_text("import os\nprint('{}')\nos._exit(0)\n")
    assert lines(tree, made) == ["harness/__init__.py:1: importing all modules of `harness` ends the interpreter (0)"]


@pytest.mark.parametrize(
    ("init", "wanted"),
    [
        ("", "`from harness import Agent` fails: ImportError: cannot import name 'Agent'"),
        ("class Agent:\n    run = 1\n", "harness.Agent has no method run"),
    ],
)
def test_the_python_interface_has_to_be_there(tree: Path, made: Provider, init: str, wanted: str) -> None:
    (tree / "harness" / "__init__.py").write_text(init)
    (line,) = lines(tree, made)
    assert line.startswith(f"harness/__init__.py:1: {wanted}")


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ('"harness 1.0"', '"harness"', "`harness --version` prints no version number"),
        ("return 2", "return 1", "`harness -p` without an endpoint exits 1; wanted 2"),
        ("HARNESS_BASE_URL is not set", "no endpoint", "`harness -p` without an endpoint exits 2; wanted 2"),
        ('"port": 1', '"port": "1"', "`harness serve --port 0` prints no line with port and token"),
        ('print(json.dumps({"port": 1, "token": "t"})', "print(7", "`harness serve --port 0` prints no line"),
    ],
)
def test_each_interface_has_to_answer_in_form(tree: Path, made: Provider, old: str, new: str, wanted: str) -> None:
    source = MAIN.format(help=HELP)
    assert old in source
    (tree / "harness" / "__main__.py").write_text(source.replace(old, new))
    (line,) = lines(tree, made)
    assert line.startswith(f"harness/__main__.py:1: {wanted}")


def test_an_installer_that_fails_says_why(tree: Path, made: Provider) -> None:
    (tree / "install.sh").write_text("echo no space left >&2\nexit 4\n")
    assert lines(tree, made) == ["install.sh:1: install: `sh install.sh /opt/harness` exited 4: no space left"]


def test_an_installer_that_leaves_no_command_is_found_out(tree: Path, made: Provider) -> None:
    (tree / "install.sh").write_text("exit 0\n")
    (line,) = lines(tree, made)
    assert line.startswith("install.sh:1: ")
    assert "left no /opt/harness/bin/harness" in line


def test_without_an_installer_only_the_text_is_looked_at(tree: Path, made: Provider) -> None:
    (tree / "install.sh").unlink()
    (tree / "harness" / "late.py").write_text("def later():\n    '''Soon.'''\n")
    assert lines(tree, made) == [
        "harness/late.py:1: stub: later has nothing but a docstring",
        "install.sh:1: is missing: nothing installs the tree",
    ]


def test_a_hostile_tree_gives_findings_and_no_trace(tree: Path, made: Provider) -> None:
    (tree / "harness" / "latin.py").write_bytes(b"# caf\xe9\n")
    (tree / "harness" / "open.py").write_text("x = (\n")
    (tree / "etc").symlink_to("/etc")
    (tree / "harness" / "loud.py").write_text(
        textwrap.dedent("""\
        import sys
        sys.stdout.write("\\x1b[31m" * 100000)
        raise RuntimeError("a\\nb\\x1b[2J")
        """)
    )
    found = lines(tree, made)
    assert found[0] == "etc:1: is a link that leaves the tree: /etc"
    assert found[1].startswith("harness/latin.py:1: does not compile: ")
    assert found[2] == "harness/open.py:1: does not compile: '(' was never closed"
    assert "harness/loud.py:3: the module harness.loud cannot be imported: RuntimeError: a b\\x1b[2J" in found
    assert all(line.isprintable() for line in found)


def test_a_tree_that_is_too_large_is_not_installed(tree: Path, made: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contract_source, "MAX_ENTRIES", 2)
    assert lines(tree, made) == [".:1: the tree is too large: more than 2 files and folders"]


@pytest.mark.parametrize("what", ["absent", "file"])
def test_what_is_no_tree_is_wrong_use(tree: Path, made: Provider, what: str) -> None:
    place = tree.parent / "other"
    if what == "file":
        place.write_text("")
    with pytest.raises(UsageError, match="no tree"):
        check(place, made)


def test_a_tree_that_cannot_be_copied_is_wrong_use(tree: Path, made: Provider) -> None:
    os.mkfifo(tree / "pipe")
    try:
        with pytest.raises(UsageError, match="holds files, folders and links only"):
            check(tree, made)
    finally:
        (tree / "pipe").unlink()
