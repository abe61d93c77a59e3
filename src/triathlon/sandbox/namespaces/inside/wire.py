"""Messages with descriptors over a unix stream socket, between the runner, the helper and a sandbox's init."""

from __future__ import annotations

import array
import json
import socket
import struct
from collections.abc import Sequence
from typing import Any

Message = dict[str, Any]

_LENGTH = struct.Struct("=I")
_MAX_DESCRIPTORS = 128
_CMSG_CLOEXEC = 0x40000000


def send(channel: socket.socket, message: Message, descriptors: Sequence[int] = ()) -> None:
    """Send one message; OSError (BrokenPipeError) if the other side is gone."""
    payload = json.dumps(message).encode()
    packet = _LENGTH.pack(len(payload)) + payload
    ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
    sent = channel.sendmsg([packet], ancillary)
    if sent < len(packet):
        channel.sendall(memoryview(packet)[sent:])


def receive(channel: socket.socket) -> tuple[Message, list[int]] | None:
    """The next message with its descriptors (closed on exec), or None when the other side is gone."""
    descriptors = array.array("i")
    try:
        # The descriptors travel with the first byte.
        head, ancillary, _, _ = channel.recvmsg(
            _LENGTH.size, socket.CMSG_SPACE(_MAX_DESCRIPTORS * descriptors.itemsize), _CMSG_CLOEXEC
        )
        for level, kind, data in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                descriptors.frombytes(data[: len(data) - len(data) % descriptors.itemsize])
        head += _exactly(channel, _LENGTH.size - len(head)) if head else b""
        if len(head) < _LENGTH.size:
            return None
        (size,) = _LENGTH.unpack(head)
        payload = _exactly(channel, size)
    except ConnectionError:
        return None
    if len(payload) < size:
        return None
    return json.loads(payload), list(descriptors)


def _exactly(channel: socket.socket, size: int) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        part = channel.recv(min(size - len(parts), 1 << 20))
        if not part:
            break
        parts += part
    return bytes(parts)
