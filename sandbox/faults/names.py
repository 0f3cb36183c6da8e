"""Names in a schedule of faults, for readers of one that have no `pydantic`.

ParallelCluster's own Python environment, in which its provider runs, has none.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

NEVER_JOINS = "node-never-joins"
"""The kind of fault in which instances never become nodes."""
_KIND = "(?:-nodes|-node-group)?"
"""Suffix after the group's name in names of Auto Scaling groups and managed node groups, as the
resources of a stack have them: `p5-cb-p5-nodes-0c5d1e2`."""


def is_named(wanted: str, *names: str) -> bool:
    """Return whether one of the names is wanted, or ends with it in the program's naming scheme.

    Such names consist of cluster, group and kind, and Pulumi's random suffix:
    `p5-cb-p5-nodes-0c5d1e2`.
    """
    of_ours = re.compile(rf"(?:^|.*-){re.escape(wanted)}{_KIND}(?:-?[0-9a-f]{{4,}})?")
    return any(fnmatchcase(name, wanted) or of_ours.fullmatch(name) for name in names)
