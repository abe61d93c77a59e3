"""The loop: ask the model, carry out its calls, ask again, until a reply has no call."""

from typing import Any


class Agent:
    """`Agent(workspace=..., **settings).run(prompt)` is one turn; `run` again goes on."""

    def __init__(self, workspace: str, **settings: Any) -> None:
        raise NotImplementedError

    def run(self, prompt: str) -> dict[str, Any]:
        raise NotImplementedError

    def step(self) -> dict[str, Any]:
        raise NotImplementedError

    def save(self, message: dict[str, Any]) -> None:
        raise NotImplementedError
