"""Run a `./trainyard` command and kill one of its processes at a chosen point."""

from __future__ import annotations

import enum
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from tests.support.kills.gate import DIRECTORY, Gate, Moment
from tests.support.processes import PATIENCE, descendants
from tests.support.sandbox import Sandbox
from tests.support.tracked import ROOT

COMMAND_SECONDS = 420


class Victim(enum.StrEnum):
    """The process to kill."""

    ENGINE = "engine"
    PROGRAM = "program"
    """The Python process that registers the resources; the language host lives on."""
    LAUNCHER = "launcher"
    """`./trainyard` itself; the engine lives on."""


@dataclass(frozen=True, slots=True)
class Killed:
    """A command that was killed, or that ended before the kill."""

    held: tuple[str, ...]
    """URNs of the calls that were in flight."""
    engine_pid: int
    """Process id of the engine that made them; 0 if there were none."""
    exit_code: int
    said: str

    @property
    def happened(self) -> bool:
        """Whether calls were in flight at the kill."""
        return bool(self.held)


@dataclass(frozen=True, slots=True)
class KillHarness:
    """Commands on one stack of a sandbox whose plugins have a gate."""

    sandbox: Sandbox
    stack: str
    arguments: tuple[str, ...] = ()
    """Arguments of every command, after `--sandbox --yes`."""

    @property
    def gate(self) -> Gate:
        """The gate of this stack's plugins."""
        return Gate(self.sandbox.directory.parent / f"gate-{self.stack}")

    def killed(
        self,
        command: str,
        moments: Mapping[str, Moment],
        victim: Victim = Victim.ENGINE,
    ) -> Killed:
        """Run `up` or `destroy`, and kill when all calls to leave unanswered are held.

        It also kills when no more of them arrive for a long time: some may depend on a held one.

        An engine that survives gets its answers when the gate opens after the kill. If the launcher
        was killed, the engine waits until the caller opens the gate.

        Args:
            command: `up` or `destroy`.
            moments: By URN, the moment at which its call is stopped.
            victim: The process to kill.
        """
        gate = self.gate
        gate.plan("Create" if command == "up" else "Delete", moments)
        output = gate.directory / "output.log"
        with output.open("w+", encoding="utf-8") as file:
            process = self._start(command, file, victim)
            try:
                held = self._wait(process, moments)
                engine = gate.held()[0].engine_pid if held else 0
                if held:
                    _kill(engine, victim, launcher=process.pid)
                if held and victim is Victim.PROGRAM:
                    gate.open()
                exit_code = process.wait(COMMAND_SECONDS)
            finally:
                process.kill()
                process.wait()
        said = output.read_text(encoding="utf-8")
        return Killed(held=held, engine_pid=engine, exit_code=exit_code, said=said)

    def state(self) -> dict[str, Any]:
        """Return the state of the stack from the engine's backend."""
        project = self.sandbox.directory / "pulumi" / "state" / ".pulumi" / "stacks" / "trainyard"
        record = json.loads((project / f"{self.stack}.json").read_text(encoding="utf-8"))
        return record["checkpoint"]["latest"]

    def _start(self, command: str, output: IO[str], victim: Victim) -> subprocess.Popen[bytes]:
        module = "tests.support.kills.launcher"
        options = ["--sandbox", "--yes", *self.arguments]
        # Processes that are killed are plain ones; the engine is a separate program.
        sandbox = self.sandbox.warm() if victim is Victim.ENGINE else self.sandbox
        environment = sandbox.environment() | {DIRECTORY: str(self.gate.directory)}
        return subprocess.Popen(
            [sys.executable, "-m", module, command, self.stack, *options],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )

    def _wait(
        self, process: subprocess.Popen[bytes], moments: Mapping[str, Moment]
    ) -> tuple[str, ...]:
        """Return the held calls as soon as all to leave unanswered are held, or no more arrive."""
        pause = threading.Event()
        wanted = {urn for urn, moment in moments.items() if moment.is_made}
        held: tuple[str, ...] = ()
        begun = newest = time.monotonic()
        while process.poll() is None and not wanted <= set(held):
            now = tuple(each.urn for each in self.gate.held())
            if now != held:
                held, newest = now, time.monotonic()
            if wanted & set(held) and time.monotonic() - newest > PATIENCE:
                break
            if time.monotonic() - begun > COMMAND_SECONDS:
                process.send_signal(signal.SIGINT)
                break
            pause.wait(0.02)
        return held if process.poll() is None else ()


def _kill(engine: int, victim: Victim, *, launcher: int) -> None:
    if victim is Victim.PROGRAM:
        (victim_pid,) = [pid for pid in descendants(engine) if _is_program(pid)]
    else:
        victim_pid = {Victim.ENGINE: engine, Victim.LAUNCHER: launcher}[victim]
    os.kill(victim_pid, signal.SIGKILL)


def is_running(pid: int) -> bool:
    """Return whether a process runs; a zombie does not."""
    try:
        return bool(Path(f"/proc/{pid}/cmdline").read_bytes())
    except OSError:
        return False


def _is_program(pid: int) -> bool:
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:  # it has ended
        return False
    return b"pulumi-language-python-exec" in command and b"python" in command.split(b"\0")[0]
