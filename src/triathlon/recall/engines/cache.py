"""A KV cache that a depth-first walk can rewind.

Attention layers write into one buffer as long as the longest sequence, and going back to a branching is setting a
number. Layers with a running state (gated delta net, convolutions) cannot be cut back, so their state is cloned at a
branching. Relies on the layout of transformers' `DynamicCache`; a test pins it.
"""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache
from transformers.cache_utils import CacheLayerMixin, DynamicLayer, DynamicSlidingWindowLayer


class BufferLayer(CacheLayerMixin):  # type: ignore[misc]
    """Keys and values of one attention layer, all of them, whatever its window."""

    is_sliding = False

    def __init__(self, capacity: int) -> None:
        super().__init__()
        self.capacity, self.length = capacity, 0

    def lazy_initialization(self, key_states: Tensor, value_states: Tensor) -> None:
        """Make the buffers once the shapes are known."""
        self.keys, self.values = (
            torch.empty((*s.shape[:2], self.capacity, s.shape[3]), dtype=s.dtype, device=s.device)
            for s in (key_states, value_states)
        )
        self.dtype, self.device = key_states.dtype, key_states.device
        self.is_initialized = True

    def update(self, key_states: Tensor, value_states: Tensor, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
        """Append, and return everything so far."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        keys, values = self.keys, self.values
        assert keys is not None and values is not None
        end = self.length + key_states.shape[2]
        keys[:, :, self.length : end] = key_states
        values[:, :, self.length : end] = value_states
        self.length = end
        return keys[:, :, :end], values[:, :, :end]

    def get_seq_length(self) -> int:
        """Tokens held."""
        return self.length

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        """(keys, offset) of a mask for the next queries."""
        return self.length + query_length, 0

    def get_max_length(self) -> int:
        """No limit of the layer's own."""
        return -1

    get_max_cache_shape = get_max_length  # its name before transformers 5.20


def fresh(config: Any, layers: int, capacity: int) -> DynamicCache:
    """An empty cache for sequences of at most `capacity` tokens."""
    cache = DynamicCache(config=config)
    if not cache.layers:
        cache.layers = [DynamicLayer() for _ in range(layers)]
    cache.layers = [
        BufferLayer(capacity) if type(layer) in (DynamicLayer, DynamicSlidingWindowLayer) else layer
        for layer in cache.layers
    ]
    return cache


def snapshot(cache: DynamicCache) -> list[Any]:
    """What is needed to come back to this point: a length for buffers, a clone of every other layer's state."""
    return [layer.length if isinstance(layer, BufferLayer) else _clone(vars(layer)) for layer in cache.layers]


def restore(cache: DynamicCache, state: list[Any]) -> None:
    """Go back to a snapshot, which stays usable."""
    for layer, kept in zip(cache.layers, state, strict=True):
        if isinstance(layer, BufferLayer):
            layer.length = kept
        else:
            layer.__dict__.clear()
            layer.__dict__.update(_clone(kept))


def _clone(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.clone()
    if isinstance(value, dict):
        return {k: _clone(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_clone(v) for v in value)
    return copy.copy(value)
