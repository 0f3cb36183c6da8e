"""The controller of Kueue, which the sandbox runs for clusters with `addons.kueue`.

Its release is a container image, so it is always built, from the Go module of the release. It is
built when a stack asks for it, not with the other programs of the sandbox.
"""

from __future__ import annotations

from pathlib import Path

from tools.engine import cache
from tools.engine.go_build import Go, GoProgram, build_key
from tools.engine.platforms import this_platform
from tools.engine.progress import Progress

MODULE = Path(__file__).resolve().parents[2] / "sandbox" / "kubernetes" / "kueue_controller"
PACKAGE = "sigs.k8s.io/kueue"
"""Go module of the releases; https://github.com/kubernetes-sigs/kueue/releases"""

_PROGRAM = GoProgram(module=MODULE, package=f"{PACKAGE}/cmd/kueue", file_name="kueue")
_USUAL_BUILD_TIME = "3 to 5 minutes on two cores"


def ensure_kueue(report: Progress) -> list[str]:
    """Return the command of the controller; build it first if it is missing.

    Raises:
        EngineError: it cannot be built; the message says why.
    """
    name = f"{this_platform().go_name}-build-{build_key((_PROGRAM,))}"
    directory = cache.cache_directory() / "kueue" / name
    entry = cache.Entry(directory=directory, files=(_PROGRAM.file_name,))
    if not entry.complete():
        with cache.filling(entry, report) as target:
            if target is not None:
                Go.find(MODULE).build(_PROGRAM, target, report, _USUAL_BUILD_TIME)
    return [str(directory / _PROGRAM.file_name)]
