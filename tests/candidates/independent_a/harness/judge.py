"""Judges a shell command part by part."""

import glob as globbing
import os
import re

from harness import shell
from harness.permissions import ASK, REFUSE, RUN, WRITERS, Verdict, escape_text, home, norm, unescape

READ_ONLY = {"ls", "cat", "pwd", "echo", "head", "tail", "wc", "grep", "which", "stat", "diff"}
GIT_READ = {"status", "diff", "log", "show"}
SEE_THROUGH = {"timeout", "time", "nice", "nohup", "stdbuf", "command"}
OPAQUE = {"env", "sudo", "xargs"}
SHELLS = {"sh", "bash", "dash", "zsh"}
UNKNOWN = None

GREP_SHORT, GREP_LONG = "efmABCdD", ("regexp", "file", "max-count", "context", "after-context", "before-context", "label",
                                     "include", "exclude", "exclude-from", "exclude-dir", "binary-files", "devices",
                                     "directories", "group-separator")
OPTIONS = {
    "cat": ("", ()),
    "head": ("nc", ("lines", "bytes")),
    "tail": ("ncs", ("lines", "bytes", "sleep-interval", "pid", "max-unchanged-tries")),
    "sed": ("efl", ("expression", "file", "line-length")),
    "grep": (GREP_SHORT, GREP_LONG),
    "diff": ("xXIUCWFSD", ("exclude", "exclude-from", "ignore-matching-lines", "width", "show-function-line",
                           "starting-file", "label", "horizon-lines", "tabsize", "palette", "ifdef")),
    "cp": ("tS", ("target-directory", "suffix", "no-preserve", "sparse-file")),
    "mv": ("tS", ("target-directory", "suffix")),
    "tee": ("", ()),
    "rm": ("", ()),
    "touch": ("drt", ("date", "reference", "time")),
}


def getopt(words, short, long, optional=""):
    """(operands, [(option, value word or None)]). Words that are not literal and do not begin with a dash are operands."""
    operands, options, i = [], [], 1
    while i < len(words):
        word = words[i]
        text = word.plain
        first = word.segs[0] if word.segs else None
        if first is None or first.kind != "lit" or not text.startswith("-") or text == "-":
            operands.append(word)
            i += 1
            continue
        if text == "--":
            operands.extend(words[i + 1:])
            break
        if text.startswith("--"):
            name, equals, value = text[2:].partition("=")
            hit = next((o for o in long if o.startswith(name)), None) if name else None
            if equals:
                options.append(("--" + (hit or name), cut(word, len(name) + 3)))
            elif hit and i + 1 < len(words):
                i += 1
                options.append(("--" + hit, words[i]))
            else:
                options.append(("--" + name, None))
        else:
            at = 1
            while at < len(text):
                letter = text[at]
                at += 1
                if letter in short:
                    if at < len(text):
                        options.append(("-" + letter, cut(word, at)))
                    elif i + 1 < len(words):
                        i += 1
                        options.append(("-" + letter, words[i]))
                    break
                options.append(("-" + letter, None))
                if letter in optional:
                    break
        i += 1
    return operands, options


def cut(word, count):
    """The word without its first characters."""
    segs = []
    for seg in word.segs:
        if count >= len(seg.text):
            count -= len(seg.text)
            continue
        segs.append(shell.Seg(seg.kind, seg.text[count:], seg.quoted))
        count = 0
    return shell.Word("".join(s.text for s in segs), segs, word.subs)


def variants(assigns, words):
    """The texts that deny and ask rules see."""
    out = []

    def add(text):
        if text not in out:
            out.append(text)

    lists = [[w.raw for w in words], [w.plain for w in words]]
    expanded, usable = [], True
    for w in words:
        more = shell.braces(w)
        if more is None:
            usable = False
            break
        expanded.extend(m.plain for m in more)
    if usable:
        lists.append(expanded)
    for texts in lists:
        forms = [texts]
        if texts and "/" in texts[0]:
            forms.append([texts[0].rsplit("/", 1)[1], *texts[1:]])
        for form in forms:
            add(" ".join(form))
            if assigns:
                add(" ".join([w.raw for w in assigns] + form))
                add(" ".join([w.plain for w in assigns] + form))
    return out


class Level:
    """A command as seen at one depth of wrappers."""

    def __init__(self, assigns, words, through, fed=False):
        self.assigns, self.words, self.through, self.fed = assigns, words, through, fed


