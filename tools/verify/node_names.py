"""Names of nodes in the log of a job."""

from __future__ import annotations

import re

_NODE = re.compile(r"^\[node (\S+)\] (\S+)$", re.MULTILINE)


def node_names(text: str) -> dict[str, str]:
    """Return the names in the scheduler by the names in the log, from `tools.jobs.mpi`."""
    return dict(_NODE.findall(text))
