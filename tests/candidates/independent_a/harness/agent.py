"""The loop: ask the model, carry out its calls, ask again, until a reply has no call."""

import json
import os
import threading
import time
import uuid

from harness import HarnessError, schemas
from harness.environment import ToolError, Workspace
from harness.model import Aborted, ChatModel, ModelError, scrub
from harness.permissions import MODES, Engine, Rule, RuleError
from harness.session import Session, repair, summary_message
from harness.settings import Settings, warn


class Failed(Exception):
    """Ends a turn: subtype and cause."""

    def __init__(self, subtype, message):
        super().__init__(message)
        self.subtype = subtype


def state_folder():
    return os.path.abspath(os.environ.get("HARNESS_HOME") or os.path.join(os.path.expanduser("~"), ".harness"))


class Run:
    """What all conversations of one process share."""

    def __init__(self, workspace, options):
        given = workspace
        self.workspace = os.path.realpath(workspace)
        self.home, self.options = state_folder(), options
        flags = dict(options.get("settings") or {})
        for key, name in (("model", "model"), ("permission_mode", "permissions.mode"), ("add_dirs", "permissions.dirs")):
            if options.get(key) is not None:
                flags[name] = options[key]
        for kind in ("allow", "ask", "deny"):
            if options.get(kind):
                flags["permissions." + kind] = options[kind] + flags.get("permissions." + kind, [])
        for kind in ("allow", "ask", "deny"):
            for rule in flags.get("permissions." + kind, []):
                try:
                    Rule(rule)
                except RuleError as error:
                    raise HarnessError(str(error)) from None
        self.settings = Settings(self.workspace, self.home, flags, bool(options.get("trust")))
        mode = self.settings["permissions.mode"]
        if options.get("was_plan") and options.get("permission_mode") is None:
            mode = "default"
        dirs = []
        for folder in self.settings["permissions.dirs"]:
            full = os.path.join(self.workspace, os.path.expanduser(folder) if folder.startswith("~/") else folder)
            if not os.path.isdir(full):
                raise HarnessError("not a folder: %s" % folder)
            dirs.append(full)
        logical = os.environ.get("PWD", "")
        if given == os.getcwd() and logical.startswith("/") and os.path.realpath(logical) == self.workspace:
            given = logical
        self.engine = Engine(self.workspace, mode, dirs, os.path.abspath(given))
        self.engine.outputs = os.path.join(self.home, "outputs")
        for kind in ("deny", "ask", "allow"):
            for text, source in self.settings.rules[kind]:
                try:
                    self.engine.add(kind, text, source)
                except RuleError as error:
                    raise HarnessError("bad rule %s: %s" % (text, error)) from None
        for text in self.engine.warnings:
            warn(text)
        self.model_name = self.settings["model"]
        self.stopped = None
        self.model = None
        self.denials, self.usage, self.cost = [], {"input_tokens": 0, "output_tokens": 0}, 0.0
        self.deadline = None
        self.background, self.running = {}, set()
        self.tools, self.servers = {}, None
        self.lock = threading.RLock()
        self.approve = None
        self.emit = None
        self.asking = threading.Lock()

    def connect(self):
        base = os.environ.get("HARNESS_BASE_URL")
        if not base:
            raise HarnessError("HARNESS_BASE_URL is not set")
        s = self.settings
        self.model = ChatModel(base, os.environ.get("HARNESS_API_KEY"), s["stream"], s["stream_idle_timeout"], s["max_retries"],
                               s["retry_wait"], self.stop)

    def start_servers(self):
        if self.servers is None:
            self.servers = []
            paths = [os.path.join(self.home, "mcp.json"), os.path.join(self.workspace, ".harness", "mcp.json")]
            from harness.settings import project_folders
            paths += [os.path.join(f, ".harness", "mcp.json") for f in project_folders(self.workspace)]
            found = [p for p in paths if os.path.exists(p)]
            if found and not self.settings.trusted and any(p != paths[0] for p in found):
                warn("%s: ignored, the folder is not trusted" % next(p for p in found if p != paths[0]))
            if found:
                from harness.servers import start_all
                self.tools, self.servers = start_all(self.settings, self.settings["env"])

    def stop(self):
        if self.stopped is None and self.deadline is not None and time.monotonic() >= self.deadline:
            self.stopped = ("timeout", "the time limit is over")
        return self.stopped is not None

    def count(self, reply, model):
        with self.lock:
            self.usage["input_tokens"] += reply["input"]
            self.usage["output_tokens"] += reply["output"]
            price = self.settings["prices"].get(model)
            if price is None:
                self.cost = None
            elif self.cost is not None:
                self.cost += (reply["input"] * price["input"] + reply["output"] * price["output"]) / 1e6

    def hooks(self, event, session_id, tool=None, **info):
        """Yields (hook, exit code, stderr)."""
        import re
        for hook in self.settings["hooks"]:
            if hook["event"] != event:
                continue
            matcher = hook.get("matcher")
            if tool is not None and matcher is not None and not re.fullmatch(
                    ".*".join(re.escape(p) for p in matcher.split("*")), tool, re.S):
                continue
            from harness.extensions import run_hook
            data = {"event": event, "session_id": session_id, "workspace": self.workspace, **info}
            if tool is not None:
                data["tool"] = tool
            code, errors = run_hook(hook, data, self.workspace, self.settings["env"])
            blocking = event in ("pre_tool", "post_tool", "user_prompt")
            if code not in (None, 0) and not (code == 2 and blocking):
                warn("hook %s: exit code %s" % (hook["script"], code))
            yield hook, code, errors

    def close(self):
        for job in self.background.values():
            job.kill()
        for server in self.servers or []:
            server.end()
        from harness.commands import end_session
        for pid in list(self.running):
            end_session(pid)


