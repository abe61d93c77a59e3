"""The session file, and the states of files before changes (session.md)."""

import fcntl
import hashlib
import json
import os
import re
import shutil
import time
import uuid


class SessionError(Exception):
    """Ends the start with exit 1."""


def now():
    t = time.time()
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(t)) + f".{int(t * 1000) % 1000:03d}Z"


def key_of(workspace):
    name = re.sub(r"[^A-Za-z0-9._-]", "-", os.path.basename(workspace))
    return f"{name}-{hashlib.sha256(os.fsencode(workspace)).hexdigest()[:12]}"


def read_lines(path):
    """The readable lines and whether any was skipped."""
    out, skipped = [], False
    with open(path, "rb") as f:
        for raw in f.read().split(b"\n"):
            if not raw.strip():
                continue
            try:
                line = json.loads(raw.decode("utf-8"))
                if not isinstance(line, dict):
                    raise ValueError
                out.append(line)
            except ValueError:
                skipped = True
    return out, skipped


def history(lines):
    """Messages, seen files, todo items and the number of prompts after these lines."""
    messages, seen, todo, prompts = [], {}, [], 0
    for line in lines:
        kind = line.get("type")
        if kind == "message" and isinstance(line.get("message"), dict):
            if "prompt" in line:
                prompts = line["prompt"]
            messages.append((line["message"], line.get("prompt"), line.get("usage")))
        elif kind == "compaction":
            keep = line.get("keep", 0)
            messages = [(summary(line.get("summary", "")), None, None)] + (messages[-keep:] if keep else [])
        elif kind == "rewind":
            n = line.get("prompt")
            cut = next((k for k, m in enumerate(messages) if m[1] == n), None)
            if cut is not None:
                messages = messages[:cut]
            prompts = n - 1
        elif kind == "seen":
            seen[line.get("path")] = line.get("sha256")
        elif kind == "todo":
            todo = line.get("items", [])
    return messages, seen, todo, prompts


def summary(text):
    return {"role": "user", "content": f"Summary of the conversation so far:\n{text}"}


def files(home):
    base, out = os.path.join(home, "sessions"), []
    try:
        keys = os.listdir(base)
    except OSError:
        return []
    for key in keys:
        folder = os.path.join(base, key)
        if os.path.isdir(folder):
            out += [os.path.join(folder, n) for n in os.listdir(folder) if n.endswith(".jsonl")]
    return sorted(out, key=lambda p: -os.stat(p).st_mtime_ns)


def find(home, ident):
    paths = {os.path.basename(p)[:-6]: p for p in files(home)}
    if ident in paths:
        return paths[ident]
    found = [p for i, p in paths.items() if len(ident) >= 4 and i.startswith(ident)]
    if len(found) != 1:
        raise SessionError(f"{'no' if not found else 'more than one'} session {ident}")
    return found[0]


def latest(home, workspace):
    for path in files(home):
        if os.path.basename(os.path.dirname(path)) == key_of(workspace):
            return path
    raise SessionError("no session in this workspace")


def workspace_of(path, lines):
    first = lines[0] if lines else {}
    return first.get("workspace") if first.get("type") == "session" else None


class Session:
    def __init__(self, home, workspace, path=None, ident=None, persist=True):
        self.home, self.workspace, self.persist, self.file = home, workspace, persist, None
        self.id = ident or (os.path.basename(path)[:-6] if path else uuid.uuid4().hex)
        self.path = path or os.path.join(home, "sessions", key_of(workspace), f"{self.id}.jsonl")
        self.prompts, self.stored, self.mode = 0, set(), None

    def open(self):
        """Takes the file for this process."""
        if not self.persist:
            return
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        self.file = open(self.path, "a+b")
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self.file.close()
            self.file = None
            raise SessionError(f"session {self.id} is in use") from None
        size = self.file.seek(0, 2)
        if size:
            self.file.seek(size - 1)
            if self.file.read(1) != b"\n":
                self.file.write(b"\n")

    def append(self, kind, **fields):
        if self.file:
            line = json.dumps({"type": kind, "time": now(), **fields}, ensure_ascii=False)
            self.file.write(line.encode("utf-8", "replace") + b"\n")
            self.file.flush()

    def close(self):
        if self.file:
            self.file.close()
            self.file = None

    # Checkpoints

    @property
    def store(self):
        return os.path.join(self.home, "checkpoints", self.id)

    def change(self, path, data):
        """Called before a change (data None) and after it."""
        if not self.persist:
            return
        os.makedirs(self.store, exist_ok=True)
        if data is not None:
            return self.log({"path": path, "wrote": hashlib.sha256(data).hexdigest()})
        if (self.prompts, path) in self.stored:
            return
        self.stored.add((self.prompts, path))
        entry = {"path": path, "prompt": self.prompts, "mode": None, "blob": None}
        if os.path.exists(path):
            entry.update(mode=os.stat(path).st_mode & 0o7777, blob=uuid.uuid4().hex)
            shutil.copyfile(path, os.path.join(self.store, entry["blob"]))
        self.log(entry)

    def log(self, entry):
        with open(os.path.join(self.store, "index.jsonl"), "a", encoding="utf-8") as f:
            f.write(json.dumps(entry) + "\n")

    def rewind(self, n):
        """Puts files back to what they were before prompt n; the lines of SESS-24 and whether all went well."""
        try:
            entries, _ = read_lines(os.path.join(self.store, "index.jsonl"))
        except OSError:
            entries = []
        first, wrote = {}, {}
        for e in entries:
            if "wrote" in e:
                wrote[e["path"]] = e["wrote"]
            elif e["prompt"] >= n:
                first.setdefault(e["path"], e)
        out, good = [], True
        for path, e in first.items():
            inside = path.startswith(self.workspace.rstrip("/") + "/")
            name, word = os.path.relpath(path, self.workspace) if inside else path, "restored"
            try:
                if os.path.exists(path):
                    with open(path, "rb") as f:
                        if hashlib.sha256(f.read()).hexdigest() != wrote.get(path):
                            raise OSError
                if e["blob"] is None:
                    word = "removed"
                    if os.path.exists(path):
                        os.unlink(path)
                else:
                    os.makedirs(os.path.dirname(path), exist_ok=True)
                    shutil.copyfile(os.path.join(self.store, e["blob"]), path)
                    os.chmod(path, e["mode"])
            except OSError:
                word, good = "not restored", False
            out.append(f"{word} {name}")
        self.append("rewind", prompt=n)
        return out, good


def listing(home):
    out = []
    for path in files(home):
        lines, _ = read_lines(path)
        messages = [x for x in lines if x.get("type") == "message" and "prompt" in x]
        out.append({"id": os.path.basename(path)[:-6], "time": lines[-1].get("time") if lines else None,
                    "workspace": workspace_of(path, lines), "prompt": messages[0]["message"]["content"] if messages else None,
                    "turns": history(lines)[3]})
    return out
