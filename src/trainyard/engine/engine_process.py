"""Run the Pulumi command line as a child process and forward signals to it."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import IO, TextIO

from trainyard.engine.engine_events import EngineError
from trainyard.workspace.locks import StackLockedError, locked_out

KEPT_BYTES = 16384
_END_SECONDS = 1.0


class Relay:
    """Reads a pipe in a separate thread and writes to a stream of this process."""

    def __init__(self, source: IO[bytes], target: TextIO) -> None:
        """Start the thread."""
        self._source, self._target = source, target
        self._kept = b""
        self._thread = threading.Thread(target=self._pass_on, daemon=True)
        self._thread.start()

    def last_words(self) -> str:
        """Return the end of the output, once the child has ended.

        The pipe may outlive the child, because a plugin that a killed engine left behind also holds
        it. This method does not wait for such a plugin.
        """
        self._thread.join(_END_SECONDS)
        return self._kept.decode("utf-8", errors="replace")

    def _pass_on(self) -> None:
        with self._source as source:
            while piece := os.read(source.fileno(), KEPT_BYTES):
                self._kept = (self._kept + piece)[-KEPT_BYTES:]
                # The reader of the target stream may be gone; that must not stop the child.
                with contextlib.suppress(OSError, ValueError):
                    self._target.write(piece.decode("utf-8", errors="replace"))
                    self._target.flush()


FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_HANGUPS_IGNORED = ("/bin/sh", "-c", 'trap "" HUP; exec "$@"', "sh")
"""Starts a program that ignores SIGHUP.

The kernel sends SIGHUP to the foreground process group of the terminal, which is the engine with
its plugins. Go programs exit on it unless it was ignored when they started:
https://pkg.go.dev/os/signal. This process cannot ignore SIGHUP meanwhile, because it would lose one
that arrives.
"""
PARALLEL_OPERATIONS = 32
"""Number of parallel operations, as on a machine with eight processors. The engine's default is
four times the number of processors; with two processors, slow operations (file systems, endpoints,
the control plane) would occupy every slot. https://www.pulumi.com/docs/iac/cli/commands/pulumi_up/
"""
CANCELLED = 8
"""Exit code of an update that the user canceled or declined.
https://github.com/pulumi/pulumi/blob/v3.260.0/pkg/cmd/pulumi/cmd/exit_codes.go"""


class EngineFailedError(Exception):
    """A Pulumi command whose output is required failed; the message ends with its last output."""


@dataclass(frozen=True, slots=True)
class EngineResult:
    """The result of a Pulumi command."""

    exit_code: int
    interrupted: bool
    """Whether it was interrupted, as far as known: at a terminal Ctrl-C bypasses this process."""
    errors: tuple[EngineError, ...] = ()
    """Errors that it reported; empty without an event log."""
    changes: Mapping[str, int] = field(default_factory=dict[str, int])
    """Number of resources by operation; empty without an event log."""
    said: str = ""
    """The end of standard error, which says why the engine did not start."""
    declined: bool = False
    """Whether the user answered the engine's question with no, or with Ctrl-C."""
    begun: bool = False
    """Whether it began to change a resource."""


@dataclass(frozen=True, slots=True)
class PulumiCommand:
    """The engine executable, its working directory and its environment."""

    executable: Path
    directory: Path
    environment: Mapping[str, str]
    umask: int = -1
    """Mask of the permissions of new files; -1 keeps that of this process."""

    def with_variables(self, variables: Mapping[str, str]) -> PulumiCommand:
        """Return a copy of the command with additional environment variables."""
        return dataclasses.replace(self, environment={**self.environment, **variables})

    def run(
        self, arguments: Sequence[str], *, output: int | None = None, asks: bool = True
    ) -> EngineResult:
        """Run a command on the standard streams of this process and wait for it to end.

        `output` is a file descriptor that replaces standard output. `asks` says whether the engine
        can use the terminal; without it, Ctrl-C is forwarded like other signals.

        The child runs in its own process group so that it receives each interrupt exactly once: the
        first asks the engine to finish operations in flight and stop, the second stops it
        immediately. At a terminal the child is the foreground process group and receives Ctrl-C
        directly. If the terminal closes, this process stops the child, because SIGHUP would kill
        the engine.
        """
        terminal = sys.stdin.fileno() if asks and _at_a_terminal() else None
        with _signals_forwarded() as forwarding:
            child = subprocess.Popen(
                [*_HANGUPS_IGNORED, str(self.executable), *arguments],
                cwd=self.directory,
                env=dict(self.environment),
                stdin=None if terminal is not None else subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.PIPE,
                process_group=0,
                umask=self.umask,
            )
            forwarding.start(child)
            assert child.stderr is not None  # noqa: S101 - it is a pipe
            heard = Relay(child.stderr, sys.stderr)
            with _terminal_lent(terminal, child.pid):
                exit_code = child.wait()
        stopped = forwarding.received or exit_code < 0 or exit_code == CANCELLED
        return EngineResult(exit_code, interrupted=stopped, said=heard.last_words())

    def output(self, arguments: Sequence[str]) -> str:
        """Return the standard output of a command.

        Raises:
            EngineFailedError: its exit code is not 0.
            StackLockedError: another command holds the lock of the stack.
        """
        done = subprocess.run(
            [str(self.executable), *arguments],
            cwd=self.directory,
            env=dict(self.environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            umask=self.umask,
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
    """Make `group` the foreground process group, and restore this process's group at the end."""
    if terminal is None:
        yield
        return
    # SIGTTOU stops a background process that sets the foreground group, unless it is ignored.
    before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    try:
        # The child may have ended, or may have been stopped because it read from the terminal too
        # early.
        with contextlib.suppress(OSError):
            os.tcsetpgrp(terminal, group)
            os.killpg(group, signal.SIGCONT)
        yield
    finally:
        # A closed terminal cannot be taken back.
        with contextlib.suppress(OSError):
            os.tcsetpgrp(terminal, os.getpgrp())
        signal.signal(signal.SIGTTOU, before)


class _Forwarding:
    """Sends every termination signal to the engine as SIGINT, which makes it stop gracefully."""

    def __init__(self) -> None:
        self.received = False
        self._before_the_start = False
        self._child: subprocess.Popen[bytes] | None = None

    def handle(self, _number: int, _frame: FrameType | None) -> None:
        self.received = True
        if self._child is None:
            self._before_the_start = True
        else:
            self._child.send_signal(signal.SIGINT)

    def start(self, child: subprocess.Popen[bytes]) -> None:
        """Forward to this process, also what was received while it was being started."""
        self._child = child
        if self._before_the_start:
            child.send_signal(signal.SIGINT)


@contextlib.contextmanager
def _signals_forwarded() -> Iterator[_Forwarding]:
    """Handle termination signals from before the engine is started until it has ended."""
    forwarding = _Forwarding()
    before = {number: signal.signal(number, forwarding.handle) for number in FORWARDED}
    try:
        yield forwarding
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
