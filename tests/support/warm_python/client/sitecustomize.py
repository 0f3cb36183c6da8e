"""Startup of a Python process: its program runs in the server of `TRAINYARD_WARM_PYTHON`, if set.

Python imports this module at its start because the directory is in `PYTHONPATH`. The module passes
the arguments, environment and standard streams to the server, whose child has already imported the
packages, forwards signals to that child, and ends with its exit status. If the server cannot behave
like a plain Python process, it refuses, and this process continues as one.

To keep the cost of such a process low, only modules that are built in or already loaded are
imported.
"""

import _signal
import _socket
import marshal
import os
import sys

VARIABLE = "TRAINYARD_WARM_PYTHON"
REFUSED = b"\x00"
FLAGS = (
    *("debug", "inspect", "interactive", "optimize", "no_user_site", "no_site"),
    *("ignore_environment", "verbose", "bytes_warning", "hash_randomization", "isolated"),
    *("dev_mode", "utf8_mode", "int_max_str_digits"),
)
"""Names in `sys.flags` that must be equal; a child applies the others."""
FORWARDED = (_signal.SIGHUP, _signal.SIGINT, _signal.SIGQUIT, _signal.SIGTERM)


def hand_over(address: str) -> None:
    """Let the server run the program of this process, and end; return if it refuses."""
    request = asked()
    if request is None:
        return
    server = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        server.connect(address)
        streams = b"".join(fd.to_bytes(4, sys.byteorder) for fd in (0, 1, 2))
        rights = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)]
        server.sendmsg([len(request).to_bytes(8, "little")], rights)
        server.sendall(request)
        if server.recv(1) == REFUSED:
            return
        for number in FORWARDED:
            if _signal.getsignal(number) != _signal.SIG_IGN:
                _signal.signal(number, lambda received, _: server.send(bytes([received])))
        status = server.recv(4)
    except OSError as error:
        status = str(error).encode()
    if len(status) != 4:
        os.write(2, b"the warm Python of the tests has ended: " + status + b"\n")
        os._exit(1)
    end_with(int.from_bytes(status, "little", signed=True))


def asked() -> "bytes | None":
    """Return the program of this process; None if only a plain Python process can run it."""
    interpreter = sys.orig_argv[: len(sys.orig_argv) - len(sys.argv) + 1]
    kind = sys.argv[0] if sys.argv[0] in ("-m", "-c") else "script"
    if kind == "script":
        understood = interpreter[-1] == sys.argv[0] and os.path.isfile(sys.argv[0])
    else:
        understood = interpreter[-2] == kind
    streams = [sys.stdin, sys.stdout, sys.stderr]
    if not understood or None in streams:
        return None
    return marshal.dumps(
        {
            "pid": os.getpid(),
            "kind": kind,
            "code": interpreter[-1],
            "argv": list(sys.argv),
            "orig_argv": list(sys.orig_argv),
            "path": [path for path in sys.path if path != os.path.dirname(__file__)],
            "safe_path": sys.flags.safe_path,
            "dont_write_bytecode": sys.dont_write_bytecode,
            "interpreter": interpreter_of(),
            "cwd": os.getcwd(),
            "umask": umask(),
            "environment": dict(os.environ),
            "ignored": [n for n in FORWARDED if _signal.getsignal(n) == _signal.SIG_IGN],
            "streams": [(s.encoding, s.errors, s.line_buffering, s.write_through) for s in streams],
        }
    )


def interpreter_of() -> "list[object]":
    """Return the interpreter and its settings, which must be the same in the server."""
    flags = [int(getattr(sys.flags, name)) for name in FLAGS]
    return [sys.executable, sys.prefix, sys.version, flags, list(sys.warnoptions)]


def umask() -> int:
    """Return the mask for new files."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def end_with(status: int) -> None:
    """End like the child: with its exit code, or by the same signal."""
    if status < 0:
        if -status != _signal.SIGKILL:
            _signal.signal(-status, _signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)


if os.environ.get(VARIABLE):
    hand_over(os.environ[VARIABLE])
