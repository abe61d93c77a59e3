"""The skeleton: five files with roles and no bodies, and an installer that works as it stands."""

from __future__ import annotations

import ast
import subprocess
from pathlib import Path

import pytest

from triathlon import content
from triathlon.harness.stubs import stubs

TREE = content.root() / "skeleton"
FILES = ["__init__.py", "__main__.py", "agent.py", "environment.py", "model.py"]


def run(*argv: str | Path, **env: str) -> subprocess.CompletedProcess[str]:
    clean = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", **env}
    return subprocess.run([*map(str, argv)], env=clean, cwd="/", capture_output=True, text=True, timeout=60)


def test_five_python_files_of_about_seventy_lines() -> None:
    found = sorted(TREE.rglob("*.py"))
    assert [path.relative_to(TREE).as_posix() for path in found] == [f"harness/{name}" for name in FILES]
    assert 60 <= sum(len(path.read_text().splitlines()) for path in found) <= 80


def test_every_function_but_the_protocols_is_left_to_the_builder() -> None:
    for name in FILES:
        module = ast.parse((TREE / "harness" / name).read_text())
        functions = [node for node in ast.walk(module) if isinstance(node, ast.FunctionDef)]
        assert len(list(stubs(module))) == (0 if name == "__init__.py" else len(functions)), name


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    where = tmp_path / "a place with blanks"
    done = run("sh", TREE / "install.sh", where)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return where


def test_the_launcher_reaches_main_from_anywhere_and_through_a_link(prefix: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(prefix / "bin" / "harness")
    for command in (prefix / "bin" / "harness", link):
        done = run(command, "--version", PYTHONPATH=str(tmp_path), HOME="/nonexistent")
        assert done.returncode == 1
        assert done.stderr.strip().endswith("NotImplementedError")
        assert str(prefix / "lib" / "harness" / "__main__.py") in done.stderr


def test_the_package_is_importable_and_compiled(prefix: Path) -> None:
    lib = prefix / "lib"
    done = run("python3", "-c", "from harness import Agent; print(Agent.run.__name__)", PYTHONPATH=str(lib))
    assert done.stdout == "run\n"
    compiled = {path.name.partition(".")[0] for path in (lib / "harness" / "__pycache__").glob("*.pyc")}
    assert compiled == {name.removesuffix(".py") for name in FILES}


def test_a_second_installation_replaces_the_first(prefix: Path) -> None:
    (prefix / "lib" / "harness" / "old.py").write_text("")
    assert run("sh", TREE / "install.sh", prefix).returncode == 0
    assert not (prefix / "lib" / "harness" / "old.py").exists()


def test_the_installer_wants_a_prefix() -> None:
    done = run("sh", TREE / "install.sh")
    assert done.returncode == 2
    assert "usage: sh install.sh PREFIX" in done.stderr
