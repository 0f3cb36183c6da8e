"""The controllers of Kueue and JobSet, which the sandbox runs for clusters with these add-ons.

Their releases are container images, so they are always built, from the Go modules of the releases:
when a stack asks for one, not with the other programs of the sandbox.
"""

from __future__ import annotations

from pathlib import Path

from trainyard.sandbox.engine.go_build import GoProgram, ensure_built
from trainyard.sandbox.engine.progress import Progress

MODULE = Path(__file__).resolve().parents[1] / "kubernetes" / "controllers"
PACKAGES = {
    "jobset": "sigs.k8s.io/jobset",
    "kueue": "sigs.k8s.io/kueue",
}
"""Go modules of the releases: https://github.com/kubernetes-sigs/jobset/releases and
https://github.com/kubernetes-sigs/kueue/releases"""

_COMMANDS = {"jobset": "", "kueue": "/cmd/kueue"}
"""Paths of the commands in their modules."""
_USUAL_BUILD_TIME = "3 to 5 minutes on two cores"


def ensure_controller(name: str, report: Progress) -> list[str]:
    """Return the command of a controller; build it first if it is missing.

    Raises:
        EngineError: it cannot be built; the message says why.
    """
    program = GoProgram(module=MODULE, package=PACKAGES[name] + _COMMANDS[name], file_name=name)
    return [str(ensure_built(program, report, _USUAL_BUILD_TIME))]
