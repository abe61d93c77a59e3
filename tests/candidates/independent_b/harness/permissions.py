"""The permission engine: rules, modes, paths and shell commands (permissions.md)."""

import os
import re
from glob import iglob

from harness import shell

MODES = ("default", "plan", "accept-edits", "bypass", "dont-ask")
WRITERS = ("write", "edit", "multi_edit")
TOOLS = ("read", "write", "edit", "multi_edit", "glob", "grep", "bash", "bash_output", "bash_kill", "fetch", "todo", "task",
         "skill", "ask", "exit_plan")
PATTERNED = ("read", "write", "edit", "multi_edit", "glob", "grep", "bash", "fetch", "task", "skill")
START_FILES = {".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".zshrc", ".zshenv", ".zprofile",
               ".zlogin"}
RUN, ASK, REFUSE = 0, 1, 2
# Commands that are looked through: their short options with a value, and their long ones.
WRAPPERS = {
    "timeout": ("ks", ("kill-after", "signal")), "time": ("fo", ("format", "output")), "nice": ("n", ("adjustment",)),
    "nohup": ("", ()), "stdbuf": ("ioe", ("input", "output", "error")), "env": ("u", ("unset",)), "command": ("", ()),
    "sudo": ("ughpCTUrtRa", ("user", "group", "host", "prompt", "close-from", "role", "type", "other-user")),
    "xargs": ("InPLsadE", ("replace", "max-args", "max-procs", "max-lines", "max-chars", "arg-file", "delimiter")),
}
FLAGS = {"timeout": "vfp", "time": "pvaqV", "nice": "0123456789", "nohup": "", "stdbuf": "", "env": "i0v", "command": "pvV",
         "sudo": "nEHSkbAKP", "xargs": "0rtxopie"}
HARD = ("env", "sudo", "xargs")
SHELLS = ("sh", "bash", "dash", "zsh")
READ_ONLY = ("ls", "cat", "pwd", "echo", "head", "tail", "wc", "grep", "which", "stat", "diff")
READERS = ("cat", "head", "tail", "sed", "grep", "diff", "cp")
CHANGERS = ("tee", "sed", "cp", "mv", "rm", "touch")


class BadRule(Exception):
    """A rule that PERM-09 calls wrong."""


class Verdict:
    def __init__(self, rank=RUN, reason="", needs=()):
        self.rank, self.reason, self.needs = rank, reason, list(needs)


class Rule:
    def __init__(self, text, kind, source=""):
        m = re.fullmatch(r"([A-Za-z_][\w*.-]*)(?:\((.*)\))?", text.strip(), re.S)
        if not m or (m[2] is not None and not m[2].strip()):
            raise BadRule(f"bad rule: {text}")
        self.text, self.kind, self.source = text, kind, source
        self.tool, self.pattern = m[1].lower(), m[2]
        server = self.tool.startswith("mcp__")
        if not server and self.tool not in TOOLS:
            raise BadRule(f"bad rule, unknown tool: {text}")
        if self.pattern is not None and self.tool not in PATTERNED:
            raise BadRule(f"bad rule, {self.tool} takes no pattern: {text}")
        self.ignored = server and kind == "allow" and "*" in self.tool[5:].split("__")[0]
        self.regex = None

    def names(self, tool):
        """The bare rule is about this tool."""
        tool = tool.lower()
        if not self.tool.startswith("mcp__"):
            return self.tool == tool
        pattern = ".*".join(map(re.escape, self.tool.split("*")))
        return re.fullmatch(pattern, tool) is not None or re.match(pattern + "__", tool) is not None


def component(text):
    """One component of a path pattern as a regular expression."""
    out, i, depth = "", 0, 0
    while i < len(text):
        c = text[i]
        if c == "\\" and i + 1 < len(text):
            i += 1
            out += re.escape(text[i])
        elif c == "*":
            out += "[^/]*"
        elif c == "?":
            out += "[^/]"
        elif c == "[" and (m := re.compile(r"\[([!^]?)(\]?[^\]]*)\]").match(text, i)):
            out += "(?!/)[" + ("^" if m[1] else "") + re.sub(r"([\\\[\]&~|^])", r"\\\1", m[2]) + "]"
            i = m.end() - 1
        elif c == "{" and "}" in text[i:]:
            out, depth = out + "(?:", depth + 1
        elif c == "}" and depth:
            out, depth = out + ")", depth - 1
        elif c == "," and depth:
            out += "|"
        else:
            out += re.escape(c)
        i += 1
    return out + ")" * depth


