"""One engine that decides which call runs: rules, modes, paths, shell commands."""

import os
import re

MODES = ("default", "plan", "accept-edits", "bypass", "dont-ask")
TOOLS = ("read", "write", "edit", "multi_edit", "glob", "grep", "bash", "bash_output", "bash_kill", "fetch", "todo", "task",
         "skill", "ask", "exit_plan")
WRITERS = ("write", "edit", "multi_edit")
PATTERNED = ("bash", "read", "edit", "write", "multi_edit", "glob", "grep", "fetch", "task", "skill")
START_FILES = {".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".zshrc", ".zshenv", ".zprofile",
               ".zlogin"}
RUN, ASK, REFUSE = 0, 1, 2


class RuleError(ValueError):
    """A rule that cannot be used."""


def home():
    return os.path.normpath(os.path.expanduser("~"))


def text_regex(pattern, shell=False):
    """A pattern whose `*` is any text."""
    tail = ""
    if shell and pattern.endswith(" *") and not pattern.endswith("\\ *"):
        pattern, tail = pattern[:-2], "(?: .*)?"
    out, i = [], 0
    while i < len(pattern):
        c = pattern[i]
        if c == "\\" and pattern[i + 1:i + 2] in ("*", "\\"):
            out.append(re.escape(pattern[i + 1]))
            i += 2
            continue
        out.append(".*" if c == "*" else re.escape(c))
        i += 1
    return re.compile("".join(out) + tail, re.S)


def split_braces(pattern):
    """The patterns that `{a,b}` stands for."""
    i, level, start, cuts = 0, 0, -1, []
    while i < len(pattern):
        c = pattern[i]
        if c == "\\":
            i += 2
            continue
        if c == "[":
            end = pattern.find("]", i + 2)
            if end > 0:
                i = end + 1
                continue
        if c == "{":
            if level == 0:
                start, cuts = i, []
            level += 1
        elif c == "," and level == 1:
            cuts.append(i)
        elif c == "}" and level:
            level -= 1
            if level == 0 and cuts:
                bounds = [start, *cuts, i]
                result = []
                for a, b in zip(bounds, bounds[1:]):
                    for rest in split_braces(pattern[a + 1:b] + pattern[i + 1:]):
                        result.append(pattern[:start] + rest)
                return result
        i += 1
    return [pattern]


def segment_regex(segment):
    """The regular expression of one component of a path pattern."""
    out, i = [], 0
    while i < len(segment):
        c = segment[i]
        if c == "\\" and i + 1 < len(segment):
            out.append(re.escape(segment[i + 1]))
            i += 2
            continue
        if c == "*":
            out.append("[^/]*")
        elif c == "?":
            out.append("[^/]")
        elif c == "[":
            j = i + 1
            if segment[j:j + 1] in ("!", "^"):
                j += 1
            if segment[j:j + 1] == "]":
                j += 1
            end = segment.find("]", j)
            if end < 0:
                out.append("\\[")
            else:
                inner = segment[i + 1:end]
                negative = inner[:1] in ("!", "^")
                if negative:
                    inner = inner[1:]
                inner = inner.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]").replace("^", "\\^")
                inner = re.sub(r"([&~|])\1", r"\1\\\1", inner)
                out.append("(?![/])[" + ("^" if negative else "") + inner + "]")
                i = end
        else:
            out.append(re.escape(c))
        i += 1
    return "".join(out)


def components(pattern):
    """The pattern's components with `.` and `..` taken out."""
    parts = []
    for part in pattern.split("/"):
        if part in ("", "."):
            continue
        if part == "..":
            if parts and parts[-1] != "**":
                parts.pop()
            continue
        parts.append(part)
    return parts


def below_regex(parts):
    """A regular expression of `/a/b` forms for the components of a pattern."""
    out = []
    for i, part in enumerate(parts):
        if part == "**":
            out.append("(?:/[^/]+)+" if i == len(parts) - 1 else "(?:/[^/]+)*")
        else:
            out.append("/" + segment_regex(part))
    return "".join(out)


