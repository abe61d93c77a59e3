"""ThinCtx models, on their own runtime, through `Engine.score(ids, positions, tokens)`.

The method comes with thinctx 1.1; it is looked for, not assumed. Written against the duck type the benchmark's card
describes and tested against a fake; the real runtime was not run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from triathlon.errors import MissingExtra, UsageError
from triathlon.recall.engines import Options


def load(model: str, options: Options) -> ThinctxEngine:
    """Load a model folder or repository with thinctx."""
    try:
        import thinctx  # type: ignore[import-not-found]
    except ImportError as error:
        raise MissingExtra("the thinctx engine (install thinctx 1.1 or later yourself)", "recall") from error
    given: dict[str, Any] = {}
    if options.dtype != "auto":
        given["dtype"] = options.dtype
    if options.device != "auto":
        given["device"] = options.device
    engine = thinctx.load(model, **given)
    return ThinctxEngine(engine, version=getattr(thinctx, "__version__", ""), name=model)


class ThinctxEngine:
    """An engine of thinctx that can score."""

    def __init__(self, engine: Any, *, version: str = "", name: str = "") -> None:
        if not callable(getattr(engine, "score", None)):
            raise UsageError(
                f"scoring needs thinctx >= 1.1 (this is {version or 'an older one'}, without Engine.score)"
            )
        self.engine, self.version, self.name = engine, version, name
        self.tokenizer = getattr(engine, "tokenizer", None)
        self.limit: int | None = getattr(engine, "max_context", None)

    def describe(self) -> dict[str, Any]:
        """What a result must say about how it was read."""
        return {"engine": "thinctx", "model": self.name, "thinctx": self.version, "dtype": "unknown"}

    def read(self, ids: Any, positions: Sequence[int], tokens: Sequence[Sequence[int]]) -> Any:
        """Read one sequence; the answer's form is checked by the caller."""
        return self.engine.score([int(t) for t in ids], list(positions), [list(row) for row in tokens])