def glob_regex(pattern):
    """A path pattern (with `/`, braces may hold it) as a regular expression without anchors."""
    for m in re.finditer(r"\{([^{}]*)\}", pattern):
        if "/" in m[1]:
            return "(?:" + "|".join(glob_regex(pattern[:m.start()] + x + pattern[m.end():]) for x in m[1].split(",")) + ")"
    parts, out = pattern.split("/"), ""
    for k, part in enumerate(parts):
        last = k == len(parts) - 1
        if part == "**":
            out += "(?:.+)" if last else "(?:[^/]+/)*"
        else:
            out += component(part) + ("" if last else "/")
    return out


def path_regex(pattern, workspaces):
    pattern = pattern.strip()
    while pattern.startswith("./"):
        pattern = pattern[2:].lstrip("/")
    if pattern.startswith("~/"):
        pattern = os.path.join(re.sub(r"([*?[{\\])", r"\\\1", home()), pattern[2:])
    if pattern.startswith("/") or "/" in pattern[:-1]:
        if pattern.startswith("/"):
            options = [glob_regex(os.path.normpath("/" + pattern.lstrip("/"))[1:])]
            bases = [""]
        else:
            options = []
            bases = workspaces
            for ws in bases:
                full = os.path.normpath(re.sub(r"([*?[{\\])", r"\\\1", ws) + "/" + pattern)
                options.append(glob_regex(full.lstrip("/")))
        return re.compile("/(?:" + "|".join(options) + ")(?:/.*)?", re.S)
    return re.compile("(?:.*/)?" + component(pattern.rstrip("/")) + "(?:/.*)?", re.S)


def text_regex(pattern, shell_form=False):
    tail = ""
    if shell_form and pattern.endswith(" *") and not pattern.endswith("\\ *"):
        pattern, tail = pattern[:-2], r"(?: .*)?"
    out, i = "", 0
    while i < len(pattern):
        c = pattern[i]
        if c == "\\" and pattern[i + 1:i + 2] in ("*", "\\"):
            i += 1
            out += re.escape(pattern[i])
        else:
            out += ".*" if c == "*" else re.escape(c)
        i += 1
    return re.compile(out + tail, re.S)


def home():
    return os.environ.get("HOME") or os.path.expanduser("~")


def below(path, root):
    return path == root or path.startswith(root.rstrip("/") + "/")


