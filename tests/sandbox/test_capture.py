"""Capture keeps the head, drains the rest, and never hangs on a writer that stays."""

from __future__ import annotations

import os
import resource
import subprocess
import threading
import time
from pathlib import Path

import pytest

from triathlon.sandbox.capture import Capture


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def run(script: str, limit: int = 1_048_576) -> Capture:
    capture = Capture(limit)
    process = subprocess.Popen(["/bin/sh", "-c", script], stdout=capture.write_end)
    capture.begin()
    process.wait()
    return capture


def test_keeps_everything_below_the_limit() -> None:
    capture = run("printf 'a\\377b'")
    assert capture.finish(5)
    assert (capture.data, capture.text, capture.total, capture.truncated) == (b"a\xffb", "a\ufffdb", 3, False)


@pytest.mark.parametrize("size", [9, 10, 11, 400_000])
def test_cuts_at_the_limit_and_counts_the_rest(size: int) -> None:
    capture = run(f"head -c {size} /dev/zero", limit=10)
    assert capture.finish(5)
    assert capture.data == b"\0" * min(size, 10)
    assert capture.total == size
    assert capture.truncated == (size > 10)
    assert ("bytes left out" in capture.text) == (size > 10)


def test_a_gigabyte_costs_no_memory() -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    capture = run("head -c 1000000000 /dev/zero")
    assert capture.finish(5)
    assert capture.total == 1_000_000_000
    assert len(capture.data) == 1_048_576
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 30_000


def test_waits_for_a_text_and_gives_up_at_the_end() -> None:
    capture = Capture()
    writer = os.dup(capture.write_end)
    capture.begin()

    def write() -> None:
        for part in (b"one ", b"two ", b"three"):
            time.sleep(0.02)
            os.write(writer, part)
        os.close(writer)

    thread = threading.Thread(target=write)
    thread.start()
    assert capture.wait_for(lambda data: b"two" in data, 5)
    assert not capture.wait_for(lambda data: b"four" in data, 5)
    assert capture.ended
    thread.join()
    assert capture.finish(5)
    assert capture.data == b"one two three"


def test_a_writer_that_stays_does_not_hold_us() -> None:
    capture = Capture()
    writer = os.dup(capture.write_end)
    capture.begin()
    os.write(writer, b"x")
    assert not capture.wait_for(lambda data: b"y" in data, 0.05)
    assert not capture.finish(0.05)
    assert capture.data == b"x"
    with pytest.raises(BrokenPipeError):
        os.write(writer, b"more")
    os.close(writer)


def test_leaves_no_descriptor_or_thread() -> None:
    before, threads = descriptors(), threading.active_count()
    for _ in range(20):
        run("echo").finish(5)
    unused = Capture()
    unused.finish()
    unused.finish()
    assert (descriptors(), threading.active_count()) == (before, threads)
