"""Log-probabilities of a few rows, in fp32 over the whole vocabulary, without a table of rows x vocabulary.

bf16 logits tie and quantise, so the head runs in fp32 even when the body does not: the weight is taken in slices of the
vocabulary, and each row keeps its running maximum, arg-max, sum of exponentials and the asked logits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

SLICE = 32_768  # vocabulary rows a step
ROWS = 256  # hidden rows a step


def linear_slices(weight: Tensor, bias: Tensor | None, softcap: float | None) -> Callable[[Tensor], Any]:
    """A function from hidden rows [n, d] to an iterator of (first token, fp32 logits [n, slice])."""

    def slices(hidden: Tensor) -> Any:
        rows = hidden.float()
        for start in range(0, weight.shape[0], SLICE):
            part = weight[start : start + SLICE].float()
            logits = rows @ part.T
            if bias is not None:
                logits += bias[start : start + SLICE].float()
            if softcap is not None:
                logits = torch.tanh(logits / softcap) * softcap
            yield start, logits

    return slices


def score(
    hidden: Tensor, tokens: Sequence[Sequence[int]], slices: Callable[[Tensor], Any]
) -> tuple[list[int], list[list[float]], list[bool]]:
    """Per row: the top-1 token (lowest id on a tie), log p of its tokens, whether the top is tied.

    A row with NaN or +inf among its logits gives NaN log-probabilities, which the caller refuses.
    """
    top: list[int] = []
    logps: list[list[float]] = []
    tied: list[bool] = []
    for start in range(0, len(tokens), ROWS):
        best, values, tie = _score(hidden[start : start + ROWS], tokens[start : start + ROWS], slices)
        top.extend(best)
        logps.extend(values)
        tied.extend(tie)
    return top, logps, tied


def _score(hidden: Tensor, tokens: Sequence[Sequence[int]], slices: Callable[[Tensor], Any]) -> tuple[Any, Any, Any]:
    n, width = len(tokens), max(map(len, tokens), default=0)
    device = hidden.device
    asked = torch.tensor([[*row, *[0] * (width - len(row))] for row in tokens], device=device, dtype=torch.long)
    asked = asked.reshape(n, width)
    best = torch.full((n,), float("-inf"), device=device)
    which = torch.zeros(n, dtype=torch.long, device=device)
    count = torch.zeros(n, dtype=torch.long, device=device)
    total = torch.full((n,), float("-inf"), dtype=torch.float64, device=device)
    picked = torch.full((n, width), float("-inf"), device=device)
    bad = torch.zeros(n, dtype=torch.bool, device=device)
    for first, logits in slices(hidden):
        high = logits.amax(dim=1)
        bad |= high.isnan() | (high == float("inf"))
        equal = logits == high[:, None]
        same = equal.sum(dim=1)
        at = torch.where(equal, torch.arange(logits.shape[1], device=device), logits.shape[1]).amin(dim=1) + first
        count = torch.where(high > best, same, count + torch.where(high == best, same, 0))
        which, best = torch.where(high > best, at, which), torch.maximum(high, best)
        total = torch.logaddexp(total, torch.logsumexp(logits, dim=1).double())
        inside = (asked >= first) & (asked < first + logits.shape[1])
        here = logits.gather(1, (asked - first).clamp(0, logits.shape[1] - 1))
        picked = torch.where(inside, here, picked)
    values = (picked.double() - total[:, None]).clamp(max=0.0)
    values[bad] = float("nan")
    rows = [row[: len(t)] for row, t in zip(values.tolist(), tokens, strict=True)]
    return which.tolist(), rows, (count > 1).tolist()
