"""Agent sessions in the schemas of the nebius and Kwai-Klear data sets, about invented repositories.

A session works through steps of looking, editing and testing; what the commands print is invented too. `plain` sessions
use no command that a redirect rule governs, so a set made from them has contexts with fewer rules.
"""

from __future__ import annotations

import random
from typing import Any

from triathlon.recall.builtin import words

COMMANDS = {
    "open": ("open <path> [<line_number>]", "opens the file at the given path, at a line if one is given"),
    "goto": ("goto <line_number>", "moves the window to a line"),
    "create": ("create <filename>", "creates and opens a new file"),
    "search_dir": ("search_dir <search_term> [<dir>]", "searches for a term in all files of a folder"),
    "find_file": ("find_file <file_name> [<dir>]", "finds the files of a name"),
    "edit": ("edit <start_line>:<end_line>", "replaces lines with what follows, up to end_of_edit"),
    "submit": ("submit", "ends the session and hands in the work"),
}


def system_prompt(pick: random.Random) -> str:
    """The instructions, with the special commands documented as SWE-agent documents them."""
    lines = [
        "SETTING: you work as a programmer on the command line, with an editor that shows a window of a file.",
        "Besides the usual shell commands there are these special ones.",
        "",
        "COMMANDS:",
    ]
    names = list(COMMANDS)
    pick.shuffle(names)
    for name in names:
        signature, says = COMMANDS[name]
        lines += [f"{name}:", f"  docstring: {says}", f"  signature: {signature}"]
        arguments = [part.strip("[]<>") for part in signature.split()[1:]]
        if arguments:
            lines.append("  arguments:")
            lines += [f"    - {a.split('>')[0]} (string) [required]: the {a.split('>')[0]}" for a in arguments]
        lines.append("")
    lines.append("Answer with a thought and one command in a block. Wait for the output before the next command.")
    return "\n".join(lines)


class Repository:
    """An invented repository: a few modules with functions."""

    def __init__(self, pick: random.Random) -> None:
        self.pick = pick
        self.name = f"{pick.choice(words.PLACES).lower()}-{pick.choice(words.MODULES)}"
        self.files = [f"src/{m}/{pick.choice(words.FUNCTIONS)}.py" for m in pick.sample(words.MODULES, 6)]
        self.function = pick.choice(words.FUNCTIONS)
        self.fault = pick.choice(words.FAULTS)

    def code(self, lines: int) -> list[str]:
        """Some lines of Python."""
        pick, out = self.pick, [""][:0]
        while len(out) < lines:
            name, other = pick.choice(words.FUNCTIONS), pick.choice(words.FUNCTIONS)
            item, key = pick.choice(words.NOUNS), pick.choice(words.PARAMETERS)
            out += [
                f"def {name}({item}, {key}=None):",
                f'    """The {pick.choice(words.ADJECTIVES)} {item} of a {pick.choice(words.MODULES)}."""',
                f"    if {key} is None:",
                f"        {key} = {other}({item})[{pick.randrange(9)}]",
                f"    for {item[0]} in {item}.{pick.choice(words.FUNCTIONS)}({key}):",
                f"        yield {item[0]}.{pick.choice(words.NOUNS)} + {pick.randrange(100)}",
                "",
            ]
        return out[:lines]

    def window(self, path: str, lines: int = 24) -> str:
        """What the editor shows of a file."""
        start = self.pick.randrange(1, 200)
        body = "\n".join(f"{start + i}:{line}" for i, line in enumerate(self.code(lines)))
        return (
            f"[File: /{self.name}/{path} ({start + 90} lines total)]\n{body}\n(Open file: /{self.name}/{path})\nbash-$"
        )