class Engine:
    def __init__(self, workspace, dirs, rules, mode, outputs=None, names=()):
        self.workspace, self.rules, self.mode = workspace, list(rules), mode
        self.names = list(dict.fromkeys([workspace, *names]))
        self.roots = list(dict.fromkeys(r for d in [*self.names, *dirs] for r in (os.path.normpath(d), os.path.realpath(d))))
        self.outputs, self.approved = outputs, set()

    def narrowed(self, rules):
        """The engine of a subagent: it shares the mode and adds rules."""
        child = object.__new__(Narrowed)
        child.__dict__.update(self.__dict__)
        child.parent, child.rules = self, self.rules + rules
        return child

    # Rules

    def of(self, kind):
        return [r for r in self.rules if r.kind == kind and not r.ignored]

    def removed(self, tool):
        """The bare deny rule that takes this tool from the list, or None."""
        return next((r for r in self.of("deny") if r.pattern is None and r.names(tool)), None)

    def bare(self, kind, tool):
        return next((r for r in self.of(kind) if r.pattern is None and r.names(tool)), None)

    def patterns(self, *tools):
        return any(r.pattern is not None and r.tool in tools for r in self.rules if r.kind in ("deny", "ask"))

    def matches_path(self, rule, forms, everyone=False, under=False):
        if rule.regex is None:
            rule.regex = path_regex(rule.pattern, self.names)
        hit = [bool(rule.regex.fullmatch(f) or (under and rule.regex.fullmatch(f.rstrip("/") + "/\1/\1"))) for f in forms]
        return all(hit) if everyone else any(hit)

    def file_rule(self, kind, tool, forms, bare=True):
        for r in self.of(kind):
            if r.pattern is None:
                if bare and r.names(tool) and (kind != "allow" or self.inside(forms)):
                    return r
                continue
            same = (r.tool == tool or (tool in WRITERS and r.tool in WRITERS)
                    or (r.tool == "read" and (tool == "grep" or (tool == "glob" and kind == "allow")
                                              or (tool in WRITERS and kind == "deny"))))
            if same and self.matches_path(r, forms, kind == "allow", kind == "allow" and tool in ("glob", "grep")):
                return r
        return None

    # Paths

    def forms(self, path):
        return os.path.normpath("/" + path.lstrip("/")), os.path.realpath(path)

    def inside(self, forms):
        return all(any(below(f, r) for r in self.roots) for f in forms)

    def protected(self, forms):
        for f in forms:
            for r in self.roots:
                if below(f, r):
                    parts = f[len(r.rstrip("/")) + 1:].split("/")
                    if ".git" in parts or ".harness" in parts or parts[-1] in START_FILES:
                        return True
        return False

    def mode_ask(self, what, needs=()):
        if needs and all(n in self.approved for n in needs):
            return Verdict()
        return Verdict(ASK, f"{what} needs approval in mode {self.mode}", needs)

    def file(self, tool, path, redirect=False):
        """The verdict about one path of a file tool or a redirect."""
        forms, writing = self.forms(path), tool in WRITERS
        if r := self.file_rule("deny", tool, forms, not redirect):
            return Verdict(REFUSE, f"deny rule {r.text}")
        if writing and self.mode == "plan":
            return Verdict(REFUSE, f"nothing is written in mode {self.mode}")
        if r := self.file_rule("ask", tool, forms, not redirect):
            return Verdict(ASK, f"ask rule {r.text}")
        if self.mode == "bypass":
            return Verdict()
        need = [("edit" if writing else "read", forms[1])]
        if writing and self.protected(forms):
            return self.mode_ask(f"writing the protected path {path}", need)
        if self.file_rule("allow", tool, forms, not redirect):
            return Verdict()
        inside = self.inside(forms)
        if writing and inside and self.mode == "accept-edits" and not redirect:
            return Verdict()
        if not writing and (inside or (self.outputs and all(below(f, o) for f, o in zip(
                forms, (os.path.normpath(self.outputs), os.path.realpath(self.outputs)))))):
            return Verdict()
        return self.mode_ask(f"{tool} of {path}", need)

    def named(self, kind, path):
        """The verdict about a file that a shell command names (PERM-24 to 26, 31)."""
        forms, tool = self.forms(path), "read" if kind == "read" else "edit"
        if r := self.file_rule("deny", tool, forms, False):
            return Verdict(REFUSE, f"deny rule {r.text}")
        if r := self.file_rule("ask", tool, forms, False):
            return Verdict(ASK, f"ask rule {r.text}")
        if kind == "edit" and self.mode != "bypass" and self.protected(forms):
            return self.mode_ask(f"writing the protected path {path}", [("edit", forms[1])])
        return Verdict()

    def hidden(self, path, base_real):
        """`grep` over a folder leaves this file out."""
        forms = self.forms(path)
        if self.file_rule("deny", "read", forms) or self.file_rule("ask", "read", forms):
            return True
        return self.mode != "bypass" and not below(forms[1], base_real) and not self.inside((forms[1],))

    # Calls

    def judge(self, tool, args, paths=(), cwd=None):
        """The verdict about a call; `paths` are those that a file tool will touch."""
        if r := self.removed(tool):
            return Verdict(REFUSE, f"deny rule {r.text}")
        if tool in ("read", "glob", "grep", *WRITERS):
            return strictest([self.file(tool, p) for p in paths])
        if tool == "bash":
            verdict = self.bash(args["command"], cwd or self.workspace)
            if verdict.rank == RUN and (r := self.bare("ask", tool)):
                return Verdict(ASK, f"ask rule {r.text}")
            return verdict
        subject = {"fetch": "url", "task": "agent", "skill": "name"}.get(tool)
        target = args.get(subject) if subject else None

        def rule(kind):
            for r in self.of(kind):
                if r.names(tool) and (r.pattern is None or (target is not None and text_regex(r.pattern).fullmatch(target))):
                    return r
            return None
        if r := rule("deny"):
            return Verdict(REFUSE, f"deny rule {r.text}")
        server = tool.startswith("mcp__")
        if server and self.mode == "plan":
            return Verdict(REFUSE, f"server tools do not run in mode {self.mode}")
        if r := rule("ask"):
            return Verdict(ASK, f"ask rule {r.text}")
        if self.mode == "bypass" or rule("allow") or not (server or tool == "fetch"):
            return Verdict()
        return self.mode_ask(tool, [(tool, target or "")])

    def bash(self, command, cwd):
        try:
            seq = shell.parse(command)
        except shell.Unparsable as e:
            return self.unknown(f"the command cannot be parsed ({e})")
        walk = Walk(self, cwd)
        walk.sequence(seq)
        return strictest(walk.verdicts)

    def unknown(self, what, *rules):
        if self.mode == "plan":
            return Verdict(REFUSE, f"{what}; only read-only commands run in mode plan")
        if self.mode == "bypass" and not self.patterns(*(rules or ("bash",))):
            return Verdict()
        return Verdict(ASK, f"{what}; it needs approval in mode {self.mode}")


