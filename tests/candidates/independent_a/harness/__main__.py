"""The command line."""

import os
import signal
import sys

from harness import HarnessError, __version__

HELP = """usage: harness [flags] | harness -p [PROMPT] [flags] | harness COMMAND

commands:
  harness                         the terminal
  harness -p [PROMPT]             one prompt, no terminal
  harness sessions list           list sessions (--json)
  harness sessions export ID      print a session (--format md|json)
  harness sessions delete ID      remove a session
  harness rewind ID N             put files back to before prompt N
  harness config show             show the settings (--json)
  harness serve                   HTTP server (--port P)

flags:
  -p, --print [PROMPT]    --model NAME            --permission-mode MODE
  --allow RULE            --ask RULE              --deny RULE
  --tools LIST            --system-append TEXT    --output-format text|json|stream-json
  --input-format text|stream-json                 --max-turns N
  --max-cost USD          --timeout SECONDS       --output-schema FILE
  --add-dir D             --trust                 --continue
  --resume ID             --fork                  --no-persist
  --no-stdin              --role architect|editor --debug
  --json                  --format md|json        --port P
  --version               --help
"""
VALUES = {"--model", "--permission-mode", "--allow", "--ask", "--deny", "--tools", "--system-append", "--output-format",
          "--input-format", "--max-turns", "--max-cost", "--timeout", "--output-schema", "--add-dir", "--resume", "--role",
          "--format", "--port"}
SWITCHES = {"--trust", "--continue", "--fork", "--no-persist", "--no-stdin", "--debug", "--json", "--version", "--help"}
REPEATED = {"--allow", "--ask", "--deny", "--add-dir"}
CODES = {"success": 0, "error": 1, "max_turns": 3, "max_cost": 4, "timeout": 5, "interrupted": 130}


def parse(words):
    flags, rest, i = {}, [], 0
    while i < len(words):
        word = words[i]
        i += 1
        name, equals, value = word.partition("=")
        if word == "-p" or name == "--print":
            flags["-p"] = flags.get("-p")
            if equals and name == "--print":
                flags["-p"] = value
            elif i < len(words) and (not words[i].startswith("-") or words[i] == "-" or " " in words[i]):
                flags["-p"] = words[i]
                i += 1
        elif name in VALUES:
            if not equals:
                if i >= len(words) or (words[i].startswith("--") and words[i].partition("=")[0] in VALUES | SWITCHES):
                    raise HarnessError("%s needs a value" % name)
                value = words[i]
                i += 1
            if name in REPEATED:
                flags.setdefault(name, []).append(value)
            else:
                flags[name] = value
        elif word in SWITCHES:
            flags[word] = True
        elif word.startswith("-") and len(word) > 1:
            raise HarnessError("unknown flag: " + word)
        else:
            rest.append(word)
    return flags, rest


def options_of(flags):
    from harness.permissions import MODES
    options = {}
    for flag, key in (("--model", "model"), ("--permission-mode", "permission_mode"), ("--allow", "allow"), ("--ask", "ask"),
                      ("--deny", "deny"), ("--system-append", "system_append"), ("--add-dir", "add_dirs"),
                      ("--resume", "resume")):
        if flag in flags:
            options[key] = flags[flag]
    if "permission_mode" in options and options["permission_mode"] not in MODES:
        raise HarnessError("unknown permission mode: %s" % options["permission_mode"])
    if "--tools" in flags:
        from harness.schemas import TABLE
        options["tools"] = [t.strip() for t in flags["--tools"].split(",") if t.strip()]
        for tool in options["tools"]:
            if tool not in TABLE:
                raise HarnessError("unknown tool: " + tool)
    if "--max-turns" in flags:
        if not flags["--max-turns"].isascii() or not flags["--max-turns"].isdigit() or int(flags["--max-turns"]) < 1:
            raise HarnessError("--max-turns must be a whole number above 0: " + flags["--max-turns"])
        options["max_turns"] = int(flags["--max-turns"])
    for flag, key in (("--max-cost", "max_cost"), ("--timeout", "timeout")):
        if flag in flags:
            try:
                options[key] = float(flags[flag])
            except ValueError:
                options[key] = 0.0
            if not 0 < options[key] < float("inf"):
                raise HarnessError("%s must be a number above 0: %s" % (flag, flags[flag]))
    for flag, words in (("--output-format", ("text", "json", "stream-json")), ("--input-format", ("text", "stream-json")),
                        ("--role", ("architect", "editor")), ("--format", ("md", "json"))):
        if flag in flags and flags[flag] not in words:
            raise HarnessError("bad value for %s: %s" % (flag, flags[flag]))
    if "--output-schema" in flags:
        import json
        try:
            with open(flags["--output-schema"], encoding="utf-8") as file:
                options["output_schema"] = json.load(file)
        except (OSError, ValueError) as error:
            raise HarnessError("%s: %s" % (flags["--output-schema"], error)) from None
    if "--role" in flags:
        options["role"] = flags["--role"]
    options["trust"] = "--trust" in flags
    options["persist"] = "--no-persist" not in flags
    options["fork"] = "--fork" in flags
    if "--continue" in flags and "--resume" in flags:
        raise HarnessError("--continue and --resume exclude each other")
    if "--fork" in flags and not ("--continue" in flags or "--resume" in flags):
        raise HarnessError("--fork needs --continue or --resume")
    return options


