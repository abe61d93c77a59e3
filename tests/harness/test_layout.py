"""What a case lays out is what the candidate finds, and what the channels show."""

from __future__ import annotations

from pathlib import Path

from run_help import evaluate, make_tree, one_case

from triathlon.harness.result import CaseResult
from triathlon.sandbox import Provider


def run(namespaces: Provider, tmp_path: Path, body: str) -> CaseResult:
    done = evaluate(namespaces, make_tree(tmp_path / "tree"), one_case(tmp_path / "cases", body), tmp_path / "s")
    assert done.report.errors == (), done.report.errors[0].error
    return done.cases[0]


def test_files_links_modes_bytes_and_times(namespaces: Provider, tmp_path: Path) -> None:
    result = run(
        namespaces,
        tmp_path,
        """
    workspace:
      out: {link: ../outside/shared}
      deep/er/keep.txt: "{{marker}}"
      empty/: {mode: "0700"}
      bytes.bin: {base64: AAH/}
      big.txt: {repeat: ab, times: 3, suffix: END}
      run.sh: {text: "echo", mode: "0755"}
      old/: {mtime: 2020-01-01T00:00:00Z}
      old/file: {text: x, mtime: 2021-01-01T00:00:00Z}
      latin: {latin1: "caf\\u00e9"}
    outside: {shared/: {}, shared/o.txt: o}
    beside: {"{{workspace_name}}-evil/x": e}
    home: {.bashrc: h}
    state: {AGENTS.md: s}
    settings: {user: {model: u}, project: {model: "{{marker}}"}, local: {model: l}, managed: {model: m}}
    run:
      prompt: |
        assert os.readlink("out") == "../outside/shared" and open("out/o.txt").read() == "o"
        assert open("deep/er/keep.txt").read() == "{{marker}}"
        assert oct(os.stat("empty").st_mode) == "0o40700" and oct(os.stat("run.sh").st_mode) == "0o100755"
        assert open("bytes.bin", "rb").read() == b"\\0\\1\\xff" and open("big.txt").read() == "abababEND"
        assert os.stat("old").st_mtime == 1577836800 and os.stat("old/file").st_mtime == 1609459200
        assert open("latin", "rb").read() == b"caf\\xe9"
        assert open(os.path.basename(os.getcwd()).join(["../", "-evil/x"])).read() == "e"
        assert open(os.path.expanduser("~/.bashrc")).read() == "h"
        home = os.environ["HARNESS_HOME"]
        assert home == "{{state}}" and open(home + "/AGENTS.md").read() == "s"
        settings = [home + "/settings.json", ".harness/settings.json", ".harness/settings.local.json",
                    os.environ["HARNESS_MANAGED_SETTINGS"]]
        print([json.load(open(path))["model"] for path in settings])
        assert os.stat("deep").st_uid == os.getuid()
    expect:
      exit: 0
      output: {stdout: "['u', '{{marker}}', 'l', 'm']\\n", stderr: ""}
      files: {"**": {same_as_laid_out: true}}
""",
    )
    assert result.reasons == ()


def test_a_repository_with_a_commit_a_change_and_a_staged_file(namespaces: Provider, tmp_path: Path) -> None:
    result = run(
        namespaces,
        tmp_path,
        """
    workspace: {a.txt: one, b.txt: two, .gitignore: "*.log\\n", x.log: ignored, new.txt: staged, free.txt: u}
    git: {branch: trunk, changed: {a.txt: three}, staged: [new.txt], untracked: [free.txt]}
    run:
      prompt: |
        def git(*words):
            return subprocess.run(["git", *words], capture_output=True, text=True, check=True).stdout
        print(git("status", "--porcelain"), git("log", "--format=%an %ad %s", "--date=short"), end="")
        print(git("branch", "--show-current"), sorted(git("ls-tree", "--name-only", "HEAD").split()))
    expect:
      exit: 0
      output:
        stdout: |2
           M a.txt
          A  new.txt
          ?? free.txt
           Case 2024-01-01 start
          trunk
           ['.gitignore', 'a.txt', 'b.txt']
""",
    )
    assert result.reasons == ()


