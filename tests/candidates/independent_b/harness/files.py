"""File and search tools (FILE-01 to 29)."""

import hashlib
import os
import re
import stat
import unicodedata

from harness.permissions import below, component

BLANKS = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")
LINES, CHARACTERS = 2000, 100_000


class ToolError(Exception):
    """Becomes an error result."""


def digest(data):
    return hashlib.sha256(data).hexdigest()


def fold(name):
    return BLANKS.sub(" ", unicodedata.normalize("NFC", name))


def decode(data):
    """The text, its mark and its encoding."""
    for mark, name in ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        if data.startswith(mark):
            return data[2:].decode(name, "surrogatepass" if len(data) % 2 == 0 else "replace"), mark, name
    mark = b"\xef\xbb\xbf" if data.startswith(b"\xef\xbb\xbf") else b""
    try:
        return data[len(mark):].decode("utf-8"), mark, "utf-8"
    except UnicodeDecodeError:
        return data.decode("latin-1"), b"", "latin-1"


def binary(data):
    return b"\0" in data[:8192] and data[:2] not in (b"\xff\xfe", b"\xfe\xff")


def split_lines(text):
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line[:-1] if line.endswith("\r") else line for line in lines]


class Files:
    """The file tools of one conversation; `seen` maps real paths to the hash of the bytes last seen."""

    def __init__(self, workspace, engine, scratch, on_seen, on_change, names=()):
        self.workspace, self.engine, self.scratch = workspace, engine, scratch
        self.on_seen, self.on_change, self.names = on_seen, on_change, names or [workspace]
        self.seen, self.used = {}, None

    # Paths

    def shown(self, path):
        for ws in self.names:
            if below(path, ws):
                return os.path.relpath(path, ws)
        return path

    def absolute(self, path):
        if "\0" in path:
            raise ToolError("a path cannot have a nul character")
        return os.path.normpath(os.path.join(self.workspace, path or "."))

    def locate(self, path, exact=False):
        """The absolute path; sets `used` if another name than the given one is taken (FILE-06)."""
        full, self.used = self.absolute(path), None
        if exact or os.path.lexists(full):
            return full
        folder, name = os.path.split(full)
        try:
            found = [n for n in os.listdir(folder) if fold(n) == fold(name)]
        except OSError:
            return full
        if len(found) != 1:
            return full
        self.used = found[0]
        return os.path.join(folder, found[0])

    def targets(self, tool, args):
        """The paths that a call is judged by."""
        if tool == "glob":
            base = self.locate(args.get("path") or ".")
            return list(dict.fromkeys([base, *(b for b, _ in self.globs(base, args["pattern"]))]))
        if tool == "grep":
            return [self.locate(args.get("path") or ".")]
        return [self.locate(args["path"], tool == "write")]

    def run(self, tool, args):
        return getattr(self, tool)(args)

    def note(self, text, *notes):
        notes = [n for n in notes if n]
        if self.used is not None:
            notes.insert(0, f"[used {self.used}]")
        for n in notes:
            text += ("" if not text or text.endswith("\n") else "\n") + n
        return text

    def saw(self, path, data):
        self.seen[os.path.realpath(path)] = digest(data)
        self.on_seen(os.path.realpath(path), digest(data))

    def load(self, path):
        try:
            mode = os.stat(path).st_mode
            if stat.S_ISDIR(mode):
                raise ToolError(f"{self.shown(path)} is a folder")
            if not stat.S_ISREG(mode):
                raise ToolError(f"{self.shown(path)} is not a regular file")
            with open(path, "rb") as f:
                return f.read()
        except (FileNotFoundError, NotADirectoryError):
            raise ToolError(f"no such file: {self.shown(path)}") from None
        except OSError as e:
            raise ToolError(f"{self.shown(path)}: {e.strerror or e}") from None

    # Reading

    def read(self, args):
        path = self.locate(args["path"])
        data = self.load(path)
        self.saw(path, data)
        if binary(data):
            return self.note("", f"[binary file, {len(data)} bytes, not shown]")
        text, _, encoding = decode(data)
        note = "" if encoding == "utf-8" else f"[decoded as {'latin-1' if encoding == 'latin-1' else 'utf-16'}]"
        lines = split_lines(text)
        if not lines:
            return self.note("", note, "[empty file]")
        offset, limit = args.get("offset", 1), min(args.get("limit", LINES), LINES)
        if offset > len(lines):
            return self.note("", note, f"[offset {offset} is past the end: the file has {len(lines)} lines]")
        out, size, k = [], 0, offset - 1
        while k < len(lines) and len(out) < limit:
            line = lines[k]
            if len(line) > 2000:
                line = f"{line[:2000]} [cut: {len(line)} characters]"
            item = f"{k + 1}\t{line}"
            if out and size + len(item) + 1 > CHARACTERS:
                break
            out.append(item)
            size += len(item) + 1
            k += 1
        more = f"[lines {offset}-{k} of {len(lines)}; continue with offset {k + 1}]" if k < len(lines) else ""
        text = "\n".join(out)
        for n in [f"[used {self.used}]" if self.used is not None else "", note, more]:
            text += "\n" + n if n else ""
        return text

    # Writing

    def known(self, path, data):
        last = self.seen.get(os.path.realpath(path))
        if last is None:
            raise ToolError(f"{self.shown(path)} exists and was not read: read it first")
        if last != digest(data):
            raise ToolError(f"{self.shown(path)} was changed since it was last seen: read it again")

    def store(self, path, data):
        """Puts the whole new content in the place of the old one, or fails and leaves the old one."""
        target = os.path.realpath(path)
        try:
            self.on_change(target, None)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            try:
                old = os.stat(target)
                mode = stat.S_IMODE(old.st_mode)
                if not os.access(target, os.W_OK):
                    raise ToolError(f"{self.shown(path)}: permission denied")
            except FileNotFoundError:
                old = None
                mask = os.umask(0)
                os.umask(mask)
                mode = 0o666 & ~mask
            self.replace(target, data, mode, old)
        except OSError as e:
            raise ToolError(f"{self.shown(path)}: {e.strerror or e}") from None
        self.saw(target, data)
        self.on_change(target, data)

    def replace(self, target, data, mode, old):
        """Writes beside the workspace, or without a name where that is another file system, then renames."""
        os.makedirs(self.scratch, exist_ok=True)
        temporary = os.path.join(self.scratch, f"write-{os.getpid()}-{os.urandom(4).hex()}")
        folder, nameless = os.path.dirname(target), False
        if os.stat(self.scratch).st_dev == os.stat(folder).st_dev:
            fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        else:
            temporary = os.path.join(folder, f".{os.urandom(6).hex()}")
            try:
                fd, nameless = os.open(folder, os.O_WRONLY | os.O_TMPFILE, 0o600), True
            except OSError:  # a file system without files that have no name
                fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(fd, "wb") as f:
                f.write(data)
                f.flush()
                if old:
                    try:
                        os.fchown(fd, old.st_uid, old.st_gid)
                    except OSError:
                        mode &= 0o1777
                os.fchmod(fd, mode)
                if nameless:  # with a folder given Python lets the link in /proc be followed
                    os.link(f"/proc/self/fd/{fd}", temporary, src_dir_fd=fd, follow_symlinks=True)
                os.rename(temporary, target)
        except BaseException:
            if os.path.lexists(temporary):
                os.unlink(temporary)
            raise

    def write(self, args):
        path, content = self.locate(args["path"], True), args["content"]
        try:
            data = content.encode("utf-8")
        except UnicodeEncodeError:
            raise ToolError("content is not valid Unicode") from None
        count, new = len(data), not os.path.exists(path)
        if not new:
            old = self.load(path)
            self.known(path, old)
            _, mark, encoding = decode(old)
            if mark:
                data = mark + content.removeprefix("\ufeff").encode(encoding)
        self.store(path, data)
        return f"{'created' if new else 'wrote'} {self.shown(path)} ({count} bytes)"

    def edit(self, args):
        path = self.locate(args["path"])
        old, new = args["old"], args["new"]
        if not os.path.exists(path):
            if old == "" and new != "":
                result = self.write({"path": args["path"], "content": new})
                return result
            raise ToolError(f"no such file: {self.shown(path)}" if old != new else "old and new are the same; no such file")
        data = self.load(path)
        self.known(path, data)
        text, mark, encoding = decode(data)
        if old == "" and not text and new:
            return self.finish(path, new, mark, encoding, 1)
        text, count = replaced(text, old, new, args.get("replace_all", False))
        return self.finish(path, text, mark, encoding, count)

    def multi_edit(self, args):
        path = self.locate(args["path"])
        data = self.load(path)
        self.known(path, data)
        text, mark, encoding = decode(data)
        total = 0
        for k, item in enumerate(args["edits"], 1):
            try:
                text, count = replaced(text, item["old"], item["new"], item.get("replace_all") or False)
                encoded(text, encoding)
            except ToolError as e:
                raise ToolError(f"edit {k}: {e}") from None
            total += count
        return self.finish(path, text, mark, encoding, total)

    def finish(self, path, text, mark, encoding, count):
        self.store(path, mark + encoded(text, encoding))
        return self.note(f"edited {self.shown(path)}: {count} replacement{'' if count == 1 else 's'}")

    # Searching

    def walk(self, base, depth=None, show_ignored=True):
        """All files below base as (path below it, full path, ignored); links to folders last, each folder once."""
        ignore = Ignore(base, self.workspace) if show_ignored else None
        roots = [*self.engine.roots, os.path.realpath(base)]
        links, seen, stack = [], {os.path.realpath(base)}, [("", base, False)]
        while stack or links:
            below_base, folder, skipped = stack.pop() if stack else links.pop(0)
            real = os.path.realpath(folder)
            if below_base:
                if real in seen:
                    continue
                seen.add(real)
            try:
                entries = sorted(os.scandir(folder), key=lambda e: e.name, reverse=True)
            except OSError:
                continue
            for e in entries:
                path = os.path.join(below_base, e.name)
                try:
                    is_folder = e.is_dir()
                except OSError:
                    continue
                out = skipped or (ignore is not None and ignore.skips(e.path, is_folder))
                if not is_folder:
                    if e.is_file():
                        yield path, e.path, out
                elif e.name != ".git" and (depth is None or path.count("/") + 1 < depth):
                    if not e.is_symlink():
                        stack.append((path, e.path, out))
                    elif any(below(os.path.realpath(e.path), r) for r in roots):
                        links.append((path, e.path, out))

    def globs(self, base, pattern):
        """(folder, rest of the pattern) of each alternative of a pattern."""
        if "\0" in pattern:
            raise ToolError("a pattern cannot have a nul character")
        out = []
        for p in braces(pattern):
            parts = p.split("/")
            k = 0
            while k < len(parts) - 1 and not re.search(r"[*?[]", parts[k]):
                k += 1
            folder = os.path.normpath(os.path.join(base, "/".join(parts[:k]) or ("/" if p.startswith("/") else ".")))
            rest = [x for x in parts[k:] if x not in ("", ".")]
            if ".." in rest[:-1] or (".." in rest and len(rest) > 1):
                raise ToolError("a pattern cannot have .. after a sign")
            out.append((folder, rest))
        return out

    def glob(self, args):
        base = self.locate(args.get("path") or ".")
        if not os.path.exists(base):
            raise ToolError(f"no such folder: {self.shown(base)}")
        if not os.path.isdir(base):
            raise ToolError(f"not a folder, no such folder: {self.shown(base)}")
        hidden, every = args.get("include_hidden", False), args.get("include_ignored", False)
        used = self.used
        found, ignored = {}, set()
        for folder, rest in self.globs(base, args["pattern"]):
            if not rest:
                continue
            if len(rest) == 1 and not re.search(r"[*?[]", rest[0]):
                path = os.path.join(folder, rest[0])
                if os.path.isfile(path):
                    found[path] = os.stat(path).st_mtime_ns
                continue
            regex = re.compile(glob_parts(rest, hidden), re.S)
            depth = None if "**" in rest else len(rest)
            for path, full, skipped in self.walk(folder, depth, not every):
                if regex.fullmatch(path):
                    if skipped:
                        ignored.add(full)
                    else:
                        try:
                            found[full] = os.stat(full).st_mtime_ns
                        except OSError:
                            continue
        names = sorted(found, key=lambda p: (-found[p], p))
        ignored -= set(found)
        self.used = used
        return self.note("\n".join(self.shown(p) for p in names[:100]), "[no files]" if not names else "",
                         f"[100 of {len(names)}]" if len(names) > 100 else "",
                         f"[{len(ignored)} ignored]" if ignored else "")

    def grep(self, args):
        base = self.locate(args.get("path") or ".")
        for key in ("pattern", "glob"):
            if "\0" in (args.get(key) or ""):
                raise ToolError("a pattern cannot have a nul character")
        if not os.path.exists(base):
            raise ToolError(f"no such file or folder: {self.shown(base)}")
        try:
            regex = re.compile(args["pattern"], re.I if args.get("ignore_case") else 0)
        except (re.error, RecursionError, OverflowError) as e:
            raise ToolError(f"bad pattern: {e}") from None
        mode, context, wanted = args.get("mode", "files"), args.get("context", 0), args.get("glob")
        name_regex = None
        if wanted:
            options = [[x for x in p.split("/") if x not in ("", ".")] for p in braces(wanted)]
            name_regex = re.compile("|".join(f"(?:{glob_parts(o, True)})" for o in options if o) or "(?!)", re.S)
        real = os.path.realpath(base)
        if os.path.isdir(base):
            listing = self.walk(base, None, not args.get("include_ignored"))
        else:
            listing = [(os.path.basename(base), base, False)]
        files, ignored, refused, binaries = [], 0, 0, 0
        for path, full, skipped in listing:
            if name_regex and not name_regex.fullmatch(path if "/" in wanted else os.path.basename(path)):
                continue
            if skipped:
                ignored += 1
            elif full != base and self.engine.hidden(full, real):
                refused += 1
            else:
                files.append((self.shown(full), full))
        out, total, first = [], 0, True
        for name, full in sorted(files):
            try:
                with open(full, "rb") as f:
                    data = f.read()
            except OSError:
                continue
            if binary(data):
                binaries += 1
                continue
            lines = split_lines(decode(data)[0])
            hits = [k for k, line in enumerate(lines) if regex.search(line)]
            if not hits:
                continue
            if mode != "content":
                out.append(name if mode == "files" else f"{name}:{len(hits)}")
                total += 1
                continue
            last, matched = None, set(hits)
            for k in sorted({n for h in hits for n in range(max(0, h - context), min(len(lines), h + context + 1))}):
                if context and not first and (last is None or k != last + 1):
                    out.append(None)
                first, last = False, k
                sign = ":" if k in matched else "-"
                out.append(f"{name}{sign}{k + 1}{sign}{around(lines[k], regex if k in matched else None)}")
                total += 1
        shown, n = [], 0
        for item in out:
            if n == 250:
                break
            n += item is not None
            shown.append("--" if item is None else item)
        return self.note("\n".join(shown), "[no match]" if not total else "", f"[250 of {total}]" if total > 250 else "",
                         f"[{ignored} ignored]" if ignored else "", f"[{binaries} binary]" if binaries else "",
                         f"[{refused} refused]" if refused else "")


