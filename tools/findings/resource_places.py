"""Map resources to lines of the stack file, by name."""

from __future__ import annotations

from components.config.problems import ROOT
from tools.findings.positions import Positions
from tools.workspace.stack_entries import entries_of
from tools.workspace.stack_files import StackFile
from tools.workspace.urns import name_of


class ResourcePlaces:
    """Lines of a stack file by resource."""

    def __init__(self, stack_file: StackFile) -> None:
        self._positions = Positions(stack_file.path)
        self._cluster = stack_file.cluster

    def line_of(self, urn: str) -> int:
        """Return the line of the entry that a resource was created for.

        A resource without an entry, or with two entries of the same name, belongs to the whole
        cluster.
        """
        found = entries_of(name_of(urn), self._cluster)
        key = ".".join((ROOT, *found[0])) if len(found) == 1 else ROOT
        return self._positions.line_of(key)
