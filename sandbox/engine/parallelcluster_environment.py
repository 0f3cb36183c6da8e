"""The locked environment of ParallelCluster, whose pins conflict with the program's."""

from __future__ import annotations

from pathlib import Path

from trainyard.sandbox import MODULES
from trainyard.sandbox.engine.locked_environment import locked_python
from trainyard.sandbox.engine.progress import Progress

LOCK = MODULES / "trainyard" / "requirements" / "parallelcluster.txt"
"""Its packages and their hashes; in a clone, a link leads to the folder `requirements`."""


def parallelcluster_python(report: Progress) -> Path:
    """Return the interpreter with `aws-parallelcluster` and `ministack`.

    Raises:
        EngineError: it does not exist and cannot be created.
    """
    return locked_python(LOCK, "ParallelCluster", report)