def encoded(text, encoding):
    try:
        return text.encode(encoding, "surrogatepass" if encoding.startswith("utf-16") else "strict")
    except UnicodeEncodeError:
        raise ToolError(f"the new text cannot be written in the file's encoding ({encoding})") from None


def replaced(text, old, new, every):
    """The text with old replaced by new, and how often."""
    if old == new:
        raise ToolError("old and new are the same")
    if old == "":
        raise ToolError("old is empty")
    ends = text.count("\n")
    crlf = text.count("\r\n")
    if crlf and crlf == ends:
        end = "\r\n"
    else:
        end = "\r?\n" if crlf else "\n"
    pieces = re.split(r"(\r?\n)", old)
    regex = re.compile("".join(end if p == "\n" else re.escape(p) for p in pieces))
    hits = list(regex.finditer(text))
    if not hits or (len(hits) > 1 and not every):
        raise ToolError(f"old occurs {len(hits)} times")

    def put(m):
        inner = re.search(r"\r?\n", m[0])
        first = "\r\n" if crlf and crlf == ends else inner[0] if crlf and inner else "\n"
        return re.sub(r"\r?\n", lambda x: first if x[0] == "\n" else x[0], new)
    return regex.sub(put, text), len(hits)


def around(line, regex):
    if len(line) <= 500:
        return line
    m = regex.search(line) if regex else None
    start = max(0, min(m.start() - 100, len(line) - 494)) if m else 0
    end = min(len(line), start + 494)
    return ("..." if start else "") + line[start:end] + ("..." if end < len(line) else "")


