"""A child of the server becomes the Python process of its client."""

from __future__ import annotations

import atexit
import builtins
import importlib.machinery
import io
import os
import runpy
import signal
import sys
import threading
import types
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.support.warm_python.client.sitecustomize import FORWARDED

if TYPE_CHECKING:
    from tests.support.warm_python.server import Job


def run(job: Job) -> None:
    """Run the program of a client and end the process, like `python`."""
    wanted = job.wanted
    _take_over(wanted, job.streams)
    try:
        _PROGRAMS[wanted["kind"]](wanted)
    except SystemExit as end:
        code = _exit_code(end.code)
    except Exception as error:  # KeyboardInterrupt ends the interpreter in its own way
        error.__traceback__ = _of_the_program(error.__traceback__)
        sys.excepthook(type(error), error, error.__traceback__)
        code = 1
    else:
        code = 0
    _end(code)


def _of_the_program(traceback: types.TracebackType | None) -> types.TracebackType | None:
    """Omit this module from tracebacks."""
    while traceback is not None and traceback.tb_frame.f_code.co_filename == __file__:
        traceback = traceback.tb_next
    return traceback


def _take_over(wanted: dict[str, Any], streams: list[int]) -> None:
    """Apply the files, environment, arguments, signals and parent of a client."""
    for target, stream in enumerate(streams):
        os.dup2(stream, target)
        os.close(stream)
    os.chdir(wanted["cwd"])
    os.umask(wanted["umask"])
    os.environ.clear()
    os.environ.update(wanted["environment"])
    sys.argv[:], sys.path[:] = wanted["argv"], wanted["path"]
    sys.orig_argv[:] = wanted["orig_argv"]
    sys.dont_write_bytecode = wanted["dont_write_bytecode"]
    for number in FORWARDED:
        if number in wanted["ignored"]:
            signal.signal(number, signal.SIG_IGN)
        elif signal.getsignal(number) == signal.SIG_IGN:  # the server was started with `nohup`
            signal.signal(number, signal.SIG_DFL)
    names = ("stdin", "stdout", "stderr")
    for fd, (name, settings) in enumerate(zip(names, wanted["streams"], strict=True)):
        stream = _stream(fd, *settings)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    client = wanted["pid"]
    os.getppid = lambda: _parent_of(client)
    main = types.ModuleType("__main__")
    main.__dict__["__builtins__"] = builtins
    sys.modules["__main__"] = main


def _stream(
    fd: int, encoding: str, errors: str, line_buffering: bool, write_through: bool
) -> io.TextIOWrapper:
    buffering = 0 if write_through and fd else -1
    raw: Any = open(fd, "wb" if fd else "rb", buffering=buffering, closefd=False)  # noqa: SIM115
    return io.TextIOWrapper(
        raw, encoding, errors, line_buffering=line_buffering, write_through=write_through
    )


def _parent_of(pid: int) -> int:
    """Return the parent of a client: some programs end with their parent."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return 1
    return int(stat.rpartition(")")[2].split()[1])


def _run_module(wanted: dict[str, Any]) -> None:
    if not wanted["safe_path"]:
        sys.path.insert(0, wanted["cwd"])
    run_as_main: Any = vars(runpy)["_run_module_as_main"]  # what `python -m` calls
    run_as_main(wanted["code"])


def _run_script(wanted: dict[str, Any]) -> None:
    path = str(Path.cwd() / wanted["code"])
    if not wanted["safe_path"]:
        sys.path.insert(0, str(Path(path).resolve().parent))
    main = sys.modules["__main__"]
    loader = importlib.machinery.SourceFileLoader("__main__", path)
    vars(main).update(__file__=path, __cached__=None, __loader__=loader)
    with io.open_code(path) as file:
        exec(compile(file.read(), path, "exec"), vars(main))


def _run_text(wanted: dict[str, Any]) -> None:
    if not wanted["safe_path"]:
        sys.path.insert(0, "")
    exec(compile(wanted["code"], "<string>", "exec"), vars(sys.modules["__main__"]))


_PROGRAMS = {"-m": _run_module, "-c": _run_text, "script": _run_script}


def _exit_code(code: object) -> int:
    if code is None or isinstance(code, int):
        return (code or 0) & 0xFF
    sys.stderr.write(f"{code}\n")
    return 1


def _end(code: int) -> None:
    """End like the interpreter, except that the system frees all memory at once."""
    vars(threading)["_shutdown"]()
    vars(atexit)["_run_exitfuncs"]()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        sys.exit(code)  # the interpreter reports the error
    os._exit(code)
