"""The configuration of a cluster in S3, where ParallelCluster keeps it.

Source: https://github.com/aws/aws-parallelcluster/blob/v3.16.1/cli/src/pcluster/models/s3_bucket.py,
and `PCLUSTER_S3_ARTIFACTS_DICT` of `pcluster/constants.py`
"""

from __future__ import annotations

import hashlib
import secrets
import string
from collections.abc import Mapping
from importlib import metadata
from typing import Any

import yaml

from trainyard.sandbox.parallelcluster.provider.account import Clients

BUCKET, DIRECTORY, VERSION = "ResourcesS3Bucket", "ArtifactS3RootDirectory", "ConfigVersion"
"""Parameters of the stack of a cluster: `cluster_resources.py`."""

_RANDOM = string.ascii_lowercase + string.digits


def new_directory(cluster: str) -> str:
    """Return the directory for a new cluster: `_generate_artifact_dir` of `cluster.py`."""
    version = metadata.version("aws-parallelcluster")
    suffix = "".join(secrets.choice(_RANDOM) for _ in range(16))
    return f"parallelcluster/{version}/clusters/{cluster}-{suffix}"


def put_configuration(
    clients: Clients, directory: str, configuration: Mapping[str, Any]
) -> dict[str, str]:
    """Write a configuration, and return the parameters that say where it is.

    ParallelCluster creates its bucket with the first cluster of a region and never deletes it; the
    account of the sandbox has it.
    """
    bucket = str(configuration.get("CustomS3Bucket") or _own_bucket(clients))
    written = clients("s3").put_object(
        Bucket=bucket,
        Key=f"{directory}/configs/cluster-config.yaml",
        Body=yaml.safe_dump(dict(configuration), sort_keys=False).encode(),
    )
    return {BUCKET: bucket, DIRECTORY: directory, VERSION: written["VersionId"]}


def remove_configuration(clients: Clients, parameters: Mapping[str, str]) -> None:
    """Remove every version of a configuration; without parameters, there is none."""
    if not parameters.keys() >= {BUCKET, DIRECTORY}:
        return
    s3, bucket = clients("s3"), parameters[BUCKET]
    found = s3.list_object_versions(Bucket=bucket, Prefix=f"{parameters[DIRECTORY]}/")
    for each in (*found.get("Versions", ()), *found.get("DeleteMarkers", ())):
        s3.delete_object(Bucket=bucket, Key=each["Key"], VersionId=each["VersionId"])


def _own_bucket(clients: Clients) -> str:
    account = clients("sts").get_caller_identity()["Account"]
    digest = hashlib.sha256(f"{account}{clients('s3').meta.region_name}".encode()).hexdigest()
    return f"parallelcluster-{digest[:16]}-v1-do-not-delete"