def braces(pattern):
    depth, start, cuts = 0, None, []
    for k, c in enumerate(pattern):
        if c == "{":
            depth += 1
            if depth == 1:
                start, cuts = k, [k]
        elif c == "," and depth == 1:
            cuts.append(k)
        elif c == "}" and depth:
            depth -= 1
            if depth == 0:
                cuts.append(k)
                return [x for a, b in zip(cuts, cuts[1:])
                        for x in braces(pattern[:start] + pattern[a + 1:b] + pattern[k + 1:])]
    return [pattern]


def glob_parts(parts, hidden):
    dot, out = "" if hidden else r"(?!\.)", ""
    for k, part in enumerate(parts):
        last = k == len(parts) - 1
        if part == "**":
            out += f"(?:{dot}[^/]+/)*" + (f"{dot}[^/]+" if last else "")
        else:
            out += (dot if part[:1] in ("*", "?", "[") else "") + component(part.replace("{", "\\{")) + ("" if last else "/")
    return out


class Ignore:
    """What the `.gitignore` files from the top of a tree down leave out."""

    def __init__(self, base, workspace):
        start = workspace if below(base, workspace) else base
        top = start
        while not os.path.exists(os.path.join(top, ".git")):
            parent = os.path.dirname(top)
            if parent == top:
                top = start
                break
            top = parent
        self.top, self.rules, self.cache = top, {}, {}
        self.off = False
        self.off = base != top and self.skips(base, True)

    def of(self, folder):
        if folder not in self.rules:
            names = [os.path.join(folder, ".gitignore")]
            if folder == self.top:
                names.insert(0, os.path.join(folder, ".git", "info", "exclude"))
            rules = []
            for name in names:
                try:
                    with open(name, encoding="utf-8", errors="replace") as f:
                        rules += [r for r in map(ignore_rule, f.read().split("\n")) if r]
                except OSError:
                    continue
            self.rules[folder] = rules
        return self.rules[folder]

    def skips(self, path, is_folder):
        if self.off or path == self.top or not below(path, self.top):
            return False
        key = (path, is_folder)
        if key not in self.cache:
            parent = os.path.dirname(path)
            self.cache[key] = self.skips(parent, True) or self.match(path, is_folder)
        return self.cache[key]

    def match(self, path, is_folder):
        folder = os.path.dirname(path)
        while True:
            name = path[len(folder.rstrip("/")) + 1:]
            for negative, only_folder, regex in reversed(self.of(folder)):
                if (is_folder or not only_folder) and regex.fullmatch(name):
                    return not negative
            if folder == self.top:
                return False
            folder = os.path.dirname(folder)


def ignore_rule(line):
    line = line.rstrip("\r")
    line = re.sub(r"(?<!\\) +$", "", line)
    if not line or line.startswith("#"):
        return None
    negative = line.startswith("!")
    line = line[negative:]
    only_folder = line.endswith("/")
    line = line.rstrip("/")
    if not line:
        return None
    anchored = "/" in line
    parts = line.lstrip("/").split("/")
    out = "" if anchored else "(?:.*/)?"
    for k, part in enumerate(parts):
        last = k == len(parts) - 1
        if part == "**":
            out += ".+" if last else "(?:[^/]+/)*"
        else:
            out += component(part.replace("{", "\\{")) + ("" if last else "/")
    return negative, only_folder, re.compile(out, re.S)
