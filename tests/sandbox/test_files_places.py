"""Files written and read from outside, in a plain folder that stands for a sandbox's."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from triathlon.sandbox.files import Places


@pytest.fixture
def places(tmp_path: Path) -> Iterator[Places]:
    (tmp_path / "0").mkdir()
    (tmp_path / "root").mkdir()
    made = Places(os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY), {"/": "root", "/work": "0"})
    yield made
    made.close()
    made.close()


def test_a_file_with_its_folders(places: Places, tmp_path: Path) -> None:
    places.write_file("/work/a/b/../c.txt", b"one", 0o600)
    places.write_file("/work/a/c.txt", b"two")
    assert (tmp_path / "0/a/c.txt").read_bytes() == b"two" == places.read_file("/work/a/c.txt")
    assert (tmp_path / "0/a/c.txt").stat().st_mode & 0o777 == 0o644
    places.write_file("/etc/x.json", b"{}")
    assert (tmp_path / "root/etc/x.json").exists()


def test_no_path_leads_out(places: Places, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("s")
    for path in ("/work/../../secret", "/../secret", "//work/../../../secret"):
        with pytest.raises(FileNotFoundError):
            places.read_file(path)
    with pytest.raises(PermissionError, match="not a place"):
        places.read_file("secret")


def test_folders_links_times_and_modes(places: Places, tmp_path: Path) -> None:
    places.mkdir("/work/d/e", 0o700)
    places.mkdir("/work/d/e", 0o750)
    places.symlink("/work/d/l", "../gone")
    places.write_file("/work/d/f", b"")
    places.utime("/work/d/f", 1_000_000_000.5)
    places.utime("/work/d/l", 1_000_000_001)
    places.chmod("/work/d/f", 0o4755)
    assert (tmp_path / "0/d/e").stat().st_mode & 0o777 == 0o750
    assert (tmp_path / "0/d/l").readlink() == Path("../gone")
    assert (tmp_path / "0/d/f").stat().st_mtime == 1_000_000_000.5
    assert (tmp_path / "0/d/l").lstat().st_mtime == 1_000_000_001
    assert (tmp_path / "0/d/f").stat().st_mode & 0o7777 == 0o4755
    with pytest.raises(OSError, match="link has no mode"):
        places.chmod("/work/d/l", 0o777)
    with pytest.raises(FileExistsError):
        places.mkdir("/work/d/f")


def test_remove_takes_whole_folders_and_never_what_a_link_points_to(places: Places, tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept/file").touch()
    places.write_file("/work/d/x/y", b"")
    places.symlink("/work/d/l", str(tmp_path / "kept"))
    places.remove("/work/d")
    places.remove("/work/d")
    places.remove("/work/no/such")
    assert list((tmp_path / "0").iterdir()) == []
    assert (tmp_path / "kept/file").exists()


def test_a_fifo_is_no_file(places: Places, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "0/pipe")
    with pytest.raises(OSError):
        places.read_file("/work/pipe")
    with pytest.raises(OSError):
        places.write_file("/work/pipe", b"x")
    assert places.tree("/work")["pipe"].kind == "other"


def test_tree_says_what_was_left_out(places: Places) -> None:
    places.write_file("/work/a", b"x" * 100)
    places.write_file("/work/b", b"y" * 100)
    places.mkdir("/work/c")
    whole = places.tree("/work")
    assert sorted(whole) == ["a", "b", "c"]
    assert (whole["a"].data, whole["a"].truncated, whole["c"].data) == (b"x" * 100, False, None)
    cut = places.tree("/work", max_bytes=10)
    assert (cut["a"].data, cut["a"].size, cut["a"].truncated) == (b"x" * 10, 100, True)
    assert cut["a"].sha256 == whole["a"].sha256
    little = places.tree("/work", total_bytes=12)
    assert [(little[name].data, little[name].sha256 == whole[name].sha256) for name in "ab"] == [
        (b"x" * 12, True),
        (b"", False),
    ]
    assert places.tree("/work/a")[""].data == b"x" * 100
    assert places.tree("/work/none") == {} == places.tree("/work/a/b")


def test_export_copies_and_keeps_times(places: Places, tmp_path: Path) -> None:
    places.write_file("/work/p/bin/h", b"#!/bin/sh\n", 0o555)
    places.symlink("/work/p/link", "bin/h")
    places.utime("/work/p/bin/h", 1_234_567_890)
    os.mkfifo(tmp_path / "0/p/pipe")
    places.export("/work/p", tmp_path / "out")
    copied = tmp_path / "out/bin/h"
    assert (copied.stat().st_mode & 0o777, copied.stat().st_mtime) == (0o755, 1_234_567_890)
    assert (tmp_path / "out/link").readlink() == Path("bin/h")
    assert not (tmp_path / "out/pipe").exists()
    with pytest.raises(FileExistsError):
        places.export("/work/p", tmp_path / "out")
