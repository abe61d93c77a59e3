"""What one prompt costs and was refused; shared by a conversation and its subagents."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from .reply import Reply
from .types import Stop


class Account:
    """Tokens, USD and refusals of one prompt; `max_cost` in USD."""

    def __init__(self, prices: Mapping[str, Mapping[str, float]], max_cost: float | None = None) -> None:
        self.prices = prices
        self.max_cost = max_cost
        self.input_tokens = 0
        self.output_tokens = 0
        self.denials: list[dict[str, Any]] = []
        self._cost: float | None = 0.0  # None once a model without a price has replied
        self._lock = threading.Lock()  # subagents run side by side

    def charge(self, model: str, reply: Reply) -> None:
        """Count one reply that came whole."""
        price = self.prices.get(model)
        with self._lock:
            self.input_tokens += reply.input_tokens
            self.output_tokens += reply.output_tokens
            if price is None:
                self._cost = None
            elif self._cost is not None:
                spent = reply.input_tokens * price.get("input", 0.0) + reply.output_tokens * price.get("output", 0.0)
                self._cost += spent / 1_000_000

    def add(self, other: Account) -> None:
        """Count what another account holds."""
        self.input_tokens += other.input_tokens
        self.output_tokens += other.output_tokens
        self._cost = None if self._cost is None or other._cost is None else self._cost + other._cost

    @property
    def cost(self) -> float | None:
        """USD, None if it cannot be known."""
        return self._cost

    def check(self) -> None:
        """Stop if the money is spent."""
        if self.max_cost is not None and self._cost is not None and self._cost > self.max_cost:
            raise Stop(4, "max_cost", f"the budget of {self.max_cost:g} USD is spent ({self._cost:.6g} USD)")

    def deny(self, tool: str, arguments: Any, reason: str) -> None:
        self.denials.append({"tool": tool, "input": arguments, "reason": reason})
