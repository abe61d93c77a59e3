"""Lint of the planted faults, and that those of the benchmark are clean."""

from __future__ import annotations

from pathlib import Path

from triathlon import content
from triathlon.errors import UsageError
from triathlon.harness.spec import Clause, Spec, load_spec
from triathlon.mutants.catalogue import Mutant, load, write
from triathlon.mutants.lint import findings
from triathlon.mutants.patch import make

SOURCE = "def f():\n    return 1\n\n\ndef g():\n    return 2\n"


def spec(*clauses: str) -> Spec:
    return Spec("1.0.0", "2026-01-01", {name: Clause(name, "p.md", ("R",), "words", 1) for name in clauses}, {})


def reference(folder: Path) -> Path:
    (folder / "harness").mkdir(parents=True)
    (folder / "harness" / "m.py").write_text(SOURCE)
    return folder


def planted(root: Path, name: str, old: str, new: str, source: str = SOURCE) -> Mutant:
    diff = make({"harness/m.py": source}, {"harness/m.py": source.replace(old, new)})
    return write(root, "PERM-01", name, "left-out", "Something is wrong.", diff)


def said(tmp_path: Path, *mutants: Mutant, clauses: tuple[str, ...] = ("PERM-01",)) -> list[str]:
    return list(findings(mutants, [], spec(*clauses), reference(tmp_path / "reference")))


def test_a_good_one_is_clean(tmp_path: Path) -> None:
    assert said(tmp_path, planted(tmp_path / "m", "a", "return 1", "return 3")) == []


def test_a_patch_that_no_longer_applies(tmp_path: Path) -> None:
    old = planted(tmp_path / "m", "a", "return 9", "return 3", SOURCE.replace("return 1", "return 9"))
    assert "does not apply" in said(tmp_path, old)[0]


def test_one_that_does_not_compile(tmp_path: Path) -> None:
    assert "does not compile" in said(tmp_path, planted(tmp_path / "m", "a", "return 1", "return ("))[0]


def test_the_same_fault_twice(tmp_path: Path) -> None:
    twice = [planted(tmp_path / "m", name, "return 1", "return 3") for name in ("a", "b")]
    assert "the same fault as PERM-01/a" in said(tmp_path, *twice)[0]


def test_a_large_one(tmp_path: Path) -> None:
    assert "lines" in said(tmp_path, planted(tmp_path / "m", "a", "return 1", "return 3\n" + "    x = 1\n" * 20))[0]


def test_a_clause_without_one_and_one_without_a_clause(tmp_path: Path) -> None:
    mutant = planted(tmp_path / "m", "a", "return 1", "return 3")
    assert said(tmp_path, mutant, clauses=("FILE-01",)) == [
        "PERM-01/a: the spec has no clause PERM-01",
        "FILE-01: it has no mutant",
    ]


def test_what_is_wrong_with_files_is_passed_on(tmp_path: Path) -> None:
    wrong = [UsageError("x.patch: bad")]
    assert list(findings([], wrong, spec(), reference(tmp_path / "reference"))) == ["x.patch: bad"]


def test_the_benchmarks_own() -> None:
    mutants, wrong = load()
    assert list(findings(mutants, wrong, load_spec(), content.tree("reference"))) == []
