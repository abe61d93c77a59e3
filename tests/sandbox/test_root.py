"""The listed root holds what is listed, from the right interpreter, and is made anew when its sources change."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from box_help import answer, python

from triathlon.errors import SandboxUnavailable
from triathlon.sandbox import cache
from triathlon.sandbox.namespaces import Namespaces
from triathlon.sandbox.namespaces.sandbox import Box
from triathlon.sandbox.root import Root, build, listed, listed_root
from triathlon.sandbox.root.collect import Collection
from triathlon.sandbox.root.interpreter import Interpreter, interpreters


def test_everything_needed_runs_inside(box: Box) -> None:
    lines = (
        box.exec(["sh", "-c", f"for c in {' '.join(listed.NEEDED)}; do command -v $c; done"])
        .stdout.decode()
        .splitlines()
    )
    assert [Path(line).name for line in lines] == list(listed.NEEDED)
    script = """
    set -e
    echo b > f; echo a >> f; sort f | sed s/a/c/ | grep -c . ; find . -name f | xargs cat | awk '{n++} END {print n}'
    tar czf t.tgz f; mkdir d; tar xzf t.tgz -C d; diff -r f d/f; cmp f d/f
    git init -q; git config user.name n; git config user.email e; git add f; git commit -qm m; git log --oneline | wc -l
    """
    result = box.exec(["bash", "-c", script])
    assert (result.returncode, result.stdout.split()) == (0, [b"2", b"2", b"1"]), result.stderr


def test_the_interpreter_is_bare_and_compiled(box: Box) -> None:
    told = answer(
        box,
        """
        import json, os, sys, sysconfig, importlib.util
        import asyncio, ctypes, curses, decimal, hashlib, http.server, lzma, multiprocessing, sqlite3, ssl, venv
        modules = [m for m in sys.modules.values() if getattr(m, "__cached__", None)]
        print(json.dumps([
            [p for p in sys.path if "packages" in p],
            [n for n in ("pip", "pytest", "yaml", "tkinter", "triathlon") if importlib.util.find_spec(n)],
            [m.__name__ for m in modules if not os.path.exists(m.__cached__)],
            "é".encode() == os.fsencode("é"), sys.prefix.startswith("/usr"),
        ]))
        """,
    )
    assert told == [[], [], [], True, True]


def test_a_virtual_environment_and_processes_work(box: Box) -> None:
    result = python(
        box,
        """
        import multiprocessing, subprocess, sys
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", "v"], check=True)
        with multiprocessing.Pool(2) as pool:
            print(pool.map(abs, [-1, -2]))
        """,
    )
    assert result.stdout == b"[1, 2]\n", result.stderr


def test_fingerprint_names_versions_and_no_path(made: Namespaces) -> None:
    found = made.fingerprint
    assert set(found) >= {"python", "python_from", "libc", "machine", "bash", "git", "coreutils", "grep", "sed", "awk"}
    assert found["python_from"] in ("bench", "system")
    assert all(value and value != "?" and "/" not in value for value in found.values())
    if found["python_from"] == "bench":
        assert found["python"] == ".".join(map(str, sys.version_info[:3]))


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(cache, "place", lambda: tmp_path)
    return tmp_path


def test_a_root_is_small_and_without_packages(own_cache: Path) -> None:
    root = listed_root(lambda root: {"git": "1"})
    assert (root.path / "usr/bin/git").exists()
    assert sum(path.stat().st_size for path in root.path.rglob("*") if not path.is_symlink()) < 150 << 20
    assert not [path for path in root.path.rglob("*") if path.name in ("site-packages", "dist-packages")]
    assert not list(own_cache.glob("new-*"))


@pytest.fixture
def quick_copy(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Roots of one file; returns that file, the source of all of them."""
    source = own_cache / "source"
    source.write_text("1")

    def copy(found: Interpreter, new: Path, owner: int | None) -> Collection:
        collection = Collection(new)
        collection.sources.append(str(source))
        return collection

    monkeypatch.setattr(build, "_copy", copy)
    return source


def test_made_once_and_again_when_a_source_changes(quick_copy: Path) -> None:
    trials: list[Root] = []

    def trial(root: Root) -> Mapping[str, str]:
        trials.append(root)
        return {"git": str(len(trials))}

    first = listed_root(trial)
    assert listed_root(trial) == first
    assert len(trials) == 1
    quick_copy.write_text("22")
    assert listed_root(trial).fingerprint["git"] == "2"
    quick_copy.unlink()
    quick_copy.write_text("1")
    assert listed_root(trial).fingerprint["git"] == "3"
    assert first.path.exists()  # somebody may still use it
    assert not list(quick_copy.parent.glob("new-*"))


def test_an_interpreter_that_fails_inside_is_passed_over(quick_copy: Path) -> None:
    tried: list[str] = []

    def trial(root: Root) -> Mapping[str, str] | str:
        tried.append(root.path.name)
        return "no module named ssl"

    with pytest.raises(SandboxUnavailable, match=r"no interpreter works.*no module named ssl"):
        listed_root(trial)
    assert len(tried) == len(list(interpreters()))
    assert not [*quick_copy.parent.glob("root-*"), *quick_copy.parent.glob("new-*")]


def test_what_is_missing_on_the_host_is_named(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listed, "DIRECTORIES", str(own_cache))
    with pytest.raises(SandboxUnavailable, match=r"needs bash, sh, .*git in"):
        listed_root(lambda root: {})


def interpreter(prefix: str) -> Interpreter:
    from triathlon.sandbox.root.interpreter import _neutral, _renames

    path = Path(prefix)
    return Interpreter("bench", path / "bin/python3", "3.11", path, (), _neutral(path), _renames({path}))


@pytest.mark.parametrize("prefix", ["/home/somebody/.pyenv/versions/3.11.7", "/root/py", "/home/x/3.12"])
def test_prefixes_keep_their_length_and_their_tail(prefix: str) -> None:
    ((old, new),) = interpreter(prefix).renames
    assert os.fsdecode(old) == prefix
    assert len(old) == len(new)
    assert os.path.normpath(os.fsdecode(new)).startswith("/usr")
    assert Path(os.fsdecode(new)).name == Path(prefix).name
    assert b"home" not in new
    assert b"root" not in new


def test_the_same_place_is_found_by_every_process() -> None:
    place = cache.place()
    assert place.stat().st_mode & 0o777 == 0o700
    assert build.RECIPE >= 1
    assert os.environ.get("USER", "nobody-at-all") not in place.name
