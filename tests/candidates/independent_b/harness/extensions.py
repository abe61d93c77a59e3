"""Memory, commands, skills, hooks, subagents and servers (extensions.md)."""

import json
import os
import re
import subprocess

from harness.config import Bad
from harness.permissions import BadRule, Rule, TOOLS, below
from harness.process import end_group, environment

LIMIT = 65_536


def read_text(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def front(text):
    """The front matter and the body; None if the front matter does not end."""
    lines = text.split("\n")
    if lines[0].rstrip() != "---":
        return {}, text.strip("\n")
    end = next((k for k in range(1, len(lines)) if lines[k].rstrip() == "---"), None)
    if end is None:
        return None, ""
    out, key = {}, None
    for line in lines[1:end]:
        if m := re.match(r"\s*-\s+(.*)", line):
            if key:
                out[key] = (out[key] if isinstance(out[key], list) else []) + [m[1].strip().strip("\"'")]
        elif m := re.match(r"([\w-]+)\s*:\s*(.*)", line):
            key = m[1]
            out[key] = m[2].strip().strip("\"'")
    return out, "\n".join(lines[end + 1:]).strip("\n")


def items(value):
    if isinstance(value, list):
        return value
    value = (value or "").strip()
    if value.startswith("[") and value.endswith("]"):
        value = value[1:-1]
    return [x.strip().strip("\"'") for x in re.split(r",(?![^(]*\))", value) if x.strip()]


class Extensions:
    def __init__(self, settings, engine, warn):
        self.settings, self.engine, self.warn = settings, engine, warn
        self.places = [os.path.join(f, ".harness") for f in settings.folders] + [settings.home]

    def memory(self):
        ws, home = self.settings.workspace, self.settings.home
        paths = [os.path.join(home, "AGENTS.md")]
        paths += [os.path.join(f, "AGENTS.md") for f in reversed(self.settings.folders)]
        paths.append(os.path.join(ws, "AGENTS.local.md"))
        texts, seen = [], set()
        for path in paths:
            real = os.path.realpath(path)
            if real in seen or not os.path.isfile(path):
                continue
            seen.add(real)
            try:
                with open(path, encoding="utf-8", errors="replace") as f:
                    texts.append([path, self.imported(f.read(), path, [real], home if path == paths[0] else None)])
            except OSError as e:
                self.warn(f"{path}: {e.strerror}")
        over = sum(len(t.encode()) for _, t in texts) - LIMIT
        for item in texts:
            if over > 0:
                data = item[1].encode()
                item[1] = data[:max(0, len(data) - over)].decode("utf-8", "ignore")
                over -= len(data) - len(item[1].encode())
                self.warn(f"memory is too long: {item[0]} was cut")
        return [t for _, t in texts]

    def imported(self, text, path, inside, home):
        out, fenced = [], False
        for line in text.split("\n"):
            if re.match(r"\s*(```|~~~)", line):
                fenced = not fenced
            m = None if fenced else re.fullmatch(r"@(\S.*?)\s*", line)
            if not m:
                out.append(line)
                continue
            target = os.path.normpath(os.path.join(os.path.dirname(path), m[1]))
            real = os.path.realpath(target)
            forms = self.engine.forms(target)
            allowed = self.engine.inside(forms) or self.settings.trusted or (home and all(below(f, home) for f in forms))
            if real in inside:
                continue
            if len(inside) > 4:
                out.append(line)
            elif not os.path.isfile(target) or not allowed or self.engine.file_rule("deny", "read", forms) \
                    or self.engine.file_rule("ask", "read", forms):
                self.warn(f"{path}: not imported: {m[1]}")
                out.append(line)
            else:
                with open(target, encoding="utf-8", errors="replace") as f:
                    out.append(self.imported(f.read().removesuffix("\n"), target, [*inside, real], home))
        return "\n".join(out)

    def skills(self):
        found = {}
        for place in reversed(self.places):
            base = os.path.join(place, "skills")
            for name in sorted(os.listdir(base)) if os.path.isdir(base) else []:
                path = os.path.join(base, name, "SKILL.md")
                if os.path.isfile(path):
                    try:
                        head, body = front(read_text(path))
                    except (UnicodeDecodeError, OSError):
                        head, body = None, ""
                    if not head or not head.get("name") or not head.get("description"):
                        self.warn(f"skill skipped: {path}")
                    else:
                        found[head["name"]] = (head["description"], body)
        return found

    def command(self, name):
        for place in self.places:
            path = os.path.join(place, "commands", *name.split(":")) + ".md"
            if os.path.isfile(path):
                return front(read_text(path))[1]
        return None

    def agent(self, name):
        """Front matter, body, rules of an agent; None if there is none."""
        for place in self.places:
            path = os.path.join(place, "agents", f"{name}.md")
            if "/" in name or not os.path.isfile(path):
                continue
            try:
                head, body = front(read_text(path))
                if head is None:
                    raise ValueError("its front matter does not end")
                tools = items(head["tools"]) if "tools" in head else None
                for t in tools or []:
                    if t not in TOOLS and not t.startswith("mcp__"):
                        raise ValueError(f"unknown tool {t}")
                rules = [Rule(r, kind, "agent") for kind in ("deny", "ask") for r in items(head.get(kind))]
            except (ValueError, OSError, BadRule) as e:
                self.warn(f"agent skipped: {path}: {e}")
                continue
            return head.get("model"), tools, rules, body
        return (None, None, [], "") if name == "general" else None

    def servers(self):
        places = self.places if self.settings.trusted else self.places[-1:]
        found = {}
        for place in reversed(places):
            path = os.path.join(place, "mcp.json")
            try:
                data = json.loads(read_text(path))
            except FileNotFoundError:
                continue
            except (OSError, UnicodeDecodeError) as e:
                raise Bad(f"{path}: {e}") from None
            except ValueError as e:
                raise Bad(f"{path}: line {getattr(e, 'lineno', 1)}: not JSON") from None
            servers = data.get("servers") if isinstance(data, dict) else None
            if not isinstance(servers, dict):
                raise Bad(f"{path}: servers")
            for name, s in servers.items():
                if not isinstance(s, dict) or not isinstance(s.get("command"), str) or not isinstance(s.get("args", []), list) \
                        or not all(isinstance(a, str) for a in s.get("args", [])) or not isinstance(s.get("env", {}), dict):
                    raise Bad(f"{path}: servers.{name}")
                found[name] = s
        return found


def fill(body, arguments):
    """A body with `$ARGUMENTS` and `$1` to `$9` replaced; whether there was a place for them."""
    arguments, found = arguments.strip(), False
    words = [m[0] if m[0][0] not in "\"'" else m[0][1:-1] for m in re.finditer(r"\"[^\"]*\"|'[^']*'|\S+", arguments)]

    def put(m):
        nonlocal found
        found = True
        if m[1] == "ARGUMENTS":
            return arguments
        return words[int(m[1]) - 1] if int(m[1]) <= len(words) else ""
    return re.sub(r"\$(ARGUMENTS|[1-9])", put, body), found


def run_hook(hook, data, workspace, env):
    """Exit code and stderr of a hook; the code is None if it could not be run to its end."""
    path = os.path.join(workspace, hook["script"])
    try:
        p = subprocess.Popen([path, *hook.get("args", [])], cwd=workspace, env=environment(env), stdin=subprocess.PIPE,
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)
    except OSError as e:
        return None, str(e)
    try:
        err = p.communicate(json.dumps(data).encode(), timeout=hook.get("timeout", 60))[1]
        return p.returncode, err.decode("utf-8", "replace").strip()
    except subprocess.TimeoutExpired:
        end_group(p.pid)
        p.wait()
        return None, "timeout"
    except BaseException:
        end_group(p.pid)
        raise


class Server:
    """A server of tools: JSON-RPC, one object a line."""

    def __init__(self, name, config, workspace, env):
        self.name, self.count, self.buffer, self.tools = name, 0, b"", {}
        full = environment(env) | {k: str(v) for k, v in config.get("env", {}).items()}
        self.p = subprocess.Popen([config["command"], *config.get("args", [])], cwd=workspace, env=full, stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)
        from harness import __version__
        try:
            self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {},
                                    "clientInfo": {"name": "harness", "version": __version__}}, 10, True)
            self.send({"method": "notifications/initialized"})
            cursor = None
            while True:
                answer = self.ask("tools/list", {"cursor": cursor} if cursor else {}, 10, True)
                for tool in answer["tools"]:
                    self.tools[tool["name"]] = tool
                cursor = answer.get("nextCursor")
                if not cursor:
                    break
        except BaseException:
            self.close()
            raise

    def send(self, message):
        self.p.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.p.stdin.flush()

    def ask(self, method, params, timeout, strict=False):
        import select
        import time
        self.count += 1
        self.send({"id": self.count, "method": method, "params": params})
        end = time.monotonic() + timeout
        while True:
            while b"\n" not in self.buffer:
                left = end - time.monotonic()
                if left <= 0 or not select.select([self.p.stdout], [], [], left)[0]:
                    raise ValueError(f"server {self.name}: no answer")
                data = os.read(self.p.stdout.fileno(), 65536)
                if not data:
                    raise ValueError(f"server {self.name} ended")
                self.buffer += data
            line, _, self.buffer = self.buffer.partition(b"\n")
            try:
                message = json.loads(line.decode("utf-8", "replace"))
            except ValueError:
                message = None
            if not isinstance(message, dict):
                if strict:
                    raise ValueError(f"server {self.name}: a line is not a JSON object")
                continue
            if "method" in message:
                if "id" in message:
                    self.send({"id": message["id"], **({"result": {}} if message["method"] == "ping" else
                                                       {"error": {"code": -32601, "message": "not known"}})})
            elif message.get("id") == self.count:
                if "error" in message:
                    raise ValueError(f"server {self.name}: {json.dumps(message['error'])}")
                return message["result"]

    def call(self, tool, arguments):
        try:
            result = self.ask("tools/call", {"name": tool, "arguments": arguments}, 120)
            text = "\n".join(p.get("text", "") if p.get("type") == "text" else f"[{p.get('type')}]" for p in result["content"])
        except (ValueError, KeyError, TypeError, AttributeError, OSError) as e:
            return f"error: {e}"
        return f"error: {text}" if result.get("isError") else text

    def close(self):
        end_group(self.p.pid)
        self.p.wait()
