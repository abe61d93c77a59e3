"""How far the suite orders candidates the same way again: KR-20 over cases, and over case families."""

from __future__ import annotations

import numpy as np

from triathlon.population.table import Floats, Table


def alpha(scores: Floats) -> float | None:
    """Cronbach's alpha of (candidates, parts); over cells of 0 and 1 it is KR-20.

    None below two candidates or two parts, or where all candidates have the same total. It may be negative.
    """
    people, parts = scores.shape
    if people < 2 or parts < 2:
        return None
    whole = float(scores.sum(axis=1).var())
    if whole <= 1e-12 * max(float((scores**2).sum()), 1.0):
        return None
    return float(parts / (parts - 1) * (1 - float(scores.var(axis=0).sum()) / whole))


def kr20(table: Table) -> float | None:
    """KR-20 over single cases, as in the paper."""
    return alpha(table.passed.astype(np.float64))


def kr20_by_family(table: Table) -> float | None:
    """The same with each family's number of passes as one part.

    Cases grown by one change fail together, which lifts the plain number; this one is not lifted by it.
    """
    families = list(table.families().values())
    if not families:
        return None
    return alpha(np.stack([table.passed[:, places].sum(axis=1) for places in families], axis=1).astype(np.float64))
