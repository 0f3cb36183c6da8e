"""Run the Pulumi command line as a child, with the signals in the right place."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from tools.workspace.engine_events import EngineError
from tools.workspace.locks import StackLockedError, locked_out
from tools.workspace.relay import Relay

FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PARALLEL_OPERATIONS = 32
"""Operations that the engine has under way at a time, as on a machine of eight processors: its own
default is four times the processors, and on two of them the slow ones (file systems, endpoints, the
control plane) would take every place. https://www.pulumi.com/docs/iac/cli/commands/pulumi_up/"""
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
    errors: tuple[EngineError, ...] = ()
    """What it showed as errors; empty where nobody listened."""
    changes: Mapping[str, int] = field(default_factory=dict[str, int])
    """Resources by what was done with them; empty where nobody listened."""
    said: str = ""
    """The end of what it wrote to standard error, where it says why it did not even begin."""


@dataclass(frozen=True, slots=True)
class PulumiCommand:
    """The engine's executable with the directory and the environment to run it in."""

    executable: Path
    directory: Path
    environment: Mapping[str, str]

    def with_variables(self, variables: Mapping[str, str]) -> PulumiCommand:
        """Return the command with these variables in its environment, too."""
        return dataclasses.replace(self, environment={**self.environment, **variables})

    def run(self, arguments: Sequence[str], *, output: int | None = None) -> EngineResult:
        """Run a command on our standard streams and wait for its end.

        `output` is a file descriptor that takes the place of standard output.

        The child has a process group of its own, so that an interruption reaches it exactly once:
        the first asks the engine to finish what is in flight and stop, a second stops it at once.
        At a terminal the child owns the terminal meanwhile, and Ctrl-C goes to it directly; a
        terminal that is closed ends it through us, because the engine dies of a hangup.
        """
        terminal = sys.stdin.fileno() if _at_a_terminal() else None
        with _hangups_ignored():
            child = subprocess.Popen(
                [str(self.executable), *arguments],
                cwd=self.directory,
                env=dict(self.environment),
                stdin=None if terminal is not None else subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.PIPE,
                process_group=0,
            )
        assert child.stderr is not None  # noqa: S101 - it is a pipe
        heard = Relay(child.stderr, sys.stderr)
        with _terminal_lent(terminal, child.pid), _signals_forwarded(child) as forwarded:
            exit_code = child.wait()
        stopped = bool(forwarded) or exit_code < 0 or exit_code == CANCELLED
        return EngineResult(exit_code, interrupted=stopped, said=heard.last_words())

    def output(self, arguments: Sequence[str]) -> str:
        """Return the standard output of a command.

        Raises:
            EngineFailedError: it did not end with 0.
            StackLockedError: another command works on the stack.
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
            locked = locked_out(done.stderr, stack=_stack_of(arguments))
            if locked is not None:
                raise StackLockedError(locked)
            said = (done.stderr.strip() or done.stdout.strip()).splitlines()[-20:]
            raise EngineFailedError(f"`pulumi {' '.join(arguments)}` failed:\n" + "\n".join(said))
        return done.stdout


def _stack_of(arguments: Sequence[str]) -> str:
    place = arguments.index("--stack") + 1 if "--stack" in arguments else len(arguments)
    return arguments[place] if place < len(arguments) else ""


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
        # A terminal that was closed cannot be taken back.
        with contextlib.suppress(OSError):
            os.tcsetpgrp(terminal, os.getpgrp())
        signal.signal(signal.SIGTTOU, before)


@contextlib.contextmanager
def _hangups_ignored() -> Iterator[None]:
    """Ignore SIGHUP for a while; a child that is started meanwhile ignores it for good.

    The kernel sends it to the terminal's foreground group, which is the engine with its plugins,
    and Go programs die of it unless they were started so: https://pkg.go.dev/os/signal.
    """
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, before)


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
