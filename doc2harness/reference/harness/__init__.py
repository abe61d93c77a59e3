"""A coding-agent harness: the loop between a model, a person's files and a shell, with rules about what may run."""

from .drive import Agent
from .types import Permissions, Tool, User

__version__ = "1.0.0"

__all__ = ["Agent", "Permissions", "Tool", "User", "__version__"]
