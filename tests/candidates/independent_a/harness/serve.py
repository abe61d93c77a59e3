"""`harness serve`: sessions over HTTP."""

import json
import os
import secrets
import signal
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from harness import HarnessError


class Entry:
    """A session with its turn, its events and its open approvals."""

    def __init__(self, agent):
        self.agent, self.busy, self.events, self.approvals = agent, False, [], {}
        self.turn = 0
        self.change = threading.Condition()
        agent.shared.emit = self.emit
        agent.shared.approve = self.approve

    def emit(self, event):
        with self.change:
            self.events.append((self.turn, event))
            self.change.notify_all()

    def approve(self, name, args, target):
        number = secrets.token_hex(8)
        box = {"done": threading.Event(), "answer": ("deny", "no answer")}
        self.approvals[number] = box
        self.emit({"type": "approval", "id": number, "tool": name, "input": args, "target": target})
        run = self.agent.shared
        left = run.settings["approval_timeout"]
        while left > 0 and not run.stop() and not box["done"].wait(min(0.1, left)):
            left -= 0.1
        self.approvals.pop(number, None)
        return box["answer"]


class Server:
    def __init__(self, options):
        self.options, self.token, self.entries = options, secrets.token_hex(16), {}
        self.lock = threading.RLock()

    def make(self, workspace=None, **more):
        from harness.agent import Agent
        agent = Agent.__new__(Agent)
        agent.workspace = os.path.realpath(workspace or os.getcwd())
        agent.options = {**self.options, **{k: v for k, v in more.items() if v is not None}}
        agent.prepare()
        return Entry(agent)

    def get(self, number):
        from harness.agent import state_folder
        from harness.session import find
        with self.lock:
            if number not in self.entries:
                path = find(state_folder(), number)
                number = os.path.basename(path)[:-6]
                if number not in self.entries:
                    self.entries[number] = self.make(resume=number)
            return self.entries[number]

    @staticmethod
    def view(entry):
        session = entry.agent.session
        prompts = [m.get("content") for m in session.messages if m.get("role") == "user"]
        from harness.session import now
        return {"id": session.id, "time": now(), "workspace": session.workspace, "prompt": prompts[0] if prompts else None,
                "turns": session.next_prompt - 1, "state": "busy" if entry.busy else "idle"}


