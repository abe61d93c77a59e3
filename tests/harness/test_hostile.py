"""Hostile candidates in a whole run: the case fails with a reason, the run goes on, nothing is left behind."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from run_help import evaluate, make_cases, make_tree, rows

from triathlon.harness.result import Result
from triathlon.sandbox import Provider

MARK = "triathlon-hostile"


def suite(
    folder: Path, prompt: str, expect: str = "{exit: 0, output: {stdout: {contains: fine}}}", within: float = 60
) -> Path:
    """A hostile case between two innocent ones."""
    lines = "\n".join(f"        {line}" for line in prompt.strip().splitlines())
    return make_cases(
        folder,
        f"""
group: g
about: A hostile candidate among its own innocent runs.
clauses: [HEAD-01]
cases:
  - {{id: before, kind: ordinary, origin: {{spec: HEAD-01}}, run: {{prompt: pass}}, expect: {{exit: 0}}}}
  - id: hostile
    kind: ordinary
    origin: {{spec: HEAD-01}}
    within: {within}
    run:
      prompt: |
{lines}
    expect: {expect}
  - {{id: after, kind: ordinary, origin: {{spec: HEAD-01}}, run: {{prompt: "print(ask('x'))"}},
      script: [{{say: "{{{{marker}}}}"}}], expect: {{output: {{stdout: {{contains: "{{{{marker}}}}"}}}}}}}}
""",
    )


def left_behind() -> list[str]:
    """Command lines of processes that carry the mark."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            except OSError:
                continue
            if MARK in line:
                found.append(line)
    return found


@pytest.fixture
def hostile(namespaces: Provider, tmp_path: Path) -> Iterator[object]:
    """Runs a hostile prompt and gives the reasons of its case; checks the neighbours and what is left."""

    def run(prompt: str, **options: Any) -> tuple[str, ...]:
        tree = make_tree(tmp_path / "tree")
        done: Result = evaluate(
            namespaces, tree, suite(tmp_path / "cases", f"# {MARK}\n{prompt}", **options), tmp_path / "s"
        )
        assert done.report.errors == (), done.report.errors[0].error
        before, case, after = done.cases
        assert (before.status, after.status) == ("passed", "passed"), (before.reasons, after.reasons)
        assert case.status == "failed"
        assert case.reasons
        return case.reasons

    limits = Path("/proc/sys/user/max_user_namespaces").read_text()
    mounts = len(Path("/proc/self/mountinfo").read_text().splitlines())
    threads, descriptors = threading.active_count(), len(list(Path("/proc/self/fd").iterdir()))
    yield run
    until = time.monotonic() + 5
    while left_behind() and time.monotonic() < until:
        time.sleep(0.05)
    assert left_behind() == []
    assert Path("/proc/sys/user/max_user_namespaces").read_text() == limits
    assert len(Path("/proc/self/mountinfo").read_text().splitlines()) == mounts
    assert threading.active_count() <= threads + 1
    assert len(list(Path("/proc/self/fd").iterdir())) <= descriptors + 8, "descriptors leak"


def test_a_fork_bomb(hostile) -> None:  # type: ignore[no-untyped-def]
    hostile("while True:\n    try:\n        os.fork()\n    except OSError:\n        time.sleep(0.01)", within=3)


def test_a_disk_filler_gets_no_space_and_no_more(hostile) -> None:  # type: ignore[no-untyped-def]
    reasons = hostile("""
n = 0
try:
    while True:
        with open(f"/tmp/f{n}", "wb") as f:
            f.write(b"x" * (50 << 20))
        n += 1
except OSError as error:
    print("stopped", error.errno, n)
    sys.exit(9)
""")
    assert any("stopped 28" in reason for reason in reasons), reasons


def test_a_memory_hog_dies_alone(hostile) -> None:  # type: ignore[no-untyped-def]
    reasons = hostile("hog = []\nwhile True:\n    hog.append(b'x' * (16 << 20))")
    assert any("memory" in reason.lower() for reason in reasons), reasons


def test_one_that_ignores_signals_and_never_ends(hostile) -> None:  # type: ignore[no-untyped-def]
    reasons = hostile(
        """
for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
time.sleep(600)
""",
        within=3,
    )
    assert any("main had not ended after 3" in reason for reason in reasons), reasons


