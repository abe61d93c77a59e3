"""The permission engine: rules, modes, shell commands and paths."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from harness.permissions.engine import Engine
from harness.permissions.rules import parse, path_pattern, text_matches
from harness.types import Decision, ToolError, UsageError
from hypothesis import given, settings
from hypothesis import strategies as st

Decide = Callable[..., Decision]


@pytest.fixture
def bash(engine: Callable[..., Engine], workspace: Path) -> Callable[..., str]:
    """The verdict on a shell command: `bash("ls", "plan", deny=[...])`."""

    def verdict(command: str, mode: str = "default", **rules: Any) -> str:
        return engine(mode, **rules).decide("bash", {"command": command}, workspace).verdict

    return verdict


@pytest.fixture
def judge(engine: Callable[..., Engine], workspace: Path) -> Callable[..., str]:
    """The verdict on another call: `judge("read", "a.txt", "plan", deny=[...])`."""

    def verdict(tool: str, what: Any, mode: str = "default", **rules: Any) -> str:
        arguments = {"path": what} if isinstance(what, str) else what
        return engine(mode, **rules).decide(tool, arguments, workspace).verdict

    return verdict


# -- shell commands ------------------------------------------------------------------------------------------------

AT_ONCE = """ls
ls -la sub *.txt
cat a.txt | head -n 1
cat in/k
cd sub && ls
cd sub && cat ../a.txt
(cd sub && ls); cat a.txt
git diff --
git log --oneline -3 HEAD~1..HEAD -- a.txt
git log --text
grep -rn foo . | wc -l
grep "$X" a.txt
head -1 < a.txt
cat < /dev/null
ls 2>/dev/null >&2
timeout -k 1 5 nice -n 3 ls
command ls
echo ~ $HOME /etc
echo $(cat a.txt)
bash -c 'ls; cat a.txt'
for i in 1 2; do echo $i; done
if ls; then cat a.txt; else pwd; fi
ls # ; rm x
"""
NEEDS_APPROVAL = """touch x
./ls
cat /etc/passwd
cat ../outside/x
cat out/x
cat ~/x
cat $HOME/x
cat {a.txt,/etc/passwd}
head -1 < /etc/passwd
grep foo $X
grep -f/etc/passwd a.txt
grep "-f/etc/passwd$X" a.txt
ls ../ws-old
ls > x
env ls
sudo ls
A=1 ls
A=1
cd ..
cd out && ls
cd "$D" && ls
cd - && ls
cd
cd sub; cat ../a.txt
git -C sub status
git diff --output=x
git log --outpu=x
git diff --no-index /etc/passwd a.txt
[ -f x ] && ls
bash -c 'ls; touch x'
f() { ls; }; f
echo $(touch x)
bash script.sh
xargs ls
"""


@pytest.mark.parametrize("command", AT_ONCE.splitlines())
def test_commands_that_only_look_run_at_once(command: str, bash: Callable[..., str]) -> None:
    assert bash(command) == "allow"
    assert bash(command, "plan") == "allow"
    assert bash(command, "dont-ask") == "allow"


@pytest.mark.parametrize("command", NEEDS_APPROVAL.splitlines())
def test_other_commands_need_approval(command: str, bash: Callable[..., str]) -> None:
    assert bash(command) == "ask"
    assert bash(command, "dont-ask") == "deny"
    assert bash(command, "bypass") == "allow"


@pytest.mark.parametrize(
    ("command", "rules", "wanted"),
    [
        ("git log -1 ; touch x", ["bash(git log *)"], "ask"),
        ("git log -1 && touch x", ["bash(git log *)"], "ask"),
        ("git log", ["bash(git log *)"], "allow"),
        ("cd sub && python3 run.py", ["bash(cd *)"], "ask"),
        ("cat <<'EOF' | ./t.sh\nx\nEOF", ["bash(cat *)"], "ask"),
        ("gh i --body \"$(cat <<'EOF'\nline; rm -rf x\nEOF\n)\"", ["bash(gh *)"], "allow"),
        ('gh i --body "$(touch x)"', ["bash(gh *)"], "ask"),
        ("./t.sh run 2>&1", ["bash(./t.sh run *)"], "allow"),
        ("./t.sh run > o", ["bash(./t.sh run *)"], "ask"),
        ("./t.sh run > o", ["bash(./t.sh run *)", "edit(o)"], "allow"),
        ("./t.sh   run", ["bash(./t.sh run)"], "allow"),
        ("X=$(touch x) npm -v", ["bash(npm -v)"], "ask"),
        ("A=1 make", ["bash(make)"], "ask"),
        ("A=1 make", ["bash(A=1 make)"], "allow"),
        ("A=1 make x", ["bash(A=1 make *)"], "allow"),
        ("A=1 B=2 make x", ["bash(A=1 *)"], "ask"),
        ("A=1 make", ["bash(*)"], "allow"),
        ("A=1 make", ["bash"], "allow"),
        ("timeout 5 make x", ["bash(make *)"], "allow"),
        ("env make x", ["bash(make *)"], "ask"),
        ("env A=1 make x", ["bash(env A=1 make *)"], "allow"),
        ("sudo make", ["bash(sudo make)"], "allow"),
        ("./timeout 5 make x", ["bash(make *)"], "ask"),
        ("timeout --strange 5 make", ["bash(*)"], "ask"),
        ("bash -c 'make x'", ["bash(make *)"], "allow"),
        ("bash -c 'make x'", ["bash(bash *)"], "ask"),
        ("sudo bash -c 'make x'", ["bash(make *)", "bash(sudo *)"], "ask"),
        ("sudo bash -c 'make x'", ["bash"], "allow"),
        ("cd s*", [], "ask"),
        ("cd s* && ls", ["bash(cd *)"], "allow"),
        ('eval "$X"', ["bash(*)"], "ask"),
        ("echo 'x", ["bash(*)"], "ask"),
        ("x" * 10_001, ["bash(*)"], "ask"),
        ("touch $F > $F", ["bash(*)", "edit(**)"], "ask"),
        ("lsof", ["bash(ls *)"], "ask"),
        ("touch .git/x", ["bash(touch *)"], "ask"),
        ("touch sub/.bashrc", ["bash(*)"], "ask"),
        ("touch .gitignore", ["bash(touch *)"], "allow"),
        ("cp a.txt sub/.git", ["bash"], "ask"),
    ],
)
def test_allow_rules(command: str, rules: list[str], wanted: str, bash: Callable[..., str]) -> None:
    assert bash(command, allow=rules) == wanted


DENIED = [
    *("rm x", "ls; rm x", "/bin/rm x", "r\\m x", "'rm' x", "A=1 rm x", "rm  x", "{rm,x}", "echo 'a' | rm x"),
    *(
        "sudo -u me env B=2 timeout -s KILL 5 rm x",
        "sudo --strange rm x",
        "xargs -n1 rm",
        "nohup rm x &",
        "time -p rm x",
    ),
    *(
        "eval 'rm x'",
        "bash -lc 'rm x'",
        "sh -c \"sh -c 'rm x'\"",
        "echo $(rm x)",
        "echo `rm x`",
        "(rm x)",
        "cat <(rm x)",
    ),
    *("while a; do rm x; done", "f() { rm x; }", "cat <<E\n$(rm x)\nE", "a > $(rm x)", "b=$(rm x)"),
]
NOT_DENIED = ["echo 'rm x'", 'echo "; rm x"', "echo rm x", "cat <<'E'\nrm x\nE", "rmdir x", "ls # rm x"]


@pytest.mark.parametrize("command", DENIED)
def test_a_deny_rule_holds_wherever_the_command_stands(command: str, bash: Callable[..., str]) -> None:
    assert bash(command, "bypass", deny=["bash(rm *)"]) == "deny"
    assert bash(command, allow=["bash"], deny=["bash(rm *)"]) == "deny"


# Where a list of commands may stand, and where one simple command may.
LISTS = [
    *(
        "%s",
        "echo $(%s)",
        "if true; then %s; fi",
        "for i in 1; do %s; done",
        "case a in a) %s ;; esac",
        "f() { %s; }; f",
    ),
    *("cat < <(%s)", "[[ -n $(%s) ]]", "a=($(%s))", "echo ${y:-$(%s)}", "# c\n%s", "%s\\\n"),
    *("true && { %s; }", "true <<< $(%s)", "time -p ( %s )", "coproc N { %s; }", "echo a |& ( %s )", "echo 'b' ; %s"),
]
ALONE = ["cat <<E\n$(%s)\nE", "true && { %s; } &"]
SIMPLE = [
    *("%s", "timeout -k 1 -s KILL 5 %s", "env -i -u B A=1 %s", "nohup nice -n 1 stdbuf -oL %s", "A=1 B=2 %s", "! %s"),
    *(
        "xargs -r -n1 %s",
        "bash -ec '%s'",
        'sh -c "%s"',
        'eval "%s"',
        "eval %s",
        ">z 2>&1 %s",
        "coproc %s",
        "time %s",
        "exec %s",
    ),
]


@pytest.mark.parametrize("outer", LISTS + ALONE)
def test_a_deny_rule_holds_whatever_stands_around_the_command(outer: str, engine: Callable[..., Engine]) -> None:
    made = engine("bypass", deny=["bash(rm *)"])
    for inner in LISTS:
        for simple in SIMPLE:
            text = outer.replace("%s", inner.replace("%s", simple.replace("%s", "/bin/rm x")))
            assert made.decide("bash", {"command": text}, Path("/")).verdict == "deny", text


@pytest.mark.parametrize("command", NOT_DENIED)
def test_text_is_no_command(command: str, bash: Callable[..., str]) -> None:
    assert bash(command, "bypass", deny=["bash(rm *)"]) == "allow"


@pytest.mark.parametrize(
    ("command", "rule"),
    [
        ("cat .env", "read(.env)"),
        ("cat ./sub/../.env", "read(.env)"),
        ("cat .e*", "read(.env)"),
        ("cat .{env,x}", "read(.env)"),
        ("grep K .env", "read(.env)"),
        ("grep -r K .", "read(.env)"),
        ("grep -r K", "read(.env)"),
        ("sed -n p .env", "read(.env)"),
        ("head -1 < .env", "read(.env)"),
        ("cp .env b", "read(.env)"),
        ("diff -r . sub", "read(.env)"),
        ("cd sub && cat ../.env", "read(.env)"),
        ("sudo cat .env", "read(.env)"),
        ("cat in/k", "read(real/**)"),
        ("touch .env", "read(.env)"),
        ("echo x > .env", "read(.env)"),
        ("echo x > a.txt", "edit(a.txt)"),
        ("echo x | tee -a a.txt", "edit(a.txt)"),
        ("sed -i s/a/b/ a.txt", "write(a.txt)"),
        ("cp b a.txt", "edit(a.txt)"),
        ("cp a.txt sub", "edit(sub/a.txt)"),
        ("cp -t sub a.txt", "edit(sub/a.txt)"),
        ("mv a.txt b", "edit(a.txt)"),
        ("mv b a.txt", "multi_edit(a.txt)"),
        ("rm -r real", "edit(real/k)"),
        ("touch in/k", "edit(real/k)"),
        ("echo x >> ../outside/x", "edit(../outside/**)"),
    ],
)
def test_files_that_commands_name(command: str, rule: str, bash: Callable[..., str]) -> None:
    assert bash(command, "bypass", deny=[rule]) == "deny"


@pytest.mark.parametrize(
    ("command", "rule"),
    [
        ("cat a.txt", "read(.env)"),
        ("grep -r K sub", "read(.env)"),
        ("ls .env", "read(.env)"),
        ("sed s/a/b/ a.txt", "edit(a.txt)"),
        ("cp a.txt b", "edit(a.txt)"),
        ("echo .env", "read(.env)"),
        ("echo x > a.txt.bak", "edit(a.txt)"),
        ("cat -- -n", "read(.env)"),
    ],
)
def test_files_that_commands_do_not_name(command: str, rule: str, bash: Callable[..., str]) -> None:
    assert bash(command, "bypass", deny=[rule]) == "allow"


def test_what_is_not_known_in_bypass(bash: Callable[..., str]) -> None:
    for command, rule in [
        ('eval "$X"', "bash(rm *)"),
        ("echo 'rm", "bash(rm *)"),
        ("cat $F", "read(.env)"),
        ("touch $F", "edit(a)"),
        ("touch $F", "read(a)"),
        ("ls > $F", "edit(a)"),
    ]:
        assert bash(command, "bypass") == "allow"
        assert bash(command, "bypass", deny=[rule]) == "ask"
    assert bash("echo 'x", "bypass", deny=["bash(rm *)"]) == "allow"
    assert bash("echo " + "x" * 10_001, "bypass", deny=["bash(rm *)"]) == "allow"


GUARDED = """rm -rf /
rm -rf ~
rm -rf .
rm -rf ..
rmdir /
rm -rf "$HOME"
rm -rf $PWD
rm -rf "$D"/*
rm -rf $D/*
rm -rf "${D}"/*
rm -rf "$D/"*
rm -rf /*
rm -rf ~/*
rm -rf ../*
rm -r {/,x}
cd / && rm -rf *
cd .. && rm -rf ws
cd ..; rm -rf ws
echo $(rm -rf ~)
sudo rm -rf /
bash -c "rm -rf /"
timeout 5 rm -rf -- /
"""


@pytest.mark.parametrize("command", GUARDED.splitlines())
def test_guarded_removals_need_approval_in_every_mode(command: str, bash: Callable[..., str]) -> None:
    assert bash(command, "bypass") == "ask"
    assert bash(command, allow=["bash"]) == "ask"


NOT_GUARDED = ["rm -rf build", 'rm -rf "$PWD/build"', "rm -rf *", "rm -rf ./*", "rm -rf $D", "rm a.txt"]


@pytest.mark.parametrize("command", NOT_GUARDED)
def test_ordinary_removals_are_not_guarded(command: str, bash: Callable[..., str]) -> None:
    assert bash(command, "bypass") == "allow"


def test_redirects_are_writes(bash: Callable[..., str]) -> None:
    inside = ["edit(/**)"]
    assert bash("ls > x", allow=inside) == "allow"
    assert bash("ls > in/x", allow=["edit(in/x)", "edit(real/x)"]) == "allow"
    assert bash("ls > in/x", allow=["edit(in/x)"]) == "ask"
    assert bash("ls > out/x", allow=["edit(out/**)"]) == "ask"
    assert bash("ls > out/x", allow=["edit(**)"]) == "allow"
    assert bash("ls > .git/x", allow=inside) == "ask"
    assert bash("ls > $X", allow=inside) == "ask"
    assert bash("touch y > x", allow=inside) == "ask"
    assert bash("cd sub; ls > x", allow=["edit(sub/x)"]) == "ask"
    assert bash("cd sub && ls > x", allow=["edit(sub/x)"]) == "allow"
    assert bash("ls > x", "accept-edits") == "ask"
    assert bash("ls > x", allow=["bash", "write"]) == "ask"
    assert bash("ls > x", "plan", allow=["edit(x)"]) == "deny"
    assert bash("(ls; ls) > x") == "ask"


def test_plan_refuses_changes_whatever_is_allowed(bash: Callable[..., str]) -> None:
    for command in ("touch x", "sed -i s/a/b/ a.txt", "ls > x", "bash -c 'touch x'", "echo 'x"):
        assert bash(command, "plan", allow=["bash", "edit(**)"]) == "deny"


# -- other tools ---------------------------------------------------------------------------------------------------


def test_paths(judge: Callable[..., str], workspace: Path) -> None:
    assert judge("read", "a.txt") == "allow"
    assert judge("read", str(workspace / "a.txt")) == "allow"
    assert judge("read", "in/k") == "allow"
    assert judge("read", "out/x") == "ask"
    assert judge("read", "../outside/x") == "ask"
    assert judge("read", "sub/../../outside/x") == "ask"
    assert judge("read", f"{workspace}-old/x", "accept-edits") == "ask"
    assert judge("read", "../outside/x", allow=["read(../outside/**)"]) == "allow"
    assert judge("read", "out/x", allow=["read(../outside/**)"]) == "allow"
    assert judge("read", "out/x", roots=[workspace, workspace.parent / "outside"]) == "allow"
    assert judge("read", str(workspace.parent / "state" / "outputs" / "o.txt")) == "allow"
    assert judge("read", str(workspace.parent / "state" / "settings.json")) == "ask"


def test_writing(judge: Callable[..., str]) -> None:
    assert judge("write", "n") == "ask"
    assert judge("write", "n", "accept-edits") == "allow"
    assert judge("write", "in/n", "accept-edits") == "allow"
    assert judge("write", "out/n", "accept-edits") == "ask"
    assert judge("write", "out/n", "bypass") == "allow"
    assert judge("write", "n", "plan", allow=["write", "edit(**)"]) == "deny"
    assert judge("write", "n", "dont-ask") == "deny"
    assert judge("write", "n", allow=["write"]) == "allow"
    assert judge("edit", "n", allow=["write"]) == "ask"
    assert judge("edit", "n", allow=["write(n)"]) == "allow"
    assert judge("write", "prot/n", "accept-edits", deny=["edit(prot/**)"]) == "deny"
    assert judge("write", ".env", "bypass", deny=["read(.env)"]) == "deny"
    assert judge("write", ".env", "bypass", ask=["read(.env)"]) == "allow"
    assert judge("edit", "in/k", "bypass", deny=["edit(real/k)"]) == "deny"
    assert judge("edit", "in/k", "bypass", deny=["edit(in/k)"]) == "deny"


@pytest.mark.parametrize("path", [".git/config", ".harness/settings.json", "sub/.bashrc", "sub/.git", ".profile"])
def test_protected_places(path: str, judge: Callable[..., str]) -> None:
    assert judge("write", path, "accept-edits", allow=["write", "edit(**)"]) == "ask"
    assert judge("write", path, "bypass") == "allow"


@pytest.mark.parametrize("path", [".gitignore", ".github/x", "sub/bashrc", "git/x"])
def test_ordinary_places(path: str, judge: Callable[..., str]) -> None:
    assert judge("write", path, "accept-edits") == "allow"


@pytest.mark.parametrize("tool", ["read", "write", "edit", "multi_edit", "glob", "grep"])
def test_paths_that_cannot_be_one(tool: str, judge: Callable[..., str]) -> None:
    with pytest.raises(ToolError, match="nul"):
        judge(tool, {"path": "a\0b", "pattern": "x"})
    with pytest.raises(ToolError, match="nul"):
        judge("glob", {"pattern": "a\0/*"})


def test_searches(judge: Callable[..., str], engine: Callable[..., Engine], workspace: Path) -> None:
    assert judge("grep", {"pattern": "x"}) == "allow"
    assert judge("grep", {"pattern": "x", "path": "../outside"}) == "ask"
    assert judge("grep", {"pattern": "x", "path": "../outside"}, allow=["read(../outside/**)"]) == "allow"
    assert judge("grep", {"pattern": "x", "path": ".env"}, deny=["read(.env)"]) == "deny"
    assert judge("grep", {"pattern": "x"}, deny=["read(.env)"]) == "allow"
    assert judge("glob", {"pattern": "**/*.js"}) == "allow"
    assert judge("glob", {"pattern": "../outside/*"}) == "ask"
    assert judge("glob", {"pattern": "sub/../../outside/*"}) == "ask"
    assert judge("glob", {"pattern": "/etc/*"}) == "ask"
    assert judge("glob", {"pattern": ".env"}, deny=["read(.env)"]) == "allow"
    keeper = engine(deny=["read(.env)"], ask=["read(real/**)"])
    assert keeper.may_read(str(workspace / "a.txt"))
    assert not keeper.may_read(str(workspace / ".env"))
    assert not keeper.may_read(str(workspace / "in" / "k"))