def steps(repo: Repository, plain: bool) -> list[tuple[str, str, str]]:
    """(thought, command, output) of one round of work."""
    pick = repo.pick
    path, other = pick.sample(repo.files, 2)
    name, line = pick.choice(words.FUNCTIONS), pick.randrange(2, 80)
    hits = "\n".join(f"{p}:{pick.randrange(300)}:    {name}({pick.choice(words.NOUNS)})" for p in repo.files[:5])
    tests = "\n".join(
        f"tests/test_{m}.py::{pick.choice(words.FUNCTIONS)} PASSED" for m in pick.sample(words.MODULES, 7)
    )
    failing = f"tests/test_{pick.choice(words.MODULES)}.py::{name} FAILED\nE   assert {line} == {line + 1}"
    done = [
        (f"Where is `{name}` used?", f"grep -rn {name} src", hits),
        ("Do the tests say the same?", f"python -m pytest tests -k {name}", f"{tests}\n{failing}\n1 failed in 0.4s"),
        ("I look at what has changed so far.", "git diff --stat", f" {path} | {pick.randrange(1, 20)} ++--"),
        (f"Line {line} needs the other order.", f"sed -i '{line}s/first/last/' {path}", ""),
        (f"Who else calls {name}?", f"search_dir {name} src", f'Found 2 matches for "{name}" in /{repo.name}/src'),
    ]
    if not plain:
        done += [
            (f"I open {path} to see the function.", f"open {path} {line}", repo.window(path)),
            ("A small script shows the fault.", f"create check_{name}.py", repo.window(f"check_{name}.py", 1)),
            (
                "I write the script.",
                f"edit 1:1\nfrom {repo.name.replace('-', '_')} import {name}\n\nprint({name}({line}))\nend_of_edit",
                repo.window(f"check_{name}.py", 4),
            ),
            ("Now it runs.", f"python check_{name}.py", f"Traceback (most recent call last):\nKeyError: {line}"),
            (f"What is around {other}?", f"cat {other}", "\n".join(repo.code(18))),
            ("Which files are there?", "ls src", "\n".join(p.split("/")[1] for p in repo.files)),
            (f"Is there another {name}?", f"find_file {name}.py src", f"Found 1 matches\n/{repo.name}/{other}"),
            ("The script is not needed any more.", f"rm check_{name}.py", ""),
        ]
    pick.shuffle(done)
    return done


def issue(repo: Repository) -> str:
    """What the agent is asked."""
    return (
        f"We are solving the following issue in our repository {repo.name}.\nISSUE:\n{repo.function} {repo.fault}\n\n"
        f"When {repo.function} is called on a {repo.pick.choice(words.ADJECTIVES)} {repo.pick.choice(words.NOUNS)}, it "
        f"{repo.fault}. Expected is what the documentation of {repo.files[0]} says.\n\nINSTRUCTIONS:\nYou are in the "
        "repository's root folder. Edit what has to be edited, run what has to be run, then submit."
    )


def nebius_row(seed: int, number: int, rounds: int = 12, plain: bool = False) -> dict[str, Any]:
    """A session as a row of SWE-agent-trajectories."""
    pick = random.Random(f"session {seed} {number}")
    repo = Repository(pick)

    def step(role: str, text: str | None, system: str | None = None) -> dict[str, Any]:
        return {"cutoff_date": "01.01.2023", "mask": False, "role": role, "system_prompt": system, "text": text}

    trajectory = [step("system", None, system_prompt(pick)), step("user", issue(repo))]
    for _ in range(rounds):
        for thought, command, output in steps(repo, plain):
            trajectory.append(step("ai", f"{thought}\n\n```\n{command}\n```"))
            trajectory.append(step("user", output or "Your command ran successfully and printed nothing."))
    trajectory.append(step("ai", "All is done.\n\n```\nsubmit\n```"))
    return {
        "instance_id": f"{repo.name}-{seed}-{number}",
        "model_name": "generator",
        "target": True,
        "trajectory": trajectory,
        "exit_status": "submitted",
        "generated_patch": "",
        "eval_logs": "",
    }


def klear_row(seed: int, number: int, rounds: int = 12, plain: bool = False) -> dict[str, Any]:
    """A session as a row of the mini-swe-agent-plus trajectories: a shell only."""
    pick = random.Random(f"mini {seed} {number}")
    repo = Repository(pick)
    messages = [
        {"role": "system", "content": "You work in a shell. Give a THOUGHT and exactly one bash block a turn."},
        {"role": "user", "content": issue(repo)},
    ]
    for _ in range(rounds):
        for thought, command, output in steps(repo, plain):
            if command.split()[0] in COMMANDS:
                command, output = f"cat {repo.files[0]}" if not plain else "git status", "\n".join(repo.code(12))
            messages.append({"role": "assistant", "content": f"THOUGHT: {thought}\n\n```bash\n{command}\n```"})
            result = f"<returncode>0</returncode>\n<output>\n{output}\n</output>"
            messages.append({"role": "user", "content": result})
    return {"instance_id": f"mini-{repo.name}-{seed}-{number}", "messages": messages}
