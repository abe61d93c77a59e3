"""`@path` in a prompt: the file comes with it, under the rules for reading."""

from __future__ import annotations

import re

from . import runner
from .conversation import Conversation
from .types import Call

_MENTION = re.compile(r"""(?:^|(?<=\s))@(?:"([^"\n]+)"|(\S+))""")


def add_files(conv: Conversation, prompt: str) -> str:
    """The prompt, and after it each file or folder it mentions; what names no path stays text."""
    names = dict.fromkeys(match[1] or match[2] for match in _MENTION.finditer(prompt))
    return "\n\n".join([prompt, *(block for name in names if (block := _block(conv, name)))])


def _block(conv: Conversation, name: str) -> str | None:
    path = conv.context.workspace / name
    try:
        folder, exists = path.is_dir(), path.exists()
    except (OSError, ValueError):  # too long a name, a NUL in it
        return None
    if not exists:
        return None
    shown = conv.context.shown(path)
    call = Call("", "read", {"path": name}, "")
    if folder:
        refusal = runner.refusal(conv, call)
        entries = sorted(entry.name + "/" * entry.is_dir() for entry in path.iterdir()) if refusal is None else []
        text = "\n".join(entries)
    else:
        text = runner.run_one(conv, call)
        refusal = text if text.startswith("error: refused: ") else None
    return f"[file {shown}: refused]" if refusal is not None else f"[file {shown}]\n{text}"