def read_stdin(flags, prompt):
    import select
    import stat
    if "--no-stdin" in flags or sys.stdin is None:
        return ""
    try:
        mode = os.fstat(0).st_mode
    except OSError:
        return ""
    if os.isatty(0):
        return ""
    if prompt is not None and not stat.S_ISREG(mode):
        try:
            if not select.select([0], [], [], 1.0)[0]:
                return ""
        except (OSError, ValueError):
            return ""
    data = b""
    while len(data) <= 10000000:
        try:
            chunk = os.read(0, 1 << 20)
        except OSError:
            break
        if not chunk:
            break
        data += chunk
    if len(data) > 10000000:
        raise HarnessError("stdin is over 10,000,000 bytes")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise HarnessError("stdin is not UTF-8 text") from None
    if "\0" in text:
        raise HarnessError("stdin is not text: a NUL byte")
    return text.rstrip("\r\n")


def custom(agent, prompt):
    """HEAD-19: the prompt of a command or skill."""
    import re
    m = re.match(r"/([A-Za-z0-9_:-]+)(?:\s+(.*))?$", prompt, re.S)
    if not m:
        return prompt
    from harness import extensions
    name, arguments = m.group(1), m.group(2) or ""
    settings = agent.shared.settings
    body = extensions.command(settings, name)
    if body is not None:
        lines = []
        for line in body.split("\n"):
            hit = re.fullmatch(r"!`(.+)`\s*", line)
            if hit:
                result = agent.conversation.perform("bash", {"command": hit.group(1)})
                lines.append(("raw", "[refused: %s]" % hit.group(1) if result.startswith("error: refused: ")
                              else result.partition("\n")[2]))
            else:
                lines.append(("text", line))
        return "\n".join(t if k == "raw" else extensions.fill(t, arguments) for k, t in lines)
    found = extensions.skills(settings)
    if name in found:
        return extensions.fill(found[name][1], arguments, True)
    raise HarnessError("unknown command: /" + name)


def headless(flags, rest):
    import json
    from harness.agent import Agent, state_folder
    options = options_of(flags)
    prompt = flags.get("-p")
    if prompt is None and rest:
        prompt = rest.pop(0)
    if rest:
        raise HarnessError("unexpected argument: " + rest[0])
    form = flags.get("--output-format", "text")
    if not os.environ.get("HARNESS_BASE_URL"):
        raise HarnessError("HARNESS_BASE_URL is not set")
    many = flags.get("--input-format") == "stream-json"
    if many and (prompt is not None or form != "stream-json"):
        raise HarnessError("--input-format stream-json needs --output-format stream-json and no prompt")
    if not many:
        piped = read_stdin(flags, prompt)
        texts = [t for t in ((prompt or ""), piped) if t.strip()]
        if not texts:
            raise HarnessError("no prompt")
        prompt = "\n\n".join(texts)
    if "--continue" in flags:
        from harness.session import latest
        options["resume"] = os.path.basename(latest(state_folder(), os.path.realpath(os.getcwd())))[:-6]
    agent = Agent.__new__(Agent)
    agent.workspace, agent.options = os.path.realpath(os.getcwd()), options
    agent.prepare()
    run = agent.shared
    if "max_cost" in options and run.model_name not in run.settings["prices"]:
        raise HarnessError("--max-cost: the model %s has no price" % run.model_name)
    caught = []

    def on_signal(number, _):
        caught.append(number)
        run.stopped = ("interrupted", "interrupted")

    signal.signal(signal.SIGINT, on_signal)
    signal.signal(signal.SIGTERM, on_signal)

    def out(value):
        sys.stdout.write(value)
        sys.stdout.flush()

    if form == "stream-json":
        run.emit = lambda event: out(json.dumps(event) + "\n")
    code = 0

    def one(text):
        nonlocal code
        result = agent.run(text)
        code = CODES[result["subtype"]]
        if result["subtype"] == "interrupted" and caught:
            code = 128 + caught[0]
        if result["is_error"]:
            sys.stderr.write("error: %s\n" % result["result"].replace("\n", " "))
        if form == "text":
            if not result["is_error"]:
                out(result["result"] + ("" if result["result"].endswith("\n") else "\n"))
        else:
            out(json.dumps(result) + "\n")

    try:
        if many:
            seen = False
            for line in sys.stdin.buffer:
                if not line.strip():
                    continue
                try:
                    value = json.loads(line)
                    ok = isinstance(value, dict) and value.get("type") == "user" and isinstance(value.get("text"), str)
                except ValueError:
                    ok = False
                if not ok:
                    out(json.dumps({"type": "error", "message": "a line of the input is not a prompt"}) + "\n")
                    raise HarnessError("a line of the input is not a prompt")
                seen = True
                one(value["text"])
                if caught:
                    break
            if not seen:
                raise HarnessError("no prompt")
        else:
            prompt = custom(agent, prompt)
            agent.open()
            one(prompt)
    except BrokenPipeError:
        code = 141
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    finally:
        agent.close()
    return code


