"""`triathlon doctor` tries; what it cannot do it names, with a way out."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from triathlon.cli import app
from triathlon.errors import CheckFailed
from triathlon.sandbox import cache, doctor
from triathlon.sandbox.namespaces import Namespaces


def test_a_machine_that_works(made: Namespaces) -> None:
    result = CliRunner().invoke(app, ["doctor", "--json"])
    assert result.exit_code == 0
    told = json.loads(result.stdout)
    assert told["ok"] is True
    assert told["fingerprint"] == dict(made.fingerprint)
    checks = {check["name"]: check for check in told["checks"]}
    names = ("namespaces", "id map", "tmpfs", "bind", "proc", "devpts", "overlay", "loopback", "cgroup", "sandbox")
    assert set(names) <= set(checks)
    assert all(check["ok"] for check in checks.values() if check["needed"])
    lines = CliRunner().invoke(app, ["doctor"]).stdout
    assert "ok  git inside" in lines
    assert f"git {made.fingerprint['git']}" in lines


def test_a_machine_without_namespaces(monkeypatch: pytest.MonkeyPatch) -> None:
    from triathlon.errors import SandboxUnavailable

    def refuse() -> Namespaces:
        raise SandboxUnavailable("cannot make a sandbox (clone3: Operation not permitted)")

    monkeypatch.setattr(doctor, "_try", lambda helper, request: {"error": "clone3: Operation not permitted"})
    monkeypatch.setattr(doctor, "Namespaces", refuse)
    result = CliRunner().invoke(app, ["doctor"])
    assert isinstance(result.exception, CheckFailed)
    assert "no  namespaces: clone3: Operation not permitted" in result.stdout
    assert "unprivileged_userns_clone" in result.stdout
    assert "no  sandbox: cannot make a sandbox" in result.stdout


def test_a_machine_without_a_place_for_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_PLACES", ("/proc/none",))
    cache.place.cache_clear()
    try:
        found = doctor.examine()
    finally:
        cache.place.cache_clear()
    assert not found.ok
    assert [check.name for check in found.checks if not check.ok] == ["cache"]
