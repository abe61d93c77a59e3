"""The pump: reads everything, keeps a part, waits for nobody."""

from __future__ import annotations

import os
import pty
import threading
import time
from collections.abc import Iterator

import pytest

from triathlon.harness.pump import Pump, Sink


@pytest.fixture
def pump() -> Iterator[Pump]:
    made = Pump()
    yield made
    made.close()


def soon() -> float:
    return time.monotonic() + 10


def test_it_reads_to_the_end_and_keeps_a_part(pump: Pump) -> None:
    r, w = os.pipe()
    sink = Sink(1000)
    pump.read(r, sink)
    writer = threading.Thread(target=lambda: (os.write(w, b"a" * 600), os.write(w, b"b" * 600), os.close(w)))
    writer.start()
    pump.drain([sink], within=10)
    writer.join()
    assert sink.ended
    assert sink.data == b"a" * 600 + b"b" * 400
    assert (sink.total, sink.cut) == (1200, True)


def test_a_wait_ends_with_the_text_or_with_its_time(pump: Pump) -> None:
    r, w = os.pipe()
    sink = Sink(1000)
    pump.read(r, sink)
    os.write(w, b"ready\n")
    assert pump.wait(lambda: b"ready" in sink.data, soon())
    assert not pump.wait(lambda: b"never" in sink.data, time.monotonic() + 0.05)
    os.close(w)


def test_input_larger_than_a_pipe_is_given_as_the_reader_takes_it(pump: Pump) -> None:
    r, w = os.pipe()
    text = os.urandom(300_000)
    pump.write(w, text, then_close=True)
    got = b""
    while part := os.read(r, 4096):
        got += part
    os.close(r)
    assert got == text


def test_a_reader_that_is_gone_is_no_error(pump: Pump) -> None:
    r, w = os.pipe()
    os.close(r)
    other_r, other_w = os.pipe()
    sink = Sink(10)
    pump.write(w, b"x" * 100, then_close=True)
    pump.read(other_r, sink)
    os.write(other_w, b"alive")
    assert pump.wait(lambda: sink.data == b"alive", soon())
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(w)
    os.close(other_w)


def test_a_terminal_is_read_and_written_and_its_end_is_an_end(pump: Pump) -> None:
    master, slave = pty.openpty()
    sink = Sink(1000)
    pump.read(master, sink)
    pump.write(master, b"hello\n")
    assert os.read(slave, 100) == b"hello\n"
    os.write(slave, b"bye")
    assert pump.wait(lambda: b"bye" in sink.data, soon())
    os.close(slave)
    pump.drain([sink], within=10)
    assert sink.ended


def test_close_closes_every_descriptor_and_ends_the_thread() -> None:
    threads = threading.active_count()
    pump = Pump()
    r, w = os.pipe()
    pump.read(r, Sink(10))
    pump.close()
    assert threading.active_count() == threads
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(r)
    os.close(w)
