"""Seven tools in the forms of the specification, as far as simple uses of them go."""

import os
from typing import Any

ARGUMENTS = {
    "read": ["path"],
    "write": ["path", "content"],
    "edit": ["path", "old", "new"],
    "multi_edit": ["path", "edits"],
    "bash": ["command"],
    "glob": ["pattern"],
    "grep": ["pattern"],
}


def _offer(name: str, needed: list[str]) -> dict[str, Any]:
    kinds = {argument: {"type": "array" if argument == "edits" else "string"} for argument in needed}
    schema = {"type": "object", "properties": kinds, "required": needed}
    return {"type": "function", "function": {"name": name, "description": name, "parameters": schema}}


TOOLS = [_offer(name, needed) for name, needed in ARGUMENTS.items()]


def run(name: str, args: dict[str, Any]) -> str:
    """The result of one call."""
    if name == "bash":
        return _bash(args["command"], args.get("timeout") or 120)
    if name in ("glob", "grep"):
        found = _glob(args) if name == "glob" else _grep(args)
        return "\n".join(found) or f"[no {'files' if name == 'glob' else 'match'}]"
    path = args["path"]
    if name == "read":
        first, most = args.get("offset") or 1, args.get("limit") or 2000
        lines = _text(path).split("\n")
        shown = list(enumerate(lines[:-1] if lines[-1] == "" else lines, 1))[first - 1 : first - 1 + most]
        return "\n".join(f"{number}\t{line}" for number, line in shown) or "[empty file]"
    if name == "write":
        said = "wrote" if os.path.exists(path) else "created"
        return f"{said} {path}: {_put(path, args['content'])} bytes"
    edits = args["edits"] if name == "multi_edit" else [args]
    if name == "edit" and args["old"] == "":
        return f"created {path}: {_put(path, args['new'])} bytes"
    text, made = _text(path), 0
    for number, edit in enumerate(edits, 1):
        times = text.count(edit["old"])
        if times != 1 and not (times and edit.get("replace_all")):
            return f"error: edit {number}: {times} times"
        text, made = text.replace(edit["old"], edit["new"]), made + times
    _put(path, text)
    return f"{path}: {made} replacement"


def _text(path: str) -> str:
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()


def _put(path: str, text: str) -> int:
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with open(path, "wb") as file:
        return file.write(text.encode())


def _bash(command: str, seconds: float) -> str:
    import subprocess  # what most runs never need

    keep = {name: value for name, value in os.environ.items() if not name.startswith("HARNESS_")}
    pipes: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    done = subprocess.run(["bash", "-c", command], **pipes, env=keep, timeout=seconds, check=False)
    code = done.returncode if done.returncode >= 0 else 128 - done.returncode
    return f"exit code: {code}\n{done.stdout.decode('utf-8', 'replace')}"


def _glob(args: dict[str, Any]) -> list[str]:
    import glob

    base = args.get("path") or "."
    found = (os.path.join(base, name) for name in glob.glob(args["pattern"], root_dir=base, recursive=True))
    return [_shown(path) for path in found if os.path.isfile(path)]


def _grep(args: dict[str, Any]) -> list[str]:
    import re

    base, found = args.get("path") or ".", []
    walked = (os.path.join(folder, name) for folder, _, names in os.walk(base) for name in names)
    for path in [base] if os.path.isfile(base) else sorted(walked):
        with open(path, encoding="utf-8", errors="replace") as file:
            hits = [(n, line.rstrip("\n")) for n, line in enumerate(file, 1) if re.search(args["pattern"], line)]
        if args.get("mode") == "content":
            found += [f"{_shown(path)}:{number}:{line}" for number, line in hits]
        elif hits:
            found.append(f"{_shown(path)}:{len(hits)}" if args.get("mode") == "count" else _shown(path))
    return found


def _shown(path: str) -> str:
    return os.path.normpath(os.path.relpath(path) if not os.path.relpath(path).startswith("..") else path)
