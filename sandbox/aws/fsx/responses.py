"""The FSx calls that the sandbox handles itself: Lustre and OpenZFS."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from moto.fsx.responses import FSxResponse

from trainyard.sandbox.aws.fsx import lustre, openzfs
from trainyard.sandbox.aws.fsx.lustre import records_of, refuse

_CREATE = {"LUSTRE": lustre.create, "OPENZFS": openzfs.create}
_UPDATE = {"LUSTRE": lustre.update, "OPENZFS": openzfs.update}


class SandboxFsxResponse(FSxResponse):
    """FSx for Lustre and OpenZFS; moto handles tags and backups."""

    def create_file_system(self) -> str:
        """CreateFileSystem."""
        wanted = self._requested()
        create = _CREATE.get(wanted["FileSystemType"])
        if create is None:
            raise NotImplementedError(f"file systems of type {wanted['FileSystemType']}")
        return json.dumps({"FileSystem": create(self.fsx_backend, wanted)})

    def describe_file_systems(self) -> str:
        """DescribeFileSystems."""
        ids: Iterable[str] = self._requested().get("FileSystemIds") or [
            *records_of(self.fsx_backend).described
        ]
        found = [lustre.describe(self.fsx_backend, each) for each in ids]
        return json.dumps({"FileSystems": found})

    def update_file_system(self) -> str:
        """UpdateFileSystem."""
        asked = self._requested()
        found = lustre.describe(self.fsx_backend, asked["FileSystemId"])
        changed = _UPDATE[found["FileSystemType"]](self.fsx_backend, asked)
        return json.dumps({"FileSystem": changed})

    def delete_file_system(self) -> str:
        """DeleteFileSystem."""
        identifier = self._requested()["FileSystemId"]
        gone = lustre.delete(self.fsx_backend, identifier)
        openzfs.forget_volumes(self.fsx_backend, identifier)
        return json.dumps(gone)

    def describe_backups(self) -> Any:
        """DescribeBackups: moto omits backups that do not exist."""
        for identifier in self._requested().get("BackupIds") or []:
            if identifier not in self.fsx_backend.backups:
                refuse("BackupNotFound", f"Backup '{identifier}' does not exist.")
        return super().describe_backups()

    def describe_volumes(self) -> str:
        """DescribeVolumes."""
        return json.dumps(openzfs.describe_volumes(self.fsx_backend, self._requested()))

    def update_volume(self) -> str:
        """UpdateVolume."""
        changed = openzfs.change_volume(self.fsx_backend, self._requested())
        return json.dumps({"Volume": changed})

    def create_data_repository_association(self) -> str:
        """CreateDataRepositoryAssociation."""
        made = lustre.associate(self.fsx_backend, self._requested())
        return json.dumps({"Association": made})

    def describe_data_repository_associations(self) -> str:
        """DescribeDataRepositoryAssociations."""
        asked = self._requested()
        if asked.get("Filters"):
            raise NotImplementedError("filters of associations")
        ids = asked.get("AssociationIds") or [*records_of(self.fsx_backend).associations]
        found = [lustre.described(self.fsx_backend, each) for each in ids]
        return json.dumps({"Associations": found})

    def update_data_repository_association(self) -> str:
        """UpdateDataRepositoryAssociation."""
        changed = lustre.change(self.fsx_backend, self._requested())
        return json.dumps({"Association": changed})

    def delete_data_repository_association(self) -> str:
        """DeleteDataRepositoryAssociation."""
        gone = lustre.dissociate(self.fsx_backend, self._requested()["AssociationId"])
        return json.dumps(gone)

    def _requested(self) -> dict[str, Any]:
        return json.loads(self.body)
