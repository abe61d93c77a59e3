"""Settings files: reading, checking, joining."""

import json
import os
import sys

from harness import HarnessError

DEFAULTS = {
    "model": "default", "models": {}, "stream": True, "stream_idle_timeout": 120, "max_retries": 4, "retry_wait": 0.5,
    "context_window": 128000, "prices": {}, "permissions.mode": "default", "permissions.allow": [], "permissions.ask": [],
    "permissions.deny": [], "permissions.dirs": [], "hooks": [], "env": {}, "approval_timeout": 300, "bash_timeout": 120,
}
LISTS = ("permissions.allow", "permissions.ask", "permissions.deny", "permissions.dirs", "hooks")
EVENTS = ("session_start", "user_prompt", "pre_tool", "post_tool", "stop", "session_end")


def warn(text):
    try:
        sys.stderr.write("warning: %s\n" % text.replace("\n", " "))
        sys.stderr.flush()
    except (OSError, ValueError):
        return


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value == value and abs(value) != float("inf")


def is_strings(value):
    return isinstance(value, list) and all(isinstance(x, str) for x in value)


def right(key, value):
    """Type and value of a known key."""
    from harness.permissions import MODES
    if key == "model":
        return isinstance(value, str) and value != ""
    if key == "models":
        return isinstance(value, dict) and all(isinstance(v, str) for v in value.values())
    if key == "stream":
        return isinstance(value, bool)
    if key in ("stream_idle_timeout", "approval_timeout", "bash_timeout"):
        return is_number(value) and value > 0
    if key == "retry_wait":
        return is_number(value) and value >= 0
    if key in ("max_retries", "context_window"):
        return isinstance(value, int) and not isinstance(value, bool) and value >= (key == "context_window")
    if key == "prices":
        return isinstance(value, dict) and all(
            isinstance(v, dict) and all(is_number(v.get(k)) and v[k] >= 0 for k in ("input", "output")) for v in value.values())
    if key == "permissions.mode":
        return value in MODES if isinstance(value, str) else False
    if key in LISTS and key != "hooks":
        return is_strings(value)
    if key == "hooks":
        return isinstance(value, list) and all(right_hook(h) for h in value)
    if key == "env":
        return isinstance(value, dict) and all(
            isinstance(v, str) and "\0" not in v + k and k and "=" not in k for k, v in value.items())
    return True


def right_hook(hook):
    return (isinstance(hook, dict) and hook.get("event") in EVENTS and isinstance(hook.get("script"), str) and
            bool(hook["script"]) and is_strings(hook.get("args", [])) and isinstance(hook.get("matcher", ""), str) and
            is_number(hook.get("timeout", 60)) and hook.get("timeout", 60) > 0)


def flatten(data, where):
    flat = {}
    for key, value in data.items():
        if key == "permissions":
            if not isinstance(value, dict):
                raise HarnessError("%s: permissions is not an object" % where)
            for sub, inner in value.items():
                name = "permissions." + sub
                if name in DEFAULTS:
                    flat[name] = inner
                else:
                    warn("%s: unknown key %s" % (where, name))
        elif key in DEFAULTS and "." not in key:
            flat[key] = value
        else:
            warn("%s: unknown key %s" % (where, key))
    for key, value in flat.items():
        if not right(key, value):
            raise HarnessError("%s: bad value for %s: %s" % (where, key, json.dumps(value)[:200]))
    return flat


def read_file(path, must=False):
    try:
        with open(path, "rb") as file:
            data = file.read()
    except (FileNotFoundError, NotADirectoryError):
        if must:
            raise HarnessError("%s: no such settings file" % path) from None
        return None
    except OSError as error:
        raise HarnessError("%s: %s" % (path, error.strerror)) from None
    try:
        value = json.loads(data.decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        raise HarnessError("%s: line %d: %s" % (path, error.lineno, error.msg)) from None
    except (ValueError, RecursionError) as error:
        raise HarnessError("%s: line 1: %s" % (path, error)) from None
    if not isinstance(value, dict):
        raise HarnessError("%s: line 1: not a JSON object" % path)
    return value


def project_folders(workspace):
    """The folders whose `.harness` counts, nearest first."""
    folders, at = [workspace], workspace
    while not os.path.lexists(os.path.join(at, ".git")):
        parent = os.path.dirname(at)
        if parent == at:
            return [workspace]
        at = parent
        folders.append(at)
    return folders


def trusted(workspace, home, flag):
    if flag:
        return True
    try:
        with open(os.path.join(home, "trust.json"), encoding="utf-8") as file:
            folders = json.load(file).get("folders", [])
    except (OSError, ValueError, AttributeError):
        return False
    for folder in folders if isinstance(folders, list) else []:
        if isinstance(folder, str) and folder.startswith("/"):
            real = os.path.realpath(folder).rstrip("/")
            if workspace == real or workspace.startswith(real + "/"):
                return True
    return False


def merge(strong, weak):
    out = dict(weak)
    for key, value in strong.items():
        out[key] = merge(value, weak[key]) if isinstance(value, dict) and isinstance(weak.get(key), dict) else value
    return out


class Settings:
    def __init__(self, workspace, home, flags=None, trust=False):
        self.workspace, self.home = workspace, home
        self.trusted = trusted(workspace, home, trust)
        layers = []
        managed = os.environ.get("HARNESS_MANAGED_SETTINGS")
        self.load(layers, "managed", managed or "/etc/harness/settings.json", must=bool(managed))
        layers.append(("flag", dict(flags or {})))
        if os.environ.get("HARNESS_MODEL"):
            layers.append(("environment", {"model": os.environ["HARNESS_MODEL"]}))
        folders = project_folders(workspace)
        for source, name in (("local", "settings.local.json"), ("project", "settings.json")):
            for folder in folders:
                path = os.path.join(folder, ".harness", name)
                if os.path.join(folder, ".harness") == home:
                    continue
                self.load(layers, source, path, project=True)
        self.load(layers, "user", os.path.join(home, "settings.json"))
        self.layers = layers
        self.values, self.sources = {}, {}
        for key, default in DEFAULTS.items():
            self.values[key], self.sources[key] = default, "default"
            having = [(s, d[key]) for s, d in layers if key in d]
            if not having:
                continue
            self.sources[key] = having[0][0]
            if key in LISTS:
                self.values[key] = [x for _, v in having for x in v]
            elif isinstance(default, dict):
                value = {}
                for _, v in having:
                    value = merge(value, v)
                self.values[key] = value
            else:
                self.values[key] = having[0][1]
        self.rules = {kind: [(rule, s) for s, d in layers for rule in d.get("permissions." + kind, [])]
                      for kind in ("allow", "ask", "deny")}

    def load(self, layers, source, path, must=False, project=False):
        data = read_file(path, must)
        if data is None:
            return
        flat = flatten(data, path)
        if project and not self.trusted:
            kept = {k: v for k, v in flat.items() if k in ("permissions.deny", "permissions.ask")}
            if len(kept) < len(flat):
                warn("%s: ignored in part, the folder is not trusted" % path)
            flat = kept
        for kind in ("allow", "ask", "deny"):
            from harness.permissions import Rule, RuleError
            for rule in flat.get("permissions." + kind, []):
                try:
                    Rule(rule)
                except RuleError as error:
                    raise HarnessError("%s: %s" % (path, error)) from None
        layers.append((source, flat))

    def __getitem__(self, key):
        return self.values[key]
