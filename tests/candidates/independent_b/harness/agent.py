"""The loop: ask the model, carry out its calls, ask again, until a reply has no call."""

import json
import os
import re
import sys
import uuid
from typing import Any

from harness import config
from harness import session as sessions
from harness.extensions import Extensions, Server, fill, run_hook
from harness.files import Files, ToolError
from harness.model import ChatModel, ModelError, clean
from harness.permissions import ASK, REFUSE, RUN, WRITERS, BadRule, Engine, Rule
from harness.process import Shell, end_jobs
from harness.tools import TABLE, checked, fetch, schema

SUMMARIZE = "Summarize this conversation: what was asked, what was done, what is left, with all names that matter."


class Failed(Exception):
    """Ends a run: the cause, the subtype of the result and the exit code."""

    def __init__(self, cause, subtype="error", code=1):
        super().__init__(cause)
        self.subtype, self.code = subtype, code


class Run:
    """What all conversations of one process's session share."""

    def __init__(self, workspace, flags, options, warn):
        self.options, self.warn = options, warn
        self.workspace = os.path.realpath(workspace)
        self.settings = config.Settings(self.workspace, flags, options.get("trust", False), warn)
        get = self.settings.get
        names, pwd = [self.workspace], options.get("given") or os.environ.get("PWD") or ""
        if pwd.startswith("/") and os.path.realpath(pwd) == self.workspace:
            names.append(os.path.normpath(pwd))
        dirs = [os.path.join(self.workspace, d) for d in get("permissions.dirs")]
        for d in dirs:
            if not os.path.isdir(d):
                raise config.Bad(f"not a folder: {d}")
        mode = get("permissions.mode")
        if options.get("was_plan") and not options.get("mode_given"):
            mode = "default"
        self.names = names
        self.outputs = os.path.join(self.settings.home, "outputs")
        self.engine = Engine(self.workspace, dirs, self.settings.rules, mode, self.outputs, names)
        self.extensions = Extensions(self.settings, self.engine, warn)
        self.model_name = options.get("model") or get("model")
        managed = [d for s, d in self.settings.layers if s == "managed" and "model" in d]
        if managed:
            self.model_name = managed[0]["model"]
        self.model = ChatModel(get("stream"), get("stream_idle_timeout"), get("max_retries"), get("retry_wait"),
                               options.get("debug"))
        self.jobs, self.servers, self.emit = {}, {}, lambda event: None
        self.reset()
        self.hooks = get("hooks")
        self.skills = self.extensions.skills()
        self.memory = "\n\n".join(self.extensions.memory())
        self.limits = {k: options.get(k) for k in ("max_turns", "max_cost")}
        self.server_configs = self.extensions.servers()

    def reset(self):
        self.usage, self.cost, self.turns, self.denials = {"input_tokens": 0, "output_tokens": 0}, 0.0, 0, []

    def start_servers(self):
        for name, entry in self.server_configs.items():
            try:
                self.servers[name] = Server(name, entry, self.workspace, self.settings.get("env"))
            except (OSError, ValueError, KeyError, TypeError) as e:
                self.warn(f"server {name} skipped: {e}")
        self.server_configs = {}

    def close(self):
        end_jobs(self.jobs)
        for server in self.servers.values():
            server.close()
        self.servers = {}

    def query(self, messages, tools, model):
        reply = self.model.query(messages, tools, model)
        for k in self.usage:
            self.usage[k] += reply.usage[k]
        price = self.settings.get("prices").get(model)
        if price is None:
            self.cost = None
        elif self.cost is not None:
            self.cost += (reply.usage["input_tokens"] * price.get("input", 0)
                          + reply.usage["output_tokens"] * price.get("output", 0)) / 1e6
        return reply

    def hook(self, event, **data):
        """Runs the hooks of an event; (code 2 seen, its stderr)."""
        for h in self.hooks:
            matcher = h.get("matcher")
            if h["event"] != event or (matcher and "tool" in data and not re.fullmatch(
                    ".*".join(map(re.escape, matcher.split("*"))), data["tool"])):
                continue
            code, err = run_hook(h, {"event": event, "session_id": self.session_id, "workspace": self.workspace, **data},
                                 self.workspace, self.settings.get("env"))
            if code == 2 and event in ("pre_tool", "post_tool", "user_prompt"):
                return True, err
            if code != 0:
                self.warn(f"hook {h['script']}: {'exit ' + str(code) if code is not None else err}")
        return False, ""


