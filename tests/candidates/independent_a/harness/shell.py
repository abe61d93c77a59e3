"""Reads a shell command into a tree: enough of bash's grammar to know which commands and files are in it."""

import re


class Unparsable(Exception):
    """The command cannot be read for sure."""


GLOBS = "*?["


class Seg:
    """One piece of a word. kind: lit, var, sub, glob, tilde."""

    __slots__ = ("kind", "text", "quoted", "raw")

    def __init__(self, kind, text, quoted=False, raw=None):
        self.kind, self.text, self.quoted = kind, text, quoted
        self.raw = text if raw is None else raw


class Word:
    __slots__ = ("raw", "segs", "subs")

    def __init__(self, raw, segs, subs):
        self.raw, self.segs, self.subs = raw, segs, subs

    @property
    def literal(self):
        return all(s.kind == "lit" for s in self.segs)

    @property
    def known(self):
        """No variable and no substitution in it (globs and a tilde may be)."""
        return all(s.kind not in ("var", "sub") for s in self.segs)

    @property
    def plain(self):
        """The text with quotes and backslashes removed."""
        return "".join(s.text for s in self.segs)

    @property
    def has_glob(self):
        return any(s.kind == "glob" for s in self.segs)

    @property
    def has_tilde(self):
        return any(s.kind == "tilde" for s in self.segs)

    @property
    def braced(self):
        text = "".join(s.text if s.kind == "lit" and not s.quoted else "\0" for s in self.segs)
        return bool(re.search(r"\{[^{}]*(,|\.\.)[^{}]*\}", text)) or bool(re.search(r"\{.*,.*\}", text, re.S))


class Redirect:
    __slots__ = ("op", "target", "body_subs", "fd")

    def __init__(self, op, target, fd=""):
        self.op, self.target, self.body_subs, self.fd = op, target, [], fd


class Simple:
    def __init__(self):
        self.assigns, self.words, self.redirs = [], [], []

    @property
    def text(self):
        return " ".join(w.raw for w in self.assigns + self.words)


class Compound:
    """sections: lists run one after another or instead of one another."""

    def __init__(self, kind):
        self.kind, self.sections, self.words, self.redirs, self.name = kind, [], [], [], ""


RESERVED_END = {"then", "else", "elif", "fi", "do", "done", "esac", "}", "in"}
ASSIGN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\[[^\]]*\])?\+?=")
META = " \t\n|&;()<>"


