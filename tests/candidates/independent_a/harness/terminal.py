"""A plain terminal: line by line, with approvals."""

import os
import sys

from harness import HarnessError


def key():
    import termios
    import tty
    old = termios.tcgetattr(0)
    try:
        tty.setcbreak(0)
        return os.read(0, 16).decode("utf-8", "replace")
    finally:
        termios.tcsetattr(0, termios.TCSADRAIN, old)


class Approver:
    def __init__(self, run):
        self.run, self.number = run, 0

    def __call__(self, name, args, target):
        self.number += 1
        sys.stdout.write("%s\n%s\napprove %d? [y/s/a/n/r] " % (name, target, self.number))
        sys.stdout.flush()
        while True:
            try:
                pressed = key().lower()
            except KeyboardInterrupt:
                pressed = "\x1b"
            if pressed in ("\x1b", "\x03", "\x04", ""):
                pressed = "n"
            if pressed[:1] in "ysanr":
                break
        print(pressed[:1])
        if pressed[:1] == "r":
            return "deny", input("reason: ")
        return {"y": "allow", "s": "session", "a": "always", "n": "deny"}[pressed[:1]], ""


def terminal(flags, options, rest):
    from harness.agent import Agent
    from harness.permissions import MODES
    agent = Agent.__new__(Agent)
    agent.workspace, agent.options = os.path.realpath(os.getcwd()), options
    agent.prepare()
    agent.open()
    run = agent.shared
    run.approve = Approver(run)
    started = run.engine.mode
    waiting = list(rest)
    try:
        while True:
            try:
                line = waiting.pop(0) if waiting else input("%s %d> " % (run.engine.mode, agent.session.next_prompt))
            except EOFError:
                return 0
            except KeyboardInterrupt:
                print("again")
                continue
            word, _, argument = line.strip().partition(" ")
            if not word:
                continue
            if word == "/exit":
                return 0
            if word == "/mode":
                if argument == "bypass" and started != "bypass":
                    print("not available")
                elif argument in MODES:
                    run.engine.mode = argument
                    agent.session.append({"type": "mode", "mode": argument})
                print(run.engine.mode)
                continue
            if word == "/permissions":
                print("mode " + run.engine.mode)
                for kind in ("deny", "ask", "allow"):
                    for rule in getattr(run.engine, kind):
                        print(kind, rule.given, rule.source)
                continue
            if word == "/compact":
                print("compacted" if agent.conversation.compact() else "error: not compacted")
                continue
            try:
                from harness.__main__ import custom
                text = custom(agent, line)
            except HarnessError:
                print("unknown command " + word)
                continue
            print("working")
            try:
                result = agent.run(text)
            except KeyboardInterrupt:
                run.stopped = ("interrupted", "interrupted")
                agent.session.append({"type": "interrupted"})
                print("interrupted")
                continue
            print(("error: " if result["is_error"] else "") + result["result"])
    finally:
        agent.close()
