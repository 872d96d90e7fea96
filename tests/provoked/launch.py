"""Starts a command that may not read the kernel's log by syslog(2), as in a container: what is read is the scene's /dev/kmsg."""

import ctypes
import os
import struct
import sys

SYSLOG = {"x86_64": 103, "aarch64": 116}[os.uname().machine]
PERMISSION_DENIED = 1
FILTER = (
    (0x20, 0, 0, 0),  # load the number of the call
    (0x15, 0, 1, SYSLOG),
    (0x06, 0, 0, 0x00050000 | PERMISSION_DENIED),
    (0x06, 0, 0, 0x7FFF0000),
)


def main() -> None:
    code = b"".join(struct.pack("HBBI", *one) for one in FILTER)
    held = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("HxxxxxxP", len(FILTER), ctypes.addressof(held))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.create_string_buffer(program, len(program))):
        sys.exit("no filter: " + os.strerror(ctypes.get_errno()))
    os.execvp(sys.argv[1], sys.argv[1:])


main()
