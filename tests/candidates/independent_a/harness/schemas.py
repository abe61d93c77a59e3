"""The built-in tools: what is offered, and whether a call's arguments are right."""

S, B, I0, I1 = {"type": "string"}, {"type": "boolean"}, {"type": "integer", "minimum": 0}, {"type": "integer", "minimum": 1}
EDIT = {"type": "object", "properties": {"old": S, "new": S, "replace_all": B}, "required": ["old", "new"]}
ITEM = {"type": "object", "properties": {"text": S, "status": {"type": "string", "enum": ["pending", "active", "done"]}},
        "required": ["text", "status"]}
TABLE = {
    "read": ("Read lines of a file.", {"path": S, "offset": I1, "limit": I1}, ["path"]),
    "write": ("Write a whole file. An existing one must have been read first.", {"path": S, "content": S}, ["path", "content"]),
    "edit": ("Replace text that occurs exactly once (or everywhere) in a file that was read.",
             {"path": S, "old": S, "new": S, "replace_all": B}, ["path", "old", "new"]),
    "multi_edit": ("Several replacements in one file, all or none.",
                   {"path": S, "edits": {"type": "array", "items": EDIT, "minItems": 1}}, ["path", "edits"]),
    "glob": ("List files whose path fits a pattern.",
             {"pattern": S, "path": S, "include_ignored": B, "include_hidden": B}, ["pattern"]),
    "grep": ("Search files for a regular expression.",
             {"pattern": S, "path": S, "glob": S, "mode": {"type": "string", "enum": ["files", "content", "count"]},
              "context": I0, "ignore_case": B, "include_ignored": B}, ["pattern"]),
    "bash": ("Run a shell command.", {"command": S, "timeout": {"type": "number", "exclusiveMinimum": 0},
                                      "run_in_background": B}, ["command"]),
    "bash_output": ("New output of a background command.", {"id": S}, ["id"]),
    "bash_kill": ("End a background command.", {"id": S}, ["id"]),
    "fetch": ("Get the text of a web address.", {"url": S}, ["url"]),
    "todo": ("Replace the list of things to do.", {"items": {"type": "array", "items": ITEM}}, ["items"]),
    "task": ("Let a subagent do a task.", {"agent": S, "prompt": S}, ["agent", "prompt"]),
    "skill": ("Load a skill.", {"name": S, "arguments": S}, ["name"]),
    "ask": ("Ask the user.", {"question": S, "choices": {"type": "array", "items": S}, "secret": B}, ["question"]),
    "exit_plan": ("Show the plan and ask to leave plan mode.", {"plan": S}, ["plan"]),
}


def offer(name):
    text, properties, required = TABLE[name]
    return {"type": "function", "function": {"name": name, "description": text, "parameters": {
        "type": "object", "properties": properties, "required": required}}}


def fits(value, schema):
    kind = schema["type"]
    if kind == "string":
        return isinstance(value, str) and ("enum" not in schema or value in schema["enum"])
    if kind == "boolean":
        return isinstance(value, bool)
    if kind == "integer":
        return isinstance(value, int) and not isinstance(value, bool) and value >= schema.get("minimum", value)
    if kind == "number":
        return (isinstance(value, (int, float)) and not isinstance(value, bool) and value == value
                and value > schema.get("exclusiveMinimum", value - 1))
    if kind == "array":
        return isinstance(value, list) and len(value) >= schema.get("minItems", 0) and not any(
            wrong(v, schema["items"]) for v in value)
    return False


def wrong(value, schema):
    """What is wrong with a value: a name, or ""."""
    if schema["type"] != "object":
        return "" if fits(value, schema) else "value"
    if not isinstance(value, dict):
        return "value"
    for name in schema["required"]:
        if value.get(name) is None:
            return name
    for name, inner in schema["properties"].items():
        if value.get(name) is not None and not fits(value[name], inner):
            return name
    return ""


def check(name, args):
    """(arguments without nulls, message or "")."""
    _, properties, required = TABLE[name]
    args = {k: v for k, v in args.items() if v is not None or k not in properties}
    for key in required:
        if key not in args:
            return args, "missing argument: " + key
    for key, schema in properties.items():
        if key in args and not fits(args[key], schema):
            extra = ""
            if schema["type"] == "array" and isinstance(args[key], list):
                extra = " (%s)" % ", ".join(sorted({wrong(v, schema["items"]) for v in args[key]} - {""}))
            return args, "bad argument: %s%s" % (key, extra)
    return args, ""