class Parser:
    def __init__(self, text, depth=0):
        if "\0" in text:
            raise Unparsable("a NUL character")
        if depth > 40:
            raise Unparsable("nested too deep")
        self.s, self.i, self.n, self.depth = text, 0, len(text), depth
        self.pending = []
        self.nest = 0

    # characters

    def at(self, text):
        return self.s.startswith(text, self.i)

    def blanks(self):
        while self.i < self.n:
            c = self.s[self.i]
            if c in " \t":
                self.i += 1
            elif c == "\\" and self.s[self.i + 1:self.i + 2] == "\n":
                self.i += 2
            elif c == "#":
                while self.i < self.n and self.s[self.i] != "\n":
                    self.i += 1
            else:
                return

    def newline(self):
        """Takes one newline and the here-documents that wait for it."""
        self.i += 1
        pending, self.pending = self.pending, []
        for redirect, strip, delimiter, quoted in pending:
            lines = []
            while self.i < self.n:
                end = self.s.find("\n", self.i)
                line = self.s[self.i:] if end < 0 else self.s[self.i:end]
                self.i = self.n if end < 0 else end + 1
                if (line.lstrip("\t") if strip else line) == delimiter:
                    break
                lines.append(line)
            if not quoted:
                inner = Parser("\n".join(lines), self.depth + 1)
                segs, subs = [], []
                inner.dquote(segs, subs, heredoc=True)
                redirect.body_subs = subs

    def skip_newlines(self):
        while True:
            self.blanks()
            if self.i < self.n and self.s[self.i] == "\n":
                self.newline()
            else:
                return

    # words

    def substitution(self):
        """At `$(` or `<(` or `>(`: the list inside."""
        self.i += 2
        self.nest += 1
        if self.nest + self.depth > 40:
            raise Unparsable("nested too deep")
        saved, self.pending = self.pending, []
        inner = self.list(")")
        if not self.at(")"):
            raise Unparsable("an open bracket")
        self.i += 1
        if self.pending:
            raise Unparsable("an open here-document")
        self.pending = saved
        self.nest -= 1
        return inner

    def backtick(self, in_double):
        self.i += 1
        out = []
        while self.i < self.n and self.s[self.i] != "`":
            c = self.s[self.i]
            if c == "\\" and self.i + 1 < self.n:
                d = self.s[self.i + 1]
                if d in "`\\$" or (in_double and d == '"'):
                    out.append(d)
                else:
                    out.append(c + d)
                self.i += 2
            else:
                out.append(c)
                self.i += 1
        if self.i >= self.n:
            raise Unparsable("an open backtick")
        self.i += 1
        return Parser("".join(out), self.depth + 1).whole()

    def arithmetic_end(self, start):
        """Where `))` closes what begins at start, or -1."""
        level, i = 0, start
        while i < self.n:
            c = self.s[i]
            if c == "(":
                level += 1
            elif c == ")":
                if level == 0:
                    return i if self.s.startswith("))", i) else -1
                level -= 1
            elif c == "\\":
                i += 1
            i += 1
        return -1

    def scan_subs(self, text, subs):
        inner = Parser(text, self.depth + 1)
        inner.dquote([], subs, heredoc=True)

    def dollar(self, segs, subs, quoted):
        """At `$`."""
        start = self.i
        nxt = self.s[self.i + 1:self.i + 2]
        if nxt == "(":
            if self.s.startswith("((", self.i + 1):
                end = self.arithmetic_end(self.i + 3)
                if end >= 0:
                    self.scan_subs(self.s[self.i + 3:end], subs)
                    self.i = end + 2
                    raw = self.s[start:self.i]
                    segs.append(Seg("var", raw, quoted))
                    return
            subs.append(self.substitution())
            segs.append(Seg("sub", self.s[start:self.i], quoted))
        elif nxt == "[":
            end = self.s.find("]", self.i)
            if end < 0:
                raise Unparsable("an open bracket")
            self.scan_subs(self.s[self.i + 2:end], subs)
            self.i = end + 1
            segs.append(Seg("var", self.s[start:self.i], quoted))
        elif nxt == "{":
            self.i += 2
            if self.s[self.i:self.i + 1] in (" ", "\t", "\n", "|"):
                # ${ cmd; } of newer shells
                raise Unparsable("a bad substitution")
            self.brace_body(subs, quoted)
            segs.append(Seg("var", self.s[start:self.i], quoted))
        elif nxt == "'" and not quoted:
            self.i += 2
            out = []
            while True:
                if self.i >= self.n:
                    raise Unparsable("an open quote")
                c = self.s[self.i]
                if c == "'":
                    self.i += 1
                    break
                if c == "\\":
                    self.i = self.ansi_escape(out)
                else:
                    out.append(c)
                    self.i += 1
            segs.append(Seg("lit", "".join(out), True))
        elif nxt == '"' and not quoted:
            self.i += 2
            self.dquote(segs, subs)
        else:
            m = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!\-])").match(self.s, self.i)
            if m:
                self.i = m.end()
                segs.append(Seg("var", m.group(), quoted))
            else:
                self.i += 1
                segs.append(Seg("lit", "$", quoted))

    def ansi_escape(self, out):
        s, i = self.s, self.i + 1
        c = s[i:i + 1]
        simple = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v",
                  "\\": "\\", "'": "'", '"': '"', "?": "?"}
        for pattern, base in ((r"x([0-9A-Fa-f]{1,2})", 16), (r"u([0-9A-Fa-f]{1,4})", 16), (r"U([0-9A-Fa-f]{1,8})", 16),
                              (r"([0-7]{1,3})", 8)):
            m = re.compile(pattern).match(s, i)
            if m:
                code = int(m.group(1), base)
                if code > 0x10FFFF or code == 0:
                    raise Unparsable("a bad escape")
                out.append(chr(code))
                return m.end()
        if c in simple and c:
            out.append(simple[c])
            return i + 1
        if c == "c":
            raise Unparsable("a control escape")
        out.append("\\" + c)
        return i + 1

    def brace_body(self, subs, quoted):
        """Behind `${`, up to the closing brace."""
        while True:
            if self.i >= self.n:
                raise Unparsable("an open brace")
            c = self.s[self.i]
            if c == "}":
                self.i += 1
                return
            if c == "\\":
                self.i += 2
            elif c == "'" and not quoted:
                end = self.s.find("'", self.i + 1)
                if end < 0:
                    raise Unparsable("an open quote")
                self.i = end + 1
            elif c == '"':
                self.i += 1
                self.dquote([], subs)
            elif c == "`":
                subs.append(self.backtick(quoted))
            elif c == "$":
                self.dollar([], subs, quoted)
            elif c in "<>" and self.s[self.i + 1:self.i + 2] == "(" and not quoted:
                subs.append(self.substitution())
            else:
                self.i += 1

    def dquote(self, segs, subs, heredoc=False):
        """Behind an opening double quote, up to the closing one (of a here-document: to the end)."""
        out = []

        def flush():
            if out:
                segs.append(Seg("lit", "".join(out), True))
                out.clear()

        while True:
            if self.i >= self.n:
                if heredoc:
                    flush()
                    return
                raise Unparsable("an open quote")
            c = self.s[self.i]
            if c == '"' and not heredoc:
                self.i += 1
                flush()
                if not segs or not segs[-1].quoted:
                    segs.append(Seg("lit", "", True))
                return
            if c == "\\":
                d = self.s[self.i + 1:self.i + 2]
                if d == "\n":
                    self.i += 2
                elif d and d in '$`"\\':
                    out.append(d)
                    self.i += 2
                else:
                    out.append(c)
                    self.i += 1
            elif c == "$":
                flush()
                self.dollar(segs, subs, True)
            elif c == "`":
                flush()
                start = self.i
                subs.append(self.backtick(not heredoc))
                segs.append(Seg("sub", self.s[start:self.i], True))
            else:
                out.append(c)
                self.i += 1

    def word(self, conditional=False):
        """The word that begins here, or None."""
        start, segs, subs = self.i, [], []
        out = []
        dropped = []

        def flush():
            if out:
                segs.append(Seg("lit", "".join(out)))
                out.clear()

        while self.i < self.n:
            c = self.s[self.i]
            if c in "<>" and self.s[self.i + 1:self.i + 2] == "(" and not conditional:
                flush()
                begin = self.i
                subs.append(self.substitution())
                segs.append(Seg("sub", self.s[begin:self.i]))
                continue
            if c in META:
                if c == "(" and self.i > start and not segs and ASSIGN.fullmatch("".join(out)):
                    flush()
                    self.array(segs, subs)
                    continue
                break
            if c == "\\":
                d = self.s[self.i + 1:self.i + 2]
                if d == "":
                    out.append("\\")
                    self.i += 1
                elif d == "\n":
                    dropped.append(self.i - start)
                    self.i += 2
                else:
                    flush()
                    segs.append(Seg("lit", d, True))
                    self.i += 2
            elif c == "'":
                flush()
                end = self.s.find("'", self.i + 1)
                if end < 0:
                    raise Unparsable("an open quote")
                segs.append(Seg("lit", self.s[self.i + 1:end], True))
                self.i = end + 1
            elif c == '"':
                flush()
                self.i += 1
                self.dquote(segs, subs)
            elif c == "`":
                flush()
                begin = self.i
                subs.append(self.backtick(False))
                segs.append(Seg("sub", self.s[begin:self.i]))
            elif c == "$":
                flush()
                self.dollar(segs, subs, False)
            elif c == "~" and (self.i == start or (out and out[-1] in "=:")):
                flush()
                segs.append(Seg("tilde", "~"))
                self.i += 1
            elif c in GLOBS:
                flush()
                segs.append(Seg("glob", c))
                self.i += 1
            else:
                out.append(c)
                self.i += 1
        flush()
        if self.i == start:
            return None
        raw = self.s[start:self.i]
        for at in reversed(dropped):
            raw = raw[:at] + raw[at + 2:]
        if not raw:
            return None
        return Word(raw, segs, subs)

    def array(self, segs, subs):
        begin = self.i
        self.i += 1
        while True:
            self.skip_newlines()
            if self.at(")"):
                self.i += 1
                segs.append(Seg("var", self.s[begin:self.i]))
                return
            w = self.word()
            if w is None:
                raise Unparsable("an open bracket")
            subs.extend(w.subs)

    # redirects

    REDIR = re.compile(r"(\d+|\{[A-Za-z_][A-Za-z0-9_]*\})?(&>>|&>|<<<|<<-|<<|<>|<&|>>|>\||>&|<(?!\()|>(?!\())")

    def redirect(self):
        m = self.REDIR.match(self.s, self.i)
        if not m or (m.group(1) and m.group(2).startswith("&")):
            return None
        op = m.group(2)
        self.i = m.end()
        self.blanks()
        start = self.i
        target = self.word()
        if target is None:
            raise Unparsable("a redirect without a target")
        r = Redirect(op, target, m.group(1) or "")
        if op in ("<<", "<<-"):
            raw = self.s[start:self.i]
            quoted = any(q in raw for q in "'\"\\")
            if target.subs:
                raise Unparsable("an unclear delimiter")
            self.pending.append((r, op == "<<-", target.plain, quoted))
        return r

    # commands

    def whole(self):
        result = self.list(None)
        if self.i < self.n:
            raise Unparsable("an unexpected sign")
        return result

    def peek_word(self):
        """The plain unquoted word here, for reserved words."""
        m = re.compile(r"[^\s|&;()<>'\"\\`$]+").match(self.s, self.i)
        if not m:
            return ""
        nxt = self.s[m.end():m.end() + 1]
        if nxt and nxt in "'\"\\`$":
            return ""
        return m.group()

    def list(self, closing, ends=()):
        """[(sign before, node)] up to the closing bracket, one of the ends, or the end of the text."""
        items, op = [], ""
        while True:
            self.skip_newlines()
            if self.i >= self.n:
                break
            if closing and self.at(closing):
                break
            if self.at(";;") or self.at(";&"):
                if ";;" in ends:
                    break
                raise Unparsable("an unexpected ;;")
            if self.peek_word() in ends and self.peek_word():
                break
            while True:
                node = self.command()
                items.append((op, node))
                self.blanks()
                for sign in ("&&", "||", "|&", "|"):
                    if self.at(sign):
                        break
                else:
                    break
                self.i += len(sign)
                op = sign
                self.skip_newlines()
                if self.i >= self.n:
                    raise Unparsable("a command is missing")
            self.blanks()
            if self.i >= self.n:
                break
            c = self.s[self.i]
            if c == "\n":
                op = "\n"
                continue
            if self.at(";;") or self.at(";&"):
                if ";;" in ends:
                    break
                raise Unparsable("an unexpected ;;")
            if c == ";" or (c == "&" and not self.at("&>")):
                op = c
                self.i += 1
                continue
            if closing and self.at(closing):
                break
            if c == ")":
                raise Unparsable("an unexpected bracket")
            raise Unparsable("an unexpected sign")
        return items

    def expect(self, text):
        self.skip_newlines()
        if self.peek_word() != text:
            raise Unparsable(text + " is missing")
        self.i += len(text)

    def trailing(self, node):
        while True:
            self.blanks()
            r = self.redirect()
            if r is None:
                break
            node.redirs.append(r)
        return node

    def command(self):
        self.blanks()
        while self.peek_word() == "!":
            self.i += 1
            self.blanks()
        if self.at("(("):
            end = self.arithmetic_end(self.i + 2)
            if end >= 0:
                raw = self.s[self.i:end + 2]
                node = Simple()
                subs = []
                self.scan_subs(self.s[self.i + 2:end], subs)
                node.words.append(Word(raw, [Seg("var", raw)], subs))
                self.i = end + 2
                return self.trailing(node)
        if self.at("("):
            self.i += 1
            self.nest += 1
            if self.nest > 40:
                raise Unparsable("nested too deep")
            node = Compound("subshell")
            node.sections.append(self.list(")"))
            if not self.at(")"):
                raise Unparsable("an open bracket")
            self.i += 1
            self.nest -= 1
            return self.trailing(node)
        key = self.peek_word()
        if key == "{":
            self.i += 1
            return self.block("group", "}")
        if key == "if":
            self.i += 2
            node = Compound("if")
            node.sections.append(self.list(None, ("then",)))
            self.expect("then")
            while True:
                node.sections.append(self.list(None, ("elif", "else", "fi")))
                nxt = self.peek_word()
                if nxt == "elif":
                    self.i += 4
                    node.sections.append(self.list(None, ("then",)))
                    self.expect("then")
                elif nxt == "else":
                    self.i += 4
                    node.sections.append(self.list(None, ("fi",)))
                    self.expect("fi")
                    return self.trailing(node)
                else:
                    self.expect("fi")
                    return self.trailing(node)
        if key in ("while", "until"):
            self.i += 5
            node = Compound("loop")
            node.sections.append(self.list(None, ("do",)))
            self.expect("do")
            node.sections.append(self.list(None, ("done",)))
            self.expect("done")
            return self.trailing(node)
        if key in ("for", "select"):
            return self.loop_for(key)
        if key == "case":
            return self.case()
        if key == "function":
            self.i += 8
            self.blanks()
            name = self.word()
            if name is None:
                raise Unparsable("a function without a name")
            self.blanks()
            if self.at("("):
                self.i += 1
                self.blanks()
                if not self.at(")"):
                    raise Unparsable("a bad function")
                self.i += 1
            return self.function(name.plain)
        if key == "coproc":
            raise Unparsable("coproc")
        if key == "[[":
            return self.conditional()
        if key in RESERVED_END:
            raise Unparsable("an unexpected " + key)
        if key == "time":
            at = self.i
            self.i += 4
            self.blanks()
            if self.peek_word() == "-p":
                self.i += 2
                self.blanks()
            nxt = self.peek_word()
            if self.at("(") or nxt in ("{", "if", "while", "until", "for", "select", "case", "[[", "!"):
                return self.command()
            self.i = at
        return self.simple()

    def block(self, kind, end):
        node = Compound(kind)
        node.sections.append(self.list(None, (end,)))
        self.skip_newlines()
        if self.peek_word() != end:
            raise Unparsable("an open " + kind)
        self.i += len(end)
        return self.trailing(node)

    def function(self, name):
        self.skip_newlines()
        node = Compound("function")
        node.name = name
        body = self.command()
        if isinstance(body, Simple):
            raise Unparsable("a bad function")
        node.sections.append([("", body)])
        return node

    def loop_for(self, key):
        self.i += len(key)
        node = Compound("loop")
        self.blanks()
        if self.at("(("):
            end = self.arithmetic_end(self.i + 2)
            if end < 0:
                raise Unparsable("a bad for")
            raw = self.s[self.i:end + 2]
            subs = []
            self.scan_subs(self.s[self.i + 2:end], subs)
            node.words.append(Word(raw, [Seg("var", raw)], subs))
            self.i = end + 2
        else:
            if self.word() is None:
                raise Unparsable("a bad for")
            self.skip_newlines()
            if self.peek_word() == "in":
                self.i += 2
                while True:
                    self.blanks()
                    w = self.word()
                    if w is None:
                        break
                    node.words.append(w)
        self.blanks()
        if self.at(";"):
            self.i += 1
        self.skip_newlines()
        if self.peek_word() == "{":
            self.i += 1
            node.sections.append(self.list(None, ("}",)))
            self.expect("}")
        else:
            self.expect("do")
            node.sections.append(self.list(None, ("done",)))
            self.expect("done")
        return self.trailing(node)

    def case(self):
        self.i += 4
        node = Compound("case")
        self.blanks()
        w = self.word()
        if w is None:
            raise Unparsable("a bad case")
        node.words.append(w)
        self.expect("in")
        while True:
            self.skip_newlines()
            if self.peek_word() == "esac":
                self.i += 4
                return self.trailing(node)
            if self.at("("):
                self.i += 1
            while True:
                self.blanks()
                w = self.word()
                if w is None:
                    raise Unparsable("a bad case")
                node.words.append(w)
                self.blanks()
                if self.at("|"):
                    self.i += 1
                    continue
                if self.at(")"):
                    self.i += 1
                    break
                raise Unparsable("a bad case")
            node.sections.append(self.list(None, (";;", "esac")))
            for end in (";;&", ";;", ";&"):
                if self.at(end):
                    self.i += len(end)
                    break

    def conditional(self):
        node = Simple()
        while True:
            self.skip_newlines()
            if self.i >= self.n:
                raise Unparsable("an open [[")
            w = self.word(conditional=True)
            if w is None:
                c = self.s[self.i]
                if c == ";" or (c == "\n"):
                    raise Unparsable("an open [[")
                for sign in ("&&", "||", "<", ">", "(", ")", "|"):
                    if self.at(sign):
                        self.i += len(sign)
                        node.words.append(Word(sign, [Seg("lit", sign)], []))
                        break
                else:
                    raise Unparsable("a bad [[")
                continue
            node.words.append(w)
            if w.raw == "]]":
                return self.trailing(node)

    def simple(self):
        node = Simple()
        while True:
            self.blanks()
            if self.i >= self.n:
                break
            r = self.redirect()
            if r is not None:
                node.redirs.append(r)
                continue
            before = self.i
            w = self.word()
            if w is None:
                if self.i > before:
                    continue
                break
            if not node.words and ASSIGN.match(w.raw):
                node.assigns.append(w)
                continue
            node.words.append(w)
            if len(node.words) == 1 and not node.assigns and not node.redirs:
                at = self.i
                self.blanks()
                if self.at("("):
                    self.i += 1
                    self.blanks()
                    if self.at(")"):
                        self.i += 1
                        return self.function(w.plain)
                    raise Unparsable("an unexpected bracket")
                self.i = at
        if not node.words and not node.assigns and not node.redirs:
            raise Unparsable("a command is missing")
        return node


