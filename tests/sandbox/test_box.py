"""Starting, signalling and talking to processes of a sandbox."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Iterator

import pytest
from box_help import answer, python, soon

from triathlon.errors import SandboxError
from triathlon.sandbox import BoxSpec, Capture, Limits
from triathlon.sandbox.namespaces import Namespaces
from triathlon.sandbox.namespaces.sandbox import Box


def test_exec_gives_status_and_both_outputs(box: Box) -> None:
    result = box.exec(["sh", "-c", "cat; echo wrong >&2; exit 7"], input=b"\xff in\n")
    assert (result.returncode, result.stdout, result.stderr, result.timed_out) == (7, b"\xff in\n", b"wrong\n", False)


def test_exec_ends_at_its_timeout_with_its_group(box: Box) -> None:
    began = time.monotonic()
    result = box.exec(["sh", "-c", "echo a; sleep 60 & sleep 60"], timeout=0.3)
    assert (result.timed_out, result.returncode, result.stdout) == (True, 137, b"a\n")
    assert time.monotonic() - began < 5
    assert soon(lambda: box.processes() == [])


def test_a_daemon_does_not_hold_exec(box: Box) -> None:
    began = time.monotonic()
    assert box.exec(["sh", "-c", "setsid sleep 60 & echo started"], timeout=20).stdout == b"started\n"
    assert time.monotonic() - began < 10
    assert [process.argv for process in box.processes()] == [("sleep", "60")]


@pytest.mark.parametrize(
    ("argv", "status", "words"),
    [
        (["no-such-command"], 127, b"not found"),
        (["/work/no/such"], 127, b"not found"),
        (["/etc/passwd"], 126, b"Permission denied"),
        (["true", "x" * 200_000], 126, b"too long"),
    ],
)
def test_what_cannot_run_ends_as_a_shell_says(box: Box, argv: list[str], status: int, words: bytes) -> None:
    result = box.exec(argv)
    assert result.returncode == status
    assert words in result.stderr


def test_a_missing_folder_is_said(box: Box) -> None:
    result = box.exec(["true"], cwd="/work/gone")
    assert result.returncode == 126
    assert b"/work/gone" in result.stderr


def test_killed_by_a_signal_is_128_more(box: Box) -> None:
    process = box.start(["sleep", "60"])
    assert process.poll() is None
    assert process.wait(0.01) is None
    process.signal(signal.SIGTERM)
    assert process.wait(10) == 143
    process.signal(signal.SIGTERM)
    assert process.poll() == 143


def test_default_signals_reach_what_is_started(box: Box) -> None:
    for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD):
        status = python(
            box, "import signal, sys; sys.exit(signal.getsignal(int(sys.argv[1])) == signal.SIG_IGN)", str(int(number))
        )
        ignored_by_python_itself = number in (signal.SIGPIPE, signal.SIGXFSZ)
        assert status.returncode == int(ignored_by_python_itself)
    assert box.exec(["sh", "-c", "yes | head -1; echo $?"]).stdout == b"y\n0\n"
    assert box.exec(["bash", "-c", "yes | head -1; echo ${PIPESTATUS[0]}"]).stdout == b"y\n141\n"


def test_environment_is_built_from_nothing(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEAKED", "yes")
    lines = box.exec(["env"], env={"EXTRA": "1", "LANG": "C"}).stdout.decode().splitlines()
    assert sorted(lines) == sorted(
        [
            "PATH=/usr/local/bin:/usr/bin:/bin",
            "HOME=/home/agent",
            "LANG=C",
            "TMPDIR=/tmp",
            "USER=agent",
            "LOGNAME=agent",
            "SHELL=/bin/bash",
            "EXTRA=1",
        ]
    )


def test_bytes_that_are_no_text_pass_through_arguments(box: Box) -> None:
    odd = os.fsdecode(b"a\xffb")
    assert box.exec(["printf", "%s", odd]).stdout == b"a\xffb"


def test_streams_default_to_nothing_and_the_callers_are_copied(box: Box) -> None:
    capture = Capture()
    process = box.start(["sh", "-c", "cat; echo out; ls /proc/self/fd"], stdout=capture.write_end)
    capture.begin()
    assert process.wait(10) == 0
    assert capture.finish(5)
    assert capture.data == b"out\n0\n1\n2\n3\n"


def test_a_terminal_of_its_own(box: Box) -> None:
    master, slave = box.terminal(rows=7, columns=33)
    code = (
        "import os; print(os.ttyname(0), os.get_terminal_size(), os.tcgetpgrp(0) == os.getpgrp());"
        "open('/dev/tty', 'w').write('direct')"
    )
    process = box.start(["python3", "-c", code], stdin=slave, stdout=slave, stderr=slave, terminal=True)
    os.close(slave)
    assert process.wait(10) == 0
    told = os.read(master, 4096)
    os.close(master)
    assert told == b"/dev/pts/0 os.terminal_size(columns=33, lines=7) True\r\ndirect"


def test_ctrl_c_in_the_terminal_ends_the_process_and_nothing_else(box: Box) -> None:
    master, slave = box.terminal()
    process = box.start(["sleep", "60"], stdin=slave, stdout=slave, stderr=slave, terminal=True)
    os.close(slave)
    os.write(master, b"\x03")
    assert process.wait(10) == 130
    os.close(master)
    assert box.exec(["true"]).returncode == 0


def test_a_terminal_of_the_host_works_too(box: Box) -> None:
    master, slave = os.openpty()
    process = box.start(["sh", "-c", "test -t 0 && echo yes > /dev/tty"], stdin=slave, stdout=slave, terminal=True)
    os.close(slave)
    assert process.wait(10) == 0
    assert os.read(master, 100) == b"yes\r\n"
    os.close(master)


@pytest.fixture
def served(made: Namespaces) -> Iterator[Box]:
    spec = BoxSpec(
        listen=(("127.0.0.1", 8080), ("127.0.0.2", 80), ("127.0.0.2", 443)), hosts={"docs.test": "127.0.0.2"}
    )
    with made.open(spec) as box:
        yield box


def test_listeners_are_made_inside_and_served_outside(served: Box) -> None:
    def serve(listener: socket.socket, name: bytes) -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(1000)
            connection.sendall(b"HTTP/1.0 200 OK\r\n\r\n" + name)

    threads = [
        threading.Thread(target=serve, args=(listener, b"%d" % i)) for i, listener in enumerate(served.listeners)
    ]
    for thread in threads:
        thread.start()
    told = answer(
        served,
        """
        import json, sys, urllib.request
        print(json.dumps([urllib.request.urlopen(url).read().decode() for url in sys.argv[1:]]))
        """,
        served.url(0),
        "http://docs.test/",
        served.url(2),
    )
    for thread in threads:
        thread.join()
    assert told == ["0", "1", "2"]
    assert served.url(0) == "http://127.0.0.1:8080"


def test_connect_reaches_a_server_inside(box: Box) -> None:
    with pytest.raises(ConnectionRefusedError):
        box.connect(9999)
    code = "import socket; s = socket.create_server(('127.0.0.1', 9999)); c, _ = s.accept(); c.sendall(c.recv(9)[::-1])"
    process = box.start(["python3", "-c", code])

    def connects() -> bool:
        try:
            with box.connect(9999) as connection:
                connection.sendall(b"abc")
                return connection.recv(9) == b"cba"
        except ConnectionRefusedError:
            return False

    assert soon(connects)
    assert process.wait(10) == 0


def test_kill_all_takes_everything_but_the_sandbox(box: Box) -> None:
    processes = [box.start(["sh", "-c", "trap '' TERM INT HUP; setsid sleep 60 & sleep 60"]) for _ in range(3)]
    assert soon(lambda: len(box.processes()) == 9)
    box.kill_all()
    assert box.processes() == []
    assert [process.wait(5) for process in processes] == [137] * 3
    assert box.exec(["echo", "alive"]).stdout == b"alive\n"


def test_usage_counts_what_ran_and_what_runs(box: Box) -> None:
    python(box, "import time\nwhile time.process_time() < 0.3: pass")
    ended = box.usage()
    assert 0.3 <= ended.cpu_seconds < 3
    assert ended.peak_mb > 1
    assert not ended.oom
    box.start(["sh", "-c", "while :; do :; done"])
    assert soon(lambda: box.usage().cpu_seconds > ended.cpu_seconds + 0.1)


def test_extra_writable_places_and_layers(made: Namespaces, tmp_path_factory: pytest.TempPathFactory) -> None:
    from triathlon.sandbox import Layer
    from triathlon.sandbox.cache import discard, temporary

    with made.open(BoxSpec(writable=("/opt/harness",))) as box:
        script = "mkdir -p /opt/harness/bin; echo 'echo hello' > /opt/harness/bin/h; chmod +x /opt/harness/bin/h"
        assert box.exec(["sh", "-c", script]).returncode == 0
        layer = temporary("new") / "layer"
        box.export("/opt/harness", layer)
    try:
        with made.open(BoxSpec(layers=(Layer(layer, "/opt/harness"),))) as box:
            assert box.exec(["/opt/harness/bin/h"]).returncode == 126  # no shebang
            assert box.exec(["sh", "/opt/harness/bin/h"]).stdout == b"hello\n"
            assert box.exec(["touch", "/opt/harness/x"]).returncode == 1
            owner = box.exec(["stat", "-c", "%U %a", "/opt/harness/bin/h"]).stdout
        assert owner == b"agent 755\n"
    finally:
        discard(layer.parent)


def test_asking_too_much_is_an_error_of_ours(made: Namespaces) -> None:
    with pytest.raises(SandboxError, match=r"listen on 127\.0\.0\.1:80"):
        made.open(BoxSpec(listen=(("127.0.0.1", 80), ("127.0.0.1", 80))))
    assert made.open(BoxSpec(limits=Limits(tmpfs_mb=16))).close() is None


def test_a_closed_sandbox_says_so(made: Namespaces) -> None:
    box = made.open(BoxSpec())
    process = box.start(["sleep", "60"])
    box.close()
    box.close()
    assert process.poll() == 137
    with pytest.raises(SandboxError, match="closed"):
        box.exec(["true"])