def sessions(flags, rest):
    import json
    from harness import session as store
    from harness.agent import state_folder
    home = state_folder()
    if rest[:1] == ["list"]:
        rows = []
        for _, number, path in store.all_files(home):
            lines, _ = store.read_lines(path)
            prompts = [x["message"].get("content") for x in lines if x.get("type") == "message" and "prompt" in x]
            rows.append((os.stat(path).st_mtime_ns, {"id": number, "time": lines[-1].get("time") if lines else None,
                                                     "workspace": lines[0].get("workspace") if lines else None,
                                                     "prompt": prompts[0] if prompts else None, "turns": len(prompts)}))
        rows.sort(key=lambda r: -r[0])
        if "--json" in flags:
            print(json.dumps([r for _, r in rows]))
        else:
            for _, r in rows:
                print(r["id"], r["time"], r["workspace"], r["turns"], (r["prompt"] or "").replace("\n", " ")[:80])
        return 0
    if len(rest) != 2 or rest[0] not in ("export", "delete"):
        raise HarnessError("usage: harness sessions list|export ID|delete ID")
    loaded = store.Session.load(home, store.find(home, rest[1]))
    if rest[0] == "delete":
        import shutil
        loaded.lock()
        os.unlink(loaded.path)
        shutil.rmtree(os.path.join(home, "checkpoints", loaded.id), ignore_errors=True)
        return 0
    if flags.get("--format") == "json":
        print(json.dumps({"id": loaded.id, "workspace": loaded.workspace, "messages": loaded.messages}))
    else:
        for message in loaded.messages:
            if message.get("role") in ("user", "assistant") and message.get("content"):
                print("## %s\n\n%s\n" % (message["role"], message["content"]))
    return 0


def config(flags):
    import json
    from harness.agent import state_folder
    from harness.settings import DEFAULTS, Settings
    options = options_of(flags)
    given = {name: options[key] for key, name in (
        ("model", "model"), ("permission_mode", "permissions.mode"), ("allow", "permissions.allow"), ("ask", "permissions.ask"),
        ("deny", "permissions.deny"), ("add_dirs", "permissions.dirs")) if key in options}
    settings = Settings(os.path.realpath(os.getcwd()), state_folder(), given, options["trust"])
    rows = {k: (settings[k], settings.sources[k]) for k in DEFAULTS}
    secret = ("KEY", "TOKEN", "SECRET", "PASSWORD")
    rows["env"] = ({k: "***" if any(s in k.upper() for s in secret) else v for k, v in settings["env"].items()},
                   settings.sources["env"])
    rows["base_url"] = (os.environ.get("HARNESS_BASE_URL") or None, "environment")
    rows["api_key"] = ("***" if os.environ.get("HARNESS_API_KEY") else None, "environment")
    if "--json" in flags:
        print(json.dumps({k: {"value": v, "source": s} for k, (v, s) in rows.items()}))
    else:
        for key, (value, source) in rows.items():
            print("%s = %s (%s)" % (key, json.dumps(value), source))
    return 0


def start(words):
    flags, rest = parse(words)
    if "--help" in flags:
        sys.stdout.write(HELP)
        return 0
    if "--version" in flags:
        print("harness " + __version__)
        return 0
    if "-p" not in flags and rest:
        if rest[0] == "sessions":
            options_of(flags)
            return sessions(flags, rest[1:])
        if rest[:2] == ["config", "show"] and len(rest) == 2:
            return config(flags)
        if rest[0] == "serve":
            from harness.serve import serve
            return serve(flags, options_of(flags))
        if rest[0] == "rewind":
            raise HarnessError("rewind is not part of this build", 1)
    if "-p" not in flags and os.isatty(0):
        from harness.terminal import terminal
        return terminal(flags, options_of(flags), rest)
    return headless(flags, rest)


def main(arguments=None):
    words = sys.argv[1:] if arguments is None else arguments
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.reconfigure(encoding="utf-8", errors="replace")
        except (AttributeError, ValueError):
            continue
    try:
        code = start(words)
        sys.stdout.flush()
        return code
    except HarnessError as error:
        sys.stderr.write("error: %s\n" % str(error).replace("\n", " "))
        if error.code == 1 and any(w in ("json", "stream-json") for w in " ".join(words).replace("=", " ").split()) \
                and any(w.startswith("--output-format") for w in words):
            import json
            print(json.dumps({"type": "result", "subtype": "error", "is_error": True, "result": str(error), "session_id": None,
                              "num_turns": 0, "usage": {"input_tokens": 0, "output_tokens": 0}, "total_cost_usd": None,
                              "permission_denials": []}))
        return error.code
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 141
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
