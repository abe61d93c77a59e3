"""Reads a shell command into commands, words and redirects, so that it can be judged part by part."""

import re

BLANK = " \t"
META = " \t\n;&|()<>"
RESERVED = {"if", "then", "elif", "else", "fi", "while", "until", "for", "select", "do", "done", "case", "esac", "in",
            "function", "{", "}", "!", "[[", "coproc", "time"}
REDIRECT = re.compile(r"(\d*)(<<<|<<-|<<|<>|<&|<|&>>|&>|>>|>\||>&|>)")
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(\[[^]]*\])?\+?=")
VARIABLE = re.compile(r"\$([A-Za-z_]\w*|[0-9@*#?$!-])")


class Unparsable(Exception):
    """The text is not a command this module can read."""


class Word:
    """A word: segments (kind, text, quoted); kind `p` plain, `q` quoted, `v` variable, `s` substitution."""

    def __init__(self):
        self.raw, self.segs, self.subs = "", [], []

    def add(self, kind, text, quoted=False):
        if kind == "p" and self.segs and self.segs[-1][0] == "p":
            self.segs[-1] = ("p", self.segs[-1][1] + text, False)
        else:
            self.segs.append((kind, text, quoted))

    @property
    def value(self):
        return "".join(text for _, text, _ in self.segs)

    @property
    def fixed(self):
        """No variable, substitution or brace expansion in it."""
        plain = "".join(t if k == "p" else "x" for k, t, _ in self.segs)
        return not any(k in "vs" for k, _, _ in self.segs) and not re.search(r"\{.*(,|\.\.).*\}", plain)

    @property
    def tilde(self):
        return bool(self.segs) and self.segs[0][0] == "p" and self.segs[0][1].startswith("~")

    @property
    def globs(self):
        return any(k == "p" and re.search(r"[*?[]", t) for k, t, _ in self.segs)

    @property
    def pattern(self):
        return "".join(t if k == "p" else re.sub(r"([*?[])", r"[\1]", t) for k, t, _ in self.segs)

    @property
    def splits(self):
        return any(k in "vs" and not q for k, _, q in self.segs)


class Command:
    def __init__(self):
        self.assigns, self.words, self.redirects, self.subs = [], [], [], []


class Block:
    """A compound command: kind `sub` (a shell of its own), `loop`, or `group`."""

    def __init__(self, kind):
        self.kind, self.seqs, self.redirects, self.words, self.subs = kind, [], [], [], []


