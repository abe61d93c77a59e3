"""A sandbox leaves nothing behind: not when closed, not when its runner or its helper is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from box_help import children, descriptors, python, soon

from triathlon import sandbox
from triathlon.errors import SandboxError, UsageError
from triathlon.sandbox import BoxSpec, cache
from triathlon.sandbox.namespaces import Namespaces, cgroups


def groups_of(pid: int) -> list[str]:
    where = cgroups.parents()
    folders = where.folders if where else ()
    return [group.name for folder in folders for group in folder.glob(f"box-{pid}-*")]


def ours(folder: Path) -> list[str]:
    """What this process has made in the cache."""
    return sorted(path.name for path in folder.glob(f"*-{cache.mark()}-*"))


def test_two_hundred_sandboxes_leave_nothing(made: Namespaces) -> None:
    with made.open(BoxSpec()) as box:
        box.exec(["true"])
    mounts = Path("/proc/self/mountinfo").read_text()
    place = ours(made.cache)
    before = descriptors(), threading.active_count()
    for _ in range(200):
        with made.open(BoxSpec()) as box:
            assert box.start(["sh", "-c", "setsid sleep 60 & exit 4"]).wait(30) == 4
    assert (descriptors(), threading.active_count()) == before
    assert Path("/proc/self/mountinfo").read_text() == mounts
    assert ours(made.cache) == place
    assert groups_of(os.getpid()) == []
    helper = made._helper.pid
    assert soon(lambda: children(helper) == [])


def test_twelve_threads_do_not_mix_anything_up(made: Namespaces) -> None:
    def work(number: int) -> None:
        for turn in range(4):
            with made.open(BoxSpec()) as box:
                word = f"{number}-{turn}".encode()
                box.write_file(f"{box.workspace}/mine", word)
                result = box.exec(["sh", "-c", "cat mine; cat; ls /work /tmp /home/agent"], input=word)
                assert result.stdout == word + word + b"/home/agent:\n\n/tmp:\n\n/work:\noutside\nproject\n"
                assert box.tree(box.workspace)["mine"].data == word

    with ThreadPoolExecutor(12) as pool:
        list(pool.map(work, range(12)))


RUNNER = """
import sys, threading, time
from triathlon.sandbox import BoxSpec, provider
made = provider("namespaces")
boxes = [made.open(BoxSpec()) for _ in range(3)]
for box in boxes:
    box.start(["sh", "-c", "trap '' TERM HUP INT; setsid sleep 1000 & sleep 1000"])
print("ready", flush=True)
time.sleep(1000)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_runner_takes_everything_along(made: Namespaces, number: int) -> None:
    runner = subprocess.Popen([sys.executable, "-c", RUNNER], stdout=subprocess.PIPE)
    assert runner.stdout is not None
    with runner.stdout:
        assert runner.stdout.readline() == b"ready\n"
        started = children(runner.pid)
        assert len(started) >= 1 + 3 * 3
        runner.send_signal(number)
        runner.wait(10)
    assert soon(lambda: not any(Path(f"/proc/{pid}").exists() and not zombie(pid) for pid in started))
    sandbox.sweep()
    assert groups_of(runner.pid) == []


def zombie(pid: int) -> bool:
    """Dead, and waiting for whoever adopts orphans on this machine."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def test_a_killed_helper_is_our_own_error_and_is_replaced() -> None:
    with Namespaces() as made, made.open(BoxSpec()) as box:
        process = box.start(["sleep", "60"])
        os.kill(made._helper.pid, signal.SIGKILL)
        with pytest.raises(SandboxError, match="helper has ended"):
            process.wait(10)
        with pytest.raises(SandboxError, match="helper has ended"):
            box.exec(["true"])
        with made.open(BoxSpec()) as another:
            assert another.exec(["true"]).returncode == 0


def test_an_interrupt_in_the_terminal_is_for_the_runner(made: Namespaces) -> None:
    assert os.getpgid(made._helper.pid) != os.getpgid(0)


def test_files_can_be_read_after_everything_died(made: Namespaces) -> None:
    with made.open(BoxSpec()) as box:
        python(box, "open('left', 'w').write('here')")
        box.start(["sleep", "60"])
        signal.pidfd_send_signal(box._pidfd, signal.SIGKILL)
        assert soon(lambda: box.processes() == [])
        assert box.read_file(f"{box.workspace}/left") == b"here"
        assert box.tree(box.workspace)["left"].size == 4
        assert box.usage().cpu_seconds >= 0
        with pytest.raises(ConnectionRefusedError):
            box.connect(80)


def test_sweep_removes_only_what_a_dead_process_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    monkeypatch.setattr(cache, "place", lambda: tmp_path)
    old = time.time() - 40 * 86400
    for name, stays in {
        f"new-{gone.pid}-1-abc": False,
        f"plain-{gone.pid}-1-abc": False,
        f"plain-{os.getpid()}-1-abc": False,
        f"plain-{cache.mark()}-abc": True,
        "root-abc": True,
        "installed-old": False,
        "at": True,
    }.items():
        folder = tmp_path / name
        (folder / "locked").mkdir(parents=True)
        (folder / "locked/file").touch()
        (folder / "link").symlink_to("/")
        (folder / "locked").chmod(0)
        if name in ("at", "installed-old"):
            os.utime(folder, (old, old))
        if stays:
            (tmp_path / f"keep {name}").touch()
    cache.sweep()
    kept = sorted(path.name.removeprefix("keep ") for path in tmp_path.iterdir() if path.is_file())
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_dir()) == kept


def test_an_unknown_provider_is_wrong_use() -> None:
    with pytest.raises(UsageError, match="known are namespaces, none"):
        sandbox.provider("vm")
