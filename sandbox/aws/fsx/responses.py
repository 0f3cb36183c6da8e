"""The calls of FSx that the sandbox answers itself; Lustre only."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from moto.fsx.responses import FSxResponse

from sandbox.aws.fsx import associations, file_systems
from sandbox.aws.fsx.file_systems import records_of


class SandboxFsxResponse(FSxResponse):
    """FSx as AWS answers for Lustre; tags and backups are moto's."""

    def create_file_system(self) -> str:
        """CreateFileSystem."""
        wanted = self._asked()
        if wanted["FileSystemType"] != "LUSTRE":
            raise NotImplementedError(f"file systems of type {wanted['FileSystemType']}")
        return json.dumps({"FileSystem": file_systems.create(self.fsx_backend, wanted)})

    def describe_file_systems(self) -> str:
        """DescribeFileSystems."""
        ids: Iterable[str] = self._asked().get("FileSystemIds") or [
            *records_of(self.fsx_backend).described
        ]
        found = [file_systems.describe(self.fsx_backend, each) for each in ids]
        return json.dumps({"FileSystems": found})

    def update_file_system(self) -> str:
        """UpdateFileSystem."""
        changed = file_systems.update(self.fsx_backend, self._asked())
        return json.dumps({"FileSystem": changed})

    def delete_file_system(self) -> str:
        """DeleteFileSystem."""
        return json.dumps(file_systems.delete(self.fsx_backend, self._asked()["FileSystemId"]))

    def create_data_repository_association(self) -> str:
        """CreateDataRepositoryAssociation."""
        made = associations.associate(self.fsx_backend, self._asked())
        return json.dumps({"Association": made})

    def describe_data_repository_associations(self) -> str:
        """DescribeDataRepositoryAssociations."""
        asked = self._asked()
        if asked.get("Filters"):
            raise NotImplementedError("filters of associations")
        ids = asked.get("AssociationIds") or [*records_of(self.fsx_backend).associations]
        found = [associations.described(self.fsx_backend, each) for each in ids]
        return json.dumps({"Associations": found})

    def update_data_repository_association(self) -> str:
        """UpdateDataRepositoryAssociation."""
        changed = associations.change(self.fsx_backend, self._asked())
        return json.dumps({"Association": changed})

    def delete_data_repository_association(self) -> str:
        """DeleteDataRepositoryAssociation."""
        gone = associations.dissociate(self.fsx_backend, self._asked()["AssociationId"])
        return json.dumps(gone)

    def _asked(self) -> dict[str, Any]:
        return json.loads(self.body)
