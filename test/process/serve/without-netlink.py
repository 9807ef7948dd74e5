"""Runs a command that may use no netlink sockets, as RestrictAddressFamilies= of a systemd unit forbids them (Linux on x86-64)."""

import ctypes
import os
import struct
import sys

LOAD, EQUALS, RETURN = 0x20, 0x15, 0x06
SYS_SOCKET, AF_NETLINK, EAFNOSUPPORT = 41, 16, 97
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | EAFNOSUPPORT
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, FILTER = 22, 38, 2

steps = [
    (LOAD, 0, 0, 0),  # the number of the system call
    (EQUALS, 0, 3, SYS_SOCKET),
    (LOAD, 0, 0, 16),  # its first argument
    (EQUALS, 0, 1, AF_NETLINK),
    (RETURN, 0, 0, REFUSE),
    (RETURN, 0, 0, ALLOW),
]


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("steps", ctypes.c_void_p)]


code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
program = Program(len(steps), ctypes.addressof(code))
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 or libc.prctl(PR_SET_SECCOMP, FILTER, ctypes.byref(program), 0, 0) != 0:
    sys.exit(os.strerror(ctypes.get_errno()))
os.execvp(sys.argv[1], sys.argv[1:])
