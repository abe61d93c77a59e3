"""The built-in tools, called as the loop calls them."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from harness.shelloutput import Output, Stream
from harness.tools import NAMES, builtin
from harness.tools.replacing import replaced
from harness.types import Answer, Call, Context, Decision, Interrupted, ToolError
from hypothesis import given
from hypothesis import strategies as st

Run = Callable[..., str]


# -- read, write, edit ---------------------------------------------------------------------------------------------


def test_read_numbers_lines(call: Run, workspace: Path) -> None:
    (workspace / "f").write_bytes(b"one\r\n\ntwo")
    assert call("read", path="f") == "1\tone\n2\t\n3\ttwo"
    assert call("read", path="f", offset=2, limit=1) == "2\t\n[lines 2-2 of 3; continue with offset 3]"
    assert call("read", path="f", offset=3) == "3\ttwo"
    assert "past the end" in call("read", path="f", offset=4)
    assert "3 line" in call("read", path="f", offset=4)


def test_read_stops_early(call: Run, workspace: Path) -> None:
    (workspace / "many").write_text("x\n" * 2500)
    assert call("read", path="many", limit=9999).endswith("\n[lines 1-2000 of 2500; continue with offset 2001]")
    (workspace / "wide").write_text("y" * 5000 + "\nz\n")
    assert call("read", path="wide") == "1\t" + "y" * 2000 + " [cut: 5000 characters]\n2\tz"
    (workspace / "large").write_text(("w" * 1999 + "\n") * 100)
    assert call("read", path="large").endswith("\n[lines 1-49 of 100; continue with offset 50]")


def test_read_of_what_is_no_plain_text(call: Run, workspace: Path) -> None:
    (workspace / "bin").write_bytes(b"\x7fELF\0raw")
    assert call("read", path="bin") == "[binary file of 8 bytes]"
    (workspace / "lat").write_bytes(b"caf\xe9\n")
    assert call("read", path="lat") == "1\tcafé\n[decoded as latin-1]"
    (workspace / "wide").write_bytes("x€".encode("utf-16"))
    assert call("read", path="wide") == "1\tx€\n[decoded as utf-16]"
    (workspace / "late").write_bytes(b"x" * 9000 + b"\0")
    assert "\0" not in call("read", path="late", limit=1)
    (workspace / "empty").write_text("")
    assert call("read", path="empty") == "[empty file]"
    assert "no such file" in call("read", path="none")
    assert "is a folder" in call("read", path="sub")
    assert "nul" in call("read", path="a\0b")


def test_write_makes_and_overwrites_what_was_seen(call: Run, workspace: Path) -> None:
    assert call("write", path="new/deep/f", content="é") == "created new/deep/f (2 bytes)"
    assert call("write", path="new/deep/f", content="") == "wrote new/deep/f (0 bytes)"
    assert "read it first" in call("write", path="a.txt", content="x")
    assert (workspace / "a.txt").read_text() == "alpha\n"
    call("read", path="a.txt")
    (workspace / "a.txt").write_text("changed\n")
    assert "changed" in (result := call("write", path="a.txt", content="x"))
    assert "read it again" in result
    call("read", path="a.txt")
    os.utime(workspace / "a.txt", (1, 1))
    assert call("write", path="a.txt", content="x").startswith("wrote ")
    (workspace / "a.txt").unlink()
    assert call("write", path="a.txt", content="y").startswith("created ")
    assert "is a folder" in call("write", path="sub", content="x")
    assert "encoding" in call("write", path="g", content="\ud800")


def test_write_keeps_a_mark(call: Run, workspace: Path) -> None:
    (workspace / "m").write_bytes(b"\xef\xbb\xbfold")
    call("read", path="m")
    call("write", path="m", content="\ufeffnew")
    assert (workspace / "m").read_bytes() == b"\xef\xbb\xbfnew"
    (workspace / "w").write_bytes("old".encode("utf-16"))
    call("read", path="w")
    call("write", path="w", content="n€")
    assert (workspace / "w").read_bytes() == "n€".encode("utf-16")


def test_changes_go_through_links(call: Run, workspace: Path) -> None:
    call("read", path="in/k")
    assert call("edit", path="real/k", old="kept", new="KEPT") == "real/k: 1 replacement"
    assert call("write", path="in/k", content="w").startswith("wrote in/k")
    assert (workspace / "in").is_symlink()
    (workspace / "dangling").symlink_to("real/made")
    assert call("write", path="dangling", content="w").startswith("created ")
    assert (workspace / "real" / "made").read_text() == "w"


def test_edit(call: Run, workspace: Path) -> None:
    assert "read it first" in call("edit", path="a.txt", old="alpha", new="beta")
    call("read", path="a.txt")
    assert call("edit", path="a.txt", old="alpha", new="$& \\1 aa") == "a.txt: 1 replacement"
    assert (workspace / "a.txt").read_text() == "$& \\1 aa\n"
    assert "0 times" in call("edit", path="a.txt", old=" \\1 aa ", new="x")
    assert "2 times" in call("edit", path="a.txt", old="a", new="b")
    assert call("edit", path="a.txt", old="a", new="b", replace_all=True) == "a.txt: 2 replacements"
    assert "same" in call("edit", path="a.txt", old="b", new="b")
    assert "empty" in call("edit", path="a.txt", old="", new="b")
    assert "no such file" in call("edit", path="none", old="x", new="y")
    assert call("edit", path="d/made", old="", new="x") == "created d/made (1 bytes)"
    call("write", path="hollow", content="")
    assert call("edit", path="hollow", old="", new="full") == "hollow: 1 replacement"


def test_edit_keeps_the_bytes_around(call: Run, workspace: Path) -> None:
    for before, old, new, after in [
        (b"x = 1; // caf\xe9\n", "1", "2", b"x = 2; // caf\xe9\n"),
        (b"\xef\xbb\xbfa\nb\n\n", "a", "c", b"\xef\xbb\xbfc\nb\n\n"),
        (b"l1\r\nl2\r\nl3", "l2\nl3", "L2\nL3\nL4", b"l1\r\nL2\r\nL3\r\nL4"),
        (b"a\r\nb\nc\r\nd\n", "b\nc\n", "B\nC\n", b"a\r\nB\nC\nd\n"),
        (b"a\r\nb\nc", "a\nb", "A\nB", b"A\r\nB\nc"),
        (b"a\nb\r\nc", "b", "x\ny", b"a\nx\ny\r\nc"),
        ("wörd\n".encode("utf-16"), "ö", "€", "w€rd\n".encode("utf-16")),
    ]:
        (workspace / "f").write_bytes(before)
        call("read", path="f")
        assert call("edit", path="f", old=old, new=new) == "f: 1 replacement", before
        assert (workspace / "f").read_bytes() == after
    (workspace / "f").write_bytes(b"\xe9")
    call("read", path="f")
    assert "encoding" in call("edit", path="f", old="é", new="€")
    assert (workspace / "f").read_bytes() == b"\xe9"


@given(st.text("ab\n$", max_size=20), st.text("ab\n$", min_size=1, max_size=3), st.text("ab\\$1&", max_size=4))
def test_replacing_is_literal(text: str, old: str, new: str) -> None:
    if text.count(old):
        assert replaced(text, old, new, True) == (text.replace(old, new), text.count(old))
    else:
        with pytest.raises(ToolError):
            replaced(text, old, new, True)


def test_multi_edit_is_all_or_nothing(call: Run, workspace: Path) -> None:
    call("read", path="a.txt")
    good, bad = {"old": "alpha", "new": "beta"}, {"old": "alpha", "new": "gamma"}
    result = call("multi_edit", path="a.txt", edits=[good, bad])
    assert "edit 2" in result
    assert "0 times" in result
    assert (workspace / "a.txt").read_text() == "alpha\n"
    edits = [good, {"old": "a", "new": "A", "replace_all": True}]
    assert call("multi_edit", path="a.txt", edits=edits) == "a.txt: 2 replacements"
    assert (workspace / "a.txt").read_text() == "betA\n"
    assert "edit 1" in call("multi_edit", path="a.txt", edits=[{"old": "", "new": "x"}])
    assert "no such file" in call("multi_edit", path="none", edits=[good])


def test_the_state_before_a_change_is_told(call: Run, context: Context, workspace: Path) -> None:
    told: list[tuple[Path, bytes, bool]] = []
    context.before_change = lambda path, data: told.append((path, data, path.exists()))
    call("write", path="in/n", content="1")
    call("edit", path="in/n", old="1", new="2")
    path = workspace / "real" / "n"
    assert told == [(path, b"1", False), (path, b"2", True)]


# -- glob, grep ----------------------------------------------------------------------------------------------------


@pytest.fixture
def files(workspace: Path) -> Path:
    for number, name in enumerate(["c.js", "dist/b.js", "x.log", ".github/w/a.yml", "sub/d.js"]):
        path = workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"MARK {number}\nz\nz\nz\nMARK\n")
        os.utime(path, (1000 + number, 1000 + number))
    (workspace / ".gitignore").write_text("dist/\n*.log\n")
    return workspace


def test_glob(call: Run, files: Path) -> None:
    assert call("glob", pattern="**/*.js") == "sub/d.js\nc.js\n[1 ignored]"
    assert call("glob", pattern="**/*.js", include_ignored=True) == "sub/d.js\ndist/b.js\nc.js"
    assert call("glob", pattern="dist/b.js") == "dist/b.js"
    assert call("glob", pattern="dist/*") == "dist/b.js"
    assert call("glob", pattern="b.js", path="dist") == "dist/b.js"
    assert call("glob", pattern="*.{js,log}") == "c.js\n[1 ignored]"
    assert call("glob", pattern=".github/**/*.yml") == ".github/w/a.yml"
    assert ".github" not in call("glob", pattern="**/*")
    assert ".github/w/a.yml" in call("glob", pattern="**/*", include_hidden=True)
    assert call("glob", pattern="sub/../c.js") == "c.js"
    assert call("glob", pattern=str(files / "c*")) == "c.js"
    assert call("glob", pattern="none*") == "[no files match]"
    assert "no such" in call("glob", pattern="*", path="none")
    assert "nul" in call("glob", pattern="a\0")


def test_glob_shows_at_most_a_hundred(call: Run, workspace: Path) -> None:
    for number in range(103):
        (workspace / f"m{number:03}.x").write_text("")
        os.utime(workspace / f"m{number:03}.x", (5, 5))
    lines = call("glob", pattern="*.x").split("\n")
    assert lines[:100] == [f"m{number:03}.x" for number in range(100)]
    assert lines[100:] == ["[100 of 103 files]"]


def test_grep(call: Run, files: Path) -> None:
    assert call("grep", pattern="MARK") == ".github/w/a.yml\nc.js\nsub/d.js\n[2 ignored]"
    assert call("grep", pattern="mark", glob="*.js") == "[no match]\n[1 ignored]"
    assert (
        call("grep", pattern="mark", glob="*.js", ignore_case=True, mode="count") == "c.js:2\nsub/d.js:2\n[1 ignored]"
    )
    assert call("grep", pattern="^MARK$", path="c.js", mode="content") == "c.js:5:MARK"
    assert call("grep", pattern="MARK", path="c.js", mode="content", context=1) == (
        "c.js:1:MARK 0\nc.js-2-z\n--\nc.js-4-z\nc.js:5:MARK"
    )
    assert call("grep", pattern="MARK", path="c.js", mode="content", context=10**9).count("\n") == 4
    assert call("grep", pattern="MARK", path="dist") == "dist/b.js"
    assert call("grep", pattern="MARK", glob="sub/*") == "sub/d.js"
    assert "pattern" in call("grep", pattern="(")
    assert "no such" in call("grep", pattern="x", path="none")


def test_grep_leaves_out_what_must_not_be_read(
    call: Run, context: Context, files: Path, engine: Callable[..., object]
) -> None:
    (files / "bin").write_bytes(b"MARK\0")
    (files / "link").symlink_to("../outside/x")
    context.permissions = engine(deny=["read(c.js)"])  # type: ignore[assignment]
    assert call("grep", pattern="MARK|out") == ".github/w/a.yml\nsub/d.js\n[2 ignored]\n[2 refused]\n[1 binary]"
    assert call("grep", pattern="out", path="link") == "link"


def test_grep_cuts_long_lines_around_the_match(call: Run, workspace: Path) -> None:
    for before, after in ((400_000, 600_000), (0, 1000), (1000, 0)):
        (workspace / "long").write_text("a" * before + "QQ" + "b" * after)
        result = call("grep", pattern="QQ", path="long", mode="content")
        line = result.removeprefix("long:1:")
        assert "QQ" in line
        assert len(line) <= 500
        assert line.startswith("...") == (before > 0)
        assert line.endswith("...") == (after > 0)


def test_grep_shows_at_most_250_lines(call: Run, workspace: Path) -> None:
    (workspace / "many").write_text("hit\n" * 300)
    lines = call("grep", pattern="hit", mode="content").split("\n")
    assert len(lines) == 251
    assert lines[-1] == "[250 of 300 lines]"


# -- bash ----------------------------------------------------------------------------------------------------------


def test_bash_gives_code_and_output(call: Run) -> None:
    assert call("bash", command="echo hi; exit 3") == "exit code: 3\nhi\n"
    assert call("bash", command="true") == "exit code: 0"
    assert call("bash", command="kill -9 $$") == "exit code: 137"
    assert call("bash", command="cat; echo end") == "exit code: 0\nend\n"
    assert call("bash", command="echo a; sleep 0.3; echo b >&2; sleep 0.3; echo c") == "exit code: 0\na\nb\nc\n"
    assert "line 1: nosuch" in call("bash", command="nosuch")
    assert "cannot be started" in call("bash", command="a\0b")


def test_bash_environment(call: Run) -> None:
    assert call("bash", command="export X=1; env | grep -c HARNESS") == "exit code: 1\n0\n"
    assert call("bash", command='echo "[$X]"') == "exit code: 0\n[]\n"


def test_the_folder_carries_over(call: Run, context: Context, workspace: Path) -> None:
    assert call("bash", command="cd sub; exit 1") == "exit code: 1"
    assert call("bash", command="pwd") == f"exit code: 0\n{workspace}/sub\n"
    assert f"back in {workspace}" in call("bash", command="cd /")
    assert call("bash", command="pwd") == f"exit code: 0\n{workspace}\n"
    call("bash", command="mkdir t; cd t")
    assert f"back in {workspace}" in call("bash", command="rm -r ../t")
    call("bash", command="cd sub; exec true")
    assert context.cwd == workspace
    call("bash", command="cd sub")
    (workspace / "sub").rename(workspace / "gone")
    result = call("bash", command="pwd")
    assert result.startswith(f"exit code: 0\n{workspace}\n[back in {workspace}")


def test_bash_timeout_kills_the_whole_group(call: Run, workspace: Path) -> None:
    started = time.monotonic()
    result = call("bash", command="echo a; trap '' TERM; (sleep 2; touch late) & sleep 30", timeout=0.3)
    assert result == "timed out after 0.3 s\na\n"
    assert time.monotonic() - started < 3
    time.sleep(2)
    assert not (workspace / "late").exists()


def test_children_that_hold_the_output_are_ended_unless_detached(call: Run, workspace: Path) -> None:
    started = time.monotonic()
    nohup, setsid = "nohup sh -c 'sleep 2; touch kept'", "setsid sh -c 'sleep 2; touch set'"
    command = f"(sleep 3; touch plain) & ({nohup} &) ; {setsid} & echo hi"
    assert call("bash", command=command) == "exit code: 0\nhi\n"
    assert time.monotonic() - started < 2
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and not ((workspace / "kept").exists() and (workspace / "set").exists()):
        time.sleep(0.05)
    assert (workspace / "kept").exists()
    assert (workspace / "set").exists()
    time.sleep(max(0, started + 3.3 - time.monotonic()))
    assert not (workspace / "plain").exists()


def test_bash_output_is_decoded_by_stream_and_cleaned(call: Run) -> None:
    writes = [r"1, b'\xf0\x9f'", "2, b'mid'", r"1, b'\x98\x80'"]
    program = "import os, time; " + "; ".join(f"os.write({write}); time.sleep(0.3)" for write in writes)
    assert call("bash", command=f'python3 -c "{program}"') == "exit code: 0\nmid\U0001f600"
    command = r"printf '\033[31mred\033[0m \033]0;title\007x\000\001\xff\tz\n'"
    assert call("bash", command=command) == "exit code: 0\nred x\ufffd\tz\n"


def test_long_output_is_cut_in_the_middle_and_kept_whole(call: Run, context: Context) -> None:
    result = call("bash", command="python3 -c \"print('a' * 20000 + 'b' * 250000 + 'c' * 20000)\"")
    first, _, rest = result.partition("\n")
    head, note, tail = rest.split("\n", 2)
    assert first == "exit code: 0"
    assert (head, tail) == ("a" * 15000, "c" * 14999 + "\n")
    assert "cut" in note
    assert "260001" in note
    path = Path(note.rpartition(" ")[2].rstrip("]"))
    assert path.parent == context.state / "outputs"
    assert path.stat().st_size == 290_001
    assert call("bash", command="python3 -c \"print('a' * 29999)\"") == "exit code: 0\n" + "a" * 29999 + "\n"


def test_output_that_is_mostly_codes_needs_no_file(tmp_path: Path) -> None:
    output, stream = Output(lambda: tmp_path / "o"), Stream()
    data = b"\x1b[0m" * 100_000 + b"end"
    output.add(data, stream.feed(data))
    assert output.take() == "end"
    assert not (tmp_path / "o").exists()


@given(
    st.lists(st.sampled_from([b"a", b"\x1b[31m", b"\x1b]0;t\x07", "é".encode(), b"\n", b"\x1b(B"])), st.integers(1, 5)
)
def test_codes_are_removed_wherever_the_reads_part_them(pieces: list[bytes], size: int) -> None:
    data = b"".join(pieces)
    stream = Stream()
    text = "".join(stream.feed(data[at : at + size]) for at in range(0, len(data), size)) + stream.feed(b"", final=True)
    assert text == b"".join(piece for piece in pieces if not piece.startswith(b"\x1b")).decode()


def test_an_interrupt_ends_the_command(call: Run, context: Context) -> None:
    threading.Timer(0.3, context.cancel.set, ("sigint",)).start()
    started = time.monotonic()
    with pytest.raises(Interrupted):
        call("bash", command="trap '' INT TERM; sleep 30")
    assert time.monotonic() - started < 3


def _until(report: Callable[[], str], word: str) -> str:
    """The first report with the word in it."""
    deadline = time.monotonic() + 10
    while word not in (text := report()):
        assert time.monotonic() < deadline, text
        time.sleep(0.02)
    return text


def test_commands_in_the_background(call: Run, workspace: Path) -> None:
    command = "echo one; while ! test -e go; do sleep 0.02; done; echo two; exit 4"
    id = call("bash", command=command, run_in_background=True).removeprefix("id: ")
    assert _until(lambda: call("bash_output", id=id), "one") == "running\none\n"
    (workspace / "go").touch()
    assert _until(lambda: call("bash_output", id=id), "exit code").endswith("two\n")
    assert call("bash_output", id=id) == "exit code: 4"
    assert "ended" in call("bash_kill", id=id)
    second = call("bash", command="sleep 30 & sleep 30", run_in_background=True).removeprefix("id: ")
    assert int(second[1:]) == int(id[1:]) + 1
    assert "killed" in call("bash_kill", id=second)
    assert call("bash_output", id=second) == "exit code: 137"
    assert "no such id" in call("bash_output", id="b0")


# -- the others ----------------------------------------------------------------------------------------------------


class Person:
    """Answers as it was told to."""

    def __init__(self, answer: str, reason: str = "") -> None:
        self.answer = answer
        self.reason = reason

    def approve(self, call: Call, decision: Decision) -> Answer:
        return Answer("yes" if self.answer == "yes" else "no", self.reason)

    def plan(self, text: str) -> Answer:
        return Answer("yes" if self.answer == "yes" else "no", self.reason)

    def question(self, text: str, choices: list[str], secret: bool) -> str | None:
        return f"{self.answer} of {choices}" if self.answer else None


def test_exit_plan(call: Run, context: Context) -> None:
    assert call("exit_plan", plan="p") == "error: not in plan mode"
    context.permissions.mode = "plan"
    assert call("exit_plan", plan="p").startswith("error: refused: plan not approved")
    context.user = Person("no", "too bold")
    assert "too bold" in call("exit_plan", plan="p")
    assert context.permissions.mode == "plan"
    context.user = Person("yes")
    assert "plan approved" in call("exit_plan", plan="p")
    assert context.permissions.mode == "default"


def test_ask(call: Run, context: Context) -> None:
    assert call("ask", question="q").startswith("error: ")
    context.user = Person("blue")
    assert call("ask", question="q", choices=["a"]) == "blue of ['a']"
    context.user = Person("")
    assert call("ask", question="q").startswith("error: ")


def test_todo_and_task(call: Run, context: Context) -> None:
    result = call("todo", items=[{"text": "one", "status": "done"}, {"text": "two", "status": "active"}])
    assert "one" in result
    assert "two" in result
    assert [item["text"] for item in context.todo] == ["one", "two"]
    call("todo", items=[])
    assert context.todo == []
    assert call("task", agent="r", prompt="it") == "r did it"


def test_skill(call: Run, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_HOME", str(workspace.parent / "state"))
    for name, text in [
        ("one", "---\nname: first\ndescription: d\n---\nDo $1 now.\n"),
        ("two", "---\nname: second\ndescription: d\n---\nBody"),
        ("bad", "---\nname: third\n---\nBody"),
    ]:
        file = workspace / ".harness" / "skills" / name / "SKILL.md"
        file.parent.mkdir(parents=True)
        file.write_text(text)
    assert call("skill", name="first", arguments="x y") == "Do x now."
    assert call("skill", name="first") == "Do  now."
    assert call("skill", name="second", arguments="x y") == "Body\n\nx y"
    assert "third" in call("skill", name="third")


def test_all_tools_are_there(context: Context) -> None:
    tools = builtin(context)
    assert tuple(tools) == NAMES
    for name, tool in tools.items():
        assert tool.name == name
        assert tool.parameters["type"] == "object"
        assert set(tool.parameters["required"]) <= set(tool.parameters["properties"])
    assert {name for name, tool in tools.items() if tool.reads} == {"read", "glob", "grep", "fetch", "task"}


# -- fetch ---------------------------------------------------------------------------------------------------------

_BODY = b"<body><p>Hi &amp; b\xc3\xa9<script>var a;</script><b>old</b></p></body>"
_PAGE = b"<html><head><style>x{}</style></head>" + _BODY + b"</html>"


class _Site(BaseHTTPRequestHandler):
    def log_message(self, *rest: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        port = self.server.server_address[1]
        ways = {"/go": "/page", "/away": f"http://localhost:{port}/page", "/loop": "/loop"}
        bodies = {
            "/page": ("text/html", _PAGE),
            "/big": ("text/plain", b"x" * 2_000_000),
            "/bin": ("image/png", b"\0\1"),
        }
        self.send_response(302 if self.path in ways else 404 if self.path == "/none" else 200)
        if self.path in ways:
            self.send_header("Location", ways[self.path])
            self.end_headers()
            return
        kind, body = bodies.get(self.path, ("application/json", self.path.encode()))
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        try:
            self.wfile.write(body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True


@pytest.fixture
def site() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Site) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_fetch(call: Run, site: str) -> None:
    for way in ("page", "go", "away"):
        assert call("fetch", url=f"{site}/{way}") == "status: 200\nHi & béold"
    assert call("fetch", url=f"{site}/a b?c=é#d") == "status: 200\n/a%20b?c=%C3%A9"
    big = call("fetch", url=f"{site}/big")
    assert big.startswith("status: 200\n" + "x" * 30_000 + "\n[cut")
    assert "404" in call("fetch", url=f"{site}/none")
    assert "redirects" in call("fetch", url=f"{site}/loop")
    assert "not text" in call("fetch", url=f"{site}/bin")
    assert "http" in call("fetch", url="ftp://x.test/")
    assert call("fetch", url="http://127.0.0.1:1/").startswith("error: ")


def test_fetch_asks_again_for_another_host(
    call: Run, context: Context, site: str, engine: Callable[..., object]
) -> None:
    context.permissions = engine(allow=["fetch(http://127.0.0.1:*)"])  # type: ignore[assignment]
    assert call("fetch", url=f"{site}/go").startswith("status: 200")
    assert call("fetch", url=f"{site}/away").startswith("error: refused: ")
    context.user = Person("yes")
    assert call("fetch", url=f"{site}/away").startswith("status: 200")
