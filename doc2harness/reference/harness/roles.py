"""Roles: an architect's model plans without edit tools, an editor's model carries the plan out."""

from __future__ import annotations

from . import agent
from .conversation import Conversation

EDIT_TOOLS = frozenset({"write", "edit", "multi_edit"})


def take_turn(conv: Conversation, prompt: str) -> str:
    """A turn in the conversation's role. A role changes models and tools, never what is allowed."""
    models, model, tools = conv.place.settings.models, conv.model, conv.tools
    try:
        if conv.role == "architect":
            conv.model = models.get("architect", model)
            conv.tools = {name: tool for name, tool in tools.items() if name not in EDIT_TOOLS}
            plan = agent.take_turn(conv, prompt)
            conv.model, conv.tools = models.get("editor", model), tools
            conv.add_user(f"Carry out this plan:\n{plan}")
            text = agent.go_on(conv)
        else:
            conv.model = models.get("editor", model) if conv.role == "editor" else model
            text = agent.take_turn(conv, prompt)
        return agent.fit_schema(conv, text)
    finally:
        conv.model, conv.tools = model, tools


def models_of(conv: Conversation) -> list[str]:
    """The models a turn of this conversation asks."""
    models = conv.place.settings.models
    names = {"architect": ("architect", "editor"), "editor": ("editor",)}.get(conv.role or "", ())
    return [models.get(name, conv.model) for name in names] or [conv.model]
