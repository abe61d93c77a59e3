"""A stdio tool server (Model Context Protocol): `python3 tool_server.py CONFIG.json`.

CONFIG: {"name", "behaviour", "tools": {NAME: {"description", "says", "error", "writes", "input"}}, "log"}.
Every message that comes in is appended to the log as one JSON line.
"""

import json
import os
import sys
import time
from typing import Any


def main(config: dict[str, Any]) -> None:
    behaviour, tools = config["behaviour"], config["tools"]
    if behaviour == "crash":
        sys.exit("tool server: crashed, as it was told to")
    for line in sys.stdin:
        with open(config["log"], "a", encoding="utf-8") as log:
            log.write(line if line.endswith("\n") else line + "\n")
        try:
            message = json.loads(line)
        except ValueError:
            answer(None, {"error": {"code": -32700, "message": "not JSON"}})
            continue
        if not isinstance(message, dict) or "id" not in message:
            continue
        if behaviour == "hang":
            time.sleep(3600)
        if behaviour == "noise":
            print("starting up ... \x1b[32mok\x1b[0m", flush=True)
        answer(message["id"], reply(config, behaviour, tools, message))


def reply(config: dict[str, Any], behaviour: str, tools: dict[str, Any], message: dict[str, Any]) -> dict[str, Any]:
    method, params = message.get("method"), message.get("params") or {}
    if method == "initialize":
        version = params.get("protocolVersion", "2025-03-26")
        info = {"name": config["name"], "version": "1"}
        return {"result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}}
    if method == "ping":
        return {"result": {}}
    if method == "tools/list":
        listed = [
            {"name": name, "description": tool["description"], "inputSchema": tool["input"]}
            for name, tool in tools.items()
        ]
        return {"result": {"tools": listed}}
    if method == "tools/call":
        return call(behaviour, tools, params)
    return {"error": {"code": -32601, "message": f"no such method: {method}"}}


def call(behaviour: str, tools: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
    tool = tools.get(str(params.get("name")))
    if tool is None:
        return {"error": {"code": -32602, "message": f"no such tool: {params.get('name')}"}}
    if behaviour == "crash_on_call":
        os._exit(1)
    if tool["writes"] is not None:
        with open(tool["writes"], "w", encoding="utf-8") as file:
            json.dump(params.get("arguments") or {}, file, sort_keys=True)
    return {"result": {"content": [{"type": "text", "text": tool["says"]}], "isError": tool["error"]}}


def answer(number: Any, body: dict[str, Any]) -> None:
    print(json.dumps({"jsonrpc": "2.0", "id": number, **body}), flush=True)


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as source:
        main(json.load(source))
