"""Python processes of the tests that need not import anything: forks of a server.

A whole stack starts a Python process for each command, program, policy pack and plugin, and each of
them takes seconds to import the same packages. `warm` returns an environment in which they are
forks of one process that has imported the packages: see `server`, and `client/sitecustomize.py`,
which calls it. Arguments, environment, working directory, streams, signals and exit status are
those of a plain Python process, and so are the process that a parent sees, its command line and its
environment. The process id that the program sees is that of the fork, and `/proc` shows the
server's name and environment for it. Tests of killed processes, of their remains, and of terminals
therefore use plain processes.
"""

from __future__ import annotations

import atexit
import functools
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.support.modules import PYTHONPATH
from tests.support.tracked import ROOT

CLIENT = Path(__file__).parent / "client"
VARIABLE = "TRAINYARD_WARM_PYTHON"


def warm(environment: dict[str, str]) -> dict[str, str]:
    """Return an environment in which `python` is a fork; unchanged on systems other than Linux."""
    if sys.platform != "linux":
        return environment
    path = os.pathsep.join(filter(None, [str(CLIENT), environment.get("PYTHONPATH")]))
    return {**environment, VARIABLE: address(), "PYTHONPATH": path}


def address() -> str:
    """Return the address of the server; the first call starts it."""
    return _SHARED[0] if _SHARED else _started()


def share(address: str) -> None:
    """Use the server of the parent process."""
    _SHARED[:] = [address]


_SHARED: list[str] = []


@functools.cache
def _started() -> str:
    """Start the server, which ends with this process.

    The server imports for seconds after this returns; its clients wait.
    """
    directory = tempfile.TemporaryDirectory(prefix="warm-")
    path = f"{directory.name}/socket"
    server = subprocess.Popen(
        [sys.executable, "-P", "-m", "tests.support.warm_python.server", path],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": PYTHONPATH},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,  # clients receive Ctrl-C and forward it
    )
    assert server.stdin is not None
    assert server.stdout is not None
    assert server.stdout.readline() == b"listening\n", "the warm Python did not start"

    def end() -> None:
        server.communicate()  # closes its standard input
        directory.cleanup()

    atexit.register(end)
    return path
