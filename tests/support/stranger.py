"""Another user of this machine: processes that run as `nobody`."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

_NOBODY = 65534
"""Id of the user `nobody` and of its group, which own no files."""
_PROGRAM = Path(__file__).with_name("stranger_program.py")
_PATH = "/usr/local/bin:/usr/bin:/bin"
"""Where everybody's programs are; the interpreter of the tests can be in a home directory."""
_LONGEST_SOCKET_PATH = 107


@contextmanager
def directory_between_users() -> Iterator[Path]:
    """Make a directory that every user can enter, unlike those of pytest.

    What is below it is protected by its own modes alone.
    """
    made = Path(tempfile.mkdtemp())
    made.chmod(0o711)
    try:
        yield made
    finally:
        shutil.rmtree(made)


class Stranger:
    """A user who owns nothing here; tests without root have none and are skipped."""

    def __init__(self) -> None:
        if os.geteuid() != 0:
            pytest.skip("only root can start a process of another user")
        python = shutil.which("python3", path=_PATH)
        assert python, f"another user needs a python3 in {_PATH}"
        self._python = python

    def run(
        self, *command: str, environment: Mapping[str, str] | None = None, given: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """Run a command as this user."""
        return subprocess.run(
            command,
            **self.identity,
            input=given,
            cwd="/",
            env={"PATH": _PATH, **(environment or {})},
            capture_output=True,
            text=True,
            check=False,
        )

    @property
    def identity(self) -> dict[str, Any]:
        """Arguments of `subprocess` for a process of this user."""
        return {"user": _NOBODY, "group": _NOBODY, "extra_groups": []}

    def opens(self, paths: Sequence[Path]) -> list[Path]:
        """Return which of these files it can read or write, and which directories list or change.

        It knows the names, as somebody does who has seen another sandbox.
        """
        opened = self._ask([("opened", str(path)) for path in paths])
        return [path for path, done in zip(paths, opened, strict=True) if done]

    def connects(self, sockets: Sequence[str]) -> list[str]:
        """Return to which of these Unix sockets it can connect."""
        assert all(len(each) <= _LONGEST_SOCKET_PATH for each in sockets)
        connected = self._ask([("connected", each) for each in sockets])
        return [each for each, done in zip(sockets, connected, strict=True) if done]

    def answers(self, requests: Sequence[Request]) -> list[int | str]:
        """Return what it gets for requests: the status, or how the connection ended."""
        return self._ask([("answered", *each) for each in requests])

    def _ask(self, questions: Sequence[tuple[Any, ...]]) -> list[Any]:
        program = _PROGRAM.read_text(encoding="utf-8")
        done = self.run(self._python, "-I", "-c", program, given=json.dumps(questions))
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


Request = tuple[str, str, str, Mapping[str, str], str]
"""Address, method, path, headers and body."""


def everything_below(directory: Path) -> list[Path]:
    """Return a directory and all that is in it."""
    return [directory, *directory.rglob("*")]


def sockets_below(directory: Path) -> list[str]:
    """Return the Unix sockets in a directory."""
    return [str(path) for path in directory.rglob("*") if stat.S_ISSOCK(path.lstat().st_mode)]