class Conversation:
    """One history, its files as it saw them, and its shell's folder."""

    def __init__(self, run, session, engine=None, depth=0, agent=None):
        self.run_, self.session, self.depth, self.agent = run, session, depth, agent
        self.engine = engine or run.engine
        self.messages = session.messages if depth == 0 else []
        self.files = Workspace(run.workspace, self.engine, run.home)
        self.model_name = (agent or {}).get("model") or run.model_name
        self.system, self.skills = None, {}
        self.later, self.planning = [], False
        self.last_calls = []
        self.last_input = 0
        self.replies = 0
        if depth == 0:
            self.files.seen.update(session.seen)
            self.files.todo = list(session.todo)
            self.last_input = session.last_input
            self.files.on_seen = lambda p, h: session.append({"type": "seen", "path": p, "sha256": h})
            self.files.on_todo = lambda items: session.append({"type": "todo", "items": items})

    # messages

    def system_text(self):
        if self.system is None:
            from harness import extensions
            run = self.run_
            parts = ["You are a coding agent. The workspace is " + run.workspace + "."]
            if self.agent and self.agent["body"]:
                parts.append(self.agent["body"])
            parts += extensions.memory(run.settings, run.engine)
            self.skills = extensions.skills(run.settings)
            if self.skills:
                parts.append("Skills:\n" + "\n".join("%s: %s" % (n, d) for n, (d, _) in self.skills.items()))
            if run.options.get("system_append"):
                parts.append(run.options["system_append"])
            self.system = "\n\n".join(parts)
        return "\n\n".join([self.system, *[t for _, t in self.later]])

    def nested_memory(self, path):
        """EXT-03."""
        folder = os.path.dirname(path)
        ws = self.run_.workspace
        found = []
        while folder.startswith(ws.rstrip("/") + "/"):
            file = os.path.join(folder, "AGENTS.md")
            real = os.path.realpath(file)
            if os.path.isfile(file) and all(real != r for r, _ in self.later) and self.engine.readable(file):
                from harness.extensions import imported
                found.insert(0, (real, imported(file, self.run_.settings, self.engine, False, [real])))
            folder = os.path.dirname(folder)
        self.later += found

    def offered(self):
        names = [n for n in schemas.TABLE if self.exists(n) and not self.engine.removed(n)]
        tools = [schemas.offer(n) for n in names]
        for name, (_, _, definition) in self.run_.tools.items():
            if self.exists(name) and not self.engine.removed(name):
                tools.append(definition)
        return tools

    def exists(self, name):
        agent = self.agent
        if name in schemas.TABLE:
            chosen = self.run_.options.get("tools")
            if chosen is not None and name not in chosen:
                return False
            if self.planning and name in ("write", "edit", "multi_edit"):
                return False
            if self.depth and name in ("ask", "exit_plan"):
                return False
            if self.depth >= 2 and name == "task":
                return False
        elif name not in self.run_.tools:
            return False
        return not (agent and agent["tools"] is not None and name not in agent["tools"])

    def add(self, message, **extra):
        message = scrub(message)
        self.messages.append(message)
        if self.depth == 0:
            self.session.append({"type": "message", "message": message, **extra})

    def emit(self, event):
        if self.depth == 0 and self.run_.emit:
            self.run_.emit(event)

    # the turn

    def turn(self, text, numbered=True):
        """The final text. Raises Failed, ModelError, Aborted."""
        run = self.run_
        if self.depth == 0 and numbered:
            fixed = repair(self.messages)
            self.messages[:] = fixed
            self.add({"role": "user", "content": text}, prompt=self.session.next_prompt)
            self.session.starts.append((self.session.next_prompt, len(self.messages) - 1))
        else:
            self.add({"role": "user", "content": text})
        self.last_calls = []
        limit = run.options.get("max_turns") if self.depth == 0 else None
        self.replies = 0
        schema_told = False
        tried = False
        while True:
            if run.stop():
                raise Aborted
            if self.last_input > 0.8 * run.settings["context_window"] and not tried:
                self.last_input = 0
                tried = not self.compact()
            reply = self.ask_model()
            self.replies += 1
            calls = self.keep(reply)
            if reply["finish"] == "content_filter":
                raise Failed("error", "the reply was stopped: content_filter")
            cost = run.options.get("max_cost")
            over = cost is not None and run.cost is not None and run.cost > cost
            if not calls:
                if reply["finish"] == "length":
                    warn("the reply was cut at the output limit")
                schema = run.options.get("output_schema") if self.depth == 0 else None
                if schema is not None:
                    from harness.schema import problem
                    wrong = problem(reply["text"], schema)
                    if wrong and schema_told:
                        raise Failed("error", "the final text does not fit the schema: " + wrong)
                    if wrong:
                        schema_told = True
                        self.add({"role": "user", "content": "Your answer does not fit the JSON schema: %s. Answer with "
                                                             "JSON alone that fits the schema." % wrong})
                        continue
                return reply["text"]
            if over:
                raise Failed("max_cost", "the cost limit is passed")
            if limit is not None and self.replies >= limit:
                raise Failed("max_turns", "the turn limit is reached")
            self.run_calls(calls, reply["finish"] == "length")

    def ask_model(self):
        run, compacted = self.run_, 0
        for attempt in range(3):
            while True:
                messages = [{"role": "system", "content": self.system_text()}, *repair(self.messages)]
                try:
                    reply = run.model.query(messages, self.offered(), self.model_name)
                    break
                except ModelError as error:
                    if not error.overflow:
                        raise
                    if compacted >= 2 or not self.compact(compacted > 0):
                        raise Failed("error", "the context is too long: %s" % error) from None
                    compacted += 1
            run.count(reply, self.model_name)
            self.last_input = reply["input"]
            if reply["calls"] or reply["text"].strip() or reply["finish"] == "content_filter":
                return reply
        raise Failed("error", "the model's reply is empty")

    def compact(self, short=False):
        run = self.run_
        hint = "Summarize this conversation: what was asked, done and found, and what is left to do."
        messages = [{"role": "system", "content": self.system_text()}, *repair(self.messages), {"role": "user", "content": hint}]
        try:
            reply = run.model.query(messages, [], self.model_name)
        except ModelError as error:
            warn("compaction failed: %s" % error)
            return False
        run.count(reply, self.model_name)
        if not reply["text"].strip():
            warn("compaction failed: empty reply")
            return False
        history = repair(self.messages)
        users = [i for i, m in enumerate(history) if m["role"] == "user"]
        keep = []
        if users:
            keep = [history[users[-1]]]
            replies = [i for i, m in enumerate(history) if m["role"] == "assistant" and i > users[-1]]
            if replies and not short:
                keep += history[replies[-1]:]
        summary = reply["text"]
        if self.files.todo:
            summary += "\n\nThe list of things to do:\n" + "\n".join("%s: %s" % (i["status"], i["text"]) for i in self.files.todo)
        self.messages[:] = [summary_message(summary), *keep]
        if self.depth == 0:
            contiguous = history[len(history) - len(keep):] == keep
            if not contiguous:
                # the line counts messages before it: those kept are written once more
                for message in keep:
                    self.session.append({"type": "message", "message": message})
            self.session.append({"type": "compaction", "summary": summary, "keep": len(keep)})
            self.emit({"type": "compaction", "summary": summary})
        return True

    def keep(self, reply):
        """Adds the reply to the history; its calls with the ids they go by."""
        if reply["finish"] == "content_filter":
            return []
        used = {c.get("id") for m in self.messages for c in m.get("tool_calls") or []}
        calls, sent = [], []
        for call in reply["calls"]:
            number = call["id"]
            if not number or number in used:
                number = "call_" + uuid.uuid4().hex
            used.add(number)
            args, raw = None, call["arguments"]
            if raw == "":
                args, raw = {}, "{}"
            else:
                try:
                    args = json.loads(raw)
                except (ValueError, RecursionError):
                    args = None
                if not isinstance(args, dict):
                    args, raw = None, "{}"
            calls.append({"id": number, "name": call["name"], "args": args})
            sent.append({"id": number, "type": "function", "function": {"name": call["name"], "arguments": raw}})
        message = {"role": "assistant", "content": reply["text"] or None}
        if sent:
            message["tool_calls"] = sent
        if reply["reasoning"]:
            message["reasoning_content"] = reply["reasoning"]
        self.add(message, usage={"input_tokens": reply["input"], "output_tokens": reply["output"]})
        self.emit({"type": "assistant", "text": reply["text"],
                   "tool_calls": [{"id": c["id"], "name": c["name"], "input": c["args"] or {}} for c in calls]})
        return calls

    def run_calls(self, calls, was_cut):
        i = 0
        while i < len(calls):
            group = [calls[i]]
            while calls[i]["name"] == "task" and i + len(group) < len(calls) and calls[i + len(group)]["name"] == "task":
                group.append(calls[i + len(group)])
            results = [None] * len(group)
            if len(group) > 1:
                def work(k, call):
                    try:
                        results[k] = self.one(call, was_cut)
                    except Exception as error:
                        results[k] = error
                threads = [threading.Thread(target=work, args=(k, c), daemon=True) for k, c in enumerate(group)]
                for t in threads:
                    t.start()
                for t in threads:
                    t.join()
            else:
                results[0] = self.one(group[0], was_cut)
            if self.run_.stop():
                raise Aborted
            for call, result in zip(group, results):
                if isinstance(result, Exception):
                    raise result
                self.add({"role": "tool", "tool_call_id": call["id"], "content": result})
                self.emit({"type": "tool_result", "id": call["id"], "name": call["name"], "content": scrub(result),
                           "is_error": result.startswith("error: ")})
            i += len(group)
            if self.run_.stop():
                raise Aborted

    def one(self, call, was_cut):
        name, args = call["name"], call["args"]
        if was_cut:
            return "error: the reply was cut at the output limit, the call was not run"
        if args is None:
            return "error: the arguments are not one JSON object (json)"
        key = json.dumps([name, args], sort_keys=True)
        last = self.last_calls
        if len(last) >= 3 and all(k == key for k, _ in last[-3:]) and len({r for _, r in last[-3:]}) == 1:
            return "error: repeated call: the same call gave the same result three times"
        result = self.perform(name, args)
        self.last_calls = [*last, (key, result)][-3:]
        return result

    def perform(self, name, args):
        if name not in schemas.TABLE and name not in self.run_.tools:
            return "error: unknown tool: " + name
        removed = self.engine.removed(name)
        if not self.exists(name) and not removed:
            return "error: unknown tool: " + name
        if removed:
            return self.refuse(name, args, "deny rule " + removed.given)
        judged = args
        if name in schemas.TABLE:
            args, wrong = schemas.check(name, args)
            if wrong:
                return "error: " + wrong
            judged = args
            try:
                if any(isinstance(args.get(k), str) and "\0" in args[k] for k in ("path", "pattern", "glob", "command", "url")):
                    return "error: an argument has a nul character"
                if name in ("read", "edit", "multi_edit", "glob", "grep") and args.get("path") is not None:
                    judged = {**args, "path": self.files.find(args["path"])}
            except ToolError as error:
                return "error: " + str(error)
        if name == "bash":
            self.check_folder()
        if name == "exit_plan":
            if self.engine.mode != "plan":
                return "error: not in plan mode"
        decision = self.engine.decide(name, judged, self.files.cwd)
        if decision.kind == "refuse":
            return self.refuse(name, args, decision.reason)
        if name == "exit_plan":
            return self.leave_plan(args, decision)
        if decision.kind == "ask":
            answer, reason = self.ask_user(name, args, decision)
            if answer == "deny":
                return self.refuse(name, args, reason)
        for _, code, errors in self.run_.hooks("pre_tool", self.session.id, name, input=args):
            if code == 2:
                return self.refuse(name, args, errors.strip("\n"))
        result = self.dispatch(name, args)
        if not result.startswith("error: refused: "):
            for _, code, errors in self.run_.hooks("post_tool", self.session.id, name, input=args, result=scrub(result)):
                if code == 2:
                    result += "\n" + errors.rstrip("\n")
        return result

    def refuse(self, name, args, reason):
        with self.run_.lock:
            self.run_.denials.append({"tool": name, "input": args, "reason": reason})
        return "error: refused: " + reason

    def ask_user(self, name, args, decision):
        """(allow or deny, reason)."""
        run = self.run_
        if run.approve is None or self.engine.mode == "dont-ask":
            return "deny", decision.reason
        with run.asking:
            answer, reason = run.approve(name, args, self.target(name, args))
        if answer == "deny":
            return "deny", "no answer" if reason == "no answer" else "user said no" + (": " + reason if reason else "")
        if answer in ("session", "always"):
            for save in decision.saves:
                if save is not None:
                    run.engine.session.append(run.engine.rule(save, "session"))
            if answer == "always":
                from harness.approvals import remember
                remember(run, decision.saves)
        return "allow", ""

    def target(self, name, args):
        if name in ("read", "write", "edit", "multi_edit", "glob", "grep"):
            return os.path.realpath(self.files.absolute(args.get("path") or "."))
        return args.get({"bash": "command", "fetch": "url"}.get(name, ""), None) or json.dumps(args, ensure_ascii=False)

    def leave_plan(self, args, decision):
        run = self.run_
        if run.approve is None:
            return self.refuse("exit_plan", args, "plan not approved: nobody to ask" + (
                ", " + decision.reason if decision.reason else ""))
        with run.asking:
            answer, reason = run.approve("exit_plan", args, args["plan"])
        if answer == "deny":
            return self.refuse("exit_plan", args, "plan not approved" + (": " + reason if reason else ""))
        self.engine.mode = "default"
        self.session.append({"type": "mode", "mode": "default"})
        return "plan approved"

    def check_folder(self):
        files = self.files
        if files.cwd != files.folder and not (os.path.isdir(files.cwd) and self.engine.inside(
                [files.cwd, os.path.realpath(files.cwd)])):
            files.cwd = files.folder
            files.back = True

    # tools

    def dispatch(self, name, args):
        if name in self.run_.tools:
            from harness.servers import call
            server, tool, _ = self.run_.tools[name]
            return call(server, tool, args)
        method = getattr(self, "tool_" + name, None)
        try:
            if method:
                return method(args)
            result = self.files.execute({"name": name, "input": args})
            if name in ("read", "write", "edit", "multi_edit") and not result.startswith("error: "):
                self.nested_memory(self.files.find(args["path"]))
            return result
        except ToolError as error:
            return "error: " + str(error)
        except OSError as error:
            return "error: " + (error.strerror or str(error))

    def tool_bash(self, args):
        from harness import commands
        run, files = self.run_, self.files
        env = run.settings["env"]
        back = getattr(files, "back", False)
        files.back = False
        note = "[back in %s]" % files.folder
        if not args["command"].isascii():
            args = {**args, "command": scrub(args["command"])}
        if args.get("run_in_background"):
            with run.lock:
                number = "b%d" % (len(run.background) + 1)
                run.background[number] = commands.Background(args["command"], files.cwd, env)
            return "id: %s" % number + ("\n" + note if back else "")
        timeout = min(args.get("timeout") or run.settings["bash_timeout"], 600)
        result, folder = commands.run(args["command"], files.cwd, timeout, env, run.home, self.session.id, run.stop, run.running)
        if folder is not None:
            if os.path.isdir(folder) and self.engine.inside([folder, os.path.realpath(folder)]):
                files.cwd = folder
            else:
                files.cwd, back = files.folder, True
        elif not os.path.isdir(files.cwd):
            files.cwd, back = files.folder, True
        return result.removesuffix("\n") + "\n" + note if back else result

    def job(self, args):
        job = self.run_.background.get(args["id"])
        if job is None:
            raise ToolError("no such id: " + args["id"])
        return job

    def tool_bash_output(self, args):
        return self.job(args).output(self.run_.home, self.session.id)

    def tool_bash_kill(self, args):
        return self.job(args).kill()

    def tool_fetch(self, args):
        from harness.fetch import fetch

        def allowed(url):
            decision = self.engine.decide("fetch", {"url": url})
            if decision.kind == "run":
                return ""
            if decision.kind == "ask":
                answer, reason = self.ask_user("fetch", {"url": url}, decision)
                if answer == "allow":
                    return ""
                return self.refuse("fetch", {"url": url}, reason)
            return self.refuse("fetch", {"url": url}, decision.reason)
        return fetch(args["url"], allowed)

    def tool_skill(self, args):
        from harness.extensions import fill
        self.system_text()
        if args["name"] not in self.skills:
            raise ToolError("unknown skill: " + args["name"])
        return fill(self.skills[args["name"]][1], args.get("arguments") or "", True)

    def tool_ask(self, args):
        raise ToolError("no terminal to ask in")

    def tool_task(self, args):
        from harness.extensions import agents
        run = self.run_
        known = agents(run.settings, run.engine)
        agent = known.get(args["agent"])
        if agent is None:
            raise ToolError("unknown agent: " + args["agent"])
        child = Conversation(run, self.session, self.engine.child(agent["deny"], agent["ask"]), self.depth + 1, agent)
        try:
            return child.turn(args["prompt"])
        except (ModelError, Failed) as error:
            return "error: %s" % error