def test_names_and_addresses(judge: Callable[..., str]) -> None:
    url = {"url": "http://a.test/x"}
    assert judge("fetch", url) == "ask"
    assert judge("fetch", url, allow=["fetch(http://a.test/*)"]) == "allow"
    assert judge("fetch", url, allow=["fetch(http://b.test/*)"]) == "ask"
    agent = {"agent": "r", "prompt": "p"}
    assert judge("task", agent) == "allow"
    assert judge("task", agent, deny=["task(r)"]) == "deny"
    assert judge("skill", {"name": "s"}, ask=["skill"]) == "ask"
    assert judge("todo", {"items": []}, "plan") == "allow"


def test_server_tools(judge: Callable[..., str]) -> None:
    assert judge("mcp__s__a", {}) == "ask"
    assert judge("mcp__s__a", {}, "plan", allow=["mcp__s"]) == "deny"
    for rule in ("mcp__s", "mcp__s__*", "mcp__s__a", "mcp__s__*a", "MCP__S__A"):
        assert judge("mcp__s__a", {}, allow=[rule]) == "allow"
        assert judge("mcp__s__a", {}, "bypass", deny=[rule]) == "deny"
    assert judge("mcp__st__a", {}, allow=["mcp__s"]) == "ask"
    assert judge("mcp__s__a", {}, allow=["mcp__*"]) == "ask"
    assert judge("mcp__s__a", {}, "bypass", deny=["mcp__s*__a"]) == "deny"


