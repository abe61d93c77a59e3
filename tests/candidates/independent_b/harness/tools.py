"""The table of built-in tools, the check of their arguments, and `fetch` (WIRE-19, 20; FILE-40)."""

import re

S, B = {"type": "string"}, {"type": "boolean"}
N = {"type": "integer", "minimum": 1}
EDIT = {"type": "object", "properties": {"old": S, "new": S, "replace_all": B}, "required": ["old", "new"]}
ITEM = {"type": "object", "properties": {"text": S, "status": {"type": "string", "enum": ["pending", "active", "done"]}},
        "required": ["text", "status"]}
TABLE = {
    "read": ("Read a text file, with line numbers.", {"path": S}, {"offset": N, "limit": N}),
    "write": ("Write a whole file. An existing file must have been read.", {"path": S, "content": S}, {}),
    "edit": ("Replace text that occurs exactly once in a file that was read.", {"path": S, "old": S, "new": S}, {"replace_all": B}),
    "multi_edit": ("Several edits of one file, all or none.",
                   {"path": S, "edits": {"type": "array", "items": EDIT, "minItems": 1}}, {}),
    "glob": ("List files whose path matches a pattern, newest first.", {"pattern": S},
             {"path": S, "include_ignored": B, "include_hidden": B}),
    "grep": ("Search files for a regular expression.", {"pattern": S},
             {"path": S, "glob": S, "mode": {"type": "string", "enum": ["files", "content", "count"]},
              "context": {"type": "integer", "minimum": 0}, "ignore_case": B, "include_ignored": B}),
    "bash": ("Run a shell command.", {"command": S},
             {"timeout": {"type": "number", "exclusiveMinimum": 0}, "run_in_background": B}),
    "bash_output": ("New output of a background command.", {"id": S}, {}),
    "bash_kill": ("End a background command.", {"id": S}, {}),
    "fetch": ("Get the text of a web page.", {"url": S}, {}),
    "todo": ("Replace the list of things to do.", {"items": {"type": "array", "items": ITEM}}, {}),
    "task": ("Let a subagent carry out a task.", {"agent": S, "prompt": S}, {}),
    "skill": ("Load a skill.", {"name": S}, {"arguments": S}),
    "ask": ("Ask the user a question.", {"question": S}, {"choices": {"type": "array", "items": S}, "secret": B}),
    "exit_plan": ("Show the plan to the user and ask to leave plan mode.", {"plan": S}, {}),
}


def schema(name):
    text, needed, optional = TABLE[name]
    return {"type": "function", "function": {"name": name, "description": text, "parameters": {
        "type": "object", "properties": {**needed, **optional}, "required": list(needed)}}}


def fits(value, want):
    kind = want["type"]
    if kind == "string":
        return isinstance(value, str) and value in want.get("enum", [value])
    if kind == "boolean":
        return isinstance(value, bool)
    if kind == "array":
        return isinstance(value, list) and len(value) >= want.get("minItems", 0)
    if kind == "object":
        return isinstance(value, dict)
    if isinstance(value, bool) or not isinstance(value, int if kind == "integer" else (int, float)):
        return False
    return value == value and value >= want.get("minimum", value) and value > want.get("exclusiveMinimum", value - 1)


def problem(args, needed, optional):
    for key in needed:
        if key not in args:
            return f"{key} is missing"
    for key, want in {**needed, **optional}.items():
        if key not in args:
            continue
        value = args[key]
        if not fits(value, want):
            return f"{key} has a wrong value or type"
        for k, item in enumerate(value if isinstance(value, list) else [], 1):
            inner = want["items"]
            if not fits(item, inner):
                return f"{key}: item {k} has a wrong type"
            if inner["type"] == "object":
                must = {x: inner["properties"][x] for x in inner["required"]}
                rest = {x: w for x, w in inner["properties"].items() if x not in must}
                for x in [x for x in item if x in rest and item[x] is None]:
                    del item[x]
                if wrong := problem(item, must, rest):
                    return f"{key}: item {k}: {wrong}"
    return None


def checked(name, args):
    """The arguments without nulls for optional ones, and what is wrong with them."""
    _, needed, optional = TABLE[name]
    args = {k: v for k, v in args.items() if not (v is None and k in optional)}
    return args, problem(args, needed, optional)


def page(text):
    import html
    text = re.sub(r"(?is)<(script|style)\b.*?</\1\s*>|<!--.*?-->", "", text)
    text = html.unescape(re.sub(r"(?s)<[a-zA-Z/!?][^>]*>", "", text))
    return re.sub(r"\n\s*\n+", "\n\n", text).strip()


def fetch(url, judge):
    """`judge(url)` gives None, or the error result of a redirect that may not be followed."""
    import socket
    import urllib.error
    import urllib.request
    from urllib.parse import urljoin, urlsplit

    class Stay(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *rest):
            return None
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), Stay)
    for _ in range(11):
        if urlsplit(url).scheme not in ("http", "https"):
            return "error: only http and https addresses can be fetched"
        try:
            with opener.open(urllib.request.Request(url, headers={"User-Agent": "harness"}), timeout=30) as answer:
                data, status = answer.read(1_000_001), answer.status
                kind = answer.headers.get("Content-Type") or ""
                charset = answer.headers.get_content_charset() or "utf-8"
        except urllib.error.HTTPError as e:
            where = e.headers.get("Location")
            if e.code in (301, 302, 303, 307, 308) and where:
                new = urljoin(url, where)
                if urlsplit(new).hostname != urlsplit(url).hostname and (error := judge(new)):
                    return error
                url = new
                continue
            return f"error: status {e.code}"
        except (OSError, ValueError, socket.timeout) as e:
            return f"error: no answer from {url}: {e}"
        except Exception as e:  # http.client's own exceptions
            return f"error: no answer from {url}: {type(e).__name__}"
        cut = len(data) > 1_000_000
        data = data[:1_000_000]
        try:
            text = data.decode(charset, "replace")
        except LookupError:
            text = data.decode("utf-8", "replace")
        if b"\0" in data or re.match(r"(image|audio|video|font)/|application/(octet-stream|zip|pdf|gzip)", kind):
            return "error: the body is not text"
        if "html" in kind:
            text = page(text)
        note = cut or len(text) > 30_000
        return f"status: {status}\n{text[:30_000]}" + ("\n[cut: the page is longer]" if note else "")
    return "error: more than ten redirects"
