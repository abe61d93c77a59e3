"""Runs of planted faults against a small reference: killed, survived, coarse, gated, resumed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from triathlon import protocol
from triathlon.errors import NothingToDo
from triathlon.harness import candidate
from triathlon.harness.load import load_suite
from triathlon.mutants.auto import for_automatic
from triathlon.mutants.catalogue import Mutant, write
from triathlon.mutants.patch import make
from triathlon.mutants.run import Bench, Verdict, run
from triathlon.mutants.tree import is_mutant
from triathlon.sandbox import Provider
from triathlon.store import Store

MAIN = """\
import sys
prompt = sys.argv[2]
if prompt == "greet":
    print("hello")
if prompt == "count":
    print(len("four"))
if prompt == "power":
    print("on")
"""
INSTALL = """\
set -e
mkdir -p "$1/bin" "$1/lib"
cp -R harness "$1/lib/harness"
printf '#!/bin/sh\\nexec python3 -S -m harness.main "$@"\\n' > "$1/bin/harness"
sed -i "s|exec|cd $1/lib; exec|" "$1/bin/harness"
chmod +x "$1/bin/harness"
"""
CASES = """
group: g
about: A test.
clauses: [HEAD-01]
controls:
  - {id: power, run: {prompt: power}, expect: {output: {stdout: "on\\n"}}}
cases:
  - {id: greets, kind: ordinary, origin: {spec: HEAD-01}, controls: [power],
     run: {prompt: greet}, expect: {output: {stdout: "hello\\n"}}}
  - {id: counts, kind: ordinary, origin: {spec: HEAD-02}, clauses: [HEAD-02], controls: [],
     run: {prompt: count}, expect: {output: {stdout: "4\\n"}}}
  - {id: wrong, kind: ordinary, origin: {spec: HEAD-01}, controls: [],
     run: {prompt: greet}, expect: {output: {stdout: "never\\n"}}}
