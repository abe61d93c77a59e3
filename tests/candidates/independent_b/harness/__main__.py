"""The command line."""

import os
import re
import sys

VALUED = ("--model", "--permission-mode", "--allow", "--ask", "--deny", "--tools", "--system-append", "--output-format",
          "--input-format", "--max-turns", "--max-cost", "--timeout", "--output-schema", "--add-dir", "--resume", "--role",
          "--format", "--port")
PLAIN = ("--trust", "--continue", "--fork", "--no-persist", "--no-stdin", "--debug", "--json", "--version", "--help")
HELP = """usage: harness [-p [PROMPT]] [flags]
       harness sessions list | sessions export ID | sessions delete ID
       harness rewind ID N | config show | serve

  -p, --print [PROMPT]      one prompt, no terminal
  --model NAME              --permission-mode default|plan|accept-edits|bypass|dont-ask
  --allow RULE  --ask RULE  --deny RULE     rules, each may be repeated
  --tools LIST              only these built-in tools
  --system-append TEXT      --output-format text|json|stream-json   --input-format text|stream-json
  --max-turns N             --max-cost USD       --timeout SECONDS
  --output-schema FILE      --add-dir D          --trust
  --continue                --resume ID          --fork
  --no-persist              --no-stdin           --role architect|editor
  --debug                   --json (sessions list, config show)
  --format md|json (sessions export)             --port P (serve)
  --version                 --help"""
TERMINAL = ("help", "clear", "compact", "resume", "rewind", "mode", "model", "permissions", "cost", "export", "exit")


class Interrupt(BaseException):
    """A signal or the end of the time: the subtype and the exit code."""

    def __init__(self, cause, subtype, code):
        super().__init__(cause)
        self.subtype, self.code = subtype, code


def warn(text):
    print("warning: " + " ".join(str(text).split("\n")), file=sys.stderr, flush=True)


def parse(arguments, bad):
    flags, words, k = {}, [], 0
    while k < len(arguments):
        a, k = arguments[k], k + 1
        name, equals, value = a.partition("=") if a.startswith("--") else (a, "", "")
        if name in ("-p", "--print"):
            flags["print"] = True
            if equals:
                words.append(value)
            elif k < len(arguments) and (not arguments[k].startswith("-") or arguments[k] == "-" or " " in arguments[k]):
                words.append(arguments[k])
                k += 1
        elif name in VALUED:
            if not equals:
                if k >= len(arguments) or (arguments[k].split("=")[0] in VALUED + PLAIN + ("-p", "--print")):
                    raise bad(f"{name} needs a value")
                value, k = arguments[k], k + 1
            flags.setdefault(name[2:], []).append(value)
        elif name in PLAIN and not equals:
            flags[name[2:]] = True
        elif a.startswith("-") and a != "-":
            raise bad(f"unknown flag {a}")
        else:
            words.append(a)
    return flags, words


def stdin_text(flags, prompt, bad):
    """What stdin gives (HEAD-04 to 06)."""
    import select
    import stat
    if "no-stdin" in flags:
        return ""
    try:
        mode = os.fstat(0).st_mode
    except OSError:
        return ""
    if os.isatty(0):
        return ""
    if prompt is not None and not stat.S_ISREG(mode) and not select.select([0], [], [], 1)[0]:
        return ""
    data = b""
    while chunk := os.read(0, 1 << 20):
        data += chunk
        if len(data) > 10_000_000:
            raise bad("stdin is over 10,000,000 bytes")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise bad("stdin is not text") from None
    if "\0" in text:
        raise bad("stdin is not text")
    return text.rstrip("\r\n")


def number(flags, name, kind, bad):
    if name not in flags:
        return None
    try:
        n = kind(flags[name][-1])
        if not (0 < n < float("inf")) or not re.fullmatch(r"\+?[\d.eE+-]+", flags[name][-1]):
            raise ValueError
        return n
    except ValueError:
        raise bad(f"--{name}: not a possible value: {flags[name][-1]}") from None


def collect(flags, bad):
    """Flags as settings and options."""
    from harness.permissions import MODES
    from harness.tools import TABLE

    def last(name, choices=None):
        value = flags.get(name, [None])[-1]
        if value is not None and choices and value not in choices:
            raise bad(f"--{name}: not a possible value: {value}")
        return value
    settings, options = {}, {"trust": "trust" in flags, "persist": "no-persist" not in flags, "fork": "fork" in flags,
                             "continue": "continue" in flags, "resume": last("resume"), "model": last("model")}
    if mode := last("permission-mode", MODES):
        settings["permissions.mode"], options["mode_given"] = mode, True
    elif mode is not None:
        raise bad(f"--permission-mode: not a possible value: {mode!r}")
    for kind in ("allow", "ask", "deny"):
        if kind in flags:
            settings[f"permissions.{kind}"] = flags[kind]
    if "add-dir" in flags:
        settings["permissions.dirs"] = flags["add-dir"]
    if options["model"]:
        settings["model"] = options["model"]
    if options["fork"] and not options["resume"] and not options["continue"]:
        raise bad("--fork needs --resume or --continue")
    if options["resume"] is not None and options["continue"]:
        raise bad("--continue and --resume cannot stand together")
    if "tools" in flags:
        options["tools"] = [t.strip() for t in flags["tools"][-1].split(",") if t.strip()]
        for t in options["tools"]:
            if t not in TABLE:
                raise bad(f"--tools: unknown tool {t}")
    options["system_append"] = last("system-append")
    options["max_turns"] = number(flags, "max-turns", int, bad)
    options["max_cost"] = number(flags, "max-cost", float, bad)
    options["timeout"] = number(flags, "timeout", float, bad)
    last("role", ("architect", "editor"))
    if "output-schema" in flags:
        options["schema"] = schema_check(flags["output-schema"][-1], bad)
    if "debug" in flags:
        options["debug"] = lambda text: print(f"debug: {text}", file=sys.stderr)
    return settings, options, last("output-format", ("text", "json", "stream-json")) or "text"