def unwrap(assigns, words):
    """([levels, outermost first], whether an inner command could not be found)."""
    levels = [Level(assigns, words, True)]
    through, fed = True, False
    while words:
        first = words[0]
        if not first.literal:
            # of the outermost command the name is its own matter; of an inner one it must be known
            return levels, len(levels) > 1
        name = first.plain.rsplit("/", 1)[-1]
        if name not in SEE_THROUGH and name not in OPAQUE:
            return levels, False
        inner, state = inner_of(name, words)
        if state == "none":
            return levels, False
        if state == "unknown":
            return levels, True
        if name in OPAQUE:
            through = False
        if name == "xargs":
            fed = True
        more = []
        if name in ("env", "sudo", "time"):
            while inner and shell.ASSIGN.match(inner[0].raw):
                more.append(inner[0])
                inner = inner[1:]
            if not inner:
                return levels, False
        assigns, words = assigns + more, inner
        levels.append(Level(assigns, words, through, fed))
        if len(levels) > 30:
            return levels, True
    return levels, False


WRAPPERS = {
    # name: (short options with a value, short ones without, long ones with a value, long ones without)
    "timeout": ("ks", "v", ("kill-after", "signal"), ("preserve-status", "foreground", "verbose")),
    "time": ("fo", "pavqV", ("format", "output"), ("portability", "append", "verbose", "quiet")),
    "nice": ("n", "", ("adjustment",), ()),
    "nohup": ("", "", (), ()),
    "stdbuf": ("ioe", "", ("input", "output", "error"), ()),
    "env": ("uC", "i0v", ("unset", "chdir"), ("ignore-environment", "null", "debug", "block-signal", "default-signal",
                                             "ignore-signal", "list-signal-handling")),
    "command": ("", "p", (), ()),
    "sudo": ("ugpChrtTUDRa", "nEHiskbASKlvPBeN", ("user", "group", "prompt", "close-from", "host", "role", "type",
                                                 "command-timeout", "other-user", "chdir", "chroot"),
             ("non-interactive", "preserve-env", "set-home", "login", "shell", "background", "askpass", "stdin", "reset-timestamp",
              "remove-timestamp", "list", "validate", "preserve-groups", "edit")),
    "xargs": ("InPLdsEa", "0rtpxoile", ("replace", "max-args", "max-procs", "max-lines", "delimiter", "max-chars", "arg-file",
                                      "process-slot-var"),
              ("null", "no-run-if-empty", "verbose", "interactive", "exit", "open-tty", "eof")),
}


def inner_of(name, words):
    """(the inner command's words, "found"), or (None, "none" or "unknown")."""
    short, flags, long, long_flags = WRAPPERS[name]
    i = 1
    while i < len(words):
        word = words[i]
        text = word.plain
        if not word.known or word.has_glob or word.braced:
            if text.startswith("-") or name == "timeout" or not word.segs:
                return None, "unknown"
            break
        if text == "--":
            i += 1
            break
        if text == "-" and name == "env":
            i += 1
            continue
        if not text.startswith("-") or text == "-":
            break
        if name == "command" and text in ("-v", "-V", "-pv", "-pV"):
            return None, "none"
        if name == "nice" and re.fullmatch(r"--?\d+", text):
            i += 1
            continue
        if text.startswith("--"):
            option, equals, _ = text[2:].partition("=")
            if option in long:
                i += 1 if equals else 2
                if name == "xargs" and option == "replace" and not equals:
                    i -= 1
                continue
            if option in long_flags:
                i += 1
                continue
            return None, "unknown"
        at = 1
        step = 1
        while at < len(text):
            letter = text[at]
            if letter in short:
                step = 1 if at + 1 < len(text) else 2
                break
            if letter not in flags:
                return None, "unknown"
            if name == "xargs" and letter in "ile":
                break
            if name == "sudo" and letter == "e":
                return None, "unknown"
            at += 1
        i += step
    if name == "timeout":
        i += 1
    rest = words[i:]
    if not rest:
        return None, "none"
    if name not in ("env", "sudo", "time") and not rest[0].known:
        return None, "unknown"
    return rest, "found"


