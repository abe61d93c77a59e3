"""System calls refused inside, because namespaces do not cover them.

A socket of the family vsock reaches the host of a virtual machine from any network namespace; io_uring would open one
past this filter; kernel keys belong to the session of whoever runs the bench. Programs fall back on the errors given
here as they do on a kernel built without these parts.
"""

from __future__ import annotations

import os
import struct

_AF_VSOCK = 40
_EAFNOSUPPORT, _ENOSYS = 97, 38
# audit architecture, then the numbers of socket, add_key, request_key, keyctl; io_uring_setup is the same on all
_GENERIC = (198, 217, 218, 219)
_MACHINES = {
    "x86_64": (0xC000003E, (41, 248, 249, 250)),
    "aarch64": (0xC00000B7, _GENERIC),
    "riscv64": (0xC00000F3, _GENERIC),
}
_IO_URING_SETUP = 425
_X32_BIT = 0x4000_0000

_LOAD, _IF_EQUAL, _IF_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER_AT, _ARCHITECTURE_AT, _FIRST_ARGUMENT_AT = 0, 4, 16
_ALLOW, _ERROR = 0x7FFF_0000, 0x0005_0000


def program() -> bytes | None:
    """The filter, as an array of `struct sock_filter`; None for a machine whose numbers are not known here."""
    known = _MACHINES.get(os.uname().machine)
    if known is None:
        return None
    architecture, (socket, *keys) = known
    absent = (_IO_URING_SETUP, *keys)
    steps = [
        (_LOAD, 0, 0, _ARCHITECTURE_AT),
        (_IF_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _ERROR | _ENOSYS),  # another architecture's calls have other numbers
        (_LOAD, 0, 0, _NUMBER_AT),
        (_IF_AT_LEAST, len(absent) + 5, 0, _X32_BIT),
        *((_IF_EQUAL, len(absent) - i + 4, 0, number) for i, number in enumerate(absent)),
        (_IF_EQUAL, 0, 3, socket),
        (_LOAD, 0, 0, _FIRST_ARGUMENT_AT),
        (_IF_EQUAL, 0, 1, _AF_VSOCK),
        (_RETURN, 0, 0, _ERROR | _EAFNOSUPPORT),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _ERROR | _ENOSYS),
    ]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)
