"""Keeps what the user approved for always."""

import json
import os

from harness.settings import project_folders, read_file


def remember(run, saves):
    """False if nothing or not all could be stored."""
    workspace = run.workspace
    if not run.settings.trusted:
        own = [os.path.join(f, ".harness", n) for f in project_folders(workspace)
               for n in ("settings.json", "settings.local.json", "mcp.json")]
        if any(os.path.lexists(p) for p in own):
            return False
        path = os.path.join(run.home, "trust.json")
        data = read_file(path) or {}
        data["folders"] = [*data.get("folders", []), workspace]
        os.makedirs(run.home, exist_ok=True)
        store(path, data)
        run.settings.trusted = True
    path = os.path.join(workspace, ".harness", "settings.local.json")
    data = read_file(path) or {}
    allow = data.setdefault("permissions", {}).setdefault("allow", [])
    for rule in saves:
        if rule is not None and rule not in allow:
            allow.append(rule)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    store(path, data)
    return None not in saves


def store(path, data):
    from harness.atomic import replace
    replace(path, (json.dumps(data, indent=2, ensure_ascii=False) + "\n").encode(), None)
