"""Tool servers: JSON-RPC over stdin and stdout."""

import json
import os
import queue
import subprocess
import threading
import time

from harness import HarnessError, __version__
from harness.commands import end_session, environment
from harness.settings import project_folders, read_file, warn


class ServerError(Exception):
    """A server that does not answer as it should."""


class Server:
    def __init__(self, name, spec, workspace, env):
        self.name, self.number, self.lines, self.ready = name, 0, queue.Queue(), False
        self.lock = threading.Lock()
        self.process = subprocess.Popen([spec["command"], *spec.get("args", [])], cwd=workspace,
                                        env={**environment(env), **spec.get("env", {})}, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)
        threading.Thread(target=self.pump, daemon=True).start()

    def pump(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def send(self, message):
        try:
            self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            self.process.stdin.flush()
        except (OSError, ValueError):
            raise ServerError("the server has ended") from None

    def request(self, method, params, timeout):
        with self.lock:
            self.number += 1
            number = self.number
            self.send({"id": number, "method": method, "params": params})
            end = time.monotonic() + timeout
            while True:
                try:
                    line = self.lines.get(timeout=max(0.0, end - time.monotonic()))
                except queue.Empty:
                    raise ServerError("no answer from the server") from None
                if line is None:
                    self.lines.put(None)
                    raise ServerError("the server has ended")
                try:
                    value = json.loads(line)
                except ValueError:
                    value = None
                if not isinstance(value, dict):
                    if self.ready:
                        continue
                    raise ServerError("a line that is not a JSON object")
                if "method" in value:
                    if "id" in value:
                        answer = {"result": {}} if value["method"] == "ping" else {
                            "error": {"code": -32601, "message": "not known"}}
                        self.send({"id": value["id"], **answer})
                    continue
                if value.get("id") != number:
                    continue
                if "error" in value:
                    error = value["error"]
                    raise ServerError(str(error.get("message", error)) if isinstance(error, dict) else str(error))
                return value.get("result") if isinstance(value.get("result"), dict) else {}

    def begin(self):
        self.request("initialize", {"protocolVersion": "2025-06-18", "capabilities": {},
                                    "clientInfo": {"name": "harness", "version": __version__}}, 10)
        self.send({"method": "notifications/initialized"})
        tools, cursor = [], None
        while True:
            answer = self.request("tools/list", {"cursor": cursor} if cursor else {}, 10)
            tools += [t for t in answer.get("tools", []) if isinstance(t, dict) and isinstance(t.get("name"), str)]
            cursor = answer.get("nextCursor")
            if not cursor:
                break
        self.ready = True
        return tools

    def end(self):
        end_session(self.process.pid)
        self.process.wait()


def start_all(settings, env):
    """({tool: (server, name, definition)}, servers)."""
    specs = {}
    paths = [os.path.join(f, ".harness", "mcp.json") for f in project_folders(settings.workspace)] if settings.trusted else []
    for path in [*paths, os.path.join(settings.home, "mcp.json")]:
        data = read_file(path)
        if data is None:
            continue
        servers = data.get("servers", {})
        ok = isinstance(servers, dict) and all(
            isinstance(s, dict) and isinstance(s.get("command"), str) and isinstance(s.get("args", []), list) and
            all(isinstance(a, str) for a in s.get("args", [])) and isinstance(s.get("env", {}), dict) and
            all(isinstance(v, str) for v in s.get("env", {}).values()) for s in servers.values())
        if not ok:
            raise HarnessError("%s: wrong types in servers" % path)
        for name, spec in servers.items():
            specs.setdefault(name, spec)
    tools, running = {}, []
    for name, spec in specs.items():
        server = None
        try:
            server = Server(name, spec, settings.workspace, env)
            for tool in server.begin():
                full = "mcp__%s__%s" % (name, tool["name"])
                schema = tool.get("inputSchema") if isinstance(tool.get("inputSchema"), dict) else {"type": "object",
                                                                                                  "properties": {}}
                tools[full] = (server, tool["name"], {"type": "function", "function": {
                    "name": full, "description": str(tool.get("description", "")), "parameters": schema}})
            running.append(server)
        except (ServerError, OSError, ValueError) as error:
            warn("server %s skipped: %s" % (name, error))
            tools = {k: v for k, v in tools.items() if v[0] is not server}
            if server is not None:
                server.end()
    return tools, running


def call(server, name, args):
    try:
        result = server.request("tools/call", {"name": name, "arguments": args}, 120)
    except ServerError as error:
        return "error: %s" % error
    parts = []
    for part in result.get("content", []) if isinstance(result.get("content"), list) else []:
        if isinstance(part, dict):
            parts.append(str(part.get("text", "")) if part.get("type") == "text" else "[%s]" % part.get("type"))
    text = "\n".join(parts)
    return "error: " + text if result.get("isError") is True else text
