"""Checkpoints: files as they were before a prompt."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.checkpoints import Checkpoints


@pytest.fixture(params=["stored", "in memory"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path | None:
    return tmp_path / "checkpoints" if request.param == "stored" else None


def _write(kept: Checkpoints, prompt: int, path: Path, text: str) -> None:
    kept.before_change(prompt, path, text.encode())
    path.write_text(text)


def _done(kept: Checkpoints, prompt: int) -> dict[str, str]:
    return {path.name: done for done, path in kept.rewind(prompt)}


def test_files_go_back_to_what_they_were(tmp_path: Path, folder: Path | None) -> None:
    old, new, gone = tmp_path / "old", tmp_path / "new", tmp_path / "gone"
    old.write_text("0")
    old.chmod(0o640)
    gone.write_text("g")
    kept = Checkpoints(folder)
    _write(kept, 1, old, "1")
    _write(kept, 2, old, "2a")
    _write(kept, 2, old, "2b")
    _write(kept, 2, new, "n")
    _write(kept, 2, gone, "h")
    gone.unlink()
    old.chmod(0o600)
    again = kept if folder is None else Checkpoints(folder)
    assert _done(again, 2) == {"old": "restored", "new": "removed", "gone": "restored"}
    assert (old.read_text(), new.exists(), gone.read_text()) == ("1", False, "g")
    assert _done(again, 2) == {}
    assert _done(again, 1) == {"old": "restored"}
    assert (old.read_text(), old.stat().st_mode & 0o777) == ("0", 0o640)


def test_what_somebody_else_changed_stays(tmp_path: Path, folder: Path | None) -> None:
    file, place = tmp_path / "f", tmp_path / "d"
    kept = Checkpoints(folder)
    _write(kept, 1, file, "ours")
    _write(kept, 1, place, "ours")
    file.write_text("theirs")
    place.unlink()
    place.mkdir()
    assert _done(kept, 1) == {"f": "not restored", "d": "not restored"}
    assert file.read_text() == "theirs"


def test_a_change_that_was_noted_and_not_made_is_no_hindrance(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text("0")
    kept = Checkpoints(None)
    kept.before_change(1, file, b"never written")
    assert _done(kept, 1) == {"f": "restored"}
    assert file.read_text() == "0"


def test_a_cut_index_line_is_passed_over(tmp_path: Path) -> None:
    file, folder = tmp_path / "f", tmp_path / "checkpoints"
    _write(Checkpoints(folder), 1, file, "1")
    with (folder / "index.jsonl").open("a") as index:
        index.write('{"prompt": 2, "pa')
    assert _done(Checkpoints(folder), 1) == {"f": "removed"}


def test_a_fork_has_the_same_past(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text("0")
    kept = Checkpoints(tmp_path / "a")
    _write(kept, 1, file, "1")
    kept.copy_to(tmp_path / "b")
    assert _done(Checkpoints(tmp_path / "b"), 1) == {"f": "restored"}
    assert _done(kept, 1) == {"f": "restored"}