class Conversation:
    """One history with its own files, shell and list of things to do."""

    def __init__(self, run, session=None, depth=0, engine=None, tools=None, body="", model=None):
        self.run, self.session, self.depth, self.model = run, session, depth, model or run.model_name
        self.engine = engine or run.engine
        self.messages, self.todo, self.last_input, self.recent = [], [], 0, []
        self.names = [t for t in TABLE if tools is None or t in tools]
        self.server_names = None if tools is None or not depth else [t for t in tools if t.startswith("mcp__")]
        if depth:
            self.names = [t for t in self.names if t not in ("ask", "exit_plan") and (t != "task" or depth < 2)]
        scratch = os.path.join(run.settings.home, "tmp")
        self.files = Files(run.workspace, self.engine, scratch, self.saw, self.changed, run.names)
        self.shell = Shell(run.workspace, run.outputs, run.settings.get("env"),
                           lambda p: self.engine.inside(self.engine.forms(p)), run.jobs)
        skills = "\n".join(f"- {n}: {d}" for n, (d, _) in run.skills.items())
        parts = [f"You are a coding agent. You work in the folder {run.workspace} with the tools you are given.", body,
                 run.memory, f"Skills (the tool `skill` loads one):\n{skills}" if skills else "",
                 run.options.get("system_append") or ""]
        self.system = "\n\n".join(p for p in parts if p)
        self.nested = []

    # Records

    def saw(self, path, sha):
        if self.session:
            self.session.append("seen", path=path, sha256=sha)
        ws, folder = self.run.workspace, os.path.dirname(path)
        if folder.startswith(ws + "/"):
            here, parts = ws, folder[len(ws) + 1:].split("/")
            for part in parts:
                here = os.path.join(here, part)
                memory = os.path.join(here, "AGENTS.md")
                if os.path.isfile(memory) and memory not in [m for m, _ in self.nested]:
                    with open(memory, encoding="utf-8", errors="replace") as f:
                        self.nested.append((memory, f.read()))

    def changed(self, path, data):
        if self.run.session:
            self.run.session.change(path, data)

    def add(self, message, prompt=None, usage=None):
        self.messages.append((message, prompt, usage))
        if self.session:
            extra = {k: v for k, v in (("prompt", prompt), ("usage", usage)) if v is not None}
            self.session.append("message", message=clean(message), **extra)

    def tools(self):
        out = [schema(n) for n in self.names if not self.engine.removed(n)]
        for server in self.run.servers.values():
            for name, tool in server.tools.items():
                full = f"mcp__{server.name}__{name}"
                if not self.engine.removed(full) and (self.server_names is None or full in self.server_names):
                    out.append({"type": "function", "function": {
                        "name": full, "description": tool.get("description") or "",
                        "parameters": tool.get("inputSchema") or {"type": "object", "properties": {}, "required": []}}})
        return out

    def body(self):
        system = "\n\n".join([self.system, *(f"Memory of {os.path.dirname(p)}:\n{t}" for p, t in self.nested)])
        out = [{"role": "system", "content": system}]
        waiting = []
        for message, _, _ in self.messages:
            if message["role"] == "tool":
                if message["tool_call_id"] in waiting:
                    waiting.remove(message["tool_call_id"])
                    out.append(message)
                continue
            out += [{"role": "tool", "tool_call_id": i, "content": "error: interrupted"} for i in waiting]
            waiting = [c["id"] for c in message.get("tool_calls", [])]
            if message["role"] == "user" and self.todo and message["content"].startswith("Summary of the conversation so far:"):
                listed = "\n".join(f"- {i['status']}: {i['text']}" for i in self.todo)
                message = {**message, "content": f"{message['content']}\n\nThings to do:\n{listed}"}
            out.append(message)
        return out + [{"role": "tool", "tool_call_id": i, "content": "error: interrupted"} for i in waiting]

    # The turn

    def turn(self, text, prompt=None):
        """Takes a prompt to its final text."""
        self.add({"role": "user", "content": text}, prompt)
        self.recent = []
        corrected, tried = False, False
        while True:
            window = self.run.settings.get("context_window")
            if self.last_input > 0.8 * window and not tried:
                tried = not self.compact()
            reply = self.reply()
            usage = reply.usage
            self.last_input = usage["input_tokens"]
            if reply.finish == "content_filter":
                raise Failed("the reply was stopped by content_filter")
            calls = self.keep(reply, usage)
            main = self.depth == 0
            if main:
                self.run.turns += 1
                self.run.emit({"type": "assistant", "text": reply.text, "tool_calls": [
                    {"id": c["id"], "name": c["function"]["name"], "input": json.loads(c["function"]["arguments"] or "{}")}
                    for c, _ in calls]})
            limits, run = self.run.limits, self.run
            if limits["max_cost"] and run.cost is not None and run.cost > limits["max_cost"] and (calls or self.depth):
                raise Failed("the cost limit is reached", "max_cost", 4)
            if not calls:
                if reply.finish == "length":
                    self.run.warn("the reply was cut at the output limit")
                problem = run.options["schema"](reply.text) if main and run.options.get("schema") else None
                if not problem:
                    return reply.text
                if corrected:
                    raise Failed(f"the answer does not fit the schema: {problem}")
                corrected = True
                self.add({"role": "user", "content": f"The answer does not fit the schema: {problem}. Give only JSON that fits."})
                continue
            if main and limits["max_turns"] and run.turns >= limits["max_turns"]:
                raise Failed("the turn limit is reached", "max_turns", 3)
            for call, broken in calls:
                name = call["function"]["name"]
                if reply.finish == "length":
                    result = "error: the reply was cut at the output limit; the call was not run"
                elif broken:
                    result = "error: the arguments are not one JSON object"
                else:
                    result = self.call(name, call["function"]["arguments"])
                result = clean(result)
                self.add({"role": "tool", "tool_call_id": call["id"], "content": result})
                if main:
                    run.emit({"type": "tool_result", "id": call["id"], "name": name, "content": result,
                              "is_error": result.startswith("error: ")})

    def reply(self):
        compactions = 0
        while True:
            body, tools = self.body(), self.tools()
            try:
                for _ in range(3):
                    reply = self.run.query(body, tools, self.model)
                    if reply.text.strip() or reply.calls or reply.finish == "content_filter":
                        return reply
                raise Failed("the model gave an empty reply three times")
            except ModelError as e:
                if not e.overflow:
                    raise
                if compactions >= 2 or not self.compact():
                    raise Failed(f"the context is too long: {e}") from None
                compactions += 1

    def compact(self, hint=""):
        """Makes the history short; False if the summary request failed."""
        request = self.body() + [{"role": "user", "content": f"{SUMMARIZE} {hint}".strip()}]
        try:
            text = self.run.query(request, [], self.model).text
        except ModelError as e:
            self.run.warn(f"compaction failed: {e}")
            return False
        if not text.strip():
            self.run.warn("compaction failed: empty summary")
            return False
        start = max((k for k, m in enumerate(self.messages) if m[1] is not None or m[0]["role"] == "user"), default=0)
        last = max((k for k, m in enumerate(self.messages) if m[0]["role"] == "assistant" and k > start), default=None)
        kept = self.messages[start:start + 1] + (self.messages[last:] if last is not None else [])
        if last is not None and last > start + 1:
            self.messages = self.messages[:start] + kept
            if self.session:  # the file keeps a tail only: the exchange is written again after the summary
                self.session.append("compaction", summary=text, keep=0)
                for message, prompt, usage in kept:
                    extra = {k: v for k, v in (("prompt", prompt), ("usage", usage)) if v is not None}
                    self.session.append("message", message=message, **extra)
        elif self.session:
            self.session.append("compaction", summary=text, keep=len(kept))
        self.messages = [(sessions.summary(text), None, None), *kept]
        self.last_input = 0
        if self.depth == 0:
            self.run.emit({"type": "compaction", "summary": text})
        return True

    def keep(self, reply, usage):
        """Adds a reply to the history; its calls with whether their arguments are broken."""
        used = {c["id"] for m, _, _ in self.messages for c in m.get("tool_calls", [])}
        calls = []
        for ident, name, arguments in reply.calls:
            while not ident or ident in used:
                ident = f"call_{uuid.uuid4().hex[:20]}"
            used.add(ident)
            broken = False
            if arguments == "":
                arguments = "{}"
            try:
                broken = not isinstance(json.loads(arguments, parse_constant=float), dict)
            except (ValueError, RecursionError):
                broken = True
            calls.append(({"id": ident, "type": "function",
                           "function": {"name": name, "arguments": "{}" if broken else arguments}}, broken))
        message = {"role": "assistant", "content": reply.text or None}
        if calls:
            message["tool_calls"] = [c for c, _ in calls]
        if reply.reasoning:
            message["reasoning_content"] = reply.reasoning
        self.add(message, None, usage)
        return calls

    # Calls

    def call(self, name, text):
        raw = json.loads(text)
        key = (name, json.dumps(raw, sort_keys=True))
        if len(self.recent) >= 3 and all(r[0] == key for r in self.recent[-3:]) and len({r[1] for r in self.recent[-3:]}) == 1:
            return f"error: repeated: this call of {name} has given the same result three times"
        result = self.carry_out(name, raw)
        self.recent = [*self.recent[-2:], (key, result)]
        return result

    def refuse(self, name, args, reason):
        self.run.denials.append({"tool": name, "input": args, "reason": reason})
        return f"error: refused: {reason}"

    def settle(self, name, args, verdict):
        """None if a call may run, else its refusal."""
        if verdict.rank == RUN:
            return None
        return self.refuse(name, args, verdict.reason)

    def carry_out(self, name, raw):
        server = next((s for s in self.run.servers.values() if name.startswith(f"mcp__{s.name}__")
                       and name[len(s.name) + 7:] in s.tools), None)
        offered = name in self.names or (server and (self.server_names is None or name in self.server_names))
        removed = self.engine.removed(name) if name in TABLE or server else None
        if not offered and not removed:
            return f"error: unknown tool: {name}"
        args, wrong = (raw, None) if server else checked(name, raw)
        if removed:
            return self.refuse(name, raw, f"deny rule {removed.text}")
        if wrong:
            return f"error: {name}: {wrong}"
        try:
            paths = self.files.targets(name, args) if name in ("read", "glob", "grep", *WRITERS) else ()
            cwd = self.shell.folder() if name == "bash" else None
            if name == "exit_plan":
                if self.engine.mode != "plan":
                    return "error: not in plan mode"
                return self.refuse(name, raw, "plan not approved: there is nobody to ask in mode plan")
            if name == "bash" and "\0" in args["command"]:
                return "error: a command cannot have a nul character"
            refusal = self.settle(name, raw, self.engine.judge(name, args, paths, cwd))
            if refusal:
                return refusal
            blocked, err = self.run.hook("pre_tool", tool=name, input=args)
            if blocked:
                return self.refuse(name, raw, err or "a hook blocked the call")
            try:
                result = server.call(name[len(server.name) + 7:], args) if server else self.use(name, args)
            except ToolError as e:
                result = f"error: {e}"
            except OSError as e:
                result = f"error: {e}"
        except ToolError as e:
            return f"error: {e}"
        except (OSError, ValueError, RecursionError, LookupError, TypeError, re.error) as e:
            return f"error: {name} could not be carried out: {type(e).__name__}: {e}"
        if result.startswith("error: refused: "):
            return result
        blocked, err = self.run.hook("post_tool", tool=name, input=args, result=result)
        return f"{result}\n{err}" if blocked else result

    def use(self, name, args):
        if name in ("read", "glob", "grep", *WRITERS):
            return self.files.run(name, args)
        if name == "bash":
            timeout = args.get("timeout", self.run.settings.get("bash_timeout"))
            return self.shell.run(args["command"], timeout, args.get("run_in_background", False))
        if name == "bash_output":
            return self.shell.job_output(args["id"])
        if name == "bash_kill":
            return self.shell.job_kill(args["id"])
        if name == "fetch":
            return fetch(args["url"], lambda url: self.settle(name, {"url": url}, self.engine.judge(name, {"url": url})))
        if name == "todo":
            self.todo = args["items"]
            if self.session:
                self.session.append("todo", items=self.todo)
            return "\n".join(f"{i['status']}: {i['text']}" for i in self.todo) or "the list is empty"
        if name == "task":
            return self.task(args)
        if name == "skill":
            if args["name"] not in self.run.skills:
                return f"error: no such skill: {args['name']}"
            return skill_text(self.run.skills[args["name"]][1], args.get("arguments", ""))
        return "error: no terminal: there is nobody to ask"

    def task(self, args):
        agent = self.run.extensions.agent(args["agent"])
        if agent is None:
            return f"error: no such agent: {args['agent']}"
        model, tools, rules, body = agent
        allowed = self.names if tools is None else [t for t in tools if t in TABLE and t in self.run.offered or t.startswith("mcp__")]
        names = None if tools is None and self.run.offered == list(TABLE) else [*allowed, *(
            [] if tools is not None else [f"mcp__{s.name}__{t}" for s in self.run.servers.values() for t in s.tools])]
        child = Conversation(self.run, None, self.depth + 1, self.engine.narrowed(rules), names, body, model or self.model)
        try:
            return child.turn(args["prompt"])
        except ModelError as e:
            return f"error: {e}"
        except Failed as e:
            if e.code == 4:
                raise
            return f"error: {e}"


