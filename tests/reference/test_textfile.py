"""Text files: finding them, decoding them, and writing all or nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from harness import textfile
from harness.textfile import decode, is_binary, lines_of, locate, printable, read_bytes, write_atomically
from harness.types import ToolError
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("data", "encoding", "text"),
    [
        (b"", "utf-8", ""),
        ("é\n".encode(), "utf-8", "é\n"),
        (b"\xef\xbb\xbfx", "utf-8", "x"),
        (b"caf\xe9", "latin-1", "café"),
        ("x€".encode("utf-16"), "utf-16-le", "x€"),
        (b"\xfe\xff\x00x", "utf-16-be", "x"),
        (b"\xff\xfex", "latin-1", "ÿþx"),
    ],
)
def test_decoding(data: bytes, encoding: str, text: str) -> None:
    file = decode(data)
    assert (file.encoding, file.text) == (encoding, text)
    assert file.encode(text) == data


@given(st.binary(max_size=60))
def test_what_is_decoded_comes_back_byte_for_byte(data: bytes) -> None:
    for whole in (data, b"\xef\xbb\xbf" + data, b"\xff\xfe" + data, b"\xfe\xff" + data):
        file = decode(whole)
        assert file.encode(file.text) == whole


def test_text_that_has_no_form_in_the_encoding() -> None:
    with pytest.raises(ToolError, match="encoding"):
        decode(b"\xe9").encode("€")
    with pytest.raises(ToolError, match="encoding"):
        decode(b"x").encode("\ud800")


def test_binary() -> None:
    assert is_binary(b"a\0b")
    assert not is_binary(b"a" * 8192 + b"\0")
    assert not is_binary("a".encode("utf-16"))


def test_lines() -> None:
    assert lines_of("") == []
    assert lines_of("a\r\nb\rc\n\nd\r") == ["a", "b\rc", "", "d\r"]
    assert lines_of("a\n") == ["a"]
    assert lines_of("\n\n") == ["", ""]


def test_printable() -> None:
    assert printable("a\0b\ud800c\U0001f600") == "a\ufffdb\ufffdc\U0001f600"


def test_locate_resolves_dots_and_links(workspace: Path) -> None:
    found = locate("sub/..//in/./k", workspace)
    assert found.written == workspace / "in" / "k"
    assert found.path == workspace / "real" / "k"
    assert locate("/etc/../x", workspace).written == Path("/x")
    assert locate("//x", workspace).written == Path("/x")


def test_a_name_with_special_blanks_or_other_forms_is_found(workspace: Path) -> None:
    (workspace / "a\u00a0b").write_text("x")
    (workspace / "cafe\u0301").write_text("y")
    assert locate("a b", workspace).path.name == "a\u00a0b"
    assert locate("a b", workspace).noted("r") == "r\n[used a\u00a0b]"
    assert locate("caf\u00e9", workspace).path.name == "cafe\u0301"
    assert locate("a b", workspace, exact=True).path.name == "a b"
    (workspace / "a\u2003b").write_text("z")
    assert locate("a b", workspace).path.name == "a b", "two look-alikes: neither is taken"
    (workspace / "a b").write_text("plain")
    assert locate("a b", workspace).note == ""


@pytest.mark.parametrize("path", ["a\0b", "\ud800"])
def test_what_cannot_be_a_path(path: str, workspace: Path) -> None:
    with pytest.raises(ToolError):
        locate(path, workspace)


def test_read_bytes_tells_what_is_wrong(workspace: Path) -> None:
    for name, wanted in (("none", "no such file"), ("a.txt/b", "no such file"), ("sub", "is a folder")):
        with pytest.raises(ToolError, match=wanted):
            read_bytes(workspace / name, name)
    os.mkfifo(workspace / "pipe")
    with pytest.raises(ToolError, match="not a regular file"):
        read_bytes(workspace / "pipe", "pipe")


@pytest.fixture(params=["nameless", "named"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways of writing: with nameless temporary files, and where the file system has none."""
    if request.param == "named":
        real = os.open

        def refuse(path: object, flags: int, *rest: int, **more: int) -> int:
            if flags & os.O_TMPFILE == os.O_TMPFILE:
                raise OSError(95, "Operation not supported")
            return real(path, flags, *rest, **more)  # type: ignore[call-overload,no-any-return]

        monkeypatch.setattr(textfile.os, "open", refuse)
    return str(request.param)


def test_write_keeps_the_mode_and_leaves_nothing_else(workspace: Path, way: str) -> None:
    path = workspace / "sub" / "s.sh"
    write_atomically(path, b"one")
    assert path.stat().st_mode & 0o777 == 0o666 & ~_umask()
    path.chmod(0o751)
    write_atomically(path, b"two")
    assert path.read_bytes() == b"two"
    assert path.stat().st_mode & 0o7777 == 0o751
    assert [entry.name for entry in path.parent.iterdir()] == ["s.sh"]


def test_a_failed_write_leaves_the_old_file(workspace: Path, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = workspace / "a.txt"

    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(textfile, "_take_over", full)
    before = sorted(workspace.iterdir())
    with pytest.raises(OSError, match="No space"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"alpha\n"
    assert sorted(workspace.iterdir()) == before


def test_a_kill_in_the_middle_leaves_old_or_new(workspace: Path) -> None:
    path = workspace / "big"
    path.write_bytes(b"old")
    program = (
        "import sys; from pathlib import Path; from harness.textfile import write_atomically as w\n"
        "print(flush=True)\nwhile True: w(Path(sys.argv[1]), b'n' * 20_000_000)"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(textfile.__file__).parents[1])}
    command = [sys.executable, "-c", program, str(path)]
    for delay in (0.01, 0.03, 0.08):
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as child:
            assert child.stdout is not None
            child.stdout.readline()
            time.sleep(delay)
            child.send_signal(signal.SIGKILL)
        assert path.stat().st_size in (3, 20_000_000)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
