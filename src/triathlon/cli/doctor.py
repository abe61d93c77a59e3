"""`triathlon doctor`: what works on this machine."""

from __future__ import annotations

import typer


def doctor(as_json: bool = typer.Option(False, "--json", help="Print one JSON object.")) -> None:
    """Try what works on this machine and say what does not, and what to do about it."""
    import json
    from dataclasses import asdict

    from triathlon.errors import CheckFailed
    from triathlon.sandbox.doctor import examine

    found = examine()
    if as_json:
        checks = [asdict(check) for check in found.checks]
        typer.echo(json.dumps({"ok": found.ok, "checks": checks, "fingerprint": dict(found.fingerprint)}, indent=1))
    else:
        for check in found.checks:
            state = "ok" if check.ok else "no" if check.needed else "--"
            typer.echo(f"{state:3} {check.name}" + (f": {check.says}" if check.says else ""))
            if not check.ok:
                typer.echo(f"      {check.todo}")
        if found.fingerprint:
            typer.echo("    root: " + ", ".join(f"{name} {version}" for name, version in found.fingerprint.items()))
    if not found.ok:
        raise CheckFailed("the sandbox does not work here; `--sandbox none` does, without isolation")