class PathPattern:
    def __init__(self, pattern, bases):
        self.names, self.regexes, self.folder_regexes = [], [], []
        for one in split_braces(pattern):
            while one.startswith("./"):
                one = one[2:].lstrip("/") if len(one) > 2 else ""
            if one == "~" or one.startswith("~/"):
                self.add("", components(re.sub(r"([\\*?\[\]{}])", r"\\\1", home()) + one[1:]))
            elif one.startswith("/"):
                self.add("", components(one))
            elif "/" in one[:-1]:
                for base in bases:
                    quoted = re.sub(r"([\\*?\[\]{}])", r"\\\1", base)
                    self.add("", components(quoted + "/" + one))
            else:
                name = one.rstrip("/")
                if name in (".", "..", ""):
                    for base in bases:
                        quoted = re.sub(r"([\\*?\[\]{}])", r"\\\1", base)
                        self.add("", components(quoted + "/" + name))
                elif name == "**":
                    self.add("", ["**"])
                else:
                    self.names.append(re.compile(segment_regex(name)))

    def add(self, _, parts):
        text = below_regex(parts)
        try:
            self.regexes.append(re.compile(text + "(?:/.*)?", re.S))
            if parts and parts[-1] == "**":
                self.folder_regexes.append(re.compile(below_regex(parts[:-1]) + "(?:/.*)?", re.S))
        except re.error as error:
            raise RuleError(str(error)) from None

    def match(self, path):
        if self.names:
            for part in path.split("/"):
                if part and any(r.fullmatch(part) for r in self.names):
                    return True
        return any(r.fullmatch(path) for r in self.regexes)

    def match_folder(self, path):
        """The folder is covered, or all below it."""
        return self.match(path) or any(r.fullmatch(path if path != "/" else "") for r in self.folder_regexes)


ASSIGNMENT = re.compile(r"""([A-Za-z_][A-Za-z0-9_]*(?:\[[^\]]*\])?\+?=(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"\\])*)(?:\s+|$)""",
                        re.S)


class Rule:
    def __init__(self, text, source="flag", bases=()):
        self.given, self.source = text, source
        text = text.strip()
        name, bracket, rest = text.partition("(")
        self.tool, self.pattern = name.lower() if not name.lower().startswith("mcp__") else name, None
        if bracket:
            if not rest.endswith(")") or rest == ")" or not rest[:-1].strip():
                raise RuleError("bad rule: " + self.given)
            self.pattern = rest[:-1]
        if name.lower().startswith("mcp__"):
            self.tool = "mcp__" + name[5:]
            if self.tool == "mcp__":
                raise RuleError("bad rule (unknown tool): " + self.given)
        elif self.tool not in TOOLS:
            raise RuleError("bad rule (unknown tool): " + self.given)
        if bracket and self.tool not in PATTERNED:
            raise RuleError("bad rule (this tool takes no pattern): " + self.given)
        self.path = self.regex = None
        self.assigns, self.rest = [], None
        if self.pattern is None:
            if self.tool.startswith("mcp__"):
                body = self.tool[5:]
                server, parted, tool = body.partition("__")
                self.server = server
                star = ".*".join(re.escape(x) for x in self.tool.split("*"))
                self.regex = re.compile(star if parted or "*" in self.tool else star + "__.*", re.S)
                if not parted and "*" in self.tool:
                    self.regex = re.compile(star + "(?:__.*)?", re.S)
        elif self.tool in ("read", "glob", "grep") or self.tool in WRITERS:
            self.path = PathPattern(self.pattern, bases)
        elif self.tool == "bash":
            self.regex = text_regex(self.pattern, True)
            at = 0
            while True:
                m = ASSIGNMENT.match(self.pattern, at)
                if not m:
                    break
                self.assigns.append(m.group(1))
                at = m.end()
            if self.assigns:
                self.rest = text_regex(self.pattern[at:], True) if self.pattern[at:] else re.compile("")
        else:
            self.regex = text_regex(self.pattern)

    @property
    def everything(self):
        return self.pattern is None or set(self.pattern) == {"*"}

    def server_star(self):
        return self.tool.startswith("mcp__") and "*" in self.server


def unescape(text):
    return re.sub(r"\\([*\\])", r"\1", text)


def escape_text(text):
    return text.replace("\\", "\\\\").replace("*", "\\*")


def escape_path(path):
    return re.sub(r"([\\*?\[\]{}])", r"\\\1", path)


class Verdict:
    __slots__ = ("level", "reason", "save")

    def __init__(self, level, reason="", save=None):
        self.level, self.reason, self.save = level, reason, save


class Decision:
    """kind: run, ask, refuse. saves: the rules that "always" would store (None: one that cannot be stored)."""

    def __init__(self, verdicts):
        level = max((v.level for v in verdicts), default=RUN)
        self.kind = ("run", "ask", "refuse")[level]
        worst = [v for v in verdicts if v.level == level]
        denied = [v for v in worst if v.reason.startswith("deny rule")]
        self.reason = (denied or worst or [Verdict(RUN)])[0].reason
        self.saves = [v.save for v in verdicts if v.level == ASK] if level == ASK else []