class Narrowed(Engine):
    @property
    def mode(self):
        return self.parent.mode


def strictest(verdicts):
    worst = Verdict()
    for v in verdicts:
        if v.rank > worst.rank or (v.rank == worst.rank == REFUSE and v.reason.startswith("deny") > worst.reason.startswith("deny")):
            worst = Verdict(v.rank, v.reason, worst.needs)
        if v.rank == ASK:
            worst.needs += [n for n in v.needs if n not in worst.needs]
    return worst


class Walk:
    """Goes over the parts of one command; `cur` are the folders it may stand in (None: not known)."""

    def __init__(self, engine, cwd):
        self.e, self.cur, self.before, self.verdicts = engine, [cwd], [], []

    def sequence(self, seq, assigns=()):
        for op, node in seq:
            if op != "&&":
                self.cur = list(dict.fromkeys(self.cur + self.before))
                self.before = []
            self.node(node, op, assigns)

    def scoped(self, seq, assigns=()):
        saved = self.cur, self.before
        self.before = []
        self.cur = list(self.cur)
        self.sequence(seq, assigns)
        self.cur, self.before = saved

    def node(self, node, op, assigns):
        if isinstance(node, shell.Command):
            return self.command(node, op, list(assigns))
        self.substitutions(node.words + [t for _, t in node.redirects], node.subs)
        for sign, target in node.redirects:
            self.redirect(sign, target)
        for seq in node.seqs * (2 if node.kind == "loop" else 1):
            if node.kind == "sub":
                self.scoped(seq, assigns)
            else:
                start = list(self.cur)
                self.sequence(seq, assigns)
                self.before = list(dict.fromkeys(self.before + start))
                self.cur = list(dict.fromkeys(self.cur + self.before))
        return None

    def substitutions(self, words, subs=()):
        for seq in [s for w in words for s in w.subs] + list(subs):
            self.scoped(seq)

    def at(self, name):
        """The paths a name may mean; None for one that is not known."""
        if name.startswith("/"):
            return [name]
        return [None if c is None else os.path.join(c, name) for c in self.cur]

    def expand(self, word, variables=False):
        """The paths that a word may name, None among them for what is not known."""
        if not word.fixed or word.tilde:
            value = self.substituted(word) if variables else None
            return [None] if value is None else self.at(value)
        if not word.globs:
            return self.at(word.value)
        paths = []
        for c in ["/"] if word.value.startswith("/") else self.cur:
            if c is None:
                paths.append(None)
                continue
            found = []
            for n, name in enumerate(iglob(word.pattern, root_dir=c, include_hidden=False)):
                if n > 3000:
                    paths.append(None)
                    break
                found.append(os.path.join(c, name))
            paths += found or [os.path.join(c, word.value)]
        return paths

    def substituted(self, word):
        """The word with `$HOME`, `$PWD` and `~` as their values, or None."""
        out = ""
        for k, (kind, text, _) in enumerate(word.segs):
            if kind == "s":
                return None
            if kind == "v":
                name = text.strip("${}")
                if name not in ("HOME", "PWD") or (name == "PWD" and self.cur[0] is None):
                    return None
                text = home() if name == "HOME" else self.cur[0]
            elif kind == "p" and k == 0 and text.startswith("~"):
                if text != "~" and not text.startswith("~/"):
                    return None
                text = home() + text[1:]
            out += text
        return out

    # Redirects

    def redirect(self, sign, target):
        if sign == "<<<" or (sign in (">&", "<&") and re.fullmatch(r"\d*-?", target.value)):
            return
        if sign == "<&":
            return
        known = target.fixed and not target.tilde and not target.globs
        paths = self.at(target.value) if known else [None]
        for path in paths:
            if path is not None and os.path.normpath(path) == "/dev/null":
                continue
            if sign == "<":
                if path is None:
                    self.verdicts.append(self.e.unknown("the input file is not known", "read"))
                else:
                    self.verdicts.append(self.e.file("read", path, True))
            elif path is None:
                self.verdicts.append(self.e.unknown("the target of a redirect is not known", "edit", "write", "multi_edit", "read"))
            else:
                self.verdicts.append(self.e.file("write", path, True))

    # Commands

    def command(self, c, op, assigns):
        self.substitutions(c.assigns + c.words + [t for _, t in c.redirects], c.subs)
        for sign, target in c.redirects:
            self.redirect(sign, target)
        assigns = assigns + c.assigns
        if not c.words:
            if assigns:
                self.judge([[]], assigns, [], False)
            return
        views, chain, found = self.look_through(c.words)
        words = views[-1]
        name = os.path.basename(words[0].value) if words and words[0].fixed else None
        if name == "cd" and not set(chain) - {"command", "time"}:
            return self.change(words, views, assigns, op)
        script = self.script(name, words)
        if script is None:
            self.judge(views, assigns, chain, found)
            if name in ("pushd", "popd"):
                self.before = list(dict.fromkeys(self.before + self.cur))
                self.cur = [None]
            self.files(name, words, chain)
            return
        self.judge(views, assigns, chain, found, outer=not set(chain) & set(HARD))
        if script is False:
            self.verdicts.append(self.e.unknown("the text given to a shell is not a literal"))
            return
        try:
            seq = shell.parse(script)
        except shell.Unparsable as e:
            self.verdicts.append(self.e.unknown(f"the text given to a shell cannot be parsed ({e})"))
            return
        if name == "eval":
            self.sequence(seq, assigns)
        else:
            self.scoped(seq, assigns)

    def script(self, name, words):
        """The text that a shell or eval is given: None if there is none, False if it is not a literal."""
        if name == "eval":
            texts = words[1:]
            if texts and texts[0].value == "--":
                texts = texts[1:]
        elif name in SHELLS:
            k, given = 1, False
            while k < len(words) and words[k].fixed and words[k].value[:1] in ("-", "+") and len(words[k].value) > 1:
                option = words[k].value
                k += 1
                if option == "--":
                    break
                if option[:2] in ("--",):
                    k += option in ("--rcfile", "--init-file")
                    continue
                given = given or "c" in option[1:]
                k += option[1:].count("o") + option[1:].count("O")
            if not given:
                return False if any(not w.fixed for w in words[1:k + 1]) else None
            texts = words[k:k + 1]
        else:
            return None
        if any(not w.fixed or w.tilde or w.globs for w in texts):
            return False
        return " ".join(w.value for w in texts)

    def look_through(self, words):
        """All views of a command: itself, then what stands behind each wrapper; the wrappers; whether all was found."""
        views, chain = [words], []
        while True:
            words = views[-1]
            if not words or not words[0].fixed:
                return views, chain, not chain or bool(words)and words[0].fixed
            name = os.path.basename(words[0].value)
            if name not in WRAPPERS:
                return views, chain, True
            valued, long = WRAPPERS[name]
            k = 1
            while k < len(words):
                w = words[k]
                value = w.value
                if not w.fixed and not (name in ("env", "sudo") and shell.ASSIGNMENT.match(w.raw)):
                    if not value.startswith("-"):
                        break
                    return views, chain + [name], False
                if value == "--":
                    k += 1
                    break
                if name in ("env", "sudo") and shell.ASSIGNMENT.match(value):
                    k += 1
                    continue
                if not value.startswith("-") or value == "-" and name != "env":
                    break
                k += 1
                if value.startswith("--"):
                    option, _, given = value[2:].partition("=")
                    if option in long:
                        k += "=" not in value and (name, option) != ("xargs", "replace")
                    elif option in ("chdir", "split-string", "login", "shell", "edit", "list"):
                        return views, chain + [name], False
                    continue
                for n, letter in enumerate(value[1:], 1):
                    if letter in valued:
                        k += n == len(value) - 1
                        break
                    if letter not in FLAGS[name]:
                        return views, chain + [name], False
                    if name == "xargs" and letter in "ie":
                        break
            while name in ("env", "sudo") and k < len(words) and shell.ASSIGNMENT.match(words[k].raw):
                k += 1
            if name == "timeout":
                k += 1
            chain.append(name)
            if k >= len(words):
                return views, chain[:-1], name not in ("timeout", "sudo") or len(words) == 1
            views.append(words[k:])

    def texts(self, views, assigns):
        """All texts that deny and ask rules are matched against."""
        out = []
        for words in views:
            raws, values = [w.raw for w in words], [w.value for w in words]
            forms = [raws, values]
            if words and "/" in values[0]:
                short = os.path.basename(values[0])
                forms += [[short] + raws[1:], [short] + values[1:]]
            for form in forms:
                out.append(" ".join(form))
            if assigns:
                for form in forms:
                    out.append(" ".join([a.raw for a in assigns] + form))
                    out.append(" ".join([a.value for a in assigns] + form))
        return [t for t in dict.fromkeys(out) if t]

    def rule(self, kind, texts):
        for r in self.e.of(kind):
            if r.tool == "bash" and r.pattern is not None:
                r.regex = r.regex or text_regex(r.pattern, True)
                if any(r.regex.fullmatch(t) for t in texts):
                    return r
        return None

    def allowed(self, views, assigns, chain):
        lead = " ".join(a.raw for a in assigns)
        for r in self.e.of("allow"):
            if r.tool != "bash":
                continue
            if r.pattern is None or r.pattern.strip() == "*":
                return True
            for words, passed in zip(views, range(len(views))):
                if set(chain[:passed]) & set(HARD):
                    break
                text, pattern = " ".join(w.raw for w in words), r.pattern
                if lead:
                    if pattern == lead and not words:
                        return True
                    if not pattern.startswith(lead + " "):
                        continue
                    pattern = pattern[len(lead) + 1:]
                    if shell.ASSIGNMENT.match(pattern) or not words:
                        continue
                if text_regex(pattern, True).fullmatch(text):
                    return True
        return False

    def judge(self, views, assigns, chain, found, outer=False):
        """The verdict about the text of one part. `outer`: its script is judged in its place."""
        e, words = self.e, views[-1]
        texts = self.texts(views, assigns)
        if r := self.rule("deny", texts):
            return self.verdicts.append(Verdict(REFUSE, f"deny rule {r.text}"))
        plain = outer or (found and not assigns and not set(chain) & set(HARD) and self.read_only(words))
        if e.mode == "plan" and not plain:
            return self.verdicts.append(Verdict(REFUSE, "only read-only commands run in mode plan"))
        if r := self.rule("ask", texts):
            return self.verdicts.append(Verdict(ASK, f"ask rule {r.text}"))
        if any(self.guarded(v) for v in views):
            return self.verdicts.append(Verdict(ASK, f"this removal needs approval; mode {e.mode}"))
        if chain and not found:
            return self.verdicts.append(e.unknown("the command behind a wrapper cannot be found"))
        if e.mode == "bypass" or plain or self.allowed(views, assigns, chain):
            return None
        text = " ".join(w.raw for w in [*assigns, *views[0]])
        return self.verdicts.append(e.mode_ask(f"the command {text[:200]}", [("bash", text)]))

    def change(self, words, views, assigns, op):
        e, texts = self.e, self.texts(views, assigns)
        args = words[1:]
        if args and args[0].value == "--":
            args = args[1:]
        targets, sure = [None], False
        if not args:
            targets = [home()]
        elif len(args) == 1 and not args[0].value.startswith("-"):
            plain = args[0].fixed and not args[0].globs and not args[0].tilde and args[0].value
            targets = self.at(args[0].value) if plain else [self.substituted(args[0])] if not args[0].globs else [None]
            sure = bool(plain) and not assigns and all(t is not None and e.inside(e.forms(t)) for t in targets)
        targets = [None if t is None else os.path.normpath(t) if os.path.realpath(t) == os.path.realpath(os.path.normpath(t))
                   else os.path.realpath(t) for t in targets]
        if r := self.rule("deny", texts):
            self.verdicts.append(Verdict(REFUSE, f"deny rule {r.text}"))
        elif e.mode == "plan" and not sure:
            self.verdicts.append(Verdict(REFUSE, "only read-only commands run in mode plan"))
        elif r := self.rule("ask", texts):
            self.verdicts.append(Verdict(ASK, f"ask rule {r.text}"))
        elif not sure and e.mode != "bypass" and not self.allowed(views, assigns, []):
            self.verdicts.append(e.mode_ask("leaving the roots with cd", [("bash", texts[0])]))
        if op == "||":
            self.cur = list(dict.fromkeys(targets + self.cur))
        else:
            self.before = list(dict.fromkeys(self.before + self.cur))
            self.cur = targets

    def read_only(self, words):
        name = words[0].value
        if not words[0].fixed or words[0].raw != name:
            return False
        rest = words[1:]
        if name == "git":
            if not rest or rest[0].raw not in ("status", "diff", "log", "show"):
                return False
            rest = rest[1:]
            if any(re.match(r"--(o|out|outp|outpu|output|ext.*|textc.*)(=|$)", w.value) for w in rest):
                return False
        elif name not in READ_ONLY:
            return False
        if name in ("echo", "pwd", "which"):
            return True
        paths, ended, pattern, k = [], False, name != "grep", 0
        while k < len(rest):
            w = rest[k]
            v, k = w.value, k + 1
            if w.splits:
                return False
            if not ended and v == "--":
                ended = True
            elif not ended and v.startswith("-") and v != "-":
                if name == "git" and not w.fixed:
                    return False
                if not v.startswith("--") and name == "grep":
                    for n, letter in enumerate(v[1:], 1):
                        if letter in "ABCmefdD":
                            value = rest[k] if n == len(v) - 1 and k < len(rest) else None
                            k += value is not None
                            pattern = pattern or letter in "ef"
                            if letter == "f":
                                paths.append(value or v[n + 1:])
                            break
                    else:
                        if not w.fixed:
                            return False
                    continue
                if not w.fixed:
                    return False
                given = v.partition("=")[2] if "=" in v else v[2:] if not v.startswith("--") else ""
                if name == "grep" and v.startswith("--"):
                    option = v[2:].partition("=")[0]
                    pattern = pattern or option in ("regexp", "file")
                    if option in ("regexp", "file", "after-context", "before-context", "context", "max-count", "include",
                                  "exclude", "exclude-dir", "exclude-from", "binary-files", "devices", "directories",
                                  "label") and "=" not in v and option != "context" and k < len(rest):
                        if option in ("file", "exclude-from"):
                            paths.append(rest[k])
                        elif rest[k].splits:
                            return False
                        k += 1
                if given.startswith("~"):
                    return False
                if "/" in given or given == "..":
                    paths.append(given)
            elif not pattern:
                pattern = True
                if not w.fixed and not (w.segs[0][0] == "q" and w.segs[0][1]):
                    if not all(q or kind in "pq" for kind, _, q in w.segs):
                        return False
            elif v == "-" and name != "git":
                continue
            elif name == "git":
                if not w.fixed or w.tilde:
                    return False
                if w.globs or v.startswith(("/", "~")) or ".." in v.split("/"):
                    paths.append(w)
            else:
                paths.append(w)
        for p in paths:
            for path in self.at(p) if isinstance(p, str) else self.expand(p):
                if path is None or not self.e.inside(self.e.forms(path)):
                    return False
        return not (None in self.cur)

    def guarded(self, words):
        if not words or os.path.basename(words[0].value) not in ("rm", "rmdir"):
            return False
        ended = False
        for w in words[1:]:
            if not ended and w.value.startswith("-"):
                ended = w.value == "--"
                continue
            parts = "".join(t if k == "p" else "\2" if k in "vs" else t.replace("*", "\1").replace("?", "\1").replace("[", "\1")
                            for k, t, _ in w.segs)
            if re.search(r"\x02/+[^/]*[*?[]", parts):
                return True
            value = self.substituted(w)
            if value is None:
                continue
            paths = self.at(value)
            if None in paths and re.match(r"(\./+)*[^/]*[*?[]", value):
                return True
            for p in paths:
                if p is None:
                    continue
                m = re.fullmatch(r"(.*/)\.?\*+/*", p, re.S) if w.globs else None
                if m and os.path.realpath(m[1]) in ("/", os.path.realpath(home())):
                    return True
            targets = [p for p in paths if p]
            if w.globs and w.fixed and not w.tilde:
                targets += [p for p in self.expand(w) if p]
            for p in targets:
                forms = {os.path.normpath(p)} if os.path.islink(p) else {os.path.normpath(p), os.path.realpath(p)}
                for f in forms:
                    f = "/" + f.lstrip("/")
                    if f in (home(), os.path.realpath(home())) or any(below(ws, f) for ws in self.e.names):
                        return True
        return False

    # Files that commands name

    def files(self, name, words, chain):
        e = self.e
        if name not in READERS and name not in CHANGERS:
            return
        reads, edits, folders = [], [], False
        operands, ended, script, target, inplace, k = [], False, name not in ("grep", "sed"), None, False, 1
        valued = {"cp": "tS", "mv": "tS", "touch": "rdt", "grep": "ABCmefdD", "sed": "efl", "head": "nc", "tail": "ncs"}.get(name, "")
        while k < len(words):
            w, v, k = words[k], words[k].value, k + 1
            if ended or not v.startswith("-") or v == "-":
                if not script:
                    script = True
                elif v != "-":
                    operands.append(w)
                continue
            if v == "--":
                ended = True
            elif v.startswith("--"):
                option, _, given = v[2:].partition("=")
                folders = folders or option in ("recursive", "archive", "dereference-recursive")
                inplace = inplace or option == "in-place"
                if option in ("regexp", "expression", "file", "target-directory", "reference"):
                    value = shell.Word()
                    value.add("q", given)
                    if "=" not in v and k < len(words):
                        value, k = words[k], k + 1
                    script = script or option in ("regexp", "expression", "file")
                    if option == "file":
                        reads.append(value)
                    if option == "target-directory":
                        target = value
            else:
                for n, letter in enumerate(v[1:], 1):
                    folders = folders or letter in ("rRa" if name == "cp" else "rR")
                    inplace = inplace or (name == "sed" and letter == "i")
                    if name == "sed" and letter == "i":
                        break
                    if letter in valued:
                        value = shell.Word()
                        value.add("q", v[n + 1:])
                        if n == len(v) - 1 and k < len(words):
                            value, k = words[k], k + 1
                        script = script or letter in "ef"
                        if letter == "f" and name in ("grep", "sed"):
                            reads.append(value)
                        if letter == "t" and name in ("cp", "mv"):
                            target = value
                        break
        if name in ("cp", "mv"):
            sources = operands if target else operands[:-1]
            dest = target or (operands[-1] if operands else None)
            if name == "cp":
                reads += sources
            else:
                edits += sources
            for path in self.expand(dest, True) if dest else []:
                if path is not None and os.path.isdir(path):
                    names = [p for s in sources for p in self.expand(s, True)]
                    for p in names:
                        self.one("edit", None if p is None else os.path.join(path, os.path.basename(os.path.normpath(p))))
                        if p and name == "cp" and folders and os.path.isdir(p) and e.patterns("read", *WRITERS):
                            base = os.path.join(path, os.path.basename(os.path.normpath(p)))
                            for f in tree(p):
                                self.one("edit", os.path.join(base, os.path.relpath(f, p)))
                else:
                    self.one("edit", path)
        elif name in ("tee", "rm", "touch"):
            edits += operands
        elif name == "sed":
            (edits if inplace else reads).extend(operands)
            if inplace:
                reads += operands
        else:
            reads += operands
            if name == "grep" and folders and not operands:
                for c in self.cur:
                    self.below("read", c)
        if "xargs" in chain:
            if name in READERS:
                self.one("read", None)
            if name in CHANGERS and (name != "sed" or inplace):
                self.one("edit", None)
        for kind, group in (("read", reads), ("edit", edits)):
            for w in group:
                for path in self.expand(w, True):
                    self.one(kind, path)
                    if path and os.path.isdir(path) and (folders or name == "mv"):
                        self.below(kind, path)

    def one(self, kind, path):
        if path is None:
            if self.e.patterns("read", *(WRITERS if kind == "edit" else ())):
                self.verdicts.append(Verdict(ASK, f"a file is not known; it needs approval in mode {self.e.mode}"))
            return
        self.verdicts.append(self.e.named(kind, path))

    def below(self, kind, path):
        if not self.e.patterns("read", *(WRITERS if kind == "edit" else ())):
            return
        if path is None:
            return self.one(kind, None)
        for f in tree(path):
            verdict = self.e.named(kind, f)
            if verdict.rank and not verdict.reason.startswith("writing the protected"):
                self.verdicts.append(verdict)
                return None
        return None


def tree(path):
    for top, folders, files in os.walk(path):
        folders.sort()
        for name in sorted(files):
            yield os.path.join(top, name)