class Agent:
    """`Agent(workspace=..., **settings).run(prompt)` is one turn; `run` again goes on."""

    KEYS = {"permission_mode": str, "allow": list, "ask": list, "deny": list, "tools": list, "system_append": str,
            "add_dirs": list, "max_turns": int, "max_cost": (int, float), "timeout": (int, float), "trust": bool,
            "persist": bool, "resume": str, "model": str}

    def __init__(self, workspace=None, **settings):
        from harness.settings import DEFAULTS, right
        options, table = {}, {}
        for key, value in settings.items():
            if key in self.KEYS:
                if value is None:
                    continue
                if not isinstance(value, self.KEYS[key]) or (isinstance(value, bool) and self.KEYS[key] is not bool):
                    raise TypeError("wrong type: " + key)
                if isinstance(value, list) and not all(isinstance(x, str) for x in value):
                    raise TypeError("wrong type: " + key)
                options[key] = value
            elif key == "permissions":
                if not isinstance(value, dict):
                    raise TypeError("wrong type: permissions")
                for sub, inner in value.items():
                    name = "permissions." + sub
                    if name not in DEFAULTS or not right(name, inner):
                        raise ValueError("bad setting: " + name)
                    table[name] = inner
            elif key in DEFAULTS:
                if not right(key, value):
                    raise ValueError("bad setting: " + key)
                table[key] = value
            else:
                raise ValueError("unknown setting: " + key)
        if options.get("permission_mode", "default") not in MODES:
            raise ValueError("permission_mode: " + options["permission_mode"])
        options["settings"] = table
        self.workspace, self.options = os.path.realpath(workspace or os.getcwd()), options
        if not os.path.isdir(self.workspace):
            raise ValueError("not a folder: %s" % workspace)
        self.shared = self.conversation = None
        try:
            self.prepare()
        except HarnessError as error:
            raise ValueError(str(error)) from None

    def prepare(self):
        options, home, session = self.options, state_folder(), None
        persist = options.get("persist", True)
        if options.get("resume"):
            from harness.session import find
            session = Session.load(home, find(home, options["resume"]), persist)
            if session.workspace:
                self.workspace = session.workspace
            if not os.path.isdir(self.workspace):
                raise HarnessError("the session's workspace is gone: " + self.workspace, 1)
            options["was_plan"] = session.last_mode == "plan"
        self.shared = Run(self.workspace, options)
        if session is None:
            session = Session(home, self.workspace, persist)
        elif options.get("fork"):
            old = session
            session = Session(home, self.workspace, persist)
            session.messages, session.seen, session.todo = list(old.messages), dict(old.seen), list(old.todo)
            session.starts, session.last_input = list(old.starts), old.last_input
            session.parent = old.id
        self.session = session
        self.conversation = Conversation(self.shared, session)

    def open(self):
        """Before the first request: the endpoint, the session's file, the servers, the hooks."""
        run, session = self.shared, self.session
        if run.model is not None:
            return
        run.connect()
        if session.path is not None:
            if session.persist:
                session.lock()
                session.fresh_line()
                if session.last_mode != run.engine.mode:
                    session.append({"type": "mode", "mode": run.engine.mode})
        else:
            parent = getattr(session, "parent", None)
            session.start(run.engine.mode, run.model_name, parent)
            if parent:
                starts = {at: n for n, at in session.starts}
                for i, message in enumerate(session.messages):
                    extra = {"prompt": starts[i]} if i in starts else {}
                    session.append({"type": "message", "message": message, **extra})
                for path, value in session.seen.items():
                    session.append({"type": "seen", "path": path, "sha256": value})
                if session.todo:
                    session.append({"type": "todo", "items": session.todo})
        run.start_servers()
        for _ in run.hooks("session_start", session.id):
            continue

    def run(self, prompt):
        run, options, session = self.shared, self.options, self.session
        run.denials, run.usage, run.cost, run.stopped = [], {"input_tokens": 0, "output_tokens": 0}, 0.0, None
        run.deadline = time.monotonic() + options["timeout"] if options.get("timeout") else None
        subtype, text = "success", ""
        try:
            self.open()
            run.text_error = None
            if run.emit:
                if not getattr(self, "announced", False):
                    self.announced = True
                    run.emit({"type": "init", "session_id": session.id, "model": run.model_name,
                              "tools": [t["function"]["name"] for t in self.conversation.offered()],
                              "mode": run.engine.mode, "workspace": run.workspace})
                run.emit({"type": "user", "text": prompt})
            for _, code, errors in run.hooks("user_prompt", session.id, prompt=prompt):
                if code == 2:
                    raise Failed("error", errors.strip("\n") or "the prompt was blocked by a hook")
            text = self.with_role(self.mentions(prompt))
        except Failed as error:
            subtype, text = error.subtype, str(error)
        except (ModelError, HarnessError) as error:
            subtype, text = "error", str(error)
        except Aborted:
            subtype, text = run.stopped or ("interrupted", "interrupted")
            if subtype == "interrupted":
                session.append({"type": "interrupted"})
        for _ in run.hooks("stop", session.id):
            continue
        return {"type": "result", "subtype": subtype, "is_error": subtype != "success", "result": scrub(text),
                "session_id": session.id, "num_turns": self.conversation.replies, "usage": dict(run.usage),
                "total_cost_usd": run.cost, "permission_denials": scrub(run.denials)}

    def with_role(self, text):
        role, conversation = self.options.get("role"), self.conversation
        models = self.shared.settings["models"]
        if role == "architect":
            conversation.model_name = models.get("architect") or self.shared.model_name
            conversation.planning = True
            try:
                plan = conversation.turn(text)
            finally:
                conversation.planning = False
            before, text = conversation.replies, "Carry out this plan:\n\n" + plan
        if role:
            conversation.model_name = models.get("editor") or self.shared.model_name
        result = conversation.turn(text, role != "architect")
        if role == "architect":
            conversation.replies += before
        return result

    def mentions(self, prompt):
        if "@" not in prompt:
            return prompt
        import re
        conversation = self.conversation
        files, out = conversation.files, [prompt]
        for m in re.finditer(r'(?:^|(?<=\s))@(?:"([^"]+)"|(\S+))', prompt):
            path = m.group(1) or m.group(2)
            if "\0" in path:
                continue
            full = files.find(path)
            if not os.path.exists(full):
                continue
            shown = files.display(full)
            decision = conversation.engine.decide("read", {"path": full})
            if decision.kind == "ask" and conversation.ask_user("read", {"path": full}, decision)[0] == "allow":
                decision.kind = "run"
            if decision.kind != "run" or conversation.engine.removed("read"):
                out.append("\n[file %s: refused]" % shown)
            elif os.path.isdir(full):
                names = sorted(e.name + ("/" if e.is_dir() else "") for e in os.scandir(full))
                out.append("\n[file %s]\n%s" % (shown, "\n".join(names)))
            else:
                result = files.execute({"name": "read", "input": {"path": full}})
                out.append("\n[file %s]\n%s" % (shown, result))
                conversation.nested_memory(full)
        return "\n".join(out)

    def close(self):
        for _ in self.shared.hooks("session_end", self.session.id) if self.shared.model is not None else ():
            continue
        self.shared.close()
        self.session.close()