def serve(flags, options):
    shared = Server(options)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            return

        def answer(self, code, value):
            data = json.dumps(value).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def body(self):
            data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            try:
                value = json.loads(data) if data else {}
            except ValueError:
                value = None
            return value if isinstance(value, dict) else None

        def handle_one(self):
            body = self.body()
            if not secrets.compare_digest(self.headers.get("Authorization", "").encode("utf-8", "replace"),
                                          ("Bearer " + shared.token).encode()):
                return self.answer(401, {"error": "a token is needed"})
            parts = self.path.partition("?")[0].strip("/").split("/")
            method = self.command
            if parts[0] != "sessions" or len(parts) > 4:
                return self.answer(404, {"error": "not known"})
            if len(parts) == 1:
                if method == "GET":
                    return self.answer(200, [shared.view(e) for e in reversed(list(shared.entries.values()))])
                return self.create(body) if method == "POST" else self.answer(405, {"error": "wrong method"})
            try:
                entry = shared.get(parts[1])
            except HarnessError as error:
                return self.answer(404, {"error": str(error)})
            rest = parts[2:]
            if not rest:
                if method == "GET":
                    return self.answer(200, {**shared.view(entry), "messages": entry.agent.session.messages})
                return self.remove(entry) if method == "DELETE" else self.answer(405, {"error": "wrong method"})
            wanted = {"messages": "POST", "events": "GET", "abort": "POST", "approvals": "POST"}.get(rest[0])
            if wanted is None or (len(rest) == 2) != (rest[0] == "approvals"):
                return self.answer(404, {"error": "not known"})
            if method != wanted:
                return self.answer(405, {"error": "wrong method"})
            if body is None:
                return self.answer(400, {"error": "the body is not a JSON object"})
            return getattr(self, "do_" + rest[0])(entry, body, *rest[1:])

        do_GET = do_POST = do_DELETE = do_PUT = do_PATCH = do_HEAD = handle_one

        def create(self, body):
            kinds = {"workspace": str, "permission_mode": str, "model": str}
            if body is None or any(k in body and body[k] is not None and not isinstance(body[k], t) for k, t in kinds.items()):
                return self.answer(400, {"error": "a bad body"})
            workspace = body.get("workspace")
            from harness.permissions import MODES
            if (workspace is not None and not os.path.isdir(workspace)) or body.get("permission_mode") not in (None, *MODES):
                return self.answer(400, {"error": "no such folder or mode"})
            try:
                entry = shared.make(workspace, permission_mode=body.get("permission_mode"), model=body.get("model"))
                entry.agent.open()
            except HarnessError as error:
                return self.answer(400, {"error": str(error)})
            with shared.lock:
                shared.entries[entry.agent.session.id] = entry
            return self.answer(201, shared.view(entry))

        def remove(self, entry):
            if entry.busy:
                return self.answer(409, {"error": "a turn runs"})
            entry.agent.close()
            session = entry.agent.session
            with shared.lock:
                shared.entries.pop(session.id, None)
            if session.path and os.path.exists(session.path):
                os.unlink(session.path)
            return self.answer(200, {"deleted": session.id})

        def do_messages(self, entry, body):
            if not isinstance(body.get("prompt"), str):
                return self.answer(400, {"error": "prompt is missing"})
            with entry.change:
                if entry.busy:
                    return self.answer(409, {"error": "a turn runs"})
                entry.busy, entry.turn = True, entry.turn + 1
                entry.agent.announced = False
            try:
                result = entry.agent.run(body["prompt"])
            finally:
                entry.busy = False
            entry.emit(result)
            return self.answer(200, result)

        def do_events(self, entry, _):
            self.send_response(200)
            self.send_header("Content-Type", "application/x-ndjson")
            self.send_header("Connection", "close")
            self.end_headers()
            self.close_connection = True
            with entry.change:
                at = next((i for i, (t, _) in enumerate(entry.events) if t == entry.turn), len(entry.events))
            try:
                while True:
                    with entry.change:
                        while at >= len(entry.events):
                            entry.change.wait(1.0)
                        event = entry.events[at][1]
                        at += 1
                    self.wfile.write(json.dumps(event).encode() + b"\n")
                    self.wfile.flush()
            except OSError:
                return None

        def do_abort(self, entry, _):
            import time
            if entry.busy:
                entry.agent.shared.stopped = ("interrupted", "interrupted")
            end = time.monotonic() + 5
            while entry.busy and time.monotonic() < end:
                time.sleep(0.02)
            return self.answer(200, {"state": "idle"})

        def do_approvals(self, entry, body, number):
            if body.get("answer") not in ("allow", "session", "always", "deny"):
                return self.answer(400, {"error": "a bad answer"})
            box = entry.approvals.pop(number, None)
            if box is None:
                return self.answer(404, {"error": "no such approval"})
            box["answer"] = (body["answer"], body.get("reason") if isinstance(body.get("reason"), str) else "")
            box["done"].set()
            return self.answer(200, {"answer": body["answer"]})

    if not os.environ.get("HARNESS_BASE_URL"):
        raise HarnessError("HARNESS_BASE_URL is not set")
    try:
        http = ThreadingHTTPServer(("127.0.0.1", int(flags.get("--port", "0"))), Handler)
    except (ValueError, OverflowError, OSError) as error:
        raise HarnessError("--port: %s" % error) from None
    http.daemon_threads = True
    code = []

    def on_signal(number, _):
        code.append(128 + number)
        for entry in shared.entries.values():
            entry.agent.shared.stopped = ("interrupted", "interrupted")
        threading.Thread(target=http.shutdown, daemon=True).start()

    signal.signal(signal.SIGINT, on_signal)
    signal.signal(signal.SIGTERM, on_signal)
    sys.stdout.write(json.dumps({"port": http.server_address[1], "token": shared.token}) + "\n")
    sys.stdout.flush()
    http.serve_forever(0.1)
    for entry in shared.entries.values():
        entry.agent.close()
    return code[0] if code else 0
