"""Run the engine on our standard streams, and keep what it shows as errors."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tools.workspace.engine_events import engine_errors
from tools.workspace.engine_process import EngineResult, PulumiCommand

LOG_FLAG_VARIABLE = "PULUMI_DEBUG_COMMANDS"
"""Without it the engine does not know the flag of its event log.
https://github.com/pulumi/pulumi/blob/v3.259.0/pkg/cmd/pulumi/operations/up.go"""


def run_listening(command: PulumiCommand, arguments: Sequence[str]) -> EngineResult:
    """Return how an engine command ended, with its errors where it failed.

    The log is written into a directory that only this user reads, and is gone afterwards.
    """
    environment = {**command.environment, LOG_FLAG_VARIABLE: "true"}
    with tempfile.TemporaryDirectory(prefix="trainyard-engine-") as directory:
        log = Path(directory) / "events.json"
        listened = dataclasses.replace(command, environment=environment)
        result = listened.run([*arguments, "--event-log", str(log)])
        if result.exit_code == 0 or not log.exists():
            return result
        said = log.read_text(encoding="utf-8", errors="replace")
    return dataclasses.replace(result, errors=engine_errors(said))
