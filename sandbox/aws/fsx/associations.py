"""Data repository associations: directories of a file system that are linked to S3.

Source: https://docs.aws.amazon.com/fsx/latest/APIReference/API_DataRepositoryAssociation.html
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from moto.moto_api._internal import mock_random

from trainyard.sandbox.aws.fsx.checks import refuse
from trainyard.sandbox.aws.fsx.file_systems import CREATED, become_available, describe, records_of
from trainyard.sandbox.aws.transitions import TRANSITIONS

MOST = 8
TYPE = "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation"


def associate(backend: Any, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Link a directory and return the association."""
    system = describe(backend, wanted["FileSystemId"])
    lustre = system["LustreConfiguration"]
    if lustre["DeploymentType"] == "SCRATCH_1" or "DataRepositoryConfiguration" in lustre:
        refuse("UnsupportedOperation", "The file system does not support associations")
    others = [
        each
        for each in records_of(backend).associations.values()
        if each["FileSystemId"] == wanted["FileSystemId"]
    ]
    if len(others) >= MOST:
        refuse("ServiceLimitExceeded", f"A file system has at most {MOST} associations")
    path = _directory(wanted["FileSystemPath"])
    for other in map(_directory, (each["FileSystemPath"] for each in others)):
        if path.startswith(other) or other.startswith(path):
            refuse("BadRequest", f"{path} overlaps with {other}")
    identifier = f"dra-{mock_random.get_random_hex(17)}"
    place = f"arn:aws:fsx:{backend.region_name}:{backend.account_id}"
    made = {
        "AssociationId": identifier,
        "ResourceARN": f"{place}:association/{wanted['FileSystemId']}/{identifier}",
        "FileSystemId": wanted["FileSystemId"],
        "Lifecycle": "CREATING",
        "FileSystemPath": wanted["FileSystemPath"],
        "DataRepositoryPath": wanted["DataRepositoryPath"],
        "BatchImportMetaDataOnCreate": wanted.get("BatchImportMetaDataOnCreate", False),
        "ImportedFileChunkSize": wanted.get("ImportedFileChunkSize", 1024),
        "S3": wanted.get("S3") or {},
        "CreationTime": CREATED,
    }
    records_of(backend).associations[identifier] = made
    if wanted.get("Tags"):
        backend.tagger.tag_resource(made["ResourceARN"], wanted["Tags"])
    become_available(made, TYPE)
    return described(backend, identifier)


def _directory(path: str) -> str:
    return f"{path.rstrip('/')}/"


def described(backend: Any, identifier: str) -> dict[str, Any]:
    """Return an association.

    Raises:
        JsonRESTError: DataRepositoryAssociationNotFound.
    """
    found = records_of(backend).associations.get(identifier)
    if found is None:
        refuse("DataRepositoryAssociationNotFound", f"Association {identifier} does not exist")
    return {**found, "Tags": backend.list_tags_for_resource(found["ResourceARN"])}


def change(backend: Any, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Update the import and export settings, and return the association."""
    identifier = wanted["AssociationId"]
    described(backend, identifier)
    for key in ("S3", "ImportedFileChunkSize"):
        if key in wanted:
            records_of(backend).associations[identifier][key] = wanted[key]
    return described(backend, identifier)


def dissociate(backend: Any, identifier: str) -> dict[str, Any]:
    """Delete an association; the files are kept."""
    described(backend, identifier)
    associations = records_of(backend).associations
    associations[identifier]["Lifecycle"] = "DELETING"
    TRANSITIONS.begin(TYPE, "delete", lambda: associations.pop(identifier, None))
    return {"AssociationId": identifier, "Lifecycle": "DELETING"}
