"""Where the benchmark's content is: `doc2harness/` in a checkout, or inside an installed wheel."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from triathlon.errors import TriathlonError


@cache
def root() -> Path:
    """The folder that holds spec/, skeleton/, cases/ and reference/."""
    here = Path(__file__).resolve().parent
    for place in (here / "doc2harness", here.parents[1] / "doc2harness"):
        if place.is_dir():
            return place
    raise TriathlonError(f"the content folder doc2harness is missing beside {here}: reinstall triathlon")


def tree(name_or_path: str | Path) -> Path:
    """A candidate tree: a path, or the names `reference` and `skeleton` (a folder of that name here wins)."""
    path = Path(name_or_path)
    if not path.exists() and str(name_or_path) in ("reference", "skeleton"):
        return root() / str(name_or_path)
    return path
