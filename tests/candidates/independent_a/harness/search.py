"""`glob` and `grep`: walks that know what is ignored."""

import os
import re
import stat

from harness.environment import ToolError, decode, is_binary, tidy
from harness.permissions import segment_regex, split_braces

SIGNS = re.compile(r"[*?\[{]")


class Ignore:
    """What `.gitignore` files and `.git/info/exclude` name."""

    def __init__(self, base, workspace):
        root = base
        while not os.path.lexists(os.path.join(root, ".git")):
            parent = os.path.dirname(root)
            if parent == root:
                inside = base == workspace or base.startswith(workspace.rstrip("/") + "/")
                root = workspace if inside else base
                break
            root = parent
        self.root = root
        self.cache = {}
        self.extra = self.load(os.path.join(root, ".git", "info", "exclude"), root)

    def load(self, file, folder):
        rules = []
        try:
            with open(file, encoding="utf-8", errors="surrogateescape") as lines:
                text = lines.read()
        except OSError:
            return rules
        for line in text.split("\n"):
            line = line.removesuffix("\r")
            if line.startswith("#"):
                continue
            while line.endswith(" ") and not line.endswith("\\ "):
                line = line[:-1]
            line = line.replace("\\ ", " ")
            negative = line.startswith("!")
            if negative:
                line = line[1:]
            only_folders = line.endswith("/")
            line = line.rstrip("/")
            if not line:
                continue
            anchored = "/" in line
            parts = line.lstrip("/").split("/")
            if not anchored:
                parts = ["**", *parts]
            out = []
            for i, part in enumerate(parts):
                if part == "**":
                    out.append("(?:/[^/]+)+" if i == len(parts) - 1 else "(?:/[^/]+)*")
                else:
                    out.append("/" + segment_regex(re.sub(r"\*\*+", "*", part)))
            try:
                rules.append((folder, re.compile("".join(out), re.S), negative, only_folders))
            except re.error:
                continue
        return rules

    def rules(self, folder):
        if folder not in self.cache:
            own = self.load(os.path.join(folder, ".gitignore"), folder)
            above = self.rules(os.path.dirname(folder)) if folder != self.root and len(folder) > len(self.root) else self.extra
            self.cache[folder] = above + own if own else above
        return self.cache[folder]

    def entry(self, path, is_folder):
        """Named by a rule, not looking at the folders above."""
        for folder, regex, negative, only_folders in reversed(self.rules(os.path.dirname(path))):
            if only_folders and not is_folder:
                continue
            if regex.fullmatch(path[len(folder.rstrip("/")):]):
                return not negative
        return False

    def whole(self, path):
        """The path or a folder above it is ignored."""
        if not path.startswith(self.root.rstrip("/") + "/"):
            return False
        rel = path[len(self.root.rstrip("/")) + 1:].split("/")
        at = self.root
        for i, part in enumerate(rel):
            at = os.path.join(at, part)
            if self.entry(at, i < len(rel) - 1 or os.path.isdir(at)):
                return True
        return False


def walk(base, ignore, engine):
    """(path, ignored) of every file below; each folder once, real folders before links to them."""
    visited, later = set(), []
    anywhere = engine.mode == "bypass"
    base_real = os.path.realpath(base)

    def one(folder, ignored):
        stack = [(folder, ignored)]
        while stack:
            folder, ignored = stack.pop()
            real = os.path.realpath(folder)
            if real in visited:
                continue
            visited.add(real)
            try:
                entries = sorted(os.scandir(folder), key=lambda e: e.name)
            except OSError:
                continue
            for entry in entries:
                if entry.name == ".git":
                    continue
                path = entry.path
                try:
                    is_dir, link = entry.is_dir(), entry.is_symlink()
                    is_file = entry.is_file()
                except OSError:
                    continue
                hidden = ignored or (ignore is not None and ignore.entry(path, is_dir and not link))
                if is_dir:
                    if link:
                        later.append((path, hidden))
                    else:
                        stack.append((path, hidden))
                elif is_file:
                    yield path, hidden

    yield from one(base, False)
    while later:
        path, hidden = later.pop(0)
        real = os.path.realpath(path)
        if real.startswith(base_real.rstrip("/") + "/") or engine.inside_one(real) or (anywhere and not engine.inside_one(base)):
            if "/.git/" in real + "/":
                continue
            yield from one(path, hidden)


def glob_regex(parts, hidden):
    out = []
    dot = "" if hidden else r"(?!\.)"
    for i, part in enumerate(parts):
        last = i == len(parts) - 1
        if part == "**":
            out.append("(?:%s[^/]+/)*" % dot + (dot + "[^/]+" if last else ""))
        else:
            out.append((dot if part[:1] in "*?[" else "") + segment_regex(part) + ("" if last else "/"))
    return re.compile("".join(out), re.S)


def check_path(ws, args, notes):
    path = args.get("path")
    if path is None:
        return ws.folder
    full = ws.find(path, notes)
    if not os.path.exists(full):
        raise ToolError("no such file or folder: " + path)
    return full