class ShellJudge:
    def __init__(self, engine, cwd):
        self.e, self.start = engine, cwd
        self.verdicts = []
        self.functions = {}
        self.depth = 0
        self.no_allow = False

    def judge(self, command):
        self.command(command, {self.start})
        return self.verdicts

    def add(self, level, reason="", save=None):
        self.verdicts.append(Verdict(level, reason, save))

    def command(self, text, cwds):
        try:
            tree = shell.parse(text, min(self.depth, 30))
        except shell.Unparsable as error:
            self.unreadable(str(error))
            return cwds, cwds | {UNKNOWN}
        return self.walk(tree, cwds)

    def bash_rules(self, rules, pattern_only=False):
        return [r for r in rules if r.tool == "bash" and (r.pattern is not None or not pattern_only)]

    def unreadable(self, why):
        """PERM-21: nothing is known of what it does."""
        e = self.e
        for rule in self.bash_rules(e.deny):
            if rule.everything:
                return self.add(REFUSE, e.by_deny(rule))
        if e.mode == "plan":
            return self.add(REFUSE, e.by_mode("not known to be read-only (%s)" % why))
        for rule in self.bash_rules(e.ask):
            if rule.everything:
                return self.add(ASK, e.by_ask(rule))
        if e.mode == "bypass" and not self.bash_rules(e.deny) and not self.bash_rules(e.ask):
            return None
        return self.add(ASK, e.by_mode("cannot be read (%s), needs approval" % why))

    # the tree

    def walk(self, items, cwds):
        """(folders after success, all folders it may be in)."""
        now, all_ = set(cwds), set(cwds)
        for op, node in items:
            if op and op != "&&":
                now = set(all_)
            good, every = self.node(node, now)
            all_ |= every | good
            now = set(good)
        return now, all_

    def inner(self, subs, cwds):
        for sub in subs:
            self.walk(sub, cwds)

    def node(self, node, cwds):
        if isinstance(node, shell.Simple):
            return self.simple(node, cwds)
        for word in node.words:
            self.inner(word.subs, cwds)
        self.redirects(node.redirs, cwds)
        if node.kind == "function":
            self.functions[node.name] = node.sections[0]
            self.walk(node.sections[0], cwds)
            return cwds, cwds
        if node.kind == "group":
            return self.walk(node.sections[0], cwds)
        if node.kind == "subshell":
            self.walk(node.sections[0], cwds)
            return cwds, cwds
        every = set(cwds)
        for _ in range(3 if node.kind == "loop" else 1):
            before = set(every)
            for section in node.sections:
                _, all_ = self.walk(section, set(every))
                every |= all_
            if every == before:
                break
        else:
            if node.kind == "loop":
                every.add(UNKNOWN)
        return set(every), every

    # redirects

    def path_forms(self, text, cwd):
        """As written and after links; None if not known."""
        if not text.startswith("/") and cwd is UNKNOWN:
            return None
        joined = os.path.join(cwd or "/", text)
        forms = [norm(joined)]
        for real in (os.path.realpath(joined), os.path.realpath(forms[0])):
            if real not in forms:
                forms.append(real)
        return forms

    def redirects(self, redirs, cwds):
        for r in redirs:
            self.inner(r.target.subs, cwds)
            self.inner(r.body_subs, cwds)
            op, target = r.op, r.target
            if op in ("<<", "<<-", "<<<"):
                continue
            text = target.plain
            if op in (">&", "<&"):
                if target.literal and re.fullmatch(r"\d*-?", text) and text:
                    continue
                if op == "<&":
                    if target.known:
                        continue
            if len(target.segs) == 1 and target.segs[0].kind == "sub" and target.raw[:2] in ("<(", ">("):
                continue
            if target.literal and text == "/dev/null":
                continue
            literal = target.literal and not target.braced
            if op in ("<", "<&", "<>"):
                self.input(target, literal, cwds)
            if op in (">", ">>", ">|", "<>", "&>", "&>>", ">&"):
                self.output(text, literal, cwds)

    def unknown_file(self, kinds, what):
        """A file that is not known: approval, in bypass only if a rule could be meant."""
        e = self.e
        if e.mode == "plan" and what == "written":
            return self.add(REFUSE, e.by_mode("nothing is written"))
        if e.mode == "bypass":
            rules = [r for r in e.deny + e.ask if r.tool in kinds and r.pattern is not None]
            if not rules:
                return None
        return self.add(ASK, e.by_mode("a file that is %s is not known, needs approval" % what))

    def output(self, text, literal, cwds):
        if not literal:
            return self.unknown_file((*WRITERS, "read"), "written")
        for cwd in cwds:
            forms = self.path_forms(text, cwd)
            if forms is None:
                self.unknown_file((*WRITERS, "read"), "written")
            else:
                v = self.e.decide_write(forms)
                if v.level:
                    self.verdicts.append(v)
        return None

    def input(self, word, literal, cwds):
        if not literal:
            candidates = self.names(word, cwds) if word.known else None
            if candidates is None or word.has_tilde:
                return self.unknown_file(("read",), "read")
        else:
            candidates = [self.path_forms(word.plain, cwd) for cwd in cwds]
        for forms in candidates:
            if forms is None:
                self.unknown_file(("read",), "read")
            else:
                v = self.e.decide_input(forms)
                if v.level:
                    self.verdicts.append(v)
        return None

    # words as files

    def names(self, word, cwds):
        """The forms of every path that a word may name, or None if that is not known."""
        if not word.known:
            return None
        words = shell.braces(word)
        if words is None:
            return None
        result = []
        for w in words:
            segs = list(w.segs)
            if segs and segs[0].kind == "tilde":
                rest = "".join(s.text for s in segs[1:])
                if rest and not rest.startswith("/"):
                    return None
                segs[0] = shell.Seg("lit", home(), True)
            text = "".join(s.text for s in segs)
            for cwd in cwds:
                if cwd is UNKNOWN and not text.startswith("/"):
                    return None
                found = []
                if any(s.kind == "glob" for s in segs):
                    pattern = "".join(s.text if s.kind == "glob" else globbing.escape(s.text) for s in segs)
                    pattern = pattern.replace("[^", "[!")
                    found = globbing.glob(os.path.join(globbing.escape(cwd or "/"), pattern))
                for name in found or [text]:
                    forms = self.path_forms(name, cwd)
                    if forms is None:
                        return None
                    result.append(forms)
        return result

    # simple commands

    def simple(self, node, cwds):
        for word in node.assigns + node.words:
            self.inner(word.subs, cwds)
        self.redirects(node.redirs, cwds)
        if not node.words and not node.assigns:
            self.check_rules_only([""])
            return cwds, cwds
        return self.part(node.assigns, node.words, node.text, cwds)

    def rule_for(self, rules, texts):
        for rule in rules:
            if rule.tool == "bash" and (rule.pattern is None or any(rule.regex.fullmatch(t) for t in texts)):
                return rule
        return None

    def check_rules_only(self, texts):
        rule = self.rule_for(self.e.deny, texts)
        if rule:
            self.add(REFUSE, self.e.by_deny(rule))
            return
        rule = self.rule_for(self.e.ask, texts)
        if rule:
            self.add(ASK, self.e.by_ask(rule))

    def allowed(self, levels):
        for rule in self.e.allow + self.e.session:
            if rule.tool != "bash":
                continue
            if rule.everything:
                return True
            if self.no_allow:
                continue
            for level in levels:
                if not level.through:
                    break
                text = " ".join(w.raw for w in level.words)
                assigns = [w.raw for w in level.assigns]
                if assigns or rule.assigns:
                    given = rule.assigns
                    if (given == assigns or [unescape(a) for a in given] == assigns) and rule.rest.fullmatch(text):
                        return True
                elif rule.regex.fullmatch(text):
                    return True
        return False

    def part(self, assigns, words, text, cwds):
        e = self.e
        levels, lost = unwrap(assigns, words)
        texts = []
        for level in levels:
            texts.extend(variants(level.assigns, level.words))
        last = levels[-1]
        name = last.words[0].plain.rsplit("/", 1)[-1] if last.words and last.words[0].literal else ""
        save = "bash(%s)" % escape_text(text) if len(text) <= 200 and "\n" not in text else None

        script = self.script(name, last)
        if script is not None:
            return self.run_script(script, name, levels, texts, cwds)

        rule = self.rule_for(e.deny, texts)
        if rule:
            self.add(REFUSE, e.by_deny(rule))
        for level in levels:
            self.files(level, cwds)
        after, changes = cwds, False
        folder = None
        inner_name = last.words[0].plain if last.words and last.words[0].literal else ""
        if inner_name in ("cd", "pushd", "popd", "builtin") and not any(
                w.words[0].plain.rsplit("/", 1)[-1] in ("sudo", "env", "xargs", "timeout", "nice", "nohup", "stdbuf")
                for w in levels[:-1]):
            folder = self.cd(last.words, cwds)
            if folder is not None:
                after, changes = folder[0], True
        through = last.through and not last.assigns and not lost
        read_only = through and (folder[1] if changes else self.read_only(last.words, cwds))
        if not rule:
            self.decide_part(levels, texts, lost, read_only, save, cwds)
        if name and inner_name in self.functions and self.depth < 8:
            self.depth += 1
            good, every = self.walk(self.functions[inner_name], cwds)
            self.depth -= 1
            return good, every
        if changes:
            return after, set(cwds) | after
        return cwds, cwds

    def decide_part(self, levels, texts, lost, read_only, save, cwds):
        e = self.e
        if e.mode == "plan" and not read_only:
            return self.add(REFUSE, e.by_mode("only read-only commands run"))
        rule = self.rule_for(e.ask, texts)
        if rule:
            return self.add(ASK, e.by_ask(rule), save)
        if any(self.guarded(level.words, cwds) for level in levels):
            return self.add(ASK, e.by_mode("removes too much, needs approval"), save)
        if lost:
            if e.mode == "bypass" and not self.bash_rules(e.deny) and not self.bash_rules(e.ask):
                return None
            return self.add(ASK, e.by_mode("the inner command cannot be found, needs approval"), save)
        if e.mode == "bypass" or self.allowed(levels) or read_only:
            return None
        return self.add(ASK, e.by_mode(), save)

    # sh -c and eval

    def script(self, name, level):
        """None, or the words of the script: [] if there is none that can be known."""
        words = level.words
        if name == "eval" and words[0].plain == "eval":
            rest = words[1:]
            if rest and rest[0].plain == "--":
                rest = rest[1:]
            return rest
        if name not in SHELLS:
            return None
        i, found = 1, False
        while i < len(words):
            text = words[i].plain
            if not words[i].known:
                return None if not found else [words[i]]
            if text in ("--", "-"):
                i += 1
                break
            if text.startswith("--"):
                i += 2 if text in ("--rcfile", "--init-file") else 1
                continue
            if text[:1] in "-+" and len(text) > 1:
                if text[0] == "-" and "c" in text:
                    found = True
                i += 1 + (text.count("o") + text.count("O") if True else 0)
                continue
            break
        if not found:
            return None
        return [words[i]] if i < len(words) else []

    def run_script(self, script, name, levels, texts, cwds):
        e = self.e
        self.check_rules_only(texts)
        last = levels[-1]
        if last.assigns or last.fed:
            # what the assignments or the fed words do to the inner command is not known from its text
            if e.mode == "plan":
                self.add(REFUSE, e.by_mode("only read-only commands run"))
            elif e.mode != "bypass" and not any(r.tool == "bash" and r.everything for r in e.allow + e.session):
                self.add(ASK, e.by_mode())
        if not all(w.literal and not w.braced for w in script):
            self.unreadable("its text is not a literal")
            return (cwds, cwds | {UNKNOWN}) if name == "eval" else (cwds, cwds)
        self.depth += 1
        saved, saved_functions = self.no_allow, self.functions
        if not last.through:
            self.no_allow = True
            if e.mode == "plan":
                self.add(REFUSE, e.by_mode("only read-only commands run"))
            elif e.mode != "bypass" and not any(r.tool == "bash" and r.everything for r in e.allow + e.session):
                self.add(ASK, e.by_mode())
        if self.depth > 20:
            self.unreadable("nested too deep")
            good = every = cwds
        else:
            good, every = self.command(" ".join(w.plain for w in script), cwds)
        self.no_allow, self.functions = saved, saved_functions
        self.depth -= 1
        return (good, every) if name == "eval" else (cwds, cwds)

    # cd

    def cd(self, words, cwds):
        """(folders after it, whether it is a known folder inside the roots), or None if it changes no folder."""
        if words[0].plain == "builtin":
            words = words[1:]
            if not words or words[0].plain not in ("cd", "pushd", "popd"):
                return None
            plain = False
        else:
            plain = words[0].plain == "cd"
        if words[0].plain == "popd":
            return {UNKNOWN}, False
        rest = words[1:]
        while rest and rest[0].literal and re.fullmatch(r"-[PLe@]+", rest[0].plain):
            rest = rest[1:]
        if rest and rest[0].plain == "--":
            rest = rest[1:]
        if not rest:
            return ({norm(home())} if words[0].plain == "cd" else {UNKNOWN}), False
        word = rest[0]
        value = self.value(word, cwds)
        if value is None or word.plain == "-" or word.braced or len(rest) > 1:
            return {UNKNOWN}, False
        after, inside = set(), plain and word.literal
        for base in value:
            for cwd in cwds:
                forms = self.path_forms(base, cwd)
                if forms is None:
                    after.add(UNKNOWN)
                    inside = False
                else:
                    after.add(forms[0])
                    inside = inside and self.e.inside(forms)
        return after, inside

    def value(self, word, cwds):
        """The texts of a word with $HOME, $PWD and ~ taken for their values, or None."""
        out = [""]
        for i, seg in enumerate(word.segs):
            if seg.kind == "lit":
                more = [seg.text]
            elif seg.kind == "tilde" and i == 0:
                after = "".join(s.text for s in word.segs[1:])
                if after and not after.startswith("/"):
                    return None
                more = [home()]
            elif seg.kind == "tilde":
                more = ["~"]
            elif seg.kind == "var" and seg.text in ("$HOME", "${HOME}"):
                more = [home()]
            elif seg.kind == "var" and seg.text in ("$PWD", "${PWD}"):
                if UNKNOWN in cwds:
                    return None
                more = sorted(cwds)
            else:
                return None
            out = [a + b for a in out for b in more]
        return out

    # read-only commands

    def path_ok(self, word, cwds):
        if not word.known or word.has_tilde:
            return False
        if word.plain == "-":
            return True
        forms = self.names(word, cwds)
        return forms is not None and all(self.e.inside(f) for f in forms)

    def option_ok(self, word, cwds):
        if not word.literal or word.braced:
            return False
        text = word.plain
        if text.startswith("--"):
            name, equals, value = text.partition("=")
            skip = len(name) + 1
            if not equals:
                return True
        else:
            value, skip = text[2:], 2
            if value.startswith("="):
                value, skip = value[1:], 3
        if "/" in value or value.startswith("~") or value in (".", ".."):
            if value.startswith("~"):
                return False
            return self.path_ok(cut(word, skip), cwds)
        return True

    def read_only(self, words, cwds):
        if not words or not words[0].literal:
            return False
        name = words[0].plain
        if name == "git":
            return self.git_read_only(words, cwds)
        if name not in READ_ONLY:
            return False
        if name in ("echo", "pwd", "which"):
            return True
        if UNKNOWN in cwds:
            return False
        if name == "grep":
            if any(not w.known and not all(s.quoted for s in w.segs if s.kind in ("var", "sub")) for w in words):
                return False
            operands, options = getopt(words, GREP_SHORT, GREP_LONG)
            given = any(o in ("-e", "-f", "--regexp", "--file") for o, _ in options)
            for option, value in options:
                if value is None:
                    continue
                if option in ("-f", "--file", "--exclude-from"):
                    if not self.path_ok(value, cwds):
                        return False
            before_pattern = True
            for word in words[1:]:
                if word.plain == "--":
                    break
                if word.plain.startswith("-") and word.literal and word.plain.startswith("--") and "=" in word.plain \
                        and not word.plain.startswith("--regexp") and not self.option_ok(word, cwds):
                    return False
                if word.plain.startswith("-") and not word.literal and not word.plain.startswith("-e") \
                        and not word.plain.startswith("--regexp="):
                    return False
            if not given:
                if operands and (operands[0].has_glob or operands[0].braced) and before_pattern:
                    # a pattern with bare glob signs may turn into file names
                    forms = self.names(operands[0], cwds)
                    if forms is None or not all(self.e.inside(f) for f in forms):
                        if self.globs_to_files(operands[0], cwds):
                            return False
                operands = operands[1:]
            return all(self.path_ok(w, cwds) for w in operands)
        ended = False
        for word in words[1:]:
            text = word.plain
            if not ended and text == "--":
                ended = True
            elif not ended and text.startswith("-") and text != "-":
                if name == "wc" and text.startswith("--files0"):
                    return False
                if not self.option_ok(word, cwds):
                    return False
            elif not self.path_ok(word, cwds):
                return False
        return True

    def globs_to_files(self, word, cwds):
        for cwd in cwds:
            pattern = "".join(s.text if s.kind == "glob" else globbing.escape(s.text) for s in word.segs)
            if globbing.glob(os.path.join(globbing.escape(cwd or "/"), pattern)):
                return True
        return False

    def git_read_only(self, words, cwds):
        if len(words) < 2 or not words[1].literal or words[1].plain not in GIT_READ or UNKNOWN in cwds:
            return False
        ended = False
        for word in words[2:]:
            text = word.plain
            if not word.known:
                return False
            if not ended and text == "--":
                ended = True
            elif not ended and text.startswith("-"):
                if (text.startswith("--o") and "--output".startswith(text.partition("=")[0])) or text.startswith("--output=") \
                        or (text.startswith("--ext") and "--ext-diff".startswith(text)) \
                        or (text.startswith("--textc") and "--textconv".startswith(text)) or text.startswith("--ext-diff") \
                        or text.startswith("--textconv"):
                    return False
                if not self.option_ok(word, cwds):
                    return False
            else:
                for one in shell.braces(word) or [word]:
                    plain = one.plain
                    if one.has_tilde or plain.startswith(("/", "~")) or ".." in plain.split("/") or one.has_glob or word.braced:
                        if not self.path_ok(word, cwds):
                            return False
        return True

    # files named to commands

    def files(self, level, cwds):
        """PERM-24 to 26 and 31: the files that this command is told to read or write."""
        words, e = level.words, self.e
        if not words or not words[0].literal:
            return
        name = words[0].plain.rsplit("/", 1)[-1]
        if name not in OPTIONS:
            return
        short, long = OPTIONS[name]
        operands, options = getopt(words, short, long, "i" if name == "sed" else "")
        flags = {o for o, _ in options}
        reads, writes, deep = [], [], False
        if name in ("cat", "head", "tail"):
            reads = operands
        elif name == "diff":
            reads = operands + [v for o, v in options if o in ("--from-file", "--to-file") and v is not None]
            deep = True
        elif name == "grep":
            files = [v for o, v in options if o in ("-f", "--file") and v is not None]
            if not flags & {"-e", "-f", "--regexp", "--file"}:
                operands = operands[1:]
            deep = bool(flags & {"-r", "-R"}) or any(len(f) > 4 and ("--recursive".startswith(f) or
                                                                    "--dereference-recursive".startswith(f)) for f in flags)
            deep = deep or any(o in ("-d", "--directories") and v is not None and v.plain == "recurse" for o, v in options)
            if deep and not operands:
                operands = [shell.Word(".", [shell.Seg("lit", ".")], [])]
            reads = operands + files
        elif name == "sed":
            files = [v for o, v in options if o in ("-f", "--file") and v is not None]
            if not flags & {"-e", "-f", "--expression", "--file"}:
                operands = operands[1:]
            reads = operands + files
            if "-i" in flags or any(f.startswith("--i") and "--in-place".startswith(f) for f in flags):
                writes = operands
        elif name in ("cp", "mv"):
            target = [v for o, v in options if o in ("-t", "--target-directory") and v is not None]
            sources = operands if target else operands[:-1]
            dest = target[-1] if target else operands[-1] if len(operands) > 1 else None
            if name == "cp":
                reads, deep = sources, bool(flags & {"-r", "-R", "-a", "--recursive", "--archive"})
            else:
                writes = list(sources)
            self.destination(sources, dest, bool(target), cwds, deep or name == "mv", level.fed)
        elif name in ("tee", "rm", "touch"):
            writes = operands
        if level.fed:
            unknown = shell.Word("$@", [shell.Seg("var", "$@")], [])
            if name in ("cat", "head", "tail", "diff", "grep", "sed", "cp"):
                reads = [*reads, unknown]
            else:
                writes = [*writes, unknown]
        for word in reads:
            self.named(self.names(word, cwds) if word.plain != "-" else [], ("read",), deep)
        below = name in ("rm", "mv")
        for word in writes:
            self.named(self.names(word, cwds), WRITERS, below, True)
        del e

    def destination(self, sources, dest, folder, cwds, deep, fed):
        if dest is None:
            return
        targets = self.names(dest, cwds)
        if targets is None:
            self.named(None, WRITERS, False, True)
            return
        result = []
        for forms in targets:
            path = forms[-1]
            into = folder or os.path.isdir(path) or dest.plain.endswith("/")
            if not into:
                result.append(forms)
            for source in sources:
                found = self.names(source, cwds)
                if found is None:
                    if into:
                        self.named(None, WRITERS, False, True)
                    continue
                for f in found:
                    base = os.path.basename(f[0])
                    tops = [os.path.join(p, base) for p in forms] if into else forms
                    if into:
                        result.append(self.real_forms(tops))
                    if deep and os.path.isdir(f[0]):
                        for below in walk_files(f[0]):
                            rel = os.path.relpath(below, f[0])
                            result.append(self.real_forms([os.path.join(t, rel) for t in tops]))
            if into and not sources:
                result.append(forms)
        self.named(result, WRITERS, False, True)

    @staticmethod
    def real_forms(paths):
        out = []
        for p in paths:
            for form in (norm(p), os.path.realpath(p)):
                if form not in out:
                    out.append(form)
        return out

    def named(self, found, kinds, deep, write=False):
        e = self.e
        deny_kinds = (*WRITERS, "read") if write else ("read",)
        deny = [r for r in e.deny if r.tool in deny_kinds and r.pattern is not None]
        ask = [r for r in e.ask if r.tool in kinds and r.pattern is not None]
        if found is None:
            if deny or ask:
                self.add(ASK, e.by_mode("a file named to a command is not known, needs approval"))
            elif write and e.mode not in ("bypass", "plan"):
                return
            return
        for forms in found:
            if write and e.mode not in ("bypass", "plan") and e.protected(forms):
                self.add(ASK, e.by_mode("a protected path, needs approval"))
            if not deny and not ask:
                continue
            if self.hit(deny, ask, forms):
                return
            if deep and os.path.isdir(forms[-1]):
                for path in walk_files(forms[-1]):
                    rel = os.path.relpath(path, forms[-1])
                    if self.hit(deny, ask, self.real_forms([os.path.join(forms[0], rel), path])):
                        return

    def hit(self, deny, ask, forms):
        for rules, level in ((deny, REFUSE), (ask, ASK)):
            for rule in rules:
                if any(rule.path.match(p) for p in forms):
                    self.add(level, self.e.by_deny(rule) if level == REFUSE else self.e.by_ask(rule))
                    return True
        return False

    # guarded removals

    def guarded(self, words, cwds):
        if not words or not words[0].literal or words[0].plain.rsplit("/", 1)[-1] not in ("rm", "rmdir"):
            return False
        ended = False
        for word in words[1:]:
            text = word.plain
            if not ended and text == "--":
                ended = True
                continue
            if not ended and text.startswith("-") and word.segs[0].kind == "lit":
                continue
            for one in shell.braces(word) or [word]:
                if self.guarded_word(one, cwds):
                    return True
        return False

    def guarded_word(self, word, cwds):
        segs = word.segs
        for i, seg in enumerate(segs):
            # a glob right under a variable
            if seg.kind in ("var", "sub"):
                rest = "".join("\0" if s.kind == "glob" else s.text for s in segs[i + 1:])
                m = re.match(r"/+(\./+)*([^/]*)", rest)
                if m and "\0" in m.group(2):
                    return True
        tops = self.tops()
        globbed = [s for s in segs if s.kind == "glob"]
        plain = shell.Word(word.raw, [shell.Seg("lit", "\0" + s.text) if s.kind == "glob" else s for s in segs], [])
        values = self.value(plain, cwds)
        if values is None:
            return False
        for value in values:
            for cwd in cwds:
                if cwd is UNKNOWN and not value.startswith("/"):
                    first = value.lstrip("./").split("/")[0]
                    if "\0" in first:
                        return True
                    continue
                joined = os.path.join(cwd or "/", value)
                if globbed:
                    stripped = joined.rstrip("/")
                    parent, _, last = stripped.rpartition("/")
                    if "\0" not in parent and "\0*" in last and not last.replace("\0*", "").strip(".?\0"):
                        for form in self.real_forms([parent or "/"]):
                            if form in ("/", home(), os.path.realpath(home())):
                                return True
                    pattern = re.sub("\0(.)", r"\1", "".join(
                        c if c.startswith("\0") else globbing.escape(c) for c in re.findall("\0.|[^\0]", joined, re.S)))
                    for name in globbing.glob(pattern):
                        if tops & set(self.real_forms([name])):
                            return True
                    continue
                forms = self.path_forms(joined, cwd or "/")
                if forms and tops & set(forms):
                    return True
        return False

    def tops(self):
        tops = {"/", home(), os.path.realpath(home())}
        for base in self.e.bases:
            path = base
            while path not in tops or path == base:
                tops.add(path)
                if path == "/":
                    break
                path = os.path.dirname(path)
        for base in self.e.bases:
            path = base
            while path != "/":
                tops.add(path)
                path = os.path.dirname(path)
        return tops


def walk_files(folder):
    for top, _, files in os.walk(folder):
        for name in files:
            yield os.path.join(top, name)
