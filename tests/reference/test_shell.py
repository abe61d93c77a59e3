"""The shell parser: what it sees is what bash runs."""

from __future__ import annotations

import os
import random
import shlex
import subprocess
from pathlib import Path

import pytest
from harness.permissions.parts import read_command
from harness.permissions.shell import LONGEST, parse
from harness.permissions.syntax import Block, Joined, Node, Simple
from hypothesis import given, settings
from hypothesis import strategies as st


def simples(node: Node) -> list[Simple]:
    """Every simple command of a parsed text, at any depth."""
    if isinstance(node, Simple):
        inner = [script for word in (*node.assignments, *node.words) for script in word.scripts]
    elif isinstance(node, Block):
        inner = [*node.bodies, *(script for word in node.words for script in word.scripts)]
    else:
        return [simple for item in node.items for simple in simples(item)]
    for redirect in node.redirects:
        inner += [*redirect.target.scripts, *redirect.body]
    own = [node] if isinstance(node, Simple) else []
    return own + [simple for item in inner for simple in simples(item)]


def texts(command: str) -> list[str]:
    script = parse(command)
    assert script.problem is None, script.problem
    assert script.body is not None
    return [" ".join(word.source for word in (*one.assignments, *one.words)) for one in simples(script.body)]


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        ("ls   -l", ["ls -l"]),
        ("a && b || c; d & e | f |& g", ["a", "b", "c", "d", "e", "f", "g"]),
        ("a\nb\n\n", ["a", "b"]),
        ("echo 'a; b' \"c && d\" e\\;f", ["echo 'a; b' \"c && d\" e\\;f"]),
        ('echo $(a `b`) "$(c)" <(d)', ['echo $(a `b`) "$(c)" <(d)', "a `b`", "b", "c", "d"]),
        ("X=$(a) b", ["X=$(a) b", "a"]),
        ('echo ${x:-$(a)} "${y:-`b`}"', ['echo ${x:-$(a)} "${y:-`b`}"', "a", "b"]),
        ("echo $((1 + $(a)))", ["echo $((1 + $(a)))", "a"]),
        ("(a; b) > x; { c; }", ["a", "b", "c"]),
        ("if a; then b; elif c; then d; else e; fi", ["a", "b", "c", "d", "e"]),
        ("for i in 1 $(a); do b $i; done", ["b $i", "a"]),
        ("while a; do b; done; until c; do d; done", ["a", "b", "c", "d"]),
        ("case $x in a|b) c ;; (*) d ;; esac", ["c", "d"]),
        ("f() { a; }; function g { b; }; f", ["a", "b", "f"]),
        ("a # b; c", ["a"]),
        ("a#b", ["a#b"]),
        ("cat <<'E' | b\n$(c) ; d\nE\ne", ["cat", "b", "e"]),
        ("cat <<E\n$(a) `b` \\$(c)\nE", ["cat", "a", "b"]),
        ("cat <<-E\n\tx\n\tE\na", ["cat", "a"]),
        ("cat <<< $(a)", ["cat", "a"]),
        ("a > $(b)", ["a", "b"]),
        ("! a | b", ["a", "b"]),
        ("! ; a", ["a"]),
        ("time -p { a; }; time a; coproc a; coproc N { b; }", ["a", "time a", "a", "b"]),
        ("a \\\n b\\\n;c", ["a b", "c"]),
        ("[[ x == y && $(a) =~ (b|c) ]] && d", ["[[ x == y & & $(a) =~ ( b | c ) ]]", "a", "d"]),
        ("2>&1 a >&2 {fd}>b", ["a"]),
        ("a=(1 $(b)) c", ["a=(1 $(b)) c", "b"]),
        ("", []),
    ],
)
def test_parts(command: str, wanted: list[str]) -> None:
    assert texts(command) == wanted


@pytest.mark.parametrize(
    "command",
    [
        *("echo 'a", 'echo "a', "echo $(a", "echo `a", "(a", "a )", "{ a", "if a; then b", "fi", "done"),
        *(
            "a &&",
            "| a",
            "a ;; b",
            "cat <<E",
            "cat <<E\nx",
            "echo ${x@P}",
            "a\0b",
            "c\\\nd",
            "for PATH in x; do a; done",
        ),
        '"${x:-\'}"; b; "\'}"',
        'v="$((${))"\n"y:-1}+1)))" c2',
        'echo "`sh -c "c {a,b}"`"',
    ],
)
def test_what_is_not_understood_is_a_problem(command: str) -> None:
    assert parse(command).problem


