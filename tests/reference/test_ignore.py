"""Ignore files, against git itself, and walks."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest
from harness.globs import alternatives, escaped, regex, split_plain
from harness.ignore import Ignores, top_of, walk


def _left(base: Path, top: Path, *, include_ignored: bool = False) -> tuple[set[str], set[str]]:
    """The files a walk finds, below `base`: kept and ignored ones."""
    found = list(walk(base, top, [str(top)], include_ignored=include_ignored))
    names = {
        ignored: {f.path[len(str(base)) + 1 :] for f in found if f.ignored is ignored} for ignored in (False, True)
    }
    return names[False], names[True]


def _tree(folder: Path, files: list[str]) -> None:
    for name in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)


_NAMES = ["a", "b.log", "keep.log", "dist", "x y", "c.js", ".hid"]
_PATTERNS = """*.log
!keep.log
dist/
/a
a/b.log
**/c.js
dist/**
a/**/b.log
*
!*/
!c.js
# a comment
\\#x
x?y
[ab]*
[!a].js
b.log
x*
a/
/dist/a
*.j*
.hid
**/dist/a
a/*/c.js
!a
x\\ y
""".splitlines()


def test_walks_agree_with_git(tmp_path: Path) -> None:
    rng = random.Random(7)
    for round_ in range(25):
        top = tmp_path / str(round_)
        top.mkdir()
        subprocess.run(["git", "init", "-q", top], check=True)
        files = {"/".join(rng.choice(_NAMES[:6]) for _ in range(rng.randint(0, 2))) for _ in range(12)}
        paths = {f"{folder}/{rng.choice(_NAMES)}".lstrip("/") for folder in files}
        paths = {path for path in paths if not any(other.startswith(path + "/") for other in paths)}
        _tree(top, sorted(paths))
        for folder in {top, *(path.parent for path in top.rglob("*") if ".git" not in path.parts)}:
            if folder == top or rng.random() < 0.3:
                lines = rng.sample(_PATTERNS, rng.randint(1, 4))
                (folder / ".gitignore").write_text("\n".join(lines) + "\n")
        (top / ".git" / "info" / "exclude").write_text(rng.choice(_PATTERNS) + "\n")
        command = ["git", "-C", top, "ls-files", "-z", "-co", "--exclude-standard"]
        wanted = subprocess.run(command, check=True, capture_output=True).stdout.decode().split("\0")[:-1]
        kept, ignored = _left(top, top)
        everything = {str(path.relative_to(top)) for path in top.rglob("*") if path.is_file()}
        everything = {name for name in everything if not name.startswith(".git/")}
        rules = [(str(path), path.read_text()) for path in top.rglob(".gitignore")]
        assert kept == set(wanted), rules
        assert kept | ignored == everything
        assert not kept & ignored


def test_an_ignored_folder_given_outright_is_walked(tmp_path: Path) -> None:
    _tree(tmp_path, ["dist/a", "dist/b.log", "c"])
    (tmp_path / ".gitignore").write_text("dist/\n*.log\n")
    assert _left(tmp_path, tmp_path) == ({"c", ".gitignore"}, {"dist/a", "dist/b.log"})
    assert _left(tmp_path / "dist", tmp_path) == ({"a", "b.log"}, set())
    assert _left(tmp_path, tmp_path, include_ignored=True)[1] == set()
    assert Ignores(tmp_path).lies_in_ignored(str(tmp_path / "dist" / "deeper"))


def test_links(tmp_path: Path) -> None:
    top = tmp_path / "top"
    _tree(top, ["real/a", ".git/config"])
    _tree(tmp_path, ["outside/b"])
    (top / "also").symlink_to("real")
    (top / "loop").symlink_to(".")
    (top / "self").symlink_to("self")
    (top / "out").symlink_to("../outside")
    (top / "file").symlink_to("../outside/b")
    assert _left(top, top) == ({"real/a", "file"}, set())
    assert _left(top / "also", top) == ({"a"}, set())


def test_a_link_to_a_folder_that_is_not_walked_otherwise_is_followed(tmp_path: Path) -> None:
    _tree(tmp_path, ["a/x", "b/link-to/placeholder"])
    (tmp_path / "b" / "up").symlink_to("../a")
    assert _left(tmp_path / "b", tmp_path) == ({"link-to/placeholder", "up/x"}, set())


def test_the_top_is_the_repository(tmp_path: Path) -> None:
    (tmp_path / "r" / "s").mkdir(parents=True)
    assert top_of(tmp_path / "r" / "s") == tmp_path / "r" / "s"
    (tmp_path / "r" / ".git").mkdir()
    assert top_of(tmp_path / "r" / "s") == tmp_path / "r"


@pytest.mark.parametrize(
    ("pattern", "wanted"),
    [
        ("a", ["a"]),
        ("{a,b}c", ["ac", "bc"]),
        ("{a,b{c,d}}", ["a", "bc", "bd"]),
        ("{a}", ["{a}"]),
        ("\\{a,b}", ["\\{a,b}"]),
        ("{a,", ["{a,"]),
        ("{,x}", ["", "x"]),
    ],
)
def test_alternatives(pattern: str, wanted: list[str]) -> None:
    assert sorted(set(alternatives(pattern))) == sorted(wanted)


def test_the_plain_beginning_of_a_pattern() -> None:
    assert split_plain("a/b/*.c") == ("a/b", "*.c")
    assert split_plain("a/b") == ("a/b", "")
    assert split_plain("**/x") == ("", "**/x")
    assert split_plain("/*") == ("/", "*")


def test_patterns_and_dots() -> None:
    import re

    assert not re.fullmatch(regex("**/*", dots=False), ".a/b")
    assert not re.fullmatch(regex("*", dots=False), ".a")
    assert re.fullmatch(regex(".a/*", dots=False), ".a/b")
    assert re.fullmatch(regex("**/*"), ".a/b")
    assert re.fullmatch(regex("[]x]"), "]")
    assert not re.fullmatch(regex("?"), "/")
    assert re.fullmatch(regex(escaped("a[*]{b}\\?")), "a[*]{b}\\?")
