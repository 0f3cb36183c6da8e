"""Run the Pulumi command line as a child, with the signals in the right place."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
CANCELLED = 8
"""Exit code of an update that its user stopped or declined.
https://github.com/pulumi/pulumi/blob/v3.259.0/pkg/cmd/pulumi/cmd/exit_codes.go
"""


class EngineFailedError(Exception):
    """A Pulumi command whose answer was needed failed; the message has its last words."""


@dataclass(frozen=True, slots=True)
class EngineResult:
    """How a Pulumi command ended."""

    exit_code: int
    interrupted: bool
    """Whether somebody stopped it, as far as can be seen: at a terminal Ctrl-C goes past us."""


@dataclass(frozen=True, slots=True)
class PulumiCommand:
    """The engine's executable with the directory and the environment to run it in."""

    executable: Path
    directory: Path
    environment: Mapping[str, str]

    def run(self, arguments: Sequence[str], *, output: int | None = None) -> EngineResult:
        """Run a command on our standard streams and wait for its end.

        `output` is a file descriptor that takes the place of standard output.

        The child has a process group of its own, so that an interruption reaches it exactly once:
        the first asks the engine to finish what is in flight and stop, a second stops it at once.
        At a terminal the child owns the terminal meanwhile, and Ctrl-C goes to it directly.
        """
        terminal = sys.stdin.fileno() if _at_a_terminal() else None
        child = subprocess.Popen(
            [str(self.executable), *arguments],
            cwd=self.directory,
            env=dict(self.environment),
            stdin=None if terminal is not None else subprocess.DEVNULL,
            stdout=output,
            process_group=0,
        )
        with _terminal_lent(terminal, child.pid), _signals_forwarded(child) as forwarded:
            exit_code = child.wait()
        stopped = bool(forwarded) or exit_code < 0 or exit_code == CANCELLED
        return EngineResult(exit_code, interrupted=stopped)

    def output(self, arguments: Sequence[str]) -> str:
        """Return the standard output of a command.

        Raises:
            EngineFailedError: it did not end with 0.
        """
        done = subprocess.run(
            [str(self.executable), *arguments],
            cwd=self.directory,
            env=dict(self.environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            said = (done.stderr.strip() or done.stdout.strip()).splitlines()[-20:]
            raise EngineFailedError(f"`pulumi {' '.join(arguments)}` failed:\n" + "\n".join(said))
        return done.stdout


def _at_a_terminal() -> bool:
    try:
        return sys.stdin.isatty() and os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
    except (OSError, ValueError):
        return False


@contextlib.contextmanager
def _terminal_lent(terminal: int | None, group: int) -> Iterator[None]:
    """Make `group` the foreground group of the terminal, and ourselves again at the end."""
    if terminal is None:
        yield
        return
    # A background group that takes the terminal back is stopped by SIGTTOU unless it ignores it.
    before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    try:
        # The child may be gone already, or have been stopped for reading before its turn.
        with contextlib.suppress(OSError):
            os.tcsetpgrp(terminal, group)
            os.killpg(group, signal.SIGCONT)
        yield
    finally:
        os.tcsetpgrp(terminal, os.getpgrp())
        signal.signal(signal.SIGTTOU, before)


@contextlib.contextmanager
def _signals_forwarded(child: subprocess.Popen[bytes]) -> Iterator[list[int]]:
    """Pass every request to stop on as SIGINT, the one the engine stops gracefully for."""
    forwarded: list[int] = []

    def forward(number: int, _frame: FrameType | None) -> None:
        forwarded.append(number)
        child.send_signal(signal.SIGINT)

    before = {number: signal.signal(number, forward) for number in FORWARDED}
    try:
        yield forwarded
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