def test_a_daemon_dies_with_the_sandbox(hostile) -> None:  # type: ignore[no-untyped-def]
    hostile(f"""
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execvp("sleep", ["{MARK}", "600"])
    os._exit(0)
sys.exit(1)
""")


def test_a_gigabyte_on_standard_output(hostile, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    hostile("block = b'x' * (1 << 20)\nfor _ in range(1024):\n    os.write(1, block)")
    (row,) = (row for row in rows(tmp_path / "s") if row.case_id == "g/hostile" and row.key.attempt == 0)
    assert sum(map(len, row.reasons)) < 20_000


def test_invalid_text_everywhere(hostile) -> None:  # type: ignore[no-untyped-def]
    hostile("""
os.write(1, bytes(range(256)) * 50)
os.write(2, b"\\xff\\xfe\\x00")
open(b"bad-\\xff\\xfe", "w").close()
open("new\\nline", "w").close()
os.symlink(b"\\xff", "link")
os.mkfifo("pipe")
sock = socket.socket(socket.AF_UNIX)
sock.bind("sock")
""")


def test_one_that_looks_for_the_host(hostile, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    here = Path(__file__).resolve()
    reasons = hostile(
        f"""
places = ("{here}", "{here.parents[2]}", "{tmp_path}", "{tmp_path / "s"}", "/root", "/proc/1/root/root")
found = [path for path in places if os.path.exists(path)]
found += [folder for folder in ("/work", "/home", "/var/tmp", "/tmp") if len(os.listdir(folder)) > 2]
try:
    os.kill({os.getpid()}, 0)
    found.append("process")
except ProcessLookupError:
    pass
for address in (("127.0.0.1", 22), ("8.8.8.8", 53), ("169.254.169.254", 80)):
    try:
        socket.create_connection(address, 0.5)
        found.append(address)
    except OSError:
        pass
try:
    os.mkdir("/opt/harness/made")
    found.append("wrote to its own layer")
except OSError:
    pass
print("found", found)
sys.exit(1)
"""
    )
    assert any("found []" in reason for reason in reasons), reasons


def test_a_workspace_replaced_by_a_link_is_not_followed(hostile, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    reasons = hostile(
        """
import shutil
path = os.getcwd()
os.chdir("/")
shutil.rmtree(path)
os.symlink("/", path)
""",
        expect="{files: {etc/passwd: present, bin: present}}",
    )
    assert len(reasons) == 2, "nothing of the root is taken for the workspace's"


def test_one_that_closes_all_its_descriptors(hostile) -> None:  # type: ignore[no-untyped-def]
    reasons = hostile("os.closerange(0, 1024)\ntime.sleep(600)", within=3)
    assert any("main had not ended after 3" in reason for reason in reasons), reasons


def test_one_that_floods_the_model_with_rubbish(hostile) -> None:  # type: ignore[no-untyped-def]
    hostile("""
port = int(os.environ["HARNESS_BASE_URL"].rpartition(":")[2].partition("/")[0])
socks = []
for n in range(200):
    try:
        sock = socket.create_connection(("127.0.0.1", port), 1)
        sock.settimeout(1)
        sock.sendall(b"\\x00" * 1000 if n % 2 else b"POST / HTTP/1.1\\r\\n")
        socks.append(sock)
    except OSError:
        pass
sys.exit(1)
""")


def test_one_that_makes_deep_and_many_files(hostile) -> None:  # type: ignore[no-untyped-def]
    hostile("""
for n in range(3000):
    open(f"f{n}", "w").close()
for _ in range(300):
    os.mkdir("d" * 50)
    os.chdir("d" * 50)
os.chmod(".", 0)
sys.exit(1)
""")


def test_one_that_stops_itself(hostile) -> None:  # type: ignore[no-untyped-def]
    reasons = hostile("os.kill(os.getpid(), signal.SIGSTOP)", within=3)
    assert any("main had not ended after 3" in reason for reason in reasons), reasons


def test_one_that_kills_everything_it_can_see(hostile) -> None:  # type: ignore[no-untyped-def]
    hostile("os.kill(-1, signal.SIGKILL)\ntime.sleep(1)\nos.kill(1, signal.SIGKILL)\nsys.exit(1)")
