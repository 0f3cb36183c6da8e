"""The gate that lets an update start only after the launcher has approved its preview.

`./trainyard up` reads the steps of the engine's preview and refuses those that would lose data or
reserved capacity. The engine has no hook between preview and update, but nothing changes before the
program registers resources, so the program waits for the verdict. Plain `pulumi up` has no gate.

The policy pack asks earlier: the engine passes it the whole stack at the end of a preview, after
all steps, and starts no update if the pack fails the preview. A refused update is therefore not in
the history of the stack. The program still asks for the verdict on the whole preview.
https://github.com/pulumi/pulumi/blob/v3.260.0/pkg/resource/deploy/deployment_executor.go, `Execute`
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pulumi

VERDICT = "TRAINYARD_VERDICT"
"""Environment variable: path of the file with the launcher's verdict on the update."""
FORECAST = "TRAINYARD_FORECAST"
"""Environment variable: path of the file with the launcher's verdict before the preview ends."""
LAUNCHER = "TRAINYARD_LAUNCHER_PID"
"""Environment variable: process id of the launcher; without it there is no verdict."""
GRANTED = "granted"
POLL_SECONDS = 0.02
MESSAGE_SHOWN = 32
"""Exit code for which Pulumi adds no message to the logged error."""


def await_update_gate() -> None:
    """Wait until the update may start; return immediately in a preview or without a launcher.

    Raises:
        SystemExit: the launcher refuses the update or has exited.
    """
    if VERDICT not in os.environ or pulumi.runtime.is_dry_run():
        return
    if not granted(os.environ):
        pulumi.log.error("trainyard does not let this update begin; nothing was changed")
        sys.exit(MESSAGE_SHOWN)


def granted(environment: Mapping[str, str]) -> bool:
    """Wait for the verdict of the launcher; False if it has exited."""
    return _said_in(Path(environment[VERDICT]), int(environment[LAUNCHER]))


def ask_early(environment: Mapping[str, str]) -> None:
    """Tell the launcher that the preview steps are complete; do nothing without a launcher."""
    if FORECAST in environment:
        question(Path(environment[FORECAST])).touch()


def granted_early(environment: Mapping[str, str]) -> bool:
    """Return the verdict of the launcher on `ask_early`; True without a launcher."""
    if FORECAST not in environment:
        return True
    return _said_in(Path(environment[FORECAST]), int(environment[LAUNCHER]))


def question(forecast: Path) -> Path:
    """Return the file whose existence requests the forecast."""
    return forecast.with_suffix(".asked")


def _said_in(verdict: Path, launcher: int) -> bool:
    while not verdict.exists():
        if not _is_alive(launcher):
            return False
        time.sleep(POLL_SECONDS)
    return verdict.read_text(encoding="utf-8") == GRANTED


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