def schema_check(path, bad):
    import json
    try:
        with open(path, encoding="utf-8") as f:
            schema = json.load(f)
    except (OSError, ValueError) as e:
        raise bad(f"--output-schema {path}: {e}") from None

    def check(text):
        try:
            return misfit(json.loads(text), schema)
        except ValueError as e:
            return f"not JSON: {e}"
    return check


def misfit(value, schema, where="the value"):
    if schema is False:
        return f"{where} is not allowed"
    if not isinstance(schema, dict):
        return None
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    kinds = {"object": isinstance(value, dict), "array": isinstance(value, list), "string": isinstance(value, str),
             "boolean": isinstance(value, bool), "null": value is None, "number": is_number,
             "integer": is_number and value == int(value)}
    want = schema.get("type")
    if want and not any(kinds.get(t, True) for t in (want if isinstance(want, list) else [want])):
        return f"{where} is not of type {want}"

    def same(a, b):
        return a == b and isinstance(a, bool) == isinstance(b, bool)
    if "enum" in schema and not any(same(value, e) for e in schema["enum"]):
        return f"{where} is not in enum"
    if "const" in schema and not same(value, schema["const"]):
        return f"{where} is not the const"
    if is_number and (value < schema.get("minimum", value) or value > schema.get("maximum", value)):
        return f"{where} is out of range"
    if isinstance(value, str) and not schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value)):
        return f"{where} has a wrong length"
    if isinstance(value, list):
        return next((m for k, v in enumerate(value) if (m := misfit(v, schema.get("items"), f"{where}[{k}]"))), None)
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        for key in schema.get("required", []):
            if key not in value:
                return f"{where} has no {key}"
        for key, v in value.items():
            if m := misfit(v, properties.get(key, schema.get("additionalProperties")), f"{where}.{key}"):
                return m
    return None


def expand(main, text, bad):
    """A prompt that is a command becomes its body (HEAD-19)."""
    from harness.agent import skill_text
    from harness.extensions import fill
    m = re.match(r"/([\w:-]+)(?:\s+(.*))?$", text, re.S | re.A)
    if not m:
        return text
    name, rest = m[1], m[2] or ""
    body = None if name in TERMINAL else main.run.extensions.command(name)
    if body is not None:
        lines = []
        for line in body.split("\n"):
            if c := re.fullmatch(r"!`(.*)`\s*", line):
                result = main.talk.carry_out("bash", {"command": c[1]})
                refused = result.startswith("error: refused: ")
                lines.append(f"[refused: {c[1]}]" if refused else result.partition("\n")[2].rstrip("\n"))
            else:
                lines.append(fill(line, rest)[0])
        return "\n".join(lines)
    if name not in TERMINAL and name in main.run.skills:
        return skill_text(main.run.skills[name][1], rest)
    raise bad(f"unknown command /{name}")


