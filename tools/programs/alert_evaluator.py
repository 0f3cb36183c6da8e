"""The evaluator of alert rules, which tests run: the query engine of Prometheus."""

from __future__ import annotations

from pathlib import Path

from trainyard.sandbox.engine.go_build import GoProgram, ensure_built
from trainyard.sandbox.engine.progress import Progress

MODULE = Path(__file__).parent / "prometheus"
_USUAL_BUILD_TIME = "a minute on two cores"


def ensure_alert_evaluator(report: Progress) -> Path:
    """Return the program, whose input and output `main.go` describes; build it if it is missing.

    Raises:
        EngineError: it cannot be built; the message says why.
    """
    program = GoProgram(module=MODULE, package=".", file_name="alerts")
    return ensure_built(program, report, _USUAL_BUILD_TIME)
