"""The one place where a permission is decided."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.types import Decision, Mode

from .needs import Need, Place
from .paths import Roots, files_below, start_folder
from .rules import Rule, parse, path_pattern, text_matches, text_pattern

_STRICTNESS = {"allow": 0, "ask": 1, "deny": 2}


class _Shared:
    """What a caller and its subagents have in common: the mode of the moment and the approvals of this process."""

    def __init__(self, mode: Mode) -> None:
        self.mode = mode
        self.approved: list[Rule] = []


class Engine:
    """Decides what a call may do, from the rules, the mode and the roots. See `decide`."""

    def __init__(
        self,
        mode: Mode,
        *,
        allow: Sequence[str] = (),
        ask: Sequence[str] = (),
        deny: Sequence[str] = (),
        workspace: Path,
        roots: Sequence[Path],
        home: Path,
        state: Path,
        warn: Callable[[str], None] = lambda text: None,
    ) -> None:
        """`roots` are the workspace and the added folders. Raises UsageError for a rule that is not one."""
        self._shared = _Shared(mode)
        self._allow = _without_server_patterns([parse(rule) for rule in allow], warn)
        self._ask = [parse(rule) for rule in ask]
        self._deny = [parse(rule) for rule in deny]
        self._home, self._workspace = str(home), str(workspace)
        self._place = Place(Roots(list(roots)), self._workspace, self._home, Roots([state / "outputs"]))

    @property
    def mode(self) -> Mode:
        return self._shared.mode

    @mode.setter
    def mode(self, mode: Mode) -> None:
        self._shared.mode = mode

    def narrowed(self, rules: Mapping[str, list[str]]) -> Engine:
        """The engine of a subagent: this one with the agent's own `ask` and `deny` rules on top."""
        engine = object.__new__(Engine)
        engine.__dict__ |= self.__dict__
        engine._ask = self._ask + [parse(rule) for rule in rules.get("ask", [])]
        engine._deny = self._deny + [parse(rule) for rule in rules.get("deny", [])]
        return engine

    def allow_for_session(self, rules: list[str]) -> None:
        """Let the parts that a person approved run unasked until the process ends."""
        self._shared.approved += [parse(rule) for rule in rules]

    def hidden_tools(self, names: list[str]) -> set[str]:
        """The tools that a bare deny rule takes away."""
        return {name for name in names if any(rule.is_bare_for(name) for rule in self._deny)}

    def may_read(self, path: str) -> bool:
        """Whether no deny or ask rule covers reading this file, so that a search may look into it."""
        needs = self._place.needs("read", {"path": path}, Path(self._workspace), lambda given: given)
        return not any(self._first(self._deny + self._ask, need) for need in needs)

    def decide(self, tool: str, arguments: Mapping[str, Any], cwd: Path) -> Decision:
        """Judge a call whose arguments are right: each thing it needs, and the strictest answer counts.

        `cwd` is the folder in which a shell command would start. ToolError: a path that cannot be one.
        """
        from harness.textfile import check_path, locate

        if bare := next((rule for rule in self._deny if rule.is_bare_for(tool)), None):
            return Decision("deny", f"deny rule {bare.source}", bare.source)

        def used(path: str) -> str:
            return str(locate(path, Path(self._workspace), exact=tool == "write").written)

        check_path(arguments["pattern"] if tool == "glob" else "")
        needs = self._place.needs(tool, arguments, start_folder(cwd, self._place.roots, Path(self._workspace)), used)
        answers = [(need, *self._judge(need)) for need in needs]
        need, verdict, reason, rule = max(answers, key=lambda answer: _STRICTNESS[answer[1]])
        if verdict == "ask" and self.mode == "dont-ask":
            verdict = "deny"
        # the last need of a file tool is its path after all links
        target = arguments["command"] if tool == "bash" else needs[-1].path or need.shown
        parts = [need.save for need, answer, *_ in answers if answer == "ask" and need.save]
        return Decision(verdict, reason, rule and rule.source, list(dict.fromkeys(parts)), target)

    def _judge(self, need: Need) -> tuple[Any, str, Rule | None]:
        """The order of the decision: the first line that holds decides."""
        mode = self.mode
        if rule := self._first(self._deny, need):
            return "deny", f"deny rule {rule.source}", rule
        if mode == "plan" and need.changes:
            return "deny", f"mode plan: {need.shown} would change something", None
        if rule := self._first(self._ask, need):
            return "ask", f"ask rule {rule.source} (mode {mode})", rule
        if need.unknown and self._could_be_meant(need):
            return "ask", f"mode {mode}: {need.unknown}, and a rule might be meant", None
        if need.guarded:
            return "ask", f"mode {mode}: {need.shown} may remove far too much", None
        if mode == "bypass":
            return "allow", "mode bypass", None
        if need.protected:
            return "ask", f"mode {mode}: {need.shown} is protected", None
        if need.unknown and not need.at_once:
            return "ask", f"mode {mode}: {need.unknown}", None
        if rule := self._allows(need):
            return "allow", f"allow rule {rule.source}", rule
        if mode == "accept-edits" and need.edits_inside:
            return "allow", "mode accept-edits", None
        if need.at_once:
            return "allow", f"mode {mode}", None
        return "ask", f"mode {mode}: {need.shown} needs approval", None

    def _first(self, rules: list[Rule], need: Need) -> Rule | None:
        """The first deny or ask rule that holds."""
        return next((rule for rule in rules if self._holds(rule, need)), None)

    def _holds(self, rule: Rule, need: Need) -> bool:
        if need.tool and rule.is_bare_for(need.tool):
            return True
        if rule.pattern is None:
            return False
        if need.path:
            # What is kept from being read is kept from being written, and from being searched (PERM-24, PERM-26).
            families = {need.family} | ({"read"} if need.family == "edit" and rule in self._deny else set())
            if rule.family not in families | ({"read"} if need.family == "grep" else set()):
                return False
            return self._covers(rule, need.path) or (need.below and self._covers_below(rule, need.path))
        return rule.family == need.family and any(text_matches(rule.pattern, text) for text in need.texts)

    def _covers(self, rule: Rule, path: str) -> bool:
        return path_pattern(rule.pattern or "", self._workspace, self._home).fullmatch(path) is not None

    def _covers_below(self, rule: Rule, path: str) -> bool:
        files = files_below(path)
        return files is None or any(self._covers(rule, file) for file in files)

    def _could_be_meant(self, need: Need) -> bool:
        """Whether a deny or ask rule with a pattern exists that could mean what is not known."""
        families = {"edit", "read"} if need.family == "edit" else {need.family}
        for rule in self._deny + self._ask:
            if rule.pattern is not None and rule.family in families:
                head = rule.pattern.partition(" ")[0].partition("*")[0]
                if not need.hints or head in need.hints:
                    return True
        return False

    def _allows(self, need: Need) -> Rule | None:
        return next((rule for rule in self._allow + self._shared.approved if self._permits(rule, need)), None)

    def _permits(self, rule: Rule, need: Need) -> bool:
        if need.tool and rule.is_bare_for(need.tool):
            return True
        if rule.pattern is None:
            return False
        if need.path:
            if rule.family == need.family:
                return self._covers(rule, need.path)
            searches = need.family in ("glob", "grep") and rule.family == "read"
            return searches and (self._covers(rule, need.path) or self._covers(rule, need.path.rstrip("/") + "/\0"))
        if rule.family != need.family:
            return False
        return rule.pattern == "*" or any(_text_permits(rule.pattern, before, text) for before, text in need.allowed_by)


def _text_permits(pattern: str, assignments: str, text: str) -> bool:
    """Whether an allow pattern means `text` behind just these assignments (PERM-18)."""
    if not assignments:
        return text_matches(pattern, text)
    before = text_pattern(assignments)
    if not text:
        return pattern == before
    return pattern.startswith(before + " ") and text_matches(pattern[len(before) + 1 :], text)


def _without_server_patterns(rules: list[Rule], warn: Callable[[str], None]) -> list[Rule]:
    """Allow rules may not name servers by a pattern (PERM-38)."""
    for rule in rules:
        if rule.names_servers_by_pattern:
            warn(f"allow rule {rule.source} is ignored: it names servers by a pattern")
    return [rule for rule in rules if not rule.names_servers_by_pattern]
