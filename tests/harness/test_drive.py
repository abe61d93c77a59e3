"""The four drivers and every step, in real sandboxes, with a candidate that does what its prompt says."""

from __future__ import annotations

from pathlib import Path

import pytest
from run_help import evaluate, make_tree, one_case

from triathlon.harness.result import CaseResult
from triathlon.sandbox import Provider


@pytest.fixture
def case(namespaces: Provider, tmp_path: Path):  # type: ignore[no-untyped-def]
    """Runs the one case whose body is given; its result."""

    def run(body: str, **options: object) -> CaseResult:
        tree = make_tree(tmp_path / "tree")
        done = evaluate(namespaces, tree, one_case(tmp_path / "cases", body), tmp_path / "s", **options)
        assert done.report.errors == (), done.report.errors[0].error
        (result,) = done.cases
        return result

    return run


def test_headless_output_exit_files_and_requests(case) -> None:  # type: ignore[no-untyped-def]
    result = case("""
    workspace: {in.txt: "{{marker}}"}
    run:
      prompt: |
        text = open("in.txt").read()
        open("out.txt", "w").write(ask(text))
        os.mkdir(os.environ["HARNESS_HOME"] + "/sessions")
        open(os.environ["HARNESS_HOME"] + "/sessions/1.jsonl", "w").write("{}")
        print(os.getcwd() == "{{workspace}}")
        sys.stderr.write("talk")
        sys.exit(7)
    script: [{when: {contains: "{{marker}}"}, say: "{{marker:reply}}"}]
    expect:
      files: {out.txt: "{{marker:reply}}", in.txt: {same_as_laid_out: true}, "{{state}}/sessions/*.jsonl": present}
      exit: 7
      output: {stdout: "True\\n", stderr: talk}
      requests: {count: 1, first: {user: "{{marker}}", headers: {authorization: {begins: "Bearer "}}}}
""")
    assert result.reasons == ()


def test_the_endpoint_is_a_placeholder(case) -> None:  # type: ignore[no-untyped-def]
    result = case("""
    run: {prompt: 'print(os.environ["HARNESS_BASE_URL"])', env: {HARNESS_BASE_URL: "{{endpoint}}//"}}
    expect: {exit: 0, output: {stdout: {matches: "^http://127.0.0.1:[0-9]+/v1//$"}}}
""")
    assert result.reasons == ()


def test_a_wrong_behaviour_is_told_with_what_was_wanted_and_seen(case) -> None:  # type: ignore[no-untyped-def]
    result = case("""
    run: {prompt: "print('hello'); sys.exit(3)"}
    expect: {exit: 0, output: {stdout: {contains: "{{marker}}"}}, files: {made.txt: present}}
""")
    assert result.status == "failed"
    text = "\n".join(result.reasons)
    assert "exit: wanted 0; saw 3" in text
    assert "hello" in text
    assert "made.txt" in text


def test_an_unforeseen_request_and_a_script_left_over_fail_the_case(case) -> None:  # type: ignore[no-untyped-def]
    result = case("""
    run: {prompt: "ask('one')\\ntry:\\n    ask('two')\\nexcept Exception: pass"}
    script: [{say: a}]
    expect: {exit: 0}
""")
    assert "unforeseen" in "\n".join(result.reasons)
    result = case("""
    run: {prompt: "pass"}
    script: [{say: a}]
    expect: {exit: 0}
""")
    assert "left over" in "\n".join(result.reasons)


@pytest.mark.parametrize(
    ("stdin", "program", "printed"),
    [
        ("closed", "print(repr(sys.stdin.read()))", "''"),
        ("{pipe: 'abc{{marker}}'}", "print(sys.stdin.read()[:3])", "abc"),
        ("{file: {repeat: x, times: 300000}}", "print(len(sys.stdin.read()))", "300000"),
        ("terminal", "print(sys.stdin.isatty(), sys.stdout.isatty())", "True False"),
        ("silent", "import select; print(select.select([0], [], [], 0.3)[0])", "[]"),
    ],
)
def test_kinds_of_stdin(case, stdin: str, program: str, printed: str) -> None:  # type: ignore[no-untyped-def]
    result = case(f"""
    run: {{stdin: {stdin}, prompt: "{program}"}}
    expect: {{output: {{stdout: "{printed}\\n"}}, exit: 0}}
""")
    assert result.reasons == ()


def test_input_sent_in_steps_and_its_end(case) -> None:  # type: ignore[no-untyped-def]
    result = case("""
    steps:
      - start: {stdin: silent, prompt: "print(sys.stdin.readline(), flush=True); print(repr(sys.stdin.read()))"}
      - send: "first\\n"
      - wait_for: {output: first}
      - send: second
      - close_stdin: main
      - finish: main
    expect: {output: {stdout: "first\\n\\n'second'\\n"}, exit: 0}
""")
    assert result.reasons == ()


