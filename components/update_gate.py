"""The program's second run waits until the launcher has judged what the first one previewed.

`./trainyard up` reads the steps of the engine's own preview and refuses those that would lose data
or reserved capacity. The engine cannot be told so between its preview and its update, but nothing
changes before the program registers something, so the program asks. Plain `pulumi up` asks nobody.

The policy pack asks before: the engine hands it the whole stack at the end of a preview, when every
step was shown, and begins no update after a preview that the pack fails. So an update that is
refused is none in the history of the stack. The program asks all the same, for the whole preview.
https://github.com/pulumi/pulumi/blob/v3.259.0/pkg/resource/deploy/deployment_executor.go, `Execute`
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pulumi

VERDICT = "TRAINYARD_VERDICT"
"""Environment variable: the file in which the launcher says whether the update may begin."""
FORECAST = "TRAINYARD_FORECAST"
"""Environment variable: the file in which the launcher says so before the preview has ended."""
LAUNCHER = "TRAINYARD_LAUNCHER_PID"
"""Environment variable: the launcher's process, without which no verdict will come."""
GRANTED = "granted"
POLL_SECONDS = 0.02
MESSAGE_SHOWN = 32
"""Exit code at which Pulumi adds nothing to the error that the program logged."""


def await_update_gate() -> None:
    """Return when the update may begin; a preview, and a run without a launcher, always may.

    Raises:
        SystemExit: the launcher refuses, or is gone.
    """
    if VERDICT not in os.environ or pulumi.runtime.is_dry_run():
        return
    if not granted(os.environ):
        pulumi.log.error("./trainyard does not let this update begin; nothing was changed")
        sys.exit(MESSAGE_SHOWN)


def granted(environment: Mapping[str, str]) -> bool:
    """Return what the launcher says, as soon as it has said it; False where it is gone."""
    return _said_in(Path(environment[VERDICT]), int(environment[LAUNCHER]))


def ask_early(environment: Mapping[str, str]) -> None:
    """Tell the launcher that all steps of the preview were made; does nothing without one."""
    if FORECAST in environment:
        question(Path(environment[FORECAST])).touch()


def granted_early(environment: Mapping[str, str]) -> bool:
    """Return what the launcher says to `ask_early`; True where nobody guards the update."""
    if FORECAST not in environment:
        return True
    return _said_in(Path(environment[FORECAST]), int(environment[LAUNCHER]))


def question(forecast: Path) -> Path:
    """Return the file whose presence asks for the forecast."""
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
