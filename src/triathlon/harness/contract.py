"""The contract: whether a tree has the form of a candidate. Nothing is said about how it behaves.

It has to compile, to install, to know the commands and flags of the specification, to have the three interfaces
(command line, `harness -p`, drive API in Python and over HTTP), and no function left a stub.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from triathlon.errors import UsageError
from triathlon.harness import candidate, contract_live, contract_source
from triathlon.harness.contract_source import INSTALLER, TooLarge
from triathlon.harness.finding import ContractFinding
from triathlon.harness.install import install
from triathlon.harness.spec import load_spec
from triathlon.sandbox import BoxSpec, Limits

if TYPE_CHECKING:
    from triathlon.harness.spec import Spec
    from triathlon.sandbox import Provider

__all__ = ["ContractFinding", "check"]


def check(tree: Path, provider: Provider, spec: Spec | None = None) -> list[ContractFinding]:
    """Everything that keeps the tree from being a candidate; an empty list says that it is one.

    Findings come in the order: files by name and line, then the installation, then the installed command.
    Raises UsageError if the path is no tree, SandboxError if the sandbox is at fault.
    """
    spec = spec or load_spec()
    if not tree.is_dir():
        raise UsageError(f"{tree}: no tree: it is {'no folder' if tree.exists() else 'not there'}")
    root = tree.resolve()
    try:
        items = contract_source.items(root)
    except TooLarge as error:
        return [ContractFinding(".", 1, f"the tree is too large: {error}")]
    except OSError as error:
        raise UsageError(f"{error.filename}: the tree cannot be read whole: {error.strerror}") from error
    findings = sorted(contract_source.look(root, items))
    if not any(item.name == INSTALLER for item in items):
        return findings
    installed = install(candidate.load(str(root)), provider, Limits())
    if installed.failure:
        return [*findings, ContractFinding(INSTALLER, 1, installed.failure)]
    with provider.open(BoxSpec(layers=installed.layers, listen=())) as box:
        here = contract_live.Installation(box, [item.name for item in items])
        return [*findings, *contract_live.look(here, spec)]
