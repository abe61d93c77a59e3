"""The model behind `$HARNESS_BASE_URL`: chat completions with tools, streamed or whole."""

from typing import Any


class ChatModel:
    def query(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> dict[str, Any]:
        raise NotImplementedError
