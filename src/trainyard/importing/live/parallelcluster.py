"""Slurm clusters of ParallelCluster 3, whose configuration is in S3.

Source: https://github.com/aws/aws-parallelcluster/blob/v3.16.1/cli/src/pcluster/models/cluster_resources.py
(parameters of the stack), `s3_bucket.py` there, and `PCLUSTER_S3_ARTIFACTS_DICT` of
`pcluster/constants.py` (names of the objects)
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trainyard.components.account.cloudformation_stacks import DESCRIBE_STACKS, none_without_stack
from trainyard.components.account.lookup import AccountReader
from trainyard.components.tagging import tag_map
from trainyard.importing.formats import format_named
from trainyard.importing.imported import Imported, imported_as
from trainyard.importing.live.network import complete_network
from trainyard.importing.reading import documents_in

_VERSION_TAG = "parallelcluster:version"
_FORMAT = format_named("parallelcluster")


def read_slurm(reader: AccountReader, cluster: str, name: str) -> Imported | None:
    """Return what becomes of a cluster, or None if the region has none of this name.

    Raises:
        AccountUnreachableError: the account cannot be queried.
        UnreadableYamlError: the configuration in S3 is not valid.
    """
    text = _configuration(reader, cluster)
    if text is None:
        return None
    (document,) = documents_in(text, Path(f"{cluster}.yaml"))
    imported = imported_as(_FORMAT, document, name=name, region=reader.region)
    complete_network(reader, imported)
    return imported


def _configuration(reader: AccountReader, cluster: str) -> str | None:
    do = none_without_stack(reader.client("cloudformation").describe_stacks)
    answer = reader.ask(DESCRIBE_STACKS, do, StackName=cluster)
    stack: Mapping[str, Any] = next(iter((answer or {}).get("Stacks", ())), {})
    if _VERSION_TAG not in tag_map(stack.get("Tags")):
        return None
    given = {each["ParameterKey"]: each["ParameterValue"] for each in stack.get("Parameters", ())}
    version = given.get("ConfigVersion")
    found = reader.ask(
        "s3:GetObject",
        reader.client("s3").get_object,
        Bucket=given["ResourcesS3Bucket"],
        Key=f"{given['ArtifactS3RootDirectory']}/configs/cluster-config.yaml",
        **({"VersionId": version} if version else {}),
    )
    return None if found is None else found["Body"].read().decode("utf-8")
