"""Causal attention over a cached prefix, in blocks of queries that see only their own keys.

A segment behind a cached prefix would get an explicit mask, and masked attention computes the whole rectangle on a CPU:
twice the cost of causal attention, which eats what sharing saved. Registered with transformers under the name `NAME`;
the keys an attention layer hands in are always the whole sequence so far, so the last query sees the last key.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

NAME = "triathlon_blocked"
BLOCK = 256


def register() -> str:
    """Make the attention known to transformers; returns its name."""
    from transformers import AttentionInterface

    AttentionInterface.register(NAME, blocked)
    return NAME


def blocked(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    sliding_window: int | None = None,
    softcap: float | None = None,
    s_aux: Tensor | None = None,
    **kwargs: Any,
) -> tuple[Tensor, None]:
    """Attention of `query` [1, heads, q, d] over `key`, `value` [1, kv heads, k, d], k >= q; returns [1, q, heads, d].

    `sliding_window`, `softcap` (Gemma 2) and `s_aux` (attention sinks) are what the models pass by these names.
    """
    groups = query.shape[1] // key.shape[1]
    size, total = query.shape[2], key.shape[2]
    past = total - size
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    plain = softcap is None and s_aux is None
    if plain and past == 0 and (sliding_window is None or total <= sliding_window):
        out = scaled_dot_product_attention(
            query, _repeat(key, groups), _repeat(value, groups), is_causal=size > 1, scale=scale
        )
        return out.transpose(1, 2), None
    key, value = _repeat(key, groups), _repeat(value, groups)
    parts = []
    for start in range(0, size, BLOCK):
        stop = min(start + BLOCK, size)
        last = past + stop
        first = 0 if sliding_window is None else max(0, past + start - sliding_window + 1)
        q, k, v = query[:, :, start:stop], key[:, :, first:last], value[:, :, first:last]
        mask = _mask(stop - start, last - first, sliding_window, query.device, query.dtype)
        if plain:
            parts.append(scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=scale))
        else:
            parts.append(_eager(q, k, v, mask, scale, softcap, s_aux))
    return torch.cat(parts, dim=2).transpose(1, 2), None


def _repeat(states: Tensor, groups: int) -> Tensor:
    if groups == 1:
        return states
    return states.repeat_interleave(groups, dim=1)


def _mask(rows: int, columns: int, window: int | None, device: torch.device, dtype: torch.dtype) -> Tensor | None:
    """Additive mask [rows, columns] whose last query sees the last key; None where one query sees everything."""
    if rows == 1:
        return None
    width = -(-columns // 1024) * 1024 + rows  # few distinct sizes, so the tables are few
    return _table(rows, width, window, device, dtype)[:, width - columns :]


@lru_cache(maxsize=8)
def _table(rows: int, width: int, window: int | None, device: torch.device, dtype: torch.dtype) -> Tensor:
    row = torch.arange(rows, device=device)[:, None] + (width - rows)
    column = torch.arange(width, device=device)[None, :]
    hidden = column > row
    if window is not None:
        hidden |= column <= row - window
    return torch.zeros(rows, width, device=device, dtype=dtype).masked_fill_(hidden, float("-inf"))


def _eager(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, scale: float, softcap: float | None, sinks: Tensor | None
) -> Tensor:
    """Scores written out, for models that change them between the product and the softmax."""
    scores = torch.matmul(q, k.transpose(2, 3)) * scale
    if softcap is not None:
        scores = torch.tanh(scores / softcap) * softcap
    if mask is not None:
        scores = scores + mask
    if sinks is not None:
        column = sinks.reshape(1, -1, 1, 1).expand(q.shape[0], -1, q.shape[2], 1).to(scores.dtype)
        scores = torch.cat([scores, column], dim=-1)
    weights = torch.softmax(scores, dim=-1, dtype=torch.float32).to(v.dtype)
    if sinks is not None:
        weights = weights[..., :-1]
    return torch.matmul(weights, v)
