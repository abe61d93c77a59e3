"""The session file."""

import datetime
import fcntl
import hashlib
import json
import os
import re
import uuid

from harness import HarnessError
from harness.settings import warn


def now():
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def key_of(workspace):
    name = re.sub(r"[^A-Za-z0-9._-]", "-", os.path.basename(workspace))
    return name + "-" + hashlib.sha256(os.fsencode(workspace)).hexdigest()[:12]


def read_lines(path):
    """(objects, whether some were skipped)."""
    objects, skipped = [], False
    with open(path, "rb") as file:
        data = file.read()
    for line in data.split(b"\n"):
        if not line.strip():
            continue
        try:
            value = json.loads(line.decode("utf-8"))
        except (ValueError, RecursionError):
            skipped = True
            continue
        if isinstance(value, dict):
            objects.append(value)
        else:
            skipped = True
    return objects, skipped


def all_files(home):
    top = os.path.join(home, "sessions")
    found = []
    for key in sorted(os.listdir(top)) if os.path.isdir(top) else []:
        folder = os.path.join(top, key)
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            if name.endswith(".jsonl"):
                found.append((key, name[:-6], os.path.join(folder, name)))
    return found


def find(home, given):
    files = all_files(home)
    exact = [f for f in files if f[1] == given]
    near = exact or ([f for f in files if f[1].startswith(given)] if len(given) >= 4 else [])
    if len(near) != 1:
        raise HarnessError("%s session %s" % ("ambiguous" if near else "no such", given), 1)
    return near[0][2]


def latest(home, workspace):
    files = [f[2] for f in all_files(home) if f[0] == key_of(workspace)]
    if not files:
        raise HarnessError("no session in this workspace", 1)
    return max(files, key=lambda p: os.stat(p).st_mtime_ns)


class Session:
    def __init__(self, home, workspace, persist=True):
        self.home, self.workspace, self.persist = home, workspace, persist
        self.id, self.path, self.file = str(uuid.uuid4()), None, None
        self.messages, self.prompts, self.seen, self.todo = [], [], {}, []
        self.last_input, self.last_mode = 0, None
        self.starts = []
        self.lines = []

    def start(self, mode, model, parent=None):
        if self.persist:
            folder = os.path.join(self.home, "sessions", key_of(self.workspace))
            os.makedirs(folder, exist_ok=True)
            self.path = os.path.join(folder, self.id + ".jsonl")
            self.lock()
        line = {"type": "session", "version": 1, "id": self.id, "workspace": self.workspace, "mode": mode, "model": model}
        if parent:
            line["parent"] = parent
        self.append(line)
        self.last_mode = mode

    def lock(self):
        self.file = open(self.path, "ab", buffering=0)
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self.file.close()
            self.file = None
            raise HarnessError("session %s is in use" % self.id, 1) from None

    def append(self, line):
        if not self.persist or self.file is None:
            return
        from harness.model import scrub
        line = {"type": line["type"], "time": now(), **line}
        self.file.write(json.dumps(scrub(line), ensure_ascii=False).encode("utf-8") + b"\n")

    def fresh_line(self):
        with open(self.path, "rb") as file:
            file.seek(0, 2)
            if file.tell():
                file.seek(-1, 2)
                if file.read(1) != b"\n":
                    self.file.write(b"\n")

    @classmethod
    def load(cls, home, path, persist=True):
        objects, skipped = read_lines(path)
        if skipped:
            warn("%s: lines that cannot be read were skipped" % path)
        first = objects[0] if objects and objects[0].get("type") == "session" else {}
        session = cls(home, first.get("workspace") if isinstance(first.get("workspace"), str) else "", persist)
        session.path, session.id = path, os.path.basename(path)[:-6]
        session.last_mode = first.get("mode")
        session.lines = objects
        for line in objects:
            kind = line.get("type")
            if kind == "message" and isinstance(line.get("message"), dict):
                if "prompt" in line:
                    session.starts.append((line["prompt"], len(session.messages)))
                session.messages.append(line["message"])
                if isinstance(line.get("usage"), dict):
                    session.last_input = line["usage"].get("input_tokens", 0)
            elif kind == "todo" and isinstance(line.get("items"), list):
                session.todo = line["items"]
            elif kind == "seen" and isinstance(line.get("path"), str):
                session.seen[line["path"]] = line.get("sha256")
            elif kind == "mode":
                session.last_mode = line.get("mode")
            elif kind == "compaction":
                keep = line.get("keep", 0)
                cut = max(0, len(session.messages) - keep)
                session.messages = [summary_message(line.get("summary", ""))] + session.messages[cut:]
                session.starts = [(n, max(0, at - cut + 1)) for n, at in session.starts]
                session.last_input = 0
            elif kind == "rewind":
                hit = [at for n, at in session.starts if n >= line.get("prompt", 0)]
                if hit:
                    session.messages = session.messages[:min(hit)]
                    session.starts = [(n, at) for n, at in session.starts if n < line["prompt"]]
        return session

    @property
    def next_prompt(self):
        return max([n for n, _ in self.starts if isinstance(n, int)], default=0) + 1

    def close(self):
        if self.file is not None:
            self.file.close()
            self.file = None


def summary_message(summary):
    return {"role": "user", "content": "Summary of the conversation so far:\n" + summary}


def repair(messages):
    """Exactly one result for each call, right after it."""
    out, i = [], 0
    while i < len(messages):
        message = messages[i]
        i += 1
        if message.get("role") == "tool":
            continue
        out.append(message)
        if message.get("role") != "assistant" or not message.get("tool_calls"):
            continue
        results = {}
        j = i
        while j < len(messages) and messages[j].get("role") != "assistant":
            if messages[j].get("role") == "tool":
                results.setdefault(messages[j].get("tool_call_id"), messages[j])
            j += 1
        for call in message["tool_calls"]:
            out.append(results.get(call.get("id")) or
                       {"role": "tool", "tool_call_id": call.get("id"), "content": "error: interrupted"})
    return out