def test_an_allow_rule_with_servers_by_pattern_is_told(engine: Callable[..., Engine]) -> None:
    said: list[str] = []
    engine(allow=["mcp__s*__a", "mcp__s__a*"], warn=said.append)
    assert len(said) == 1
    assert "mcp__s*__a" in said[0]


# -- rules ---------------------------------------------------------------------------------------------------------


WRONG = ["bash(", "bash()", "nothing", "bash(x", "bash)", "todo(x)", "", "mcp__s(x)", "mcp__a b"]


@pytest.mark.parametrize("text", WRONG)
def test_wrong_rules(text: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse(text)
    assert text in raised.value.message


def test_right_rules() -> None:
    assert parse(" Bash(Ls *) ") == ("Bash(Ls *)", "bash", "Ls *")
    assert parse("read(a(b))").pattern == "a(b)"
    assert parse("mcp__S__t").pattern is None


def test_the_strictest_rule_wins_whatever_the_order(bash: Callable[..., str]) -> None:
    assert bash("git push", allow=["bash(git push)"], ask=["bash(*)"]) == "ask"
    assert bash("git push", ask=["bash(git push)"], deny=["bash(*)"]) == "deny"


def test_the_reason_names_rule_or_mode(engine: Callable[..., Engine], workspace: Path) -> None:
    def reason(command: str, mode: str = "default", **rules: Any) -> str:
        return engine(mode, **rules).decide("bash", {"command": command}, workspace).reason

    assert "deny rule Bash(rm *)" in reason("rm x", deny=[" Bash(rm *) "])
    assert "ask rule bash(rm *)" in reason("rm x", ask=["bash(rm *)"])
    assert "mode plan" in reason("rm x", "plan")
    assert "mode default" in reason("rm x")
    assert "mode bypass" in reason("rm -rf /", "bypass")
    assert "mode dont-ask" in reason("rm x", "dont-ask")


def test_bare_denies_hide_and_refuse(engine: Callable[..., Engine], workspace: Path) -> None:
    made = engine("bypass", deny=["edit", "mcp__s", "bash(*)"])
    assert made.hidden_tools(["bash", "edit", "write", "mcp__s__a", "mcp__t__a"]) == {"edit", "mcp__s__a"}
    assert made.decide("edit", {}, workspace).verdict == "deny"
    assert made.decide("write", {"path": "a"}, workspace).verdict == "allow"


def test_always_saves_what_lets_the_same_command_run(engine: Callable[..., Engine], workspace: Path) -> None:
    for command in ("A=1 make *.c && touch 'a b' > x", "sed -i s/a\\\\b/c/ a.txt; ls *", "timeout 5 make > 'sub/[x]'"):
        decision = engine().decide("bash", {"command": command}, workspace)
        assert decision.verdict == "ask"
        assert engine(allow=decision.parts).decide("bash", {"command": command}, workspace).verdict == "allow"
    assert engine().decide("write", {"path": "{a}*"}, workspace).parts == [f"edit({workspace}/\\{{a\\}}\\*)"]


def test_approvals_of_a_session_are_shared_and_not_heeded_in_plan(
    engine: Callable[..., Engine], workspace: Path
) -> None:
    caller = engine()
    child = caller.narrowed({"deny": ["bash(rm *)"], "ask": [], "allow": ["bash"]})
    caller.allow_for_session(["bash(make)", "bash(rm x)"])

    def verdicts(command: str) -> list[str]:
        return [made.decide("bash", {"command": command}, workspace).verdict for made in (caller, child)]

    assert verdicts("make") == ["allow", "allow"]
    assert verdicts("rm x") == ["allow", "deny"]
    assert verdicts("touch x") == ["ask", "ask"]
    caller.mode = "plan"
    assert verdicts("make") == ["deny", "deny"]


def test_a_command_is_judged_from_the_folder_it_starts_in(engine: Callable[..., Engine], workspace: Path) -> None:
    def verdict(folder: Path) -> str:
        return engine().decide("bash", {"command": "cat ../a.txt"}, folder).verdict

    assert verdict(workspace / "sub") == "allow"
    assert verdict(workspace) == "ask"
    assert verdict(workspace / "gone") == "ask"  # it would start in the workspace


# -- patterns ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "text", "wanted"),
    [
        ("ls *", "ls", True),
        ("ls *", "ls -l", True),
        ("ls *", "lsof", False),
        ("ls*", "lsof", True),
        ("a * c", "a b/b b c", True),
        ("a * c", "a c", False),
        ("a", "a b", False),
        ("a\\*", "a*", True),
        ("a\\*", "ab", False),
        ("a\\\\", "a\\", True),
        ("*", "", True),
        ("a?[b]", "a?[b]", True),
        ("A", "a", False),
        ("a *", "a\nb", False),
        ("a *", "a b\nc", True),
    ],
)
def test_text_patterns(pattern: str, text: str, wanted: bool) -> None:
    assert text_matches(pattern, text) is wanted


