"""The locked environment of ParallelCluster, whose pins conflict with the program's."""

from __future__ import annotations

from pathlib import Path

from tools.engine.locked_environment import locked_python
from tools.engine.progress import Progress
from tools.lock import PARALLELCLUSTER, ROOT


def parallelcluster_python(report: Progress) -> Path:
    """Return the interpreter with `aws-parallelcluster` and `ministack`.

    Raises:
        EngineError: it does not exist and cannot be created.
    """
    return locked_python(ROOT / PARALLELCLUSTER.path, "ParallelCluster", report)