def skill_text(body, arguments):
    text, found = fill(body, arguments)
    return text if found or not arguments.strip() else f"{text}\n\n{arguments.strip()}"


class Main:
    """A session that takes prompts: what `harness -p` and `Agent` share."""

    def __init__(self, workspace, flags, options, warn):
        home = config.home_folder()
        lines, path = [], None
        if options.get("resume") or options.get("continue"):
            path = sessions.find(home, options["resume"]) if options.get("resume") else sessions.latest(
                home, os.path.realpath(workspace))
            lines, skipped = sessions.read_lines(path)
            if skipped:
                warn("lines of the session file could not be read and were skipped")
            own = sessions.workspace_of(path, lines)
            if own and own != os.path.realpath(workspace):
                if not os.path.isdir(own):
                    raise sessions.SessionError(f"the session's workspace is gone: {own}")
                workspace = own
            modes = [x["mode"] for x in lines if x.get("type") in ("session", "mode") and "mode" in x]
            options["was_plan"] = bool(modes) and modes[-1] == "plan"
        self.run = Run(workspace, flags, options, warn)
        persist, fork = options.get("persist", True), options.get("fork")
        self.session = sessions.Session(home, self.run.workspace, None if fork else path, None, persist)
        self.run.session, self.run.session_id = self.session, self.session.id
        offered = options.get("tools")
        self.run.offered = list(TABLE) if offered is None else offered
        if not self.run.model.base:
            raise config.Bad("HARNESS_BASE_URL is not set")
        if options.get("max_cost") and self.run.model_name not in self.run.settings.get("prices"):
            raise config.Bad(f"no price is known for the model {self.run.model_name}")
        self.session.open()
        if not path or fork:
            self.session.append("session", version=1, id=self.session.id, workspace=self.run.workspace,
                                mode=self.run.engine.mode, model=self.run.model_name,
                                **({"parent": os.path.basename(path)[:-6]} if fork else {}))
            if fork:
                for line in lines:
                    if line.get("type") != "session":
                        kind, fields = line["type"], {k: v for k, v in line.items() if k not in ("type", "time")}
                        self.session.append(kind, **fields)
        elif modes and modes[-1] != self.run.engine.mode:
            self.session.append("mode", mode=self.run.engine.mode)
        self.talk = Conversation(self.run, self.session, tools=offered)
        self.talk.messages, self.talk.files.seen, self.talk.todo, self.session.prompts = sessions.history(lines)
        for _, _, usage in reversed(self.talk.messages):
            if isinstance(usage, dict):
                self.talk.last_input = usage.get("input_tokens", 0)
                break
        self.run.start_servers()
        self.run.hook("session_start")

    def prompt(self, text):
        """Runs one prompt; the result object and the exit code. Interrupts are the caller's."""
        run = self.run
        run.reset()
        try:
            self.session.prompts += 1
            blocked, err = run.hook("user_prompt", prompt=text)
            if blocked:
                self.session.prompts -= 1
                raise Failed(err or "a hook stopped the prompt")
            run.emit({"type": "user", "text": text})
            final = self.talk.turn(self.mentions(text), self.session.prompts)
            return self.result("success", final), 0
        except ModelError as e:
            return self.result("error", str(e)), 1
        except Failed as e:
            return self.result(e.subtype, str(e)), e.code
        finally:
            if sys.exc_info()[0] is None:
                run.hook("stop")

    def result(self, subtype, text):
        run = self.run
        return {"type": "result", "subtype": subtype, "is_error": subtype != "success", "result": clean(text),
                "session_id": self.session.id, "num_turns": run.turns, "usage": dict(run.usage), "total_cost_usd": run.cost,
                "permission_denials": clean(list(run.denials))}

    def mentions(self, text):
        """The prompt with the files it mentions (TTY-07)."""
        files, added = self.talk.files, ""
        for m in re.finditer(r'(?:^|(?<=\s))@(?:"([^"\n]+)"|(\S+))', text):
            path = m[1] or m[2]
            try:
                full = files.locate(path)
                if not os.path.exists(full):
                    continue
                verdict = self.run.engine.judge("read", {"path": path}, [full])
                if verdict.rank in (ASK, REFUSE):
                    self.talk.refuse("read", {"path": path}, verdict.reason)
                    added += f"\n\n[file {path}: refused]"
                elif os.path.isdir(full):
                    names = [n + ("/" if os.path.isdir(os.path.join(full, n)) else "") for n in sorted(os.listdir(full))]
                    added += f"\n\n[file {path}]\n" + "\n".join(names)
                else:
                    added += f"\n\n[file {path}]\n" + files.read({"path": path})
            except (ToolError, OSError):
                continue
        return text + added

    def close(self):
        self.run.hook("session_end")
        self.run.close()
        self.session.close()