@pytest.mark.parametrize(
    ("pattern", "path", "wanted"),
    [
        (".env", "/w/.env", True),
        (".env", "/w/a/b/.env", True),
        (".env", "/elsewhere/.env", True),
        (".env", "/w/.env/x", True),
        (".env", "/w/x.env", False),
        ("*.key", "/w/a/b.key", True),
        ("a/b", "/w/a/b", True),
        ("a/b", "/w/c/a/b", False),
        ("./b", "/w/c/b", True),
        ("a/*", "/w/a/b/c", True),
        ("a/**", "/w/a/b/c", True),
        ("a/**", "/w/a", False),
        ("a/**/z", "/w/a/z", True),
        ("**/z", "/w/a/b/z", True),
        ("/e/x", "/e/x", True),
        ("/e/./d/../x", "/e/x", True),
        ("../o/*", "/o/x", True),
        ("~/x", "/h/x", True),
        ("{a,b}/x", "/w/b/x", True),
        ("a/[xy]?", "/w/a/yz", True),
        ("a/\\*", "/w/a/*", True),
        ("a/\\*", "/w/a/b", False),
        ("dir/", "/w/a/dir/x", True),
        ("/**", "/any/thing", True),
    ],
)
def test_path_patterns(pattern: str, path: str, wanted: bool) -> None:
    assert (path_pattern(pattern, "/w", "/h").fullmatch(path) is not None) is wanted


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="ab/.*?[]{}!-~\\,^", max_size=12))
def test_any_path_pattern_compiles(pattern: str) -> None:
    path_pattern(pattern, "/w", "/h").fullmatch("/w/a/b")