def parse(text, depth=0):
    """The list of a command. Raises Unparsable."""
    if len(text) > 10000:
        raise Unparsable("over 10,000 characters")
    try:
        return Parser(text, depth).whole()
    except RecursionError:
        raise Unparsable("nested too deep") from None


def braces(word):
    """The words that a word with braces stands for; itself alone if it has none. None: not known."""
    if not word.braced:
        return [word]
    chars = []
    for seg in word.segs:
        if seg.kind == "lit" and not seg.quoted:
            chars.extend((c, "brace" if c in "{,}" else "lit", False) for c in seg.text)
        else:
            chars.append((seg.text, seg.kind, seg.quoted))
    results = expand_braces(chars)
    if results is None or len(results) > 200:
        return None
    words = []
    for chars in results:
        segs = [Seg("lit" if kind == "brace" else kind, text, quoted) for text, kind, quoted in chars]
        if segs and segs[0].kind == "lit" and segs[0].text == "~" and not segs[0].quoted:
            segs[0] = Seg("tilde", "~")
        words.append(Word("".join(s.text for s in segs), segs, []))
    return words


def expand_braces(chars):
    for start, (text, kind, _) in enumerate(chars):
        if kind != "brace" or text != "{":
            continue
        level, cuts, end = 0, [], -1
        for i in range(start, len(chars)):
            t, k, _ = chars[i]
            if k != "brace":
                continue
            if t == "{":
                level += 1
            elif t == "}":
                level -= 1
                if level == 0:
                    end = i
                    break
            elif level == 1:
                cuts.append(i)
        if end < 0:
            continue
        if not cuts:
            inner = "".join(t for t, _, _ in chars[start + 1:end])
            if ".." in inner:
                return None
            continue
        bounds = [start, *cuts, end]
        results = []
        tails = expand_braces(chars[end + 1:])
        if tails is None:
            return None
        for a, b in zip(bounds, bounds[1:]):
            middle = expand_braces(chars[a + 1:b])
            if middle is None:
                return None
            for m in middle:
                for tail in tails:
                    results.append(chars[:start] + m + tail)
                    if len(results) > 200:
                        return None
        return results
    return [chars]
