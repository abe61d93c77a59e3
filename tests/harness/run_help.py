"""Small candidates and suites for tests of the run: a candidate that does what its prompt says, in Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from triathlon import protocol
from triathlon.harness import candidate, result, run
from triathlon.harness.load import load_suite
from triathlon.sandbox import Provider
from triathlon.store import Row, Store

INSTALL = """\
set -e
mkdir -p "$1/bin" "$1/lib/harness"
cp main.py "$1/lib/harness/__init__.py"
printf '#!/bin/sh\\nexec python3 -S %s/lib/harness/__init__.py "$@"\\n' "$1" > "$1/bin/harness"
chmod +x "$1/bin/harness"
"""

OBEDIENT = '''\
"""Runs the prompt as Python, with `ask(TEXT)` for one request to the model."""
import json, os, signal, socket, subprocess, sys, threading, time, urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer

def ask(text, messages=()):
    messages = [{"role": "system", "content": "s"}, *messages, {"role": "user", "content": text}]
    body = json.dumps({"model": "default", "messages": messages, "stream": False}).encode()
    headers = {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ["HARNESS_API_KEY"]}
    request = urllib.request.Request(os.environ["HARNESS_BASE_URL"] + "/chat/completions", body, headers)
    with urllib.request.urlopen(request) as answer:
        return json.loads(answer.read())["choices"][0]["message"]["content"]

class Agent:
    def __init__(self, workspace, **settings):
        self.workspace, self.settings, self.runs = workspace, settings, 0
        if "refuse" in settings:
            raise ValueError("refused to be made")
    def run(self, prompt):
        self.runs += 1
        print("noise on standard output")
        if prompt == "raise":
            raise RuntimeError("broken agent")
        return {"result": ask(prompt), "runs": self.runs, "workspace": self.workspace}

class Handler(BaseHTTPRequestHandler):
    def answer(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def do_GET(self):
        if self.headers.get("Authorization") != "Bearer s3cret":
            return self.answer(401, {"error": "no token"})
        if self.path == "/slow":
            time.sleep(30)
        if self.path == "/stream":
            self.send_response(200)
            self.end_headers()
            for n in range(1000):
                self.wfile.write(b"event %d\\n" % n)
                self.wfile.flush()
                time.sleep(0.01)
        self.answer(200, {"path": self.path})
    def do_POST(self):
        sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.answer(201, {"said": ask(sent["prompt"])})
    def log_message(self, *words):
        pass

if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        server = HTTPServer(("127.0.0.1", 0), Handler)
        print(json.dumps({"port": server.server_address[1], "token": "s3cret"}), flush=True)
        server.serve_forever()
    elif sys.argv[1:2] == ["-p"]:
        exec(sys.argv[2])
    elif sys.argv[1:]:
        print(json.dumps(sys.argv[1:]))
    else:
        exec(os.environ["PROGRAM"])
'''

ONE_CASE = """
group: g
about: A test.
clauses: [HEAD-01]
cases:
  - id: a
    kind: ordinary
    origin: {spec: HEAD-01}
"""


def make_tree(folder: Path, main: str = OBEDIENT, install: str = INSTALL) -> Path:
    """A candidate's tree."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "main.py").write_text(main)
    (folder / "install.sh").write_text(install)
    return folder


def make_cases(folder: Path, text: str, category: str = "headless") -> Path:
    """A folder of cases with one group."""
    name = next(line.split(":")[1].strip() for line in text.splitlines() if line.startswith("group:"))
    (folder / category).mkdir(parents=True, exist_ok=True)
    (folder / category / f"{name}.yaml").write_text(text)
    return folder


def one_case(folder: Path, body: str) -> Path:
    """A folder of cases with the one case `g/a`; `body` is YAML, indented by four."""
    return make_cases(folder, ONE_CASE + body)


def evaluate(
    provider: Provider, tree: Path, cases: Path, store: Path, *, numbers: dict[str, Any] | None = None, **options: Any
) -> result.Result:
    """Run a suite against a tree."""
    protocol_of_run = protocol.load()
    for name, value in (numbers or {}).items():
        protocol_of_run = protocol_of_run.change(name, value)
    planned = run.plan(candidate.load(str(tree)), load_suite(cases), protocol_of_run, provider, run.Options(**options))
    with Store(store) as kept:
        return result.result_of(run.evaluate(planned, kept))


def rows(store: Path) -> list[Row]:
    """All rows of a store."""
    with Store(store, create=False) as kept:
        return kept.rows()
