"""Memory, agents, skills, commands: text files that extend the harness."""

import os
import re
import shlex

from harness.settings import project_folders, warn


class BadFile(Exception):
    """A file that is skipped."""


def front(path):
    """(fields, body) of a file with or without front matter."""
    try:
        with open(path, "rb") as file:
            text = file.read().decode("utf-8")
    except UnicodeDecodeError:
        raise BadFile("not UTF-8") from None
    lines = text.removeprefix("\ufeff").split("\n")
    fields, key = {}, None
    if lines[0].rstrip() != "---":
        return None, text.strip("\r\n")
    for number, line in enumerate(lines[1:], 1):
        line = line.rstrip()
        if line == "---":
            body = lines[number + 1:]
            while body and not body[0].strip():
                body.pop(0)
            while body and not body[-1].strip():
                body.pop()
            return fields, "\n".join(body)
        if key and re.match(r"\s*-\s", line + " "):
            if not isinstance(fields[key], list):
                fields[key] = [fields[key]] if fields[key] else []
            fields[key].append(unquote(line.strip()[1:].strip()))
        elif ":" in line:
            key, _, value = line.partition(":")
            key = key.strip()
            fields[key] = unquote(value.strip())
    raise BadFile("front matter does not end")


def unquote(text):
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text


def as_list(value):
    if isinstance(value, list):
        return value
    value = value.strip()
    if value.startswith("[") and value.endswith("]"):
        value = value[1:-1]
    parts, level, start = [], 0, 0
    for i, c in enumerate(value):
        level += (c in "({") - (c in ")}")
        if c == "," and level <= 0:
            parts.append(value[start:i])
            start = i + 1
    parts.append(value[start:])
    return [unquote(p.strip()) for p in parts if p.strip()]


def folders(settings, name):
    return [os.path.join(f, ".harness", name) for f in project_folders(settings.workspace)] + [os.path.join(settings.home, name)]


def agents(settings, engine):
    from harness.permissions import RuleError
    from harness.schemas import TABLE
    found = {}
    for folder in folders(settings, "agents"):
        for entry in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            name, path = entry[:-3], os.path.join(folder, entry)
            if not entry.endswith(".md") or name in found:
                continue
            try:
                fields, body = front(path)
                fields = fields or {}
                tools = as_list(fields["tools"]) if "tools" in fields else None
                for tool in tools or []:
                    if tool not in TABLE and not tool.startswith("mcp__"):
                        raise BadFile("unknown tool " + tool)
                rules = {k: [engine.rule(r, "agent") for r in as_list(fields[k])] if k in fields else [] for k in ("deny", "ask")}
            except (BadFile, RuleError, OSError) as error:
                warn("%s: skipped: %s" % (path, error))
                continue
            found[name] = {"tools": tools, "model": fields.get("model"), "body": body, **rules}
    found.setdefault("general", {"tools": None, "model": None, "body": "", "deny": [], "ask": []})
    return found


def skills(settings):
    found = {}
    for folder in folders(settings, "skills"):
        for entry in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            path = os.path.join(folder, entry, "SKILL.md")
            if not os.path.isfile(path):
                continue
            try:
                fields, body = front(path)
                if not fields or not fields.get("name") or not fields.get("description"):
                    raise BadFile("name or description is missing")
            except (BadFile, OSError) as error:
                warn("%s: skipped: %s" % (path, error))
                continue
            found.setdefault(fields["name"], (fields["description"], body))
    return found


def command(settings, name):
    parts = name.split(":")
    for folder in folders(settings, "commands"):
        path = os.path.join(folder, *parts) + ".md"
        if all(parts) and os.path.isfile(path):
            return front(path)[1]
    return None


def fill(body, arguments, add=False):
    arguments = arguments.strip()
    try:
        words = shlex.split(arguments)
    except ValueError:
        words = arguments.split()
    used = []

    def put(m):
        used.append(1)
        return arguments if m.group(1) == "ARGUMENTS" else (words[int(m.group(1)) - 1] if int(m.group(1)) <= len(words) else "")

    text = re.sub(r"\$(ARGUMENTS|[1-9])", put, body)
    return text + "\n\n" + arguments if add and arguments and not used else text


def memory(settings, engine):
    """The memory texts, in order."""
    chain = [(os.path.join(settings.home, "AGENTS.md"), True)]
    chain += [(os.path.join(f, "AGENTS.md"), False) for f in reversed(project_folders(settings.workspace))]
    chain.append((os.path.join(settings.workspace, "AGENTS.local.md"), False))
    texts, done = [], set()
    for path, user in chain:
        real = os.path.realpath(path)
        if real in done or not os.path.isfile(real):
            continue
        done.add(real)
        texts.append([path, imported(path, settings, engine, user, [real])])
    total = sum(len(t.encode("utf-8", "replace")) for _, t in texts)
    for item in texts:
        if total <= 65536:
            break
        data = item[1].encode("utf-8", "replace")
        keep = max(0, len(data) - (total - 65536))
        total -= len(data) - keep
        item[1] = data[:keep].decode("utf-8", "ignore")
        warn("%s: memory cut" % item[0])
    return [t for _, t in texts]


def imported(path, settings, engine, user, inside):
    with open(path, encoding="utf-8", errors="replace", newline="") as file:
        lines = file.read().split("\n")
    out, fence = [], ""
    for line in lines:
        m = re.match(r"\s*(```+|~~~+)", line)
        if m and (not fence or line.strip().startswith(fence)):
            fence = "" if fence else m.group(1)
        if fence or not line.startswith("@") or len(line.strip()) < 2 or len(inside) > 4:
            out.append(line)
            continue
        target = os.path.normpath(os.path.join(os.path.dirname(path), line[1:].rstrip("\r")))
        real = os.path.realpath(target)
        if real in inside:
            continue
        home = os.path.realpath(settings.home)
        free = engine.inside([target, real]) or (user and real.startswith(home + "/")) or settings.trusted
        rule = engine.path_rule(engine.deny + engine.ask, ("read",), [target, real])
        if not os.path.isfile(real) or not free or rule:
            warn("%s: not imported: %s" % (path, line))
            out.append(line)
            continue
        out.append(imported(target, settings, engine, user, [*inside, real]))
    return "\n".join(out)


def run_hook(hook, info, workspace, env):
    """(exit code or None, stderr)."""
    import json
    import subprocess

    from harness.commands import end_session, environment
    script = os.path.join(workspace, hook["script"])
    try:
        process = subprocess.Popen([script, *hook.get("args", [])], cwd=workspace, env=environment(env), stdin=subprocess.PIPE,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)
    except (OSError, ValueError) as error:
        warn("hook %s cannot be started: %s" % (hook["script"], error))
        return None, ""
    try:
        _, errors = process.communicate(json.dumps(info).encode(), timeout=hook.get("timeout", 60))
    except subprocess.TimeoutExpired:
        end_session(process.pid)
        process.communicate()
        warn("hook %s: timeout" % hook["script"])
        return None, ""
    return process.returncode, errors.decode("utf-8", "replace")