class Agent:
    """`Agent(workspace=..., **settings).run(prompt)` is one turn; `run` again goes on."""

    def __init__(self, workspace: str, **settings: Any) -> None:
        flags, options = {}, {"given": os.path.abspath(workspace)}
        known = {"max_turns": int, "max_cost": (int, float), "timeout": (int, float), "trust": bool, "persist": bool, "resume": str,
                 "system_append": str, "tools": list}
        for key, value in settings.items():
            if key in known:
                if not isinstance(value, known[key]) or (isinstance(value, bool) and known[key] is not bool):
                    raise TypeError(f"{key} has a wrong type")
                options[key] = value
            elif key == "permission_mode":
                flags["permissions.mode"] = value
                options["mode_given"] = True
            elif key in ("allow", "ask", "deny"):
                flags[f"permissions.{key}"] = value
            elif key == "add_dirs":
                flags["permissions.dirs"] = value
            else:
                flags.update(config.flatten({key: value}))
        for key, value in flags.items():
            if key not in config.KEYS:
                raise ValueError(f"unknown setting {key}")
            if not config.KEYS[key][1](value):
                raise ValueError(f"{key} has a wrong value")
        for text in flags.get("permissions.allow", []) + flags.get("permissions.deny", []) + flags.get("permissions.ask", []):
            try:
                Rule(text, "allow")
            except BadRule as e:
                raise ValueError(str(e)) from None
        if "permissions.mode" in flags:
            options["mode_given"] = True
        self.workspace, self.flags, self.options, self.main = workspace, flags, options, None

    def run(self, prompt: str) -> dict[str, Any]:
        if self.main is None:
            try:
                self.main = Main(self.workspace, self.flags, self.options, lambda text: print(f"warning: {text}", file=sys.stderr))
            except (config.Bad, sessions.SessionError) as e:
                return {"type": "result", "subtype": "error", "is_error": True, "result": str(e), "session_id": "", "num_turns": 0,
                        "usage": {"input_tokens": 0, "output_tokens": 0}, "total_cost_usd": None, "permission_denials": []}
        return self.main.prompt(prompt)[0]