def test_two_processes_at_once_signals_and_restart(case) -> None:  # type: ignore[no-untyped-def]
    result = case(
        """
    steps:
      - start: {name: one, prompt: "open('a','w'); ask('one'); time.sleep(60)"}
      - wait_for: {request: 1}
      - start: {name: two, prompt: "print(os.path.exists('a')); ask('two')"}
      - finish: two
      - signal: KILL
        to: one
      - wait_for: {exit: one}
      - start:
          name: three
          prompt: "signal.signal(signal.SIGTERM, lambda *a: sys.exit(5)); ask('three'); time.sleep(60)"
      - wait_for: {request: 3}
      - wait_for: {seconds: 0.2}
      - signal: TERM
        to: three
      - finish: three
    script: [{when: {contains: one}, say: 1}, {when: {contains: two}, say: 2}, {when: {contains: three}, say: 3}]
    expect: {exit: {one: 137, two: 0, three: 5}, output: {two: {stdout: "True\\n"}}}
""".replace("say: 1", "say: '1'")
        .replace("say: 2", "say: '2'")
        .replace("say: 3", "say: '3'")
    )
    assert result.reasons == ()


def test_files_changed_from_outside_in_a_step_and_before_a_reply(case) -> None:  # type: ignore[no-untyped-def]
    result = case("""
    workspace: {a: one, b: {text: "x", mode: "0755"}, log/1.txt: "first\\nsecond\\n"}
    steps:
      - change: {a: two, gone/new.txt: made, b: {append: y}, "log/*.txt": {insert: "between\\n", after: first}}
      - start:
          prompt: |
            before = open("a").read()
            ask(before)
            print(before, open("a").read(), os.path.exists("b"), open("log/1.txt").read().split())
      - finish: main
    script:
      - say: ok
        do: [{change: {a: three}}, {change: {b: absent}}, {touch: log/1.txt}]
    expect:
      output: {stdout: "two three False ['first', 'between', 'second']\\n"}
      files: {gone/new.txt: made, b: absent}
""")
    assert result.reasons == ()


def test_a_change_that_finds_nothing_fails_the_case_with_the_reason(case) -> None:  # type: ignore[no-untyped-def]
    result = case("""
    steps: [{change: {"nothing/*": absent}}, {start: {prompt: pass}}, {finish: main}]
    expect: {exit: 0}
""")
    assert "step 1, change: nothing/* finds 0 files, not one" in result.reasons[0]
    result = case("""
    steps: [{change: {missing: {append: x}}}, {start: {prompt: pass}}, {finish: main}]
    expect: {exit: 0}
""")
    assert "step 1, change: missing: " in result.reasons[0]


def test_captures_from_output_files_and_placeholders_in_later_steps(case) -> None:  # type: ignore[no-untyped-def]
    result = case(
        """
    steps:
      - start:
          name: one
          prompt: |
            print('noise')
            print(json.dumps({'a': [{'id': 'x1'}]}))
            open('k-42.txt', 'w').write('v=7;')
      - finish: one
      - capture: {as: id, of: one, json: a.0.id}
      - capture: {as: stem, file: "k-*.txt", stem: true}
      - capture: {as: value, file: "k-*.txt", regex: "v=(.);"}
      - start: {name: two, args: ["{{id}}", "{{stem}}", "{{value}}"]}
      - finish: two
    expect: {output: {two: {stdout: '["x1", "k-42", "7"]
'}}}
""".replace('\'["x1", "k-42", "7"]\n\'', '"[\\"x1\\", \\"k-42\\", \\"7\\"]\\n"')
    )
    assert result.reasons == ()


def test_a_capture_that_finds_nothing_fails_the_case(case) -> None:  # type: ignore[no-untyped-def]
    result = case("""
    steps: [{start: {prompt: "print('no json')"}}, {finish: main}, {capture: {as: id, of: main, json: id}}]
    expect: {exit: 0}
""")
    assert "step 3, capture: no JSON object in 'no json" in result.reasons[0]


def test_a_hung_up_pipe_is_a_broken_pipe(case) -> None:  # type: ignore[no-untyped-def]
    result = case("""
    steps:
      - start:
          prompt: |
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
            print('one', flush=True)
            ask('go')
            print('two', flush=True)
      - wait_for: {output: one}
      - hang_up: main
      - finish: main
    script: [{when: {contains: go}, say: ok, delay: 0.3}]
    expect: {exit: 141, output: {stdout: "one\\n"}}
""")
    assert result.reasons == ()


