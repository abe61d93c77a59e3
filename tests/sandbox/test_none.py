"""The provider `none` keeps to the same Protocol, isolates nothing, says so, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from box_help import descriptors, soon

from triathlon import sandbox
from triathlon.sandbox import BoxSpec, Layer, Provider, Sandbox


@pytest.fixture
def plain(capsys: pytest.CaptureFixture[str]) -> Iterator[Provider]:
    with sandbox.provider("none") as made:
        assert "isolates nothing" in capsys.readouterr().err
        yield made


@pytest.fixture
def box(plain: Provider) -> Iterator[Sandbox]:
    with plain.open(BoxSpec()) as opened:
        yield opened


def test_it_is_marked(plain: Provider) -> None:
    assert plain.marks == ("no isolation",)
    assert not plain.stable
    assert {"python", "bash", "git"} <= set(plain.fingerprint)


def test_processes(box: Sandbox) -> None:
    result = box.exec(["sh", "-c", "cat; pwd; echo $HOME; echo e >&2; exit 3"], input=b"in\n", env={"A": "b"})
    assert (result.returncode, result.stdout.decode(), result.stderr) == (
        3,
        f"in\n{box.workspace}\n{box.home}\n",
        b"e\n",
    )
    assert box.exec(["no-such-command"]).returncode == 127
    process = box.start(["sleep", "60"])
    process.signal(signal.SIGTERM)
    assert process.wait(10) == 143
    assert box.exec(["sleep", "60"], timeout=0.2).timed_out
    assert box.usage().cpu_seconds > 0


def test_files_by_both_kinds_of_path(box: Sandbox) -> None:
    box.write_file(f"{box.workspace}/a", b"1")
    box.write_file("/etc/harness/settings.json", b"{}")
    assert Path(box.workspace, "a").read_bytes() == b"1"
    assert Path(box.inside("/etc/harness/settings.json")).read_bytes() == b"{}"
    assert box.read_file("/work/project/a") == b"1"
    assert sorted(box.tree(box.workspace)) == ["a"]
    assert box.inside(box.workspace) == box.workspace


def test_a_terminal(box: Sandbox) -> None:
    master, slave = box.terminal(rows=9, columns=20)
    process = box.start(["sh", "-c", "stty size > /dev/tty"], stdin=slave, stdout=slave, terminal=True)
    os.close(slave)
    assert process.wait(10) == 0
    assert os.read(master, 100) == b"9 20\r\n"
    os.close(master)


def test_listeners_have_ports_of_their_own(box: Sandbox) -> None:
    address = box.url(0).removeprefix("http://").split(":")
    with socket.create_connection((address[0], int(address[1])), 5) as connection:
        accepted, _ = box.listeners[0].accept()
        accepted.close()
        assert connection.recv(1) == b""
    with pytest.raises(ConnectionRefusedError):
        box.connect(1)


def test_install_and_run_at_one_path(plain: Provider, tmp_path: Path) -> None:
    with plain.open(BoxSpec(writable=("/opt/harness",))) as box:
        prefix = box.inside("/opt/harness")
        box.exec(["sh", "-c", 'mkdir "$1/bin" && echo "echo $1" > "$1/bin/h"', "sh", prefix])
        box.export("/opt/harness", tmp_path / "layer")
    with plain.open(BoxSpec(layers=(Layer(tmp_path / "layer", "/opt/harness"),))) as box:
        assert box.inside("/opt/harness") == prefix
        assert box.exec(["sh", f"{prefix}/bin/h"]).stdout.decode() == f"{prefix}\n"


def test_nothing_is_left(plain: Provider) -> None:
    with plain.open(BoxSpec()) as box:
        box.exec(["true"])
    before = descriptors()
    box = plain.open(BoxSpec())
    box.start(["sh", "-c", "setsid sleep 77 & sleep 77"])
    box.exec(["sh", "-c", "mkdir locked; touch locked/file; chmod 0 locked"])
    assert soon(lambda: len(box.processes()) == 3)
    workspace = Path(box.workspace)
    box.close()
    box.close()
    assert box.processes() == []
    assert not workspace.exists()
    assert descriptors() == before