def glob(ws, args):
    pattern = args["pattern"]
    if "\0" in pattern:
        raise ToolError("the pattern has a nul character")
    notes = []
    base = check_path(ws, args, notes)
    hidden = bool(args.get("include_hidden"))
    found, skipped = {}, set()
    if not SIGNS.search(pattern):
        full = os.path.normpath(os.path.join(base, pattern))
        if pattern and os.path.isfile(full):
            found[full] = 1
    else:
        comps = [p for p in pattern.split("/") if p not in ("", ".")]
        fixed = []
        while comps and not SIGNS.search(comps[0]):
            fixed.append(comps.pop(0))
        start = "/" if pattern.startswith("/") else base
        top = os.path.normpath(os.path.join(start, *fixed))
        regexes = []
        for one in split_braces("/".join(comps)):
            try:
                regexes.append(glob_regex([p for p in one.split("/") if p not in ("", ".")], hidden))
            except re.error:
                raise ToolError("bad pattern: " + pattern) from None
        ignore = None
        if not args.get("include_ignored"):
            ignore = Ignore(top, ws.folder)
            if ignore.whole(top):
                ignore = None
        if os.path.isdir(top):
            prefix = len(top.rstrip("/")) + 1
            for path, ignored in walk(top, ignore, ws.engine):
                if any(r.fullmatch(path[prefix:]) for r in regexes):
                    if ignored:
                        skipped.add(path)
                    else:
                        found[path] = 1
    rows = []
    for path in found:
        try:
            when = os.stat(path).st_mtime_ns
        except OSError:
            continue
        rows.append((-when, ws.display(path)))
    rows.sort()
    out = [name for _, name in rows[:100]]
    if not rows:
        out.append("[no files]")
    elif len(rows) > 100:
        out.append("[100 of %d files]" % len(rows))
    if skipped:
        out.append("[%d ignored]" % len(skipped))
    return "\n".join(out + notes)


def cut_line(text, match):
    if len(text) <= 500:
        return text
    start = max(0, min(match.start() - 200, len(text) - 494)) if match else 0
    end = min(len(text), start + (497 if start == 0 else 494))
    return ("..." if start else "") + text[start:end] + ("..." if end < len(text) else "")


def grep(ws, args):
    pattern = args["pattern"]
    if "\0" in pattern:
        raise ToolError("the pattern has a nul character")
    try:
        import warnings
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            regex = re.compile(pattern, re.I if args.get("ignore_case") else 0)
    except (re.error, OverflowError, RecursionError) as error:
        raise ToolError("bad pattern: %s" % error) from None
    notes = []
    base = check_path(ws, args, notes)
    mode, context = args.get("mode") or "files", args.get("context") or 0
    filters = None
    if args.get("glob") is not None:
        text = args["glob"]
        if "\0" in text:
            raise ToolError("the glob has a nul character")
        by_name = "/" not in text
        try:
            filters = [glob_regex([p for p in one.removeprefix("./").split("/") if p], True) for one in split_braces(text)]
        except re.error:
            raise ToolError("bad pattern in glob: " + text) from None
    files, ignored_count, refused, binary = [], 0, 0, 0
    engine = ws.engine
    if os.path.isdir(base):
        ignore = None
        if not args.get("include_ignored"):
            ignore = Ignore(base, ws.folder)
            if ignore.whole(base):
                ignore = None
        prefix = len(base.rstrip("/")) + 1
        base_real = os.path.realpath(base).rstrip("/") + "/"
        for path, ignored in walk(base, ignore, engine):
            rel = path[prefix:]
            if filters is not None and not any(r.fullmatch(os.path.basename(path) if by_name else rel) for r in filters):
                continue
            if ignored:
                ignored_count += 1
                continue
            real = os.path.realpath(path)
            if not engine.readable(path):
                refused += 1
                continue
            if real != path and engine.mode != "bypass" and not engine.inside_one(real) and not real.startswith(base_real) \
                    and not engine.path_allowed(("read",), real, ("read",)):
                refused += 1
                continue
            files.append((ws.display(path), path))
    else:
        files.append((ws.display(base), base))
    files.sort()
    rows = []
    for name, path in files:
        try:
            if not stat.S_ISREG(os.stat(path).st_mode):
                continue
            with open(path, "rb") as file:
                data = file.read()
        except OSError:
            continue
        if is_binary(data):
            binary += 1
            continue
        body, encoding, _ = decode(data)
        text = body.decode(encoding, "replace")
        lines = text.split("\n")
        if lines[-1] == "":
            lines.pop()
        lines = [x[:-1] if x.endswith("\r") else x for x in lines]
        hits = {}
        for number, line in enumerate(lines):
            m = regex.search(line)
            if m:
                hits[number] = m
                if mode == "files":
                    break
        if not hits:
            continue
        if mode == "files":
            rows.append(name)
        elif mode == "count":
            rows.append("%s:%d" % (name, len(hits)))
        else:
            show = sorted({n for h in hits for n in range(max(0, h - context), min(len(lines), h + context + 1))})
            last = None
            if context and rows:
                rows.append("--")
            for n in show:
                if last is not None and n != last + 1 and context:
                    rows.append("--")
                sign = ":" if n in hits else "-"
                rows.append("%s%s%d%s%s" % (name, sign, n + 1, sign, cut_line(lines[n], hits.get(n))))
                last = n
    out = rows[:250]
    if not rows:
        out = ["[no match]"]
    elif len(rows) > 250:
        out.append("[250 of %d lines]" % len(rows))
    if ignored_count:
        out.append("[%d ignored]" % ignored_count)
    if refused:
        out.append("[%d refused]" % refused)
    if binary:
        out.append("[%d binary]" % binary)
    return tidy("\n".join(out + notes))