def test_stubs_come_first_on_the_path_and_note_their_arguments(namespaces: Provider, tmp_path: Path) -> None:
    result = run(
        namespaces,
        tmp_path,
        """
    stubs:
      gh: {log: gh.log, says: "said\\n", errs: "erred\\n", exit: 3}
      ls: "#!/bin/sh\\necho stub ls\\n"
    env: {EXTRA: "{{marker}}", LANG: null}
    run:
      env: {MORE: more}
      prompt: |
        done = subprocess.run(["gh", "a b", "c\\n\\u00e9"], capture_output=True, text=True)
        print([done.stdout, done.stderr, done.returncode], subprocess.check_output(["ls"], text=True), end="")
        print(os.environ["EXTRA"], os.environ["MORE"])
    expect:
      exit: 0
      output: {stdout: "['said\\\\n', 'erred\\\\n', 3] stub ls\\n{{marker}} more\\n"}
      files: {"{{stubs}}/gh.log": {equals: "[\\"a b\\", \\"c\\\\n\\\\u00e9\\"]\\n"}}
""",
    )
    assert result.reasons == ()


def test_tool_servers_speak_and_misbehave_as_told(namespaces: Provider, tmp_path: Path) -> None:
    result = run(
        namespaces,
        tmp_path,
        """
    servers:
      good: {tools: {get: {writes: made.txt, says: "{{marker}}"}}, env: {A: b}}
      loud: {behaviour: noise}
      dead: {behaviour: crash}
    run:
      prompt: |
        servers = json.load(open(".harness/mcp.json"))["servers"]
        def talk(name, *messages):
            told = servers[name]
            lines = "".join(json.dumps(m) + "\\n" for m in messages)
            return subprocess.run([told["command"], *told["args"]], input=lines, capture_output=True, text=True)
        hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}}
        call = {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "get", "arguments": {"k": 1}}}
        done = talk("good", hello, {"jsonrpc": "2.0", "method": "notifications/initialized"},
                    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}, call)
        answers = [json.loads(line)["result"] for line in done.stdout.splitlines()]
        tools = [tool["name"] for tool in answers[1]["tools"]]
        print(answers[0]["serverInfo"]["name"], tools, answers[2]["content"][0]["text"])
        print(servers["good"]["env"], talk("loud", hello).stdout.splitlines()[0][:8], talk("dead", hello).returncode)
    expect:
      exit: 0
      output: {stdout: "good ['get'] {{marker}}\\n{'A': 'b'} starting 1\\n"}
      files: {made.txt: {json: {k: 1}}, "{{stubs}}/servers/good.log": {contains: tools/call}}
""",
    )
    assert result.reasons == ()


def test_named_hosts_pages_and_redirects(namespaces: Provider, tmp_path: Path) -> None:
    result = run(
        namespaces,
        tmp_path,
        """
    web: {docs.test: {/page: "{{marker}}", /go: {redirect: "http://other.test/x"}}, other.test: {/x: {body: there}}}
    run:
      prompt: |
        def get(url):
            return urllib.request.urlopen(url).read().decode()
        print(get("http://docs.test/page"), get("http://docs.test/go"))
    expect:
      exit: 0
      output: {stdout: "{{marker}} there\\n"}
      web: {count: 3, any: [{host: other.test, path: /x}]}
""",
    )
    assert result.reasons == ()


def test_a_workspace_without_write_bits(namespaces: Provider, tmp_path: Path) -> None:
    result = run(
        namespaces,
        tmp_path,
        """
    workspace: {a: x, d/b: y}
    readonly: true
    run:
      prompt: |
        for path in ("a", "d/b", "new", "d/new"):
            try:
                open(path, "w")
            except PermissionError:
                print("no", path)
    expect: {exit: 0, output: {stdout: "no a\\nno d/b\\nno new\\nno d/new\\n"}, files: {new: absent}}
""",
    )
    assert result.reasons == ()
