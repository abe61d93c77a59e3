"""A case as a story."""

from __future__ import annotations

import json
from pathlib import Path

from case_help import CASE, HEAD, case_of, suite_of

from triathlon.harness.spec import Clause, Spec
from triathlon.harness.story import record, story, summary

SPEC = Spec("1", "2026-01-01", {"PERM-01": Clause("PERM-01", "p.md", ("D",), "A write needs\napproval.", 1)}, {})
LONG = """\
group: small
about: A small group.
clauses: [PERM-01]
workspace: {a: "x\\n", l: {link: a}, d/: {}, s.sh: {text: "#!/bin/sh", mode: "0755"}, big: {repeat: y, times: 9}}
home: {.bashrc: z}
settings: {user: {model: m}}
git: {branch: dev}
stubs: {gh: {log: gh.log}}
web: {docs.test: {/a: hello}}
servers: {srv: {tools: {get: ok}}}
env: {A: b, HOME: null}
readonly: true
controls:
  - id: power
    about: It can be done.
    run: {prompt: go}
    expect: {exit: 0}
cases:
  - id: one
    kind: boundary
    origin: {issue: "a/b#1"}
    cite: A write needs approval
    steps:
      - start: {prompt: "two words", flags: [--trust], stdin: silent, cwd: d, env: {X: y}}
      - wait_for: {file: started}
        within: 3
      - signal: KILL
        to: main
      - start: {name: again, driver: terminal}
      - start: {name: py, driver: api, prompt: go, settings: {model: m}}
      - start: {name: web, driver: serve}
      - start: {name: list, args: [sessions, list]}
      - finish: main
    script:
      lanes:
        child: {when: {system_contains: helper}, replies: [{nothing: true}]}
        main:
          replies:
            - {reasoning: hm, calls: [{read: {path: a}}, {tool: write, raw: "{", id: c9}]}
            - {status: 429, retry_after: 1, when: {turn: 1}}
            - {do: [{touch: a}], say: done, fault: {cut: 3}}
    expect:
      exit: {main: 137}
      files: {a: absent}
      requests: {count: {min: 2}, none: [{text: {contains: x}}]}
"""


def test_the_story_tells_all_of_it(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, LONG)
    told = story(suite.cases[0], suite, SPEC)
    for line in (
        "small/one  (permissions, boundary)",
        "  A small group.",
        "  from the public report a/b#1",
        "  workspace/a  'x\\n'",
        "  workspace/l  link to a",
        "  workspace/d/  folder",
        "  workspace/s.sh  '#!/bin/sh', mode 0755",
        '  workspace/big  {"repeat": "y", "times": 9}',
        "  home/.bashrc  'z'",
        '  user settings  {"model": "m"}',
        '  the workspace is a git repository  {"branch": "dev"}',
        '  command gh  {"log": "gh.log"}',
        '  http://docs.test/a  {"body": "hello"}',
        '  tool server srv  {"tools": {"get": {"says": "ok"}}}',
        "  environment A  'b'",
        "  environment HOME  taken out",
        "  the workspace has no write bits",
        '  1. start `harness -p \'two words\' --trust`, stdin {"kind": "silent"}, in d, with {"X": "y"}',
        '  2. wait for {"file": "started"} (within 3 s)',
        "  3. signal 'KILL'",
        "  4. start again: `harness` on a terminal",
        '  5. start py: Agent(workspace=..., **{"model": "m"}).run(\'go\')',
        "  6. start web: `harness serve --port 0`",
        "  7. start list: `harness sessions list`",
        "  8. wait until main has ended",
        '  lane child, for requests with {"system_contains": "helper"}',
        "  1. says nothing",
        "  1. thinks 'hm', calls read {\"path\": \"a\"}, calls write the raw arguments '{' (id c9)",
        '  2. if the request has {"turn": 1}: answers with HTTP 429, retry_after 1.0',
        '  3. after {"touch": "a"}, says \'done\', fault {"cut": 3}',
        "  exit.main: 137",
        "  files.a.absent: true",
        "  requests.count.min: 2",
        '  requests.none: {"text": {"contains": ["x"]}}',
        "  small/power  (same-form) It can be done.",
        "  “A write needs approval”",
        "  PERM-01  A write needs approval.",
    ):
        assert line in told.split("\n"), f"{line!r} is not in\n{told}"


def test_a_control_and_a_bare_case_have_a_story_too(tmp_path: Path) -> None:
    suite = suite_of(tmp_path / "a", LONG)
    told = story(suite.controls["small/power"], suite, None)
    assert "small/power  (permissions, same-form control)" in told and "Gated by" not in told
    bare = suite_of(tmp_path / "b", HEAD + CASE + "    vary: [{id: v, input: {path: b}}]\n")
    told = story(bare.cases[1], bare, SPEC)
    assert "Laid out:\n  nothing" in told and "no control" in told
    assert "from small/one, with another input" in told


def test_the_other_origins_are_told(tmp_path: Path) -> None:
    for number, (origin, words) in enumerate(
        [
            ("{spec: PERM-01}", "clause PERM-01 itself"),
            ("{diff: [A, B], feature: links}", "difference between A and B: links"),
        ]
    ):
        suite = suite_of(tmp_path / str(number), HEAD + CASE.replace("{spec: PERM-01}", origin))
        assert words in story(suite.cases[0], suite, None)


def test_a_summary_has_the_promised_keys(tmp_path: Path) -> None:
    made = summary(case_of(tmp_path, LONG))
    assert list(made) == ["id", "group", "category", "kind", "clauses", "origin", "controls"]
    assert made["controls"] == ["small/power"] and made["origin"] == {"issue": ["a/b#1"]}


def test_the_record_is_plain_data_with_everything(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, LONG)
    made = json.loads(json.dumps(record(suite.cases[0], suite, SPEC)))
    assert made["sha256"] == suite.cases[0].sha256 and made["line"] == 19
    assert made["clause_texts"] == {"PERM-01": "A write needs\napproval."}
    assert made["expect"]["files"] == {"a": {"absent": True}}
    assert set(made["control_bodies"]) == {"small/power"}