def test_a_long_command_is_a_problem_and_still_read() -> None:
    script = parse("echo " + "x" * LONGEST)
    assert script.problem
    assert script.body is not None


def test_words_without_quotes() -> None:
    script = parse("""a 'b c' "d e" f\\ g $'h\\ti' "\\$x" -"j"k""")
    assert script.body is not None
    assert [word.literal for word in simples(script.body)[0].words] == ["a", "b c", "d e", "f g", "h\ti", "$x", "-jk"]


@pytest.mark.parametrize("word", ["$x", "${x}", "$(a)", "a*", "?", "[a]", "~", "{a,b}", "{1..3}", '"$x"'])
def test_words_that_the_shell_still_changes(word: str) -> None:
    script = parse(f"echo {word}")
    assert script.body is not None
    assert simples(script.body)[0].words[1].literal is None


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="ab \t\n'\"\\`$(){}[]<>|&;#=*?~!-01E", max_size=40))
def test_never_raises(text: str) -> None:
    script = parse(text)
    assert (script.body is None) == bool(script.problem)
    read_command(text, "/nowhere", "/home")


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=30))
def test_never_raises_on_any_text(text: str) -> None:
    read_command(f"a {text}", "/nowhere", "/home")


def test_deep_nesting_does_not_exhaust_the_stack() -> None:
    for opening in ("$(", "(", "{ ", "`", "${x:-", '"$(', "if ", "$(("):
        assert parse(opening * 3001).problem


_ARGV = st.lists(
    st.text(alphabet=st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8), max_size=4
)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(_ARGV, st.sampled_from([" && ", " || ", "; ", " | ", " & ", "\n"])), min_size=1, max_size=5))
def test_quoted_words_come_back_as_they_were(commands: list[tuple[list[str], str]]) -> None:
    argvs = [["cmd", *argv] for argv, _ in commands]
    text = "".join(shlex.join(argv) + joint for argv, (_, joint) in zip(argvs, commands, strict=True)) + "last"
    script = parse(text)
    assert script.body is not None
    assert [[word.literal for word in one.words] for one in simples(script.body)] == [*argvs, ["last"]]


# -- against bash itself -------------------------------------------------------------------------------------------

_PIECES = """
c1 c2 c3 'a;b' "c|d" $x \\; $(c4) `c5` "$(c6)" ${x:-$(c7)} ; ; && || | |& & ( ) { } # ' " ` $( ) \\ > < <<E <<'E'
if then else fi ! ;; in do done <<-E ${x:-' } $((1+1)) $'q\\'r' "${x#'}" v=1 esac
"""
_SIGNS = [*_PIECES.split(), "\n", "\nE\n", "\n\tE\n", "case x in x)"]
_LOGGER = """
command_not_found_handle() { printf '%s\\0' "$@" >> "$LOG"; printf '\\1' >> "$LOG"; return $(( $# % 2 )); }
PATH=/nonexistent
eval "$CMD"
wait
"""


def _run_by_bash(command: str, folder: Path) -> list[list[str]]:
    """The argument lists that bash really runs."""
    log = folder / "log"
    log.write_bytes(b"")
    env = {"CMD": command, "LOG": str(log), "x": "val"}
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    work = folder / "work"
    work.mkdir(exist_ok=True)
    subprocess.run(["/bin/bash", "-c", _LOGGER], env=env, cwd=work, timeout=20, check=False, **streams)
    runs = log.read_bytes().split(b"\1")
    return [[os.fsdecode(word) for word in run.split(b"\0")[:-1]] for run in runs if run]


def test_whatever_bash_runs_is_among_the_parts(tmp_path: Path) -> None:
    rng = random.Random(20261130)
    ran = 0
    for _ in range(4000):
        command = " ".join(rng.choice(_SIGNS) for _ in range(rng.randint(1, 7)))
        script = parse(command)
        if script.problem or script.body is None or ran > 60:
            continue
        heads = {one.words[0].literal for one in simples(script.body) if one.words}
        for argv in _run_by_bash(command, tmp_path):
            ran += 1
            assert argv[0] in heads or None in heads, (command, argv, heads)
    assert ran > 60


def test_joined_nodes_keep_their_operators() -> None:
    script = parse("a && b; c &")
    assert isinstance(script.body, Joined)
    assert script.body.operators == ("&&", ";", "&")
