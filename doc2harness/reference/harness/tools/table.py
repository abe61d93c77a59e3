"""Names, descriptions and arguments of the built-in tools."""

from __future__ import annotations

from typing import Any, NamedTuple

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string"}
_SWITCH: Schema = {"type": "boolean"}
_PATH: Schema = {"type": "string", "description": "absolute, or relative to the workspace"}
_EDIT: Schema = {"old": _TEXT, "new": _TEXT, "replace_all": _SWITCH}


class Entry(NamedTuple):
    """One tool. `required` and `optional` are its arguments; `reads` tools may run side by side."""

    name: str
    description: str
    required: Schema
    optional: Schema = {}  # noqa: RUF012  (never changed)
    reads: bool = False

    def parameters(self) -> Schema:
        return {"type": "object", "properties": self.required | self.optional, "required": list(self.required)}


TABLE = (
    Entry(
        "read",
        "Read a text file. Gives numbered lines; of a long file use offset (the first line, from 1) and limit.",
        {"path": _PATH},
        {"offset": {"type": "integer", "minimum": 1}, "limit": {"type": "integer", "minimum": 1}},
        reads=True,
    ),
    Entry(
        "write",
        "Write a whole file, with its folders. A file that exists has to be read before it is overwritten.",
        {"path": _PATH, "content": _TEXT},
    ),
    Entry(
        "edit",
        "Replace text in a file that was read. `old` must stand there exactly once, to the blank, or give replace_all. "
        "An empty `old` makes a new file.",
        {"path": _PATH, "old": _TEXT, "new": _TEXT},
        {"replace_all": _SWITCH},
    ),
    Entry(
        "multi_edit",
        "Make several replacements in one file, in order, all of them or none.",
        {
            "path": _PATH,
            "edits": {
                "type": "array",
                "minItems": 1,
                "items": {"type": "object", "properties": _EDIT, "required": ["old", "new"]},
            },
        },
    ),
    Entry(
        "glob",
        "List files by a pattern (`**/*.py`), newest first. Hidden and git-ignored files are left out.",
        {"pattern": _TEXT},
        {"path": _PATH, "include_ignored": _SWITCH, "include_hidden": _SWITCH},
        reads=True,
    ),
    Entry(
        "grep",
        "Search files for a regular expression, line by line. Modes: files (paths only), content (the lines, with "
        "`context` lines around them), count. `glob` chooses the files. Git-ignored files are left out.",
        {"pattern": _TEXT},
        {
            "path": _PATH,
            "glob": _TEXT,
            "mode": {"type": "string", "enum": ["files", "content", "count"]},
            "context": {"type": "integer", "minimum": 0},
            "ignore_case": _SWITCH,
            "include_ignored": _SWITCH,
        },
        reads=True,
    ),
    Entry(
        "bash",
        "Run a shell command. The folder it ends in is where the next one starts; variables do not carry over. "
        "With run_in_background it goes on while you do other things: see bash_output and bash_kill.",
        {"command": _TEXT},
        {"timeout": {"type": "number", "exclusiveMinimum": 0}, "run_in_background": _SWITCH},
    ),
    Entry("bash_output", "The new output of a command in the background, and whether it still runs.", {"id": _TEXT}),
    Entry("bash_kill", "End a command in the background.", {"id": _TEXT}),
    Entry("fetch", "Get a web page (http or https) as text.", {"url": _TEXT}, reads=True),
    Entry(
        "todo",
        "Replace the list of what is to be done. Keep it up to date while you work.",
        {
            "items": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "text": _TEXT,
                        "status": {"type": "string", "enum": ["pending", "active", "done"]},
                    },
                    "required": ["text", "status"],
                },
            }
        },
    ),
    Entry(
        "task",
        "Let another agent do a piece of work in a conversation of its own; its final text is the result. It knows "
        "nothing but the prompt. The agent `general` is always there.",
        {"agent": _TEXT, "prompt": _TEXT},
        reads=True,
    ),
    Entry("skill", "Load the instructions of a skill.", {"name": _TEXT}, {"arguments": _TEXT}),
    Entry(
        "ask",
        "Ask the user a question. Give choices where there are some; secret hides what is typed.",
        {"question": _TEXT},
        {"choices": {"type": "array", "items": _TEXT}, "secret": _SWITCH},
    ),
    Entry("exit_plan", "In plan mode: hand your plan to the user, who may let you carry it out.", {"plan": _TEXT}),
)
