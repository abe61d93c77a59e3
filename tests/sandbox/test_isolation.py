"""A hostile candidate gets nothing, breaks nothing, and gets the same whoever runs the bench (see probe.py)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import probe
import pytest

from triathlon.sandbox.namespaces import Namespaces

NONE = "0000000000000000"
EXPECTED: dict[str, Any] = {
    "identity": [
        [[1000, 1000, 1000], [1000, 1000, 1000], [], "box", True, "/work/project"],
        {"CapInh": NONE, "CapPrm": NONE, "CapEff": NONE, "CapBnd": NONE, "CapAmb": NONE, "NoNewPrivs": "1"},
        [0, 1, 2],
    ],
    "what_is_refused": {
        **dict.fromkeys(
            ("mount", "remount", "unmount", "new mounts", "chroot", "mknod", "host name", "clock", "setgroups"), "EPERM"
        ),
        **dict.fromkeys(("trace init", "packet", "raise limits"), "EPERM"),
        **dict.fromkeys(("core pattern", "more user namespaces", "low ports", "bind port 81"), "EACCES"),
        **{f"init's {name}": "EACCES" for name in ("mem", "environ", "maps", "fd", "exe", "root", "cwd", "fdinfo")},
        "new users": "ENOSPC",
        "setuid 0": "EINVAL",
        "vsock": "EAFNOSUPPORT",
        "kernel keys": "ENOSYS",
        "io_uring": "ENOSYS",
    },
    "init_cannot_be_hurt": ["init", "alive\n"],
    "init_without_descriptors_is_the_end_of_the_candidate": [137, 137, [], "here"],
    "host_is_not_reachable": ["lo", 1, 1, "ECONNREFUSED", "ENETUNREACH", "ENETUNREACH", "ESRCH", True],
    "only_listed_places_can_be_written": [
        "/dev/shm",
        "/home/agent",
        "/tmp",
        "/work",
        "/work/outside",
        "/work/project",
    ],
    "nothing_of_the_project_can_be_read": [[["/work/project/control", 0]], True],
    "mounts_name_neither_user_nor_project": [],
    "nested_namespaces_only_where_allowed": [["ENOSPC", "ok"], True],
    "fork_bomb": [True, [], True, 0],
    "full_disk_is_an_error_and_not_the_end": [["ENOSPC"], True, 0, False],
    "no_end_of_small_files": ["ENOSPC", True],
    "large_file_is_cut": ["EFBIG", 153],
    "memory_hogs": [1, False, True, "alive\n"],
    "a_gigabyte_of_output": [0, 1_000_000_000, 1_048_576, True, True],
    "never_ends": [None, True, 137],
    "workspace_replaced_by_a_link_to_the_root": [
        ["Not a directory", "Too many levels of symbolic links"] * 3 + ["Not a directory"],
        {"": ["link", "/"]},
        False,
        ["file", "outside"],
    ],
    "folders_that_turn_into_links_while_we_write": [],
    "locked_and_odd_files_are_seen": [
        {
            "alone": ["file", "0o0", "plain\n", None],
            "a\xffb": ["file", "0o644", "x", None],
            "broken": ["link", "0o777", "", "nowhere"],
            "locked": ["dir", "0o0", "", None],
            "locked/deep": ["dir", "0o0", "", None],
            "locked/deep/file": ["file", "0o0", "secret\n", None],
            "pipe": ["other", "0o644", "", None],
            "sock": ["other", "0o755", "", None],
        },
        ["0o0", "0o0"],
        "secret\n",
        2,
        None,
        "alone",
    ],
    "trees_without_end_are_bounded": [0, 20_000, 300, 2 * 1_048_576, 1, True],
    "invalid_output": "\xff\xfe bad",
}


@pytest.mark.parametrize("name", probe.PROBES)
def test_probe(name: str, made: Namespaces) -> None:
    assert json.loads(json.dumps(probe.PROBES[name](made))) == EXPECTED[name]


@pytest.fixture(scope="module")
def open_to_all() -> Iterator[Path]:
    """A copy of what the probe needs, at a place every account can read."""
    repository = Path(__file__).resolve().parents[2]
    copy = Path(tempfile.mkdtemp(prefix="probe-"))
    skip = shutil.ignore_patterns("__pycache__")
    (copy / "src/triathlon").mkdir(parents=True)
    for name in ("__init__.py", "errors.py", "protocol.toml"):
        shutil.copy(repository / "src/triathlon" / name, copy / "src/triathlon" / name)
    shutil.copytree(repository / "src/triathlon/sandbox", copy / "src/triathlon/sandbox", ignore=skip)
    (copy / "tests/sandbox").mkdir(parents=True)
    shutil.copy(repository / "tests/sandbox/probe.py", copy / "tests/sandbox/probe.py")
    for folder, _, names in os.walk(copy):
        for path in (Path(folder), *(Path(folder) / name for name in names)):
            path.chmod(0o755 if path.is_dir() else 0o644)
    yield copy
    shutil.rmtree(copy)


def test_a_normal_user_gets_the_same(open_to_all: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can become another user; the other tests here already ran as a normal one")
    user = 65534
    python = "/usr/bin/python3"
    asked = [python, "-c", "import sys; sys.exit(sys.version_info < (3, 11))"]
    if not Path(python).exists() or subprocess.run(asked).returncode:
        pytest.skip("no Python 3.11 that another account can run")
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(open_to_all),
        "USER": "somebody",
        "PYTHONPATH": str(open_to_all / "src"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    run = subprocess.run(
        [python, str(open_to_all / "tests/sandbox/probe.py")],
        user=user,
        group=user,
        extra_groups=[],
        env=environment,
        cwd="/",
        capture_output=True,
    )
    assert run.returncode == 0, run.stderr.decode()
    assert json.loads(run.stdout)["seen"] == EXPECTED
