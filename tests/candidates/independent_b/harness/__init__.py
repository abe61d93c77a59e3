"""A coding-agent harness: the three parts it is made of, and its version."""

from typing import Any, Protocol

__version__ = "1.0.0"


class Model(Protocol):
    """Gives the next reply to a conversation."""

    def query(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> dict[str, Any]: ...


class Environment(Protocol):
    """The place where calls take effect."""

    def execute(self, call: dict[str, Any]) -> str: ...


class Runner(Protocol):
    """Takes a prompt to its end."""

    def run(self, prompt: str) -> dict[str, Any]: ...


def __getattr__(name: str) -> Any:
    if name == "Agent":
        from harness.agent import Agent
        return Agent
    raise AttributeError(name)