class Engine:
    def __init__(self, workspace, mode="default", roots=(), workspace_given=None):
        self.workspace, self.mode = workspace, mode
        self.bases = [workspace]
        given = workspace_given and os.path.normpath(workspace_given)
        if given and given != workspace and os.path.realpath(given) == workspace:
            self.bases.append(given)
        self.roots = []
        for root in [*self.bases, *roots]:
            for name in (os.path.normpath(root), os.path.realpath(root)):
                if name not in self.roots:
                    self.roots.append(name)
        self.deny, self.ask, self.allow, self.session = [], [], [], []
        self.outputs = None
        self.warnings = []

    def child(self, deny, ask):
        """The engine of a subagent: narrower, with the caller's mode at the time."""
        other = ChildEngine.__new__(ChildEngine)
        other.__dict__.update(self.__dict__)
        other.parent = self
        other.deny, other.ask = self.deny + deny, self.ask + ask
        return other

    def rule(self, text, source="flag"):
        return Rule(text, source, self.bases)

    def add(self, kind, text, source="flag"):
        rule = self.rule(text, source)
        if kind == "allow" and rule.server_star():
            self.warnings.append("allow rule ignored: " + text)
            return
        getattr(self, kind).append(rule)

    # paths

    def absolute(self, path):
        return norm(os.path.join(self.workspace, path))

    def forms(self, path):
        """As written and after links."""
        written = self.absolute(path)
        real = os.path.realpath(written)
        return [written] if real == written else [written, real]

    def inside_one(self, path):
        return any(path == root or path.startswith(root.rstrip("/") + "/") for root in self.roots)

    def inside(self, forms):
        return all(self.inside_one(p) for p in forms)

    def protected(self, forms):
        for path in forms:
            for root in self.roots:
                prefix = root.rstrip("/") + "/"
                if path.startswith(prefix):
                    parts = path[len(prefix):].split("/")
                    if ".git" in parts or ".harness" in parts or parts[-1] in START_FILES:
                        return True
        return False

    def path_rule(self, rules, kinds, forms, bare=()):
        for rule in rules:
            if rule.pattern is None:
                if rule.tool in bare:
                    return rule
            elif rule.tool in kinds and any(rule.path.match(p) for p in forms):
                return rule
        return None

    def path_allowed(self, kinds, path, bare=(), folder=()):
        for rule in self.allow + self.session:
            if rule.pattern is None:
                if rule.tool in bare:
                    return True
            elif rule.tool in kinds and rule.path.match(path):
                return True
            elif rule.tool in folder and rule.pattern is not None and rule.path.match_folder(path):
                return True
        return False

    def readable(self, path):
        """No deny or ask rule of `read` keeps this file from a search."""
        forms = [path]
        real = os.path.realpath(path)
        if real != path:
            forms.append(real)
        return not (self.path_rule(self.deny, ("read",), forms) or self.path_rule(self.ask, ("read",), forms))

    def has_read_rules(self):
        return any(r.tool == "read" and r.pattern is not None for r in self.deny + self.ask)

    # words

    def by_mode(self, what="needs approval"):
        return "mode %s: %s" % (self.mode, what)

    @staticmethod
    def by_deny(rule):
        return "deny rule " + rule.given

    @staticmethod
    def by_ask(rule):
        return "ask rule " + rule.given

    # calls

    def removed(self, tool):
        """The bare deny rule that takes the tool away, if there is one."""
        for rule in self.deny:
            if rule.pattern is None and self.names(rule, tool):
                return rule
        return None

    @staticmethod
    def names(rule, tool):
        if rule.tool.startswith("mcp__"):
            return tool.startswith("mcp__") and bool(rule.regex.fullmatch(tool))
        return rule.tool == tool

    def decide(self, tool, args, cwd=None):
        if tool == "bash":
            from harness.judge import ShellJudge
            return Decision(ShellJudge(self, cwd or self.workspace).judge(args.get("command", "")))
        return Decision([self.decide_one(tool, args)])

    def decide_one(self, tool, args):
        if tool in WRITERS or tool in ("read", "glob", "grep"):
            return self.decide_path(tool, args)
        subject = {"fetch": "url", "task": "agent", "skill": "name"}.get(tool)
        value = args.get(subject, "") if subject else None

        def match(rules):
            for rule in rules:
                if rule.pattern is None:
                    if self.names(rule, tool):
                        return rule
                elif rule.tool == tool and value is not None and rule.regex.fullmatch(value):
                    return rule
            return None

        rule = match(self.deny)
        if rule:
            return Verdict(REFUSE, self.by_deny(rule))
        server = tool.startswith("mcp__")
        if self.mode == "plan" and server:
            return Verdict(REFUSE, self.by_mode("a server's tool is not run"))
        save = "fetch(%s)" % escape_text(value) if tool == "fetch" else tool
        rule = match(self.ask)
        if rule:
            return Verdict(ASK, self.by_ask(rule), save)
        if self.mode == "bypass" or match(self.allow + self.session):
            return Verdict(RUN)
        if not server and tool != "fetch":
            return Verdict(RUN)
        return Verdict(ASK, self.by_mode(), save)

    def decide_path(self, tool, args):
        path = args.get("path")
        if tool == "glob":
            path = self.glob_base(args)
        elif path is None:
            path = self.workspace
        forms = self.forms(path)
        writes = tool in WRITERS
        kinds = WRITERS if writes else ("read", "grep") if tool == "grep" else (tool,)
        rule = self.path_rule(self.deny, kinds, forms, (tool,))
        if not rule and writes:
            rule = self.path_rule(self.deny, ("read",), forms)
        if rule:
            return Verdict(REFUSE, self.by_deny(rule))
        if writes and self.mode == "plan":
            return Verdict(REFUSE, self.by_mode("nothing is written"))
        save = "%s(%s)" % ("edit" if writes else "read", escape_path(forms[0]))
        rule = self.path_rule(self.ask, kinds, forms, (tool,))
        if rule:
            return Verdict(ASK, self.by_ask(rule), save)
        if self.mode == "bypass":
            return Verdict(RUN)
        if writes and self.protected(forms):
            return Verdict(ASK, self.by_mode("a protected path"), save)
        folder = ("read",) if tool in ("glob", "grep") else ()
        for form in forms:
            if self.path_allowed(kinds, form, (tool,), folder):
                continue
            if self.inside_one(form) and (not writes or self.mode == "accept-edits"):
                continue
            if tool == "read" and self.is_output(forms):
                continue
            reason = self.by_mode() if writes and self.inside(forms) else self.by_mode("outside the roots, needs approval")
            return Verdict(ASK, reason, save if len(forms) == 1 or not self.path_allowed(kinds, forms[0], (tool,), folder)
                           else "%s(%s)" % ("edit" if writes else "read", escape_path(form)))
        return Verdict(RUN)

    def is_output(self, forms):
        return bool(self.outputs) and forms[-1].startswith(os.path.realpath(self.outputs) + "/")

    def glob_base(self, args):
        """The folder that a glob walks: its path, and the folders its pattern begins with."""
        base = args.get("path") or self.workspace
        pattern = args.get("pattern", "")
        fixed = []
        parts = pattern.split("/")
        for part in parts[:-1]:
            if any(c in part for c in "*?[{"):
                break
            fixed.append(part)
        else:
            if not any(c in parts[-1] for c in "*?[{"):
                fixed.append(parts[-1])
        prefix = "/".join(fixed)
        if pattern.startswith("/"):
            return prefix or "/"
        joined = os.path.join(self.workspace, base)
        return os.path.join(joined, prefix) if prefix else joined

    def decide_write(self, path):
        """A redirect to a file: as `write`, in the mode `default` save for plan and bypass, by pattern rules only."""
        forms = path if isinstance(path, list) else self.forms(path)
        rule = self.path_rule(self.deny, WRITERS, forms) or self.path_rule(self.deny, ("read",), forms)
        if rule:
            return Verdict(REFUSE, self.by_deny(rule))
        if self.mode == "plan":
            return Verdict(REFUSE, self.by_mode("nothing is written"))
        save = "edit(%s)" % escape_path(forms[0])
        rule = self.path_rule(self.ask, WRITERS, forms)
        if rule:
            return Verdict(ASK, self.by_ask(rule), save)
        if self.mode == "bypass":
            return Verdict(RUN)
        if self.protected(forms):
            return Verdict(ASK, self.by_mode("a protected path"), save)
        for form in forms:
            if not self.path_allowed(WRITERS, form):
                return Verdict(ASK, self.by_mode(), "edit(%s)" % escape_path(form))
        return Verdict(RUN)

    def decide_input(self, forms):
        rule = self.path_rule(self.deny, ("read",), forms)
        if rule:
            return Verdict(REFUSE, self.by_deny(rule))
        save = "read(%s)" % escape_path(forms[0])
        rule = self.path_rule(self.ask, ("read",), forms)
        if rule:
            return Verdict(ASK, self.by_ask(rule), save)
        if self.mode == "bypass":
            return Verdict(RUN)
        for form in forms:
            if not (self.inside_one(form) or self.path_allowed(("read",), form)):
                return Verdict(ASK, self.by_mode("outside the roots, needs approval"), "read(%s)" % escape_path(form))
        return Verdict(RUN)


class ChildEngine(Engine):
    """A subagent's: its mode and the approvals are those of its caller at the time."""

    @property
    def mode(self):
        return self.parent.mode

    @mode.setter
    def mode(self, value):
        self.parent.mode = value


def norm(path):
    path = os.path.normpath(path)
    return path[1:] if path.startswith("//") else path
