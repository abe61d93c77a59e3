"""The same drivers under the provider `none`, where paths and ports are the host's."""

from __future__ import annotations

from pathlib import Path

import pytest
from run_help import evaluate, make_tree, one_case

from triathlon.sandbox import provider

HEADLESS = """
    workspace: {in.txt: "{{marker}}"}
    outside: {o.txt: o}
    run: {prompt: "print(ask(open('in.txt').read()), open('../outside/o.txt').read(), os.getcwd() == '{{workspace}}')"}
    script: [{when: {contains: "{{marker}}"}, say: hello}]
    expect: {exit: 0, output: {stdout: "hello o True\\n"}, files: {in.txt: {same_as_laid_out: true}}}
"""
TERMINAL = """
    env: {PROGRAM: "print('hello', input('name? '), sys.stdout.isatty())"}
    steps:
      - start: {driver: terminal}
      - wait_for: {screen: "name?"}
      - type: "{{marker}}\\n"
      - finish: main
    expect: {exit: 0, output: {screen: {contains: "hello {{marker}} True"}}}
"""
API = """
    run: {driver: api, prompt: one}
    script: [{say: first}]
    expect: {exit: 0, output: {result: {main: {result: first, workspace: "{{workspace}}"}}}}
"""
SERVE = """
    steps:
      - start: {driver: serve}
      - http: {path: /x, as: ok}
      - signal: KILL
      - finish: main
    expect: {exit: 137, output: {http: {ok: {status: 200, json: {path: /x}}}}}
"""


@pytest.mark.parametrize("body", [HEADLESS, TERMINAL, API, SERVE], ids=["headless", "terminal", "api", "serve"])
def test_a_driver_without_isolation(tmp_path: Path, body: str) -> None:
    with provider("none") as plain:
        done = evaluate(plain, make_tree(tmp_path / "tree"), one_case(tmp_path / "cases", body), tmp_path / "s")
    assert done.report.errors == (), done.report.errors[0].error
    assert done.cases[0].reasons == ()
    assert done.as_json()["non_standard"] == ["no isolation"]
