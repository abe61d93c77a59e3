"""Installing: once, offline, by the tree's own script; a failure is the candidate's and is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from run_help import INSTALL, OBEDIENT, evaluate, make_tree, one_case, rows

from triathlon import protocol
from triathlon.harness import candidate
from triathlon.harness.install import install
from triathlon.harness.run import limits_of
from triathlon.sandbox import Limits, Provider

LIMITS: Limits = limits_of(protocol.load())


def test_a_tree_is_installed_once_and_kept(namespaces: Provider, tmp_path: Path) -> None:
    tree = candidate.load(str(make_tree(tmp_path / "tree", OBEDIENT + f"\n# {tmp_path}\n")))
    first = install(tree, namespaces, LIMITS)
    assert first.failure is None
    (layer,) = first.layers
    assert (layer.target, layer.source.is_relative_to(namespaces.cache)) == ("/opt/harness", True)
    assert (layer.source / "bin" / "harness").stat().st_mode & 0o111
    made = layer.source.stat().st_ino
    assert install(tree, namespaces, LIMITS).layers[0].source.stat().st_ino == made, "the second run finds it there"


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo broken >&2; exit 7", "exited 7: broken"),
        ("kill -9 $$", "exited 137"),
        ("true", "left no /opt/harness/bin/harness"),
        ('mkdir -p "$1/bin/harness"', "left no /opt/harness/bin/harness"),
        ("if [ $(", "exited 2"),
        ("pip install requests", "exited 127"),
    ],
)
def test_a_failing_script_is_the_candidates_fault(
    namespaces: Provider, tmp_path: Path, script: str, reason: str
) -> None:
    tree = candidate.load(str(make_tree(tmp_path / "tree", install=script)))
    failure = install(tree, namespaces, LIMITS).failure
    assert failure is not None
    assert reason in failure


def test_every_case_fails_with_the_reason(namespaces: Provider, tmp_path: Path) -> None:
    cases = one_case(tmp_path / "cases", "    run: {prompt: pass}\n    expect: {exit: 0}\n")
    done = evaluate(namespaces, make_tree(tmp_path / "tree", install="exit 9"), cases, tmp_path / "s")
    assert done.report.errors == ()
    assert [case.status for case in done.cases] == ["failed"]
    assert "install: `sh install.sh /opt/harness` exited 9" in done.cases[0].reasons[0]
    assert len(rows(tmp_path / "s")) == 1


def test_a_tree_without_a_script_fails_every_case(namespaces: Provider, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    cases = one_case(tmp_path / "cases", "    run: {prompt: pass}\n    expect: {exit: 0}\n")
    done = evaluate(namespaces, tmp_path / "empty", cases, tmp_path / "s")
    assert "install.sh" in done.cases[0].reasons[0]


def test_installing_again_in_a_case(namespaces: Provider, tmp_path: Path) -> None:
    body = """
    steps:
      - install: again
      - start: {prompt: "print(ask('x'), __file__)"}
      - finish: main
    script: [{say: "{{marker}}"}]
    expect: {exit: 0, output: {stdout: "{{marker}} /opt/harness/lib/harness/__init__.py\\n"}}
"""
    done = evaluate(namespaces, make_tree(tmp_path / "t"), one_case(tmp_path / "c", body), tmp_path / "s")
    assert done.cases[0].reasons == ()
    once = make_tree(tmp_path / "once", install='test ! -e "$1/bin" || exit 5\n' + INSTALL)
    done = evaluate(namespaces, once, one_case(tmp_path / "c", body), tmp_path / "s")
    assert "step 1, install: install: `sh install.sh /opt/harness` exited 5" in done.cases[0].reasons[0]
