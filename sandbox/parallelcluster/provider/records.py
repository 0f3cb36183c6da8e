"""The provider's records of its clusters: one file each, in the directory of the sandbox."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

DIRECTORY_VARIABLE = "TRAINYARD_CLUSTERS"
"""Environment variable of the function that names the directory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One cluster that exists."""

    name: str
    configuration: Mapping[str, Any]
    """As accepted by ParallelCluster, including the tags of the stack."""
    stack_id: str
    """ARN of the cluster's own CloudFormation stack."""
    created: str
    """Time of creation, in ISO 8601."""
    updated: str
    status: str
    """`CREATE_COMPLETE`, `UPDATE_IN_PROGRESS`, `UPDATE_COMPLETE` or `DELETE_IN_PROGRESS`."""

    @property
    def is_settled(self) -> bool:
        """Whether it is neither changed nor deleted now."""
        return self.status.endswith("_COMPLETE")


class Records:
    """The clusters of a sandbox.

    Args:
        directory: Directory of the files; created with the first file.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    @classmethod
    def of_this_function(cls) -> Records:
        """Return the records of the sandbox whose function this process runs."""
        return cls(Path(os.environ[DIRECTORY_VARIABLE]))

    def find(self, name: str) -> Record | None:
        """Return a cluster, or None."""
        try:
            return Record(**json.loads(self._path(name).read_text(encoding="utf-8")))
        except FileNotFoundError:
            return None

    def every(self) -> list[Record]:
        """Return all clusters."""
        names = sorted(path.stem for path in self._directory.glob("*.json"))
        return [record for name in names if (record := self.find(name)) is not None]

    def write(self, record: Record) -> None:
        """Store the current record of a cluster."""
        self._directory.mkdir(parents=True, exist_ok=True)
        partial = self._path(record.name).with_suffix(".partial")
        partial.write_text(json.dumps(asdict(record)), encoding="utf-8")
        partial.replace(self._path(record.name))

    def remove(self, name: str) -> None:
        """Delete the record of a cluster; does nothing if there is none."""
        self._path(name).unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        return self._directory / f"{name}.json"
