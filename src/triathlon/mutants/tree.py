"""The reference with a fault in it: a copy of the tree, and of its installation."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from triathlon.harness.candidate import Candidate, hash_tree
from triathlon.harness.install import Installed, place_of
from triathlon.mutants.catalogue import Mutant
from triathlon.mutants.patch import apply
from triathlon.sandbox import Provider

NAME = "mutant:"
"""How the candidate of a mutant is called in the store: this and the mutant's id."""


def is_mutant(candidate: str) -> bool:
    """Whether a row of the store is about a planted fault."""
    return candidate.startswith(NAME)


@contextmanager
def planted(mutant: Mutant, reference: Path) -> Iterator[Candidate]:
    """A candidate made of the reference and the fault; its tree is gone afterwards. Raises DoesNotApply."""
    with tempfile.TemporaryDirectory(prefix="triathlon-mutant-") as place:
        tree = Path(place) / "tree"
        shutil.copytree(reference, tree, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
        apply(mutant.hunks, tree)
        yield Candidate(f"{NAME}{mutant.id}", tree, hash_tree(tree))


def put_in_place(mutant: Mutant, candidate: Candidate, reference: Installed, provider: Provider) -> None:
    """Make the installed layer from that of the reference, since installing would cost more than most cases do.

    Only where it comes to the same: the fault is in modules, which the install script copies as they are. Otherwise
    nothing is done, and the run installs the tree as any other.
    """
    place = place_of(candidate, provider)
    modules = all(name.startswith("harness/") and name.endswith(".py") for name in mutant.sources)
    if not (provider.stable and modules and reference.layers) or place.exists():
        return
    source = reference.layers[0].source
    if any(not (source / "lib" / name).is_file() for name in mutant.sources):
        return
    fresh = Path(tempfile.mkdtemp(prefix="installing-", dir=place.parent))
    try:
        shutil.copytree(source, fresh / "prefix", symlinks=True)
        for name in mutant.sources:
            module = fresh / "prefix" / "lib" / name
            module.write_bytes((candidate.tree / name).read_bytes())
            for compiled in (module.parent / "__pycache__").glob(f"{module.stem}.*.pyc"):
                compiled.unlink()
        (fresh / "prefix").rename(place)
    except OSError:
        if not place.is_dir():
            raise
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def forget(candidate: Candidate, provider: Provider) -> None:
    """Remove the installed layer: hundreds of them would fill the disk."""
    place = place_of(candidate, provider)
    if place.is_dir():
        doomed = Path(tempfile.mkdtemp(prefix="installing-", dir=place.parent))
        place.rename(doomed / "prefix")
        shutil.rmtree(doomed, ignore_errors=True)