"""


@pytest.fixture
def bench(namespaces: Provider, tmp_path: Path) -> Bench:
    """A reference with one module and three cases, one of which it does not pass."""
    tree = tmp_path / "reference"
    (tree / "harness").mkdir(parents=True)
    (tree / "harness" / "__init__.py").write_text("")
    (tree / "harness" / "main.py").write_text(MAIN)
    (tree / "install.sh").write_text(INSTALL)
    (tmp_path / "cases" / "headless").mkdir(parents=True)
    (tmp_path / "cases" / "headless" / "g.yaml").write_text(CASES)
    return Bench(
        suite=load_suite(tmp_path / "cases"),
        reference=candidate.load(str(tree)),
        numbers=protocol.load(),
        provider=namespaces,
        store=tmp_path / "store.sqlite",
        in_flight=2,
        breadth="none",
    )


def fault(tmp_path: Path, old: str, new: str, clause: str = "HEAD-01", name: str = "a") -> Mutant:
    diff = make({"harness/main.py": MAIN}, {"harness/main.py": MAIN.replace(old, new)})
    return write(tmp_path / "mutants", clause, name, "left-out", "Something is wrong.", diff)


def verdict(bench: Bench, mutant: Mutant, **changed: Any) -> Verdict:
    said: list[str] = []
    (found,) = run(replace(bench, **changed), [mutant], 1, said.append)
    assert said
    return found


def test_a_case_of_the_clause_kills(bench: Bench, tmp_path: Path) -> None:
    found = verdict(bench, fault(tmp_path, "hello", "goodbye"))
    assert found.as_json() | {"about": ""} == {
        "id": "HEAD-01/a",
        "clause": "HEAD-01",
        "kind": "left-out",
        "about": "",
        "killed_by": ["g/greets"],
        "noticed_on": {"g/greets": ["output"]},
        "citing": 1,
        "tried": 0,
        "fails": 0,
        "coarse": False,
        "survived": False,
        "errors": [],
    }


def test_a_case_that_the_reference_fails_kills_nothing(bench: Bench, tmp_path: Path) -> None:
    said: list[str] = []
    (found,) = run(bench, [fault(tmp_path, "hello", "goodbye")], 1, said.append)
    assert "g/wrong" in said[0]
    assert "g/wrong" not in found.killed_by


def test_a_case_of_another_clause_does_not(bench: Bench, tmp_path: Path) -> None:
    found = verdict(bench, fault(tmp_path, "hello", "goodbye", "HEAD-02"))
    assert found.survived
    assert found.citing == 1


def test_a_failed_control_takes_the_kill_away(bench: Bench, tmp_path: Path) -> None:
    both = fault(tmp_path, 'if prompt == "greet":', 'print("noise")\nif prompt == "greet":')
    assert verdict(bench, both).survived
    assert verdict(bench, both, until_noticed=True).survived, "also where the first failure ends the run"


def test_what_breaks_much_is_coarse(bench: Bench, tmp_path: Path) -> None:
    found = verdict(bench, fault(tmp_path, "import sys", "import sys as s"), breadth="all")
    assert found.survived, "its controls fail too"
    noisy = fault(tmp_path, 'if prompt == "greet":', 'if prompt != "power":\n    print("noise")\nif prompt == "greet":')
    found = verdict(bench, noisy, breadth="all")
    assert (found.coarse, found.failed, found.tried) == (True, 2, 2)
    assert list(found.killed_by) == ["g/greets"]


def test_a_patch_that_does_not_apply_is_an_error_and_no_verdict(bench: Bench, tmp_path: Path) -> None:
    mutant = fault(tmp_path, "hello", "goodbye")
    (bench.reference.tree / "harness" / "main.py").write_text(MAIN.replace("hello", "hi"))
    found = verdict(bench, mutant)
    assert "stand there 0 times" in found.errors[0]


def test_the_store_has_it_the_second_time(bench: Bench, tmp_path: Path) -> None:
    mutant = fault(tmp_path, "hello", "goodbye")
    first = verdict(bench, mutant)
    with Store(bench.store) as store:
        before = [(row.key, row.started) for row in store.rows()]
        kept = {row.case_id: bool(store.channels(row.key)) for row in store.rows() if is_mutant(row.candidate)}
    assert kept == {"g/greets": True, "g/power": False}, "what was seen is kept of failures"
    assert verdict(bench, mutant) == first
    with Store(bench.store) as store:
        assert [(row.key, row.started) for row in store.rows()] == before


def test_a_fault_in_the_install_script_is_installed(bench: Bench, tmp_path: Path) -> None:
    diff = make({"install.sh": INSTALL}, {"install.sh": INSTALL.replace("-S -m", "-S -c pass -m")})
    mutant = write(tmp_path / "mutants", "HEAD-02", "b", "left-out", "Something is wrong.", diff)
    assert list(verdict(bench, mutant).killed_by) == ["g/counts"]


def test_installed_layers_do_not_stay(bench: Bench, tmp_path: Path) -> None:
    before = {path.name for path in bench.provider.cache.glob("installed-*")}
    verdict(bench, fault(tmp_path, "hello", "good morning"))
    after = {path.name for path in bench.provider.cache.glob("installed-*")}
    assert len(after - before) <= 1, "that of the reference may be new"


def test_chosen_cases_in_place_of_a_clause(bench: Bench, tmp_path: Path) -> None:
    case = bench.suite.case("g/counts")
    assert case is not None
    found = verdict(bench, fault(tmp_path, "four", "three"), chooses=lambda mutant: [case], until_noticed=True)
    assert list(found.killed_by) == ["g/counts"]


def test_an_automatic_fault_is_noticed_by_the_cases_of_its_area(bench: Bench, tmp_path: Path) -> None:
    drawn = replace(fault(tmp_path, "four", "three"), clause="loop", id="loop/main:module:counted:1")
    found = verdict(for_automatic(bench), drawn)
    assert list(found.killed_by) == ["g/counts"]
    with pytest.raises(NothingToDo):
        verdict(for_automatic(bench), replace(drawn, clause="files"))
