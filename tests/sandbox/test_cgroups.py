"""Finding and using control groups: on made-up trees of both versions, and for real where this user may."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from triathlon.sandbox import Limits
from triathlon.sandbox.namespaces import cgroups
from triathlon.sandbox.namespaces.cgroups import Group, Parents, parents

V1 = """\
30 25 0:26 / /sys rw - sysfs sysfs rw
31 30 0:27 {root} {top}/memory rw,nosuid - cgroup cgroup rw,memory
32 30 0:28 / {top}/pids rw,nosuid - cgroup cgroup rw,pids
33 30 0:29 / {top}/unified rw - cgroup2 cgroup2 rw
"""
V2 = "33 30 0:29 / {top} rw - cgroup2 cgroup2 rw,nsdelegate\n"


def made_up(tmp_path: Path, mountinfo: str, own: str, root: str = "/") -> Path:
    proc = tmp_path / "proc"
    proc.mkdir()
    (proc / "mountinfo").write_text(mountinfo.format(top=tmp_path, root=root))
    (proc / "cgroup").write_text(own)
    return proc


@pytest.fixture(autouse=True)
def kernel_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder made in a real group has its files at once; here the probe finds them through this."""

    def can_make(folder: Path) -> bool:
        return (folder / "cgroup.procs").exists() and not (folder / "read-only").exists()

    monkeypatch.setattr(cgroups, "_can_make", can_make)


def group(folder: Path, on: str = "") -> Path:
    folder.mkdir(parents=True)
    (folder / "cgroup.procs").touch()
    (folder / "cgroup.subtree_control").write_text(on)
    return folder


def test_version_1_below_our_own_groups(tmp_path: Path) -> None:
    memory, pids = group(tmp_path / "memory/here"), group(tmp_path / "pids")
    proc = made_up(tmp_path, V1, "4:memory:/here\n8:pids:/\n0::/\n")
    assert parents(proc) == Parents(1, (memory, pids))


def test_version_1_in_a_container_that_shows_its_own_group_only(tmp_path: Path) -> None:
    memory, pids = group(tmp_path / "memory"), group(tmp_path / "pids")
    proc = made_up(tmp_path, V1, "4:memory:/docker/abc\n8:pids:/\n", root="/docker/abc")
    assert parents(proc) == Parents(1, (memory, pids))


def test_version_2_goes_up_to_a_group_that_passes_the_controllers_on(tmp_path: Path) -> None:
    group(tmp_path / "user/session/leaf")
    group_in_between = tmp_path / "user/session"
    (group_in_between / "cgroup.procs").touch()
    (group_in_between / "cgroup.subtree_control").write_text("pids")
    (tmp_path / "user/cgroup.procs").touch()
    (tmp_path / "user/cgroup.subtree_control").write_text("cpu memory pids")
    proc = made_up(tmp_path, V2, "0::/user/session/leaf\n")
    assert parents(proc) == Parents(2, (tmp_path / "user",))


def test_none_where_nothing_may_be_made(tmp_path: Path) -> None:
    (group(tmp_path / "x", "memory pids") / "read-only").touch()
    assert parents(made_up(tmp_path, V2, "0::/x\n")) is None


def test_limits_and_usage_of_version_2(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroups, "parents", lambda: Parents(2, (tmp_path,)))
    made = cgroups.create(Limits(memory_mb=64, pids=9))
    assert made is not None
    (folder,) = made.folders
    assert (folder / "memory.max").read_text() == str(64 << 20)
    assert (folder / "pids.max").read_text() == "9"
    assert made.procs == [str(folder / "cgroup.procs")]
    (folder / "memory.peak").write_text(str(5 << 20))
    (folder / "memory.events").write_text("low 0\noom 2\noom_kill 1\n")
    assert made.usage() == (5.0, True)
    for file in folder.iterdir():
        file.unlink()
    made.remove()
    assert not folder.exists()
    assert made.usage() == (5.0, True)


def test_a_group_in_use_is_waited_for_and_given_up(tmp_path: Path) -> None:
    (tmp_path / "busy/child").mkdir(parents=True)
    cgroups._remove(tmp_path / "busy", seconds=0.05)
    assert (tmp_path / "busy").exists()


def test_sweep_keeps_the_groups_of_the_living(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroups, "parents", lambda: Parents(2, (tmp_path,)))
    gone = subprocess.Popen(["true"])
    gone.wait()
    living = tmp_path / f"box-{cgroups.mark()}-0"
    for folder in (tmp_path / f"box-{gone.pid}-77-0", living, tmp_path / "other-1-2-3"):
        folder.mkdir()
    cgroups.sweep()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([living.name, "other-1-2-3"])


def test_a_real_group(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    made = cgroups.create(Limits(memory_mb=64, pids=9))
    if made is None:
        pytest.skip("this user may make no control group for memory and pids")
    assert isinstance(made, Group)
    assert made.usage()[1] is False
    made.remove()
    assert not any(folder.exists() for folder in made.folders)