def test_the_terminal_shows_a_screen_and_takes_keys_paste_and_size(case) -> None:  # type: ignore[no-untyped-def]
    result = case("""
    env:
      PROGRAM: |
        import shutil
        print("size", *shutil.get_terminal_size(), sys.stdin.isatty(), flush=True)
        signal.signal(signal.SIGWINCH, lambda *a: print("resized", *shutil.get_terminal_size(), flush=True))
        name = input("name? ")
        print("hello", name, flush=True)
        import termios, tty
        old = termios.tcgetattr(0)
        tty.setraw(0)
        os.write(1, b"raw\\r\\n")
        data = b""
        while not data.endswith(b"\\x03"):
            data += os.read(0, 100)
        termios.tcsetattr(0, termios.TCSADRAIN, old)
        print(repr(data), flush=True)
        try:
            time.sleep(30)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
            sys.exit(4)
    steps:
      - start: {driver: terminal, size: [20, 70]}
      - wait_for: {screen: "name?"}
      - resize: [30, 90]
      - wait_for: {screen: resized 90 30}
      - type: "{{marker}}\\n"
      - wait_for: {screen: raw}
      - paste: "a\\nb"
      - keys: [Up, Ctrl-C]
      - wait_for: {screen: "x03"}
      - wait_for: {seconds: 0.2}
      - keys: [Ctrl-C]
      - finish: main
    expect:
      exit: 4
      output:
        screen:
          contains: ["size 70 20 True", "hello {{marker}}", "x1b[200~a", "b", "x1b[201~", "x1b[A", interrupted]
""")
    assert result.reasons == ()


def test_the_api_driver_runs_an_agent_twice(case) -> None:  # type: ignore[no-untyped-def]
    result = case("""
    steps:
      - start: {driver: api, prompt: one, settings: {model: "{{marker}}"}}
      - wait_for: {request: 1}
      - call: {prompt: two, as: again}
      - finish: main
    script: [{when: {contains: one}, say: first}, {when: {contains: two}, say: second}]
    expect:
      exit: 0
      output:
        stderr: {contains: noise}
        result: {main: {result: first, runs: 1, workspace: "{{workspace}}"}, again: {result: second, runs: 2}}
""")
    assert result.reasons == ()


def test_an_agent_that_raises_fails_the_case_with_the_reason(case) -> None:  # type: ignore[no-untyped-def]
    result = case("""
    run: {driver: api, prompt: raise}
    expect: {exit: 0}
""")
    assert result.reasons == (
        "run: Agent.run for main raised RuntimeError: broken agent",
        "note: a trace on the standard error of main ends: RuntimeError: broken agent",
    )
    result = case("""
    run: {driver: api, prompt: x, settings: {refuse: true}}
    expect: {exit: 0}
""")
    assert "run: Agent(...) raised ValueError: refused to be made" in result.reasons
    assert "run: Agent.run for main raised RuntimeError: no Agent was made" in result.reasons


def test_the_serve_driver_asks_over_http(case) -> None:  # type: ignore[no-untyped-def]
    result = case("""
    steps:
      - start: {driver: serve}
      - http: {path: /x, as: ok}
      - http: {path: /x, token: false, as: denied}
      - http: {path: /stream, until: "event 3", as: stream}
      - http: {path: /slow, as: slow, background: true}
      - signal: TERM
      - finish: main
    expect:
      exit: 143
      output:
        http: {ok: {status: 200, json: {path: /x}}, denied: {status: 401}, stream: {body: {contains: "event 2"}}}
""")
    assert result.reasons == ()


def test_an_http_step_waits_for_its_answer_and_can_be_captured(case) -> None:  # type: ignore[no-untyped-def]
    result = case("""
    steps:
      - start: {driver: serve}
      - http: {method: POST, path: /m, json: {prompt: "{{marker}}"}, as: post, background: true}
      - wait_for: {http: post}
      - capture: {as: said, http: post, json: said}
      - start: {name: two, args: ["{{said}}"]}
      - finish: two
    script: [{when: {contains: "{{marker}}"}, say: "{{marker:b}}"}]
    expect: {output: {http: {post: {status: 201}}, two: {stdout: {contains: "{{marker:b}}"}}}}
""")
    assert result.reasons == ()


def test_a_server_that_does_not_say_its_port_fails_the_case(case) -> None:  # type: ignore[no-untyped-def]
    result = case("""
    steps: [{start: {driver: serve, args: [other]}}]
    expect: {output: {stdout: {contains: other}}}
""")
    assert "step 1, start: main: the first line is no JSON object with port and token" in result.reasons[0]


def test_what_can_come_no_more_is_not_waited_for(case) -> None:  # type: ignore[no-untyped-def]
    result = case("""
    steps: [{start: {prompt: "print('bye')"}}, {wait_for: {output: hello}, within: 60}]
    expect: {exit: 0}
""")
    assert "main ended without showing 'hello'; its last words: bye" in result.reasons[0]
    result = case("""
    steps: [{start: {prompt: "pass"}}, {wait_for: {request: 1}, within: 60}]
    script: [{say: x}]
    expect: {exit: 0}
""")
    assert "request 1 never came: all processes ended after 0" in result.reasons[0]
    assert result.seconds < 20
