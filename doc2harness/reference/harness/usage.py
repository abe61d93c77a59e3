"""Tokens and money of one run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass
class Usage:
    """Sums over the replies of a run, subagents and summaries included. Tokens, and USD where prices are known."""

    prices: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    unpriced: bool = False  # some reply came from a model without a price

    def add(self, model: str, input_tokens: int, output_tokens: int) -> None:
        """Count one reply; prices are USD per million tokens."""
        self.input_tokens += input_tokens
        self.output_tokens += output_tokens
        price = self.prices.get(model)
        if price is None:
            self.unpriced = True
        else:
            spent = input_tokens * price.get("input", 0.0) + output_tokens * price.get("output", 0.0)
            self.cost += spent / 1_000_000

    @property
    def total_cost_usd(self) -> float | None:
        """None when it is not known."""
        return None if self.unpriced else self.cost
