"""The workspace: where calls become reads, edits, searches and commands."""

import hashlib
import os
import re
import stat
import unicodedata

BLANKS = dict.fromkeys([0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000], " ")


class ToolError(Exception):
    """Becomes an error result."""


def norm(path):
    path = os.path.normpath(path)
    return path[1:] if path.startswith("//") else path


def same_name(name):
    return unicodedata.normalize("NFC", name).translate(BLANKS)


def decode(data):
    """(text without its mark, encoding, mark)."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data[2:], "utf-16-le" if data[:1] == b"\xff" else "utf-16-be", data[:2]
    mark = b"\xef\xbb\xbf" if data[:3] == b"\xef\xbb\xbf" else b""
    body = data[len(mark):]
    try:
        body.decode("utf-8")
        return body, "utf-8", mark
    except UnicodeDecodeError:
        return data, "latin-1", b""


def shown(data):
    """(text, notes) of a file that is no binary."""
    body, encoding, _ = decode(data)
    notes = []
    if encoding == "latin-1":
        notes.append("[not UTF-8: shown as latin-1]")
    elif encoding.startswith("utf-16"):
        notes.append("[decoded from utf-16]")
    return body.decode(encoding, "replace"), notes


def is_binary(data):
    return b"\0" in data[:8192] and data[:2] not in (b"\xff\xfe", b"\xfe\xff")


def digest(data):
    return hashlib.sha256(data).hexdigest()


def split_lines(text):
    """Lines that end at LF, a CR before it not shown."""
    parts = text.split("\n")
    last = parts.pop()
    lines = [p[:-1] if p.endswith("\r") else p for p in parts]
    if last:
        lines.append(last)
    return lines


def tidy(text):
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace") if not text.isascii() else text


class Workspace:
    """One conversation's view of the files: what it saw, and where its shell stands."""

    def __init__(self, folder, engine=None, home=None, session=None):
        if engine is None:
            from harness.permissions import Engine
            engine = Engine(os.path.realpath(folder))
        self.folder, self.engine, self.home = os.path.realpath(folder), engine, home
        self.session = session
        self.seen = {}
        self.todo = []
        self.cwd = self.folder
        self.on_seen = self.on_change = self.on_todo = None

    # paths

    def display(self, path):
        if path == self.folder:
            return "."
        prefix = self.folder.rstrip("/") + "/"
        for base in self.engine.bases:
            prefix = base.rstrip("/") + "/"
            if path.startswith(prefix):
                return tidy(path[len(prefix):])
        return tidy(path)

    def absolute(self, path):
        return norm(os.path.join(self.folder, path))

    def find(self, path, notes=None):
        """The path that is meant: the exact one, else the only one whose name looks the same (FILE-06)."""
        if "\0" in path:
            raise ToolError("a path has a nul character")
        try:
            os.fsencode(path)
        except UnicodeEncodeError:
            raise ToolError("no such file: the path is not valid text") from None
        full = self.absolute(path)
        if os.path.lexists(full):
            return full
        parent, name = os.path.split(full)
        try:
            entries = os.listdir(parent)
        except OSError:
            return full
        found = [e for e in entries if same_name(e) == same_name(name)]
        if len(found) == 1:
            if notes is not None:
                notes.append("[used %s]" % tidy(found[0]))
            return os.path.join(parent, found[0])
        return full

    def execute(self, call):
        """Runs one call without a permission check: {"name", "input"}."""
        try:
            return getattr(self, "do_" + call["name"])(call["input"])
        except ToolError as error:
            return "error: " + str(error)
        except OSError as error:
            return "error: " + (error.strerror or str(error))

    def load(self, full, path):
        try:
            info = os.stat(full)
        except (FileNotFoundError, NotADirectoryError):
            raise ToolError("no such file: " + path) from None
        if stat.S_ISDIR(info.st_mode):
            raise ToolError("%s is a folder" % path)
        if not stat.S_ISREG(info.st_mode):
            raise ToolError("%s is not a regular file" % path)
        with open(full, "rb") as file:
            return file.read()

    def saw(self, full, data):
        real = os.path.realpath(full)
        value = digest(data)
        if self.seen.get(real) != value:
            self.seen[real] = value
            if self.on_seen:
                self.on_seen(real, value)

    # reading

    def do_read(self, args):
        notes = []
        full = self.find(args["path"], notes)
        data = self.load(full, args["path"])
        result = self.view(data, args.get("offset") or 1, args.get("limit") or 2000, notes)
        self.saw(full, data)
        return result

    def view(self, data, offset, limit, notes):
        if is_binary(data):
            return "\n".join(["[binary file, %d bytes]" % len(data), *notes])
        text, more = shown(data)
        notes = more + notes
        lines = split_lines(text)
        if not lines:
            return "\n".join(["[empty file]", *notes])
        if offset > len(lines):
            return "\n".join(["[offset %d is past the end: the file has %d line%s]" % (
                offset, len(lines), "" if len(lines) == 1 else "s"), *notes])
        limit = min(limit, 2000)
        out, size = [], sum(len(n) + 1 for n in notes) + 100
        for number in range(offset, min(len(lines), offset + limit - 1) + 1):
            line = lines[number - 1]
            if len(line) > 2000:
                line = "%s [cut: %d characters]" % (line[:2000], len(line))
            line = "%d\t%s" % (number, line)
            if out and size + len(line) + 1 > 100000:
                break
            out.append(line)
            size += len(line) + 1
        last = offset + len(out) - 1
        if last < len(lines):
            notes.append("[lines %d-%d of %d; continue with offset %d]" % (offset, last, len(lines), last + 1))
        return "\n".join(out + notes)

    # writing

    def put(self, full, data):
        """Replaces a file's content as a whole; through a link its target's."""
        from harness.atomic import replace
        real = os.path.realpath(full)
        if self.on_change:
            self.on_change(real, None)
        replace(real, data, self.home)
        self.saw(real, data)
        if self.on_change:
            self.on_change(real, digest(data))

    def check_seen(self, full, path, data):
        seen = self.seen.get(os.path.realpath(full))
        if seen is None:
            raise ToolError("%s was not read in this conversation: read it first" % path)
        if seen != digest(data):
            raise ToolError("%s has changed since it was last read: read it again" % path)

    def do_write(self, args):
        content, path = args["content"], args["path"]
        if "\0" in path:
            raise ToolError("a path has a nul character")
        full = self.absolute(path)
        try:
            data = content.encode("utf-8")
            os.fsencode(full)
        except UnicodeEncodeError:
            raise ToolError("content or path is not valid text") from None
        count = len(data)
        if os.path.isdir(full):
            raise ToolError("%s is a folder" % path)
        if path.endswith("/"):
            raise ToolError("%s is a folder's name" % path)
        exists = os.path.exists(full)
        if exists:
            old = self.load(full, path)
            self.check_seen(full, path, old)
            _, encoding, mark = decode(old)
            if mark:
                data = mark + content.removeprefix("\ufeff").encode(encoding)
        self.folders(full)
        self.put(full, data)
        return "%s %s (%d bytes)" % ("wrote" if exists else "created", self.display(full), count)

    def folders(self, full):
        parent = os.path.dirname(os.path.realpath(full))
        try:
            os.makedirs(parent, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise ToolError("a part of the path is not a folder: " + self.display(full)) from None

    def edited(self, text, old, new, replace_all):
        """(new text, number of replacements)."""
        if old == new:
            raise ToolError("old and new are the same")
        if old == "":
            raise ToolError("old is empty")
        crlf = text.count("\r\n")
        lone = text.count("\n") - crlf
        if crlf and lone and "\n" in old + new:
            pattern = "\r\n".join(re.escape(p).replace("\\\n", "\r?\n").replace("\n", "\r?\n").replace("\r?\r?\n", "\r?\n")
                                  for p in old.split("\r\n"))
            found = list(re.finditer(pattern, text))
            self.times(len(found), replace_all)
            out, at = [], 0
            for m in found:
                out.append(text[at:m.start()])
                end = re.search("\r?\n", m.group())
                first = end.group() if end else "\n"
                out.append(re.sub("(?<!\r)\n", lambda _, f=first: f, new))
                at = m.end()
            out.append(text[at:])
            return "".join(out), len(found)
        if crlf and not lone:
            old = old.replace("\r\n", "\n").replace("\n", "\r\n")
            new = new.replace("\r\n", "\n").replace("\n", "\r\n")
        count = text.count(old)
        self.times(count, replace_all)
        return text.replace(old, new), count

    @staticmethod
    def times(count, replace_all):
        if count == 0 or (count > 1 and not replace_all):
            raise ToolError("old occurs %d times" % count)

    def change(self, args, edits, numbered):
        notes = []
        path = args["path"]
        full = self.find(path, notes)
        if not numbered and edits[0]["old"] == "" and edits[0]["old"] != edits[0]["new"]:
            if not os.path.lexists(full):
                written = self.do_write({"path": path, "content": edits[0]["new"]})
                return written
        data = self.load(full, path)
        self.check_seen(full, path, data)
        body, encoding, mark = decode(data)
        try:
            text = body.decode(encoding)
        except UnicodeDecodeError:
            raise ToolError("the file's encoding (%s) is broken" % encoding) from None
        total = 0
        for number, edit in enumerate(edits, 1):
            try:
                old, new = edit["old"], edit["new"]
                if old == "" and new != "" and not numbered and text == "":
                    text, count = new, 1
                else:
                    text, count = self.edited(text, old, new, edit.get("replace_all") or False)
                total += count
                try:
                    text.encode(encoding)
                except UnicodeEncodeError:
                    raise ToolError("new cannot be written in the file's encoding (%s)" % encoding) from None
            except ToolError as error:
                raise ToolError("edit %d: %s" % (number, error) if numbered else str(error)) from None
        self.put(full, mark + text.encode(encoding))
        return "\n".join(["edited %s: %d replacement%s" % (self.display(full), total, "" if total == 1 else "s"), *notes])

    def do_edit(self, args):
        return self.change(args, [args], False)

    def do_multi_edit(self, args):
        return self.change(args, args["edits"], True)

    def do_glob(self, args):
        from harness.search import glob
        return glob(self, args)

    def do_grep(self, args):
        from harness.search import grep
        return grep(self, args)

    def do_todo(self, args):
        self.todo = [{"text": i["text"], "status": i["status"]} for i in args["items"]]
        if self.on_todo:
            self.on_todo(self.todo)
        return "\n".join("%s: %s" % (i["status"], i["text"]) for i in self.todo) or "[empty list]"