class Parser:
    def __init__(self, text):
        self.s, self.i, self.heredocs = text, 0, []

    def parse(self):
        seq = self.sequence(())
        if self.i < len(self.s) or self.heredocs:
            raise Unparsable("does not end")
        return seq

    def at(self, text):
        return self.s.startswith(text, self.i)

    def blanks(self, newlines=False):
        s, n = self.s, len(self.s)
        while self.i < n:
            c = s[self.i]
            if c in BLANK:
                self.i += 1
            elif s.startswith("\\\n", self.i):
                self.i += 2
            elif c == "#":
                end = s.find("\n", self.i)
                self.i = n if end < 0 else end
            elif newlines and c == "\n":
                self.newline()
            else:
                return

    def newline(self):
        self.i += 1
        pending, self.heredocs = self.heredocs, []
        for end, strip, quoted, command in pending:
            body = []
            while True:
                if self.i >= len(self.s):
                    raise Unparsable("here-document")
                stop = self.s.find("\n", self.i)
                stop = len(self.s) if stop < 0 else stop
                line = self.s[self.i:stop]
                self.i = min(stop + 1, len(self.s))
                if (line.lstrip("\t") if strip else line) == end:
                    if stop < len(self.s):
                        self.i = stop
                        last = True
                    else:
                        last = False
                    break
                body.append(line)
            if last:
                self.i += 1
            if not quoted:
                inner, word = Parser("\n".join(body)), Word()
                while inner.i < len(inner.s):
                    inner.double(word)
                command.subs += word.subs

    def peek(self):
        m = re.compile(r"[a-z]+|\{|\}|!|\[\[").match(self.s, self.i)
        if m and m[0] in RESERVED and (m.end() == len(self.s) or self.s[m.end()] in META):
            return m[0]
        return None

    def expect(self, word):
        self.blanks(True)
        if self.peek() != word:
            raise Unparsable(word)
        self.i += len(word)

    def sequence(self, stop):
        seq, op = [], ";"
        while True:
            self.blanks(True)
            if self.i >= len(self.s) or self.at(")") or self.at(";;") or self.at(";&") or self.peek() in stop:
                if op in ("&&", "||", "|"):
                    raise Unparsable("operator at the end")
                return seq
            seq.append((op, self.command()))
            self.blanks()
            if self.i >= len(self.s) or self.at(")") or self.at(";;") or self.at(";&"):
                return seq
            for op in ("&&", "||", "|&", "|", ";", "&", "\n"):
                if self.at(op):
                    break
            else:
                if self.peek() in stop:
                    return seq
                raise Unparsable("sign")
            if op == "\n":
                self.newline()
            else:
                self.i += len(op)
            op = "|" if op == "|&" else op

    def command(self):
        self.blanks()
        word = self.peek()
        if self.at("("):
            self.i += 1
            block = Block("sub")
            block.seqs.append(self.sequence(()))
            self.close(")")
            return self.redirects(block)
        if word in ("!", "coproc"):
            self.i += len(word)
            return self.command()
        if word == "time":
            start, self.i = self.i, self.i + 4
            self.blanks()
            if self.at("(") or self.peek() in ("{", "if", "while", "until", "for", "case", "!", "time", "[["):
                return self.command()
            self.i = start
        elif word == "{":
            return self.compound("group", word, "}")
        elif word == "if":
            return self.compound("group", word, "then", ("elif", "then"), "else", "fi")
        elif word in ("while", "until"):
            return self.compound("loop", word, "do", "done")
        elif word in ("for", "select"):
            return self.loop(word)
        elif word == "case":
            return self.case()
        elif word == "function":
            self.i += 8
            self.blanks()
            self.word()
            self.blanks()
            if self.at("("):
                self.i += 1
                self.close(")")
            return self.body()
        elif word == "[[":
            return self.test()
        elif word:
            raise Unparsable(word)
        return self.simple()

    def body(self):
        self.blanks(True)
        block = Block("loop")
        block.seqs.append([(";", self.command())])
        return block

    def close(self, sign):
        self.blanks(True)
        if not self.at(sign):
            raise Unparsable(sign)
        self.i += len(sign)

    def compound(self, kind, opener, *marks):
        block = Block(kind)
        self.i += len(opener)
        if opener == "if":
            stops = ("then", "elif", "else", "fi")
            while True:
                block.seqs.append(self.sequence(stops))
                self.blanks(True)
                word = self.peek()
                if word not in stops:
                    raise Unparsable("if")
                self.i += len(word)
                if word == "fi":
                    return self.redirects(block)
        for mark in marks:
            block.seqs.append(self.sequence((mark,)))
            self.expect(mark)
        return self.redirects(block)

    def loop(self, word):
        block = Block("loop")
        self.i += len(word)
        self.blanks()
        if not re.compile(r"[A-Za-z_]\w*").match(self.s, self.i):
            raise Unparsable("for")
        self.word()
        self.blanks(True)
        if self.peek() == "in":
            self.i += 2
            while True:
                self.blanks()
                if self.i >= len(self.s) or self.s[self.i] in "\n;":
                    break
                block.words.append(self.word())
        self.blanks()
        if self.at(";"):
            self.i += 1
        self.expect("do")
        block.seqs.append(self.sequence(("done",)))
        self.expect("done")
        return self.redirects(block)

    def case(self):
        block = Block("group")
        self.i += 4
        self.blanks()
        block.words.append(self.word())
        self.expect("in")
        while True:
            self.blanks(True)
            if self.peek() == "esac":
                self.i += 4
                return self.redirects(block)
            if self.at("("):
                self.i += 1
            while True:
                self.blanks()
                block.words.append(self.word())
                self.blanks()
                if self.at("|"):
                    self.i += 1
                    continue
                self.close(")")
                break
            block.seqs.append(self.sequence(("esac",)))
            self.blanks(True)
            for sign in (";;&", ";;", ";&"):
                if self.at(sign):
                    self.i += len(sign)
                    break

    def test(self):
        command = Command()
        while True:
            self.blanks(True)
            if self.i >= len(self.s):
                raise Unparsable("[[")
            if self.s[self.i] in "<>()&|;" and not self.at("<(") and not self.at(">("):
                word = Word()
                word.raw = self.s[self.i]
                word.add("q", word.raw)
                self.i += 1
            else:
                word = self.word()
            command.words.append(word)
            if word.raw == "]]":
                return self.redirects(command)

    def redirects(self, node):
        while True:
            self.blanks()
            if not self.redirect(node):
                return node

    def redirect(self, node):
        m = REDIRECT.match(self.s, self.i)
        if not m or (m[2] in "<>" and self.s.startswith("(", m.end())):
            return False
        self.i = m.end()
        self.blanks()
        target = self.word()
        if m[2] in ("<<", "<<-"):
            quoted = any(k == "q" for k, _, _ in target.segs) or "'" in target.raw or '"' in target.raw
            self.heredocs.append((target.value, m[2] == "<<-", quoted, node))
        else:
            node.redirects.append((m[2], target))
        return True

    def simple(self):
        command = Command()
        start = self.i
        while True:
            self.blanks()
            if self.i >= len(self.s):
                break
            if self.redirect(command):
                continue
            c = self.s[self.i]
            if c == "(":
                if len(command.words) == 1 and not command.assigns:
                    self.i += 1
                    self.close(")")
                    return self.body()
                raise Unparsable("bracket")
            if c in "\n;&|)":
                break
            word = self.word()
            if not command.words and ASSIGNMENT.match(word.raw):
                command.assigns.append(word)
            else:
                command.words.append(word)
        if self.i == start:
            raise Unparsable("empty command")
        return command

    def word(self):
        word, start, s = Word(), self.i, self.s
        while self.i < len(s):
            c = s[self.i]
            if c in "<>" and s.startswith("(", self.i + 1):
                self.substitution(word, 2, False)
            elif c == "(" and re.fullmatch(r"[A-Za-z_]\w*\+?=", s[start:self.i]):
                self.array(word)
            elif c == "(" and self.i > start and s[self.i - 1] in "?*+@!":
                raise Unparsable("extended pattern")
            elif c in META:
                break
            elif c == "\\":
                if s.startswith("\\\n", self.i):
                    pass
                else:
                    word.add("q", s[self.i + 1:self.i + 2])
                self.i += 2
            elif c == "'":
                end = s.find("'", self.i + 1)
                if end < 0:
                    raise Unparsable("quote")
                word.add("q", s[self.i + 1:end])
                self.i = end + 1
            elif c == '"' or s.startswith('$"', self.i):
                self.i += 1 if c == '"' else 2
                word.add("q", "")
                while not self.at('"'):
                    if self.i >= len(s):
                        raise Unparsable("quote")
                    self.double(word)
                self.i += 1
            elif s.startswith("$'", self.i):
                m = re.compile(r"\$'((?:[^'\\]|\\.)*)'", re.S).match(s, self.i)
                if not m:
                    raise Unparsable("quote")
                try:
                    word.add("q", re.sub(r"\\(?:x[0-9a-fA-F]{1,2}|[0-7]{1,3}|u[0-9a-fA-F]{4}|.)", ansi, m[1], flags=re.S))
                except ValueError:
                    raise Unparsable("quote") from None
                self.i = m.end()
            elif c in "$`":
                self.expansion(word, False)
            else:
                word.add("p", c)
                self.i += 1
        if self.i == start:
            raise Unparsable("a word is missing")
        word.raw = s[start:self.i].replace("\\\n", "") if "'" not in s[start:self.i] else s[start:self.i]
        return word

    def array(self, word):
        self.i += 1
        word.add("v", "(", False)
        while True:
            self.blanks(True)
            if self.at(")"):
                self.i += 1
                return
            word.subs += self.word().subs

    def double(self, word):
        """One item of text as between double quotes."""
        c = self.s[self.i]
        if c == "\\" and self.i + 1 < len(self.s):
            follow = self.s[self.i + 1]
            word.add("q", follow if follow in '$`"\\' else "" if follow == "\n" else "\\" + follow, True)
            self.i += 2
        elif c in "$`":
            self.expansion(word, True)
        else:
            word.add("q", c, True)
            self.i += 1

    def expansion(self, word, quoted):
        s, start = self.s, self.i
        if s[self.i] == "`":
            m = re.compile(r"`((?:[^`\\]|\\.)*)`", re.S).match(s, self.i)
            if not m:
                raise Unparsable("backtick")
            word.subs.append(Parser(re.sub(r"\\([`\\$])", r"\1", m[1])).parse())
            self.i = m.end()
            word.add("s", m[0], quoted)
        elif s.startswith("$((", self.i) and (end := arithmetic(s, self.i + 2)):
            self.inside(s[self.i + 3:end - 2], word)
            self.i = end
            word.add("v", s[start:end], quoted)
        elif s.startswith("$(", self.i):
            self.substitution(word, 2, quoted)
        elif s.startswith("${", self.i):
            end = self.brace(self.i + 2)
            self.inside(s[self.i + 2:end - 1], word)
            if s[self.i + 2:self.i + 3] in BLANK + "|":
                raise Unparsable("expansion")
            self.i = end
            word.add("v", s[start:end], quoted)
        elif m := VARIABLE.match(s, self.i):
            self.i = m.end()
            word.add("v", m[0], quoted)
        else:
            word.add("v" if s.startswith("$[", self.i) else "q" if quoted else "p", "$", quoted)
            self.i += 1

    def inside(self, text, word):
        inner, scratch = Parser(text), Word()
        while inner.i < len(text):
            if inner.s[inner.i] in "<>" and text.startswith("(", inner.i + 1):
                inner.substitution(scratch, 2, True)
            else:
                inner.double(scratch)
        word.subs += scratch.subs

    def brace(self, i):
        depth, s = 1, self.s
        while i < len(s):
            c = s[i]
            if c == "\\":
                i += 1
            elif c == "'":
                end = s.find("'", i + 1)
                i = end if end > 0 else i
            elif c == "{" and s[i - 1] == "$":
                depth += 1
            elif c == "}":
                depth -= 1
                if not depth:
                    return i + 1
            i += 1
        raise Unparsable("brace")

    def substitution(self, word, skip, quoted):
        start = self.i
        self.i += skip
        saved, self.heredocs = self.heredocs, []
        word.subs.append(self.sequence(()))
        self.close(")")
        if self.heredocs:
            raise Unparsable("here-document")
        self.heredocs = saved
        word.add("s", self.s[start:self.i], quoted)


def arithmetic(s, i):
    """The end of `(( ))` whose second bracket is at i, or 0 if it is a substitution with a subshell."""
    depth, start = 2, i + 1
    for j in range(start, len(s)):
        c = s[j]
        if c in "'\"\n;`":
            return 0
        depth += (c == "(") - (c == ")")
        if depth == 1 and not s.startswith("))", j):
            return 0
        if depth == 1:
            return j + 2
    return 0


def ansi(match):
    code = match[0][1:]
    if code[0] in "xu":
        return chr(int(code[1:], 16))
    if code[0] in "01234567":
        return chr(int(code, 8))
    if code in "\\'\"?":
        return code
    if code in "abefnrtv":
        return dict(a="\a", b="\b", e="\x1b", f="\f", n="\n", r="\r", t="\t", v="\v")[code]
    raise ValueError(code)


def parse(text):
    if len(text) > 10_000:
        raise Unparsable("too long")
    try:
        return Parser(text).parse()
    except RecursionError:
        raise Unparsable("too deep") from None
