"""Settings files, their order and what a folder that is not trusted gives (settings.md)."""

import json
import os

from harness.permissions import MODES, BadRule, Rule


class Bad(Exception):
    """A flag, setting or input that ends the start with exit 2."""


def positive(v):
    return isinstance(v, (int, float)) and not isinstance(v, bool) and v > 0


def natural(v, least=0):
    return isinstance(v, int) and not isinstance(v, bool) and v >= least


def strings(v):
    return isinstance(v, list) and all(isinstance(x, str) for x in v)


def amount(v):
    return isinstance(v, (int, float)) and not isinstance(v, bool)


def hook(h):
    return (isinstance(h, dict) and isinstance(h.get("script"), str) and h.get("event") in
            ("session_start", "user_prompt", "pre_tool", "post_tool", "stop", "session_end")
            and isinstance(h.get("matcher", "*"), str) and strings(h.get("args", [])) and positive(h.get("timeout", 60)))


KEYS = {
    "model": ("default", lambda v: isinstance(v, str)),
    "models": ({}, lambda v: isinstance(v, dict) and all(isinstance(x, str) for x in v.values())),
    "stream": (True, lambda v: isinstance(v, bool)),
    "stream_idle_timeout": (120, positive),
    "max_retries": (4, natural),
    "retry_wait": (0.5, lambda v: amount(v) and v >= 0),
    "context_window": (128000, lambda v: natural(v, 1)),
    "prices": ({}, lambda v: isinstance(v, dict) and all(
        isinstance(p, dict) and amount(p.get("input", 0)) and amount(p.get("output", 0)) for p in v.values())),
    "permissions.mode": ("default", lambda v: v in MODES),
    "permissions.allow": ([], strings), "permissions.ask": ([], strings), "permissions.deny": ([], strings),
    "permissions.dirs": ([], strings),
    "hooks": ([], lambda v: isinstance(v, list) and all(hook(h) for h in v)),
    "env": ({}, lambda v: isinstance(v, dict) and all(isinstance(x, str) and "\0" not in x for x in v.values())),
    "approval_timeout": (300, positive),
    "bash_timeout": (120, positive),
}


def flatten(data):
    out = {}
    for key, value in data.items():
        if key == "permissions" and isinstance(value, dict):
            out.update({f"permissions.{k}": v for k, v in value.items()})
        else:
            out[key] = value
    return out


def check(flat, where, warn):
    for key in list(flat):
        if key not in KEYS:
            if key == "permissions":
                raise Bad(f"{where}: permissions has a wrong type")
            warn(f"unknown setting {key} in {where}")
            del flat[key]
        elif not KEYS[key][1](flat[key]):
            raise Bad(f"{where}: {key} has a wrong value: {json.dumps(flat[key])[:200]}")
    return flat


def load(path, warn, needed=False):
    try:
        with open(path, "rb") as f:
            data = json.loads(f.read().decode("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        if needed:
            raise Bad(f"{path}: no such settings file") from None
        return None
    except json.JSONDecodeError as e:
        raise Bad(f"{path}: not JSON: line {e.lineno}: {e.msg}") from None
    except (OSError, UnicodeDecodeError, RecursionError) as e:
        raise Bad(f"{path}: line 1: {e}") from None
    if not isinstance(data, dict):
        raise Bad(f"{path}: line 1: not a JSON object")
    return check(flatten(data), path, warn)


def home_folder():
    return os.path.abspath(os.environ.get("HARNESS_HOME") or os.path.join(os.path.expanduser("~"), ".harness"))


def chain(workspace):
    """The folders from the workspace up to the root of its repository, nearest first."""
    folders, here = [], workspace
    while True:
        folders.append(here)
        if os.path.exists(os.path.join(here, ".git")):
            return folders
        if here == os.path.dirname(here):
            return [workspace]
        here = os.path.dirname(here)


def trusted(workspace, home):
    try:
        with open(os.path.join(home, "trust.json"), encoding="utf-8") as f:
            folders = json.load(f)["folders"]
        roots = [os.path.realpath(x) for x in folders if isinstance(x, str)]
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return any(workspace == r or workspace.startswith(r.rstrip("/") + "/") for r in roots)


class Settings:
    def __init__(self, workspace, flags, trust, warn):
        self.workspace, self.home = workspace, home_folder()
        self.trusted = trust or trusted(workspace, self.home)
        self.folders = chain(workspace)
        managed = os.environ.get("HARNESS_MANAGED_SETTINGS")
        found = [("managed", load(managed or "/etc/harness/settings.json", warn, bool(managed))), ("flag", flags)]
        if os.environ.get("HARNESS_MODEL"):
            found.append(("environment", {"model": os.environ["HARNESS_MODEL"]}))
        for source, name in (("local", "settings.local.json"), ("project", "settings.json")):
            for folder in self.folders:
                path = os.path.join(folder, ".harness", name)
                data = load(path, warn)
                if data and not self.trusted:
                    rest = [k for k, v in data.items() if k not in ("permissions.deny", "permissions.ask")]
                    if rest:
                        warn(f"{path}: this folder is not trusted: only its deny and ask rules are used")
                    data = {k: v for k, v in data.items() if k not in rest}
                found.append((source, data))
        found.append(("user", load(os.path.join(self.home, "settings.json"), warn)))
        self.layers = [(s, d) for s, d in found if d]
        self.rules = []
        for kind in ("deny", "ask", "allow"):
            for source, data in self.layers:
                for text in data.get(f"permissions.{kind}", []):
                    try:
                        rule = Rule(text, kind, source)
                    except BadRule as e:
                        raise Bad(f"{e} (permissions.{kind}, {source})") from None
                    if rule.ignored:
                        warn(f"an allow rule cannot have * in the server's name: {text}")
                    self.rules.append(rule)

    def get(self, key):
        return self.look(key)[0]

    def look(self, key):
        default = KEYS[key][0]
        given = [(d[key], s) for s, d in self.layers if key in d]
        if not given:
            return default, "default"
        if isinstance(default, list):
            return [x for v, _ in given for x in v], given[0][1]
        if isinstance(default, dict):
            merged = {}
            for v, _ in reversed(given):
                merged = join(merged, v)
            return merged, given[0][1]
        return given[0]

    def show(self, as_json):
        rows = {k: self.look(k) for k in KEYS}
        for key, name in (("base_url", "HARNESS_BASE_URL"), ("api_key", "HARNESS_API_KEY")):
            value = os.environ.get(name) or None
            rows[key] = ("***" if value and key == "api_key" else value, "environment")
        env, source = rows["env"]
        secret = ("KEY", "TOKEN", "SECRET", "PASSWORD")
        rows["env"] = ({k: "***" if any(s in k.upper() for s in secret) else v for k, v in env.items()}, source)
        if as_json:
            return json.dumps({k: {"value": v, "source": s} for k, (v, s) in rows.items()})
        return "\n".join(f"{k} = {json.dumps(v)} ({s})" for k, (v, s) in rows.items())


def join(weak, strong):
    out = dict(weak)
    for k, v in strong.items():
        out[k] = join(out[k], v) if isinstance(v, dict) and isinstance(out.get(k), dict) else v
    return out
