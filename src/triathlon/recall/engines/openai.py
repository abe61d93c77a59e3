"""Servers of the OpenAI kind: `/completions` with `echo` and `logprobs`.

They give the log-probability of the token that stands in the prompt, and the best tokens as texts. So the asked token
is made to stand there: tokens of the text come from one request, any other token from a request that ends with it. A
server that ignores `echo` gives fewer numbers than the prompt has tokens, and is refused: its scores would be chance.
"""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from typing import Any

from triathlon.errors import UsageError
from triathlon.recall.engines import Options
from triathlon.recall.read import Answer, EngineError

Post = Callable[[dict[str, Any]], dict[str, Any]]


def load(model: str, options: Options) -> OpenAIEngine:
    """A server at `--option base_url=URL` (or $OPENAI_BASE_URL); the key comes from $OPENAI_API_KEY."""
    base = options.extra.get("base_url") or os.environ.get("OPENAI_BASE_URL")
    if not base:
        raise UsageError("the openai engine needs a server: --option base_url=http://HOST:PORT/v1")
    timeout = float(options.extra.get("timeout", "600"))
    return OpenAIEngine(_poster(base.rstrip("/") + "/completions", timeout), name=model)


def _poster(url: str, timeout: float) -> Post:
    key = os.environ.get("OPENAI_API_KEY", "")

    def post(body: dict[str, Any]) -> dict[str, Any]:
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
        request = urllib.request.Request(url, json.dumps(body).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                found = json.load(answer)
        except urllib.error.HTTPError as error:
            said = error.read(500).decode("utf-8", "replace").strip()
            raise EngineError(f"{url} answered {error.code}: {said}") from error
        except (OSError, ValueError) as error:
            raise EngineError(f"{url}: {error}") from error
        if not isinstance(found, dict):
            raise EngineError(f"{url}: the answer is not a JSON object")
        return found

    return post


class OpenAIEngine:
    """A completions server; needs `--tokenizer`, because token ids are sent."""

    def __init__(self, post: Post, *, name: str) -> None:
        self.post, self.name = post, name
        self.tokenizer = None
        self.limit: int | None = None

    def describe(self) -> dict[str, Any]:
        """What a result must say about how it was read."""
        return {"engine": "openai", "model": self.name, "dtype": "unknown"}

    def read(self, ids: Any, positions: Sequence[int], tokens: Sequence[Sequence[int]]) -> Answer:
        """Read one sequence: one request, and one more for every asked token that the text does not have there."""
        last = positions[-1]
        prompt = [*map(int, ids[:last]), int(tokens[-1][0])]
        values, best = self._echo(prompt)
        top: list[int | None] = []
        logps = []
        for position, row in zip(positions, tokens, strict=True):
            actual = prompt[position]
            logps.append(
                [values[position] if t == actual else self._echo([*prompt[:position], int(t)])[0][-1] for t in row]
            )
            # The best tokens come as texts. All that is needed is whether the text's own token is the best.
            top.append(actual if values[position] >= best[position] - 1e-6 else -1)
        return Answer(top, logps)

    def _echo(self, prompt: list[int]) -> tuple[list[float], list[float]]:
        """(log p, best log p) of every prompt token; the first has none."""
        body = {"model": self.name, "prompt": prompt, "max_tokens": 1, "temperature": 0, "echo": True, "logprobs": 1}
        answer = self.post(body)
        try:
            logprobs = answer["choices"][0]["logprobs"] or {}
            values, best = logprobs.get("token_logprobs") or [], logprobs.get("top_logprobs") or []
        except (KeyError, IndexError, TypeError, AttributeError) as error:
            raise EngineError(f"{self.name}: the answer has no log-probabilities") from error
        if len(values) not in (len(prompt), len(prompt) + 1) or len(best) != len(values):
            raise EngineError(
                f"{self.name}: {len(values)} log-probabilities for a prompt of {len(prompt)} tokens: "
                "the server ignores `echo`, its scores would be chance"
            )
        values, best = values[: len(prompt)], best[: len(prompt)]
        if any(v is None for v in values[1:]) or any(not b for b in best[1:]):
            raise EngineError(f"{self.name}: a prompt token came back without a log-probability")
        return [0.0, *map(float, values[1:])], [0.0, *(max(map(float, b.values())) for b in best[1:])]