def headless(flags, words, bad):
    import json
    import signal

    from harness.agent import Main
    settings, options, form = collect(flags, bad)
    many = flags.get("input-format", ["text"])[-1] == "stream-json"
    if flags.get("input-format", ["text"])[-1] not in ("text", "stream-json") or (many and (words or form != "stream-json")):
        raise bad("--input-format stream-json needs -p without a prompt and --output-format stream-json")
    if len(words) > 1:
        raise bad(f"unknown argument {words[1]}")
    prompt = words[0] if words else None
    if not os.environ.get("HARNESS_BASE_URL"):
        raise bad("HARNESS_BASE_URL is not set")
    if not many:
        piped = stdin_text(flags, prompt, bad)
        prompt = f"{prompt}\n\n{piped}" if prompt and prompt.strip() and piped.strip() else (prompt if (prompt or "").strip() else piped)
        if not prompt.strip():
            raise bad("no prompt")
    main = Main(os.getcwd(), settings, options, warn)

    def put(event):
        print(json.dumps(event), flush=True)

    def stop(number, _):
        if number == signal.SIGALRM:
            raise Interrupt("the time is over", "timeout", 5)
        raise Interrupt("interrupted", "interrupted", 128 + number)
    try:
        if not many:
            prompt = expand(main, prompt, bad)
        if form == "stream-json":
            main.run.emit = put
            put({"type": "init", "session_id": main.session.id, "model": main.run.model_name,
                 "tools": [t["function"]["name"] for t in main.talk.tools()], "mode": main.run.engine.mode,
                 "workspace": main.run.workspace})
        for s in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM):
            signal.signal(s, stop)

        def one(text):
            try:
                if options["timeout"]:
                    signal.setitimer(signal.ITIMER_REAL, options["timeout"])
                result, code = main.prompt(text)
                signal.setitimer(signal.ITIMER_REAL, 0)
            except Interrupt as e:
                for s in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM):
                    signal.signal(s, signal.SIG_IGN)
                main.session.append("interrupted")
                result, code = main.result(e.subtype, str(e)), e.code
            if code:
                print("error: " + " ".join(result["result"].split("\n")), file=sys.stderr, flush=True)
                if form == "stream-json":
                    put({"type": "error", "message": result["result"]})
            if form != "text":
                put(result)
            elif not code:
                print(result["result"], end="" if result["result"].endswith("\n") else "\n", flush=True)
            return code
        if not many:
            return one(prompt)
        code = None
        for line in sys.stdin.buffer:
            if not line.strip():
                continue
            try:
                item = json.loads(line)
                if item["type"] != "user" or not isinstance(item["text"], str):
                    raise ValueError
            except (ValueError, KeyError, TypeError):
                put({"type": "error", "message": "the line is not a user object"})
                raise bad("a line of stdin is not a user object") from None
            code = one(expand(main, item["text"], bad))
            if code in (130, 143):
                return code
        if code is None:
            raise bad("no prompt")
        return code
    finally:
        main.close()


def sessions_command(flags, words, bad):
    import json
    import shutil

    from harness import config, session
    home, verb = config.home_folder(), words[1:2]
    if verb == ["list"]:
        rows = session.listing(home)
        if "json" in flags:
            print(json.dumps(rows))
        else:
            for r in rows:
                print(r["id"], r["time"], r["workspace"], r["turns"], (r["prompt"] or "").split("\n")[0][:80])
        return 0
    if verb not in (["export"], ["delete"]) or len(words) != 3:
        raise bad("usage: harness sessions list | export ID | delete ID")
    path = session.find(home, words[2])
    lines, _ = session.read_lines(path)
    ident = os.path.basename(path)[:-6]
    if verb == ["delete"]:
        s = session.Session(home, "", path)
        s.open()
        os.unlink(path)
        shutil.rmtree(s.store, ignore_errors=True)
        s.close()
        return 0
    messages = [m for m, _, _ in session.history(lines)[0]]
    if flags.get("format", ["md"])[-1] == "json":
        print(json.dumps({"id": ident, "workspace": session.workspace_of(path, lines), "messages": messages}))
    else:
        for m in messages:
            if m["role"] != "tool" and m.get("content"):
                print(f"## {m['role']}\n\n{m['content']}\n")
    return 0


def rewind(words, bad):
    from harness import config, session
    if len(words) != 3:
        raise bad("usage: harness rewind ID N")
    path = session.find(config.home_folder(), words[1])
    lines, _ = session.read_lines(path)
    if not words[2].isdigit() or not 1 <= int(words[2]) <= session.history(lines)[3]:
        raise bad(f"no such prompt: {words[2]}")
    s = session.Session(config.home_folder(), session.workspace_of(path, lines) or "", path)
    s.open()
    out, good = s.rewind(int(words[2]))
    s.close()
    print("".join(line + "\n" for line in out), end="")
    return 0 if good else 1


def main(arguments: list[str] | None = None) -> int:
    arguments = sys.argv[1:] if arguments is None else arguments
    if "--version" in arguments:
        from harness import __version__
        print(f"harness {__version__}")
        return 0
    if "--help" in arguments:
        print(HELP)
        return 0
    from harness.config import Bad
    from harness.session import SessionError
    try:
        try:
            flags, words = parse(arguments, Bad)
            if words[:1] == ["sessions"] and "print" not in flags:
                return sessions_command(flags, words, Bad)
            if words[:1] == ["rewind"] and "print" not in flags:
                return rewind(words, Bad)
            if words[:1] == ["config"] and "print" not in flags:
                from harness.config import Settings
                if words != ["config", "show"]:
                    raise Bad("usage: harness config show")
                settings, _, _ = collect(flags, Bad)
                print(Settings(os.path.realpath("."), settings, "trust" in flags, warn).show("json" in flags))
                return 0
            if "print" not in flags and (words or os.isatty(0)):
                raise Bad("only headless runs are built here: harness -p PROMPT")
            return headless(flags, words, Bad)
        except Bad as e:
            print(f"error: {e}", file=sys.stderr, flush=True)
            return 2
        except SessionError as e:
            print(f"error: {e}", file=sys.stderr, flush=True)
            return 1
    except Interrupt as e:
        return e.code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 141


if __name__ == "__main__":
    sys.exit(main())
