"""Find a cluster of an account by its name, and read it into a stack file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from trainyard.components.account.lookup import AccountReader
from trainyard.importing.formats import EKS_ANSWERS, Format
from trainyard.importing.imported import Imported, imported_as
from trainyard.importing.live.adopted_network import adopt_network
from trainyard.importing.live.answers import document_of
from trainyard.importing.live.batch import answers as batch
from trainyard.importing.live.eks.answers import read_answers, read_cluster
from trainyard.importing.live.network import complete_network
from trainyard.importing.live.parallelcluster import read_slurm

_NOT_OF_SLURM = (
    "nothing is adopted: file systems of a Slurm cluster are part of the CloudFormation stack of "
    "ParallelCluster; retain them there, and mount them by their ids (`existing-fsx-lustre`, "
    "`existing-efs`)"
)
BATCH = Format("live.batch", "compute environments of the account", lambda _: False, ())


class ClusterMissingError(Exception):
    """The region has no cluster of the name, or several; the message says what to do."""


class Wanted(NamedTuple):
    """What to read."""

    cluster: str
    """Name of the cluster."""
    name: str
    """Name of the stack; by default that of the cluster."""
    adopt: bool = False
    """Whether the stack shall own what is adopted without a replacement."""


def _read_eks(reader: AccountReader, wanted: Wanted) -> Imported | None:
    found = read_cluster(reader, wanted.cluster)
    if found is None:
        return None
    answers = read_answers(reader, found, with_file_systems=wanted.adopt)
    document = document_of(wanted.cluster, answers)
    imported = imported_as(EKS_ANSWERS, document, name=wanted.name, region=reader.region)
    if wanted.adopt:
        adopt_network(reader, imported)
    return imported


def _read_slurm(reader: AccountReader, wanted: Wanted) -> Imported | None:
    imported = read_slurm(reader, wanted.cluster, wanted.name)
    if imported is not None and wanted.adopt:
        imported.report.notes.append(_NOT_OF_SLURM)
    return imported


def _read_batch(reader: AccountReader, wanted: Wanted) -> Imported | None:
    found = batch.read_answers(reader, wanted.cluster, with_repositories=wanted.adopt)
    if not found:
        return None
    document = document_of(wanted.cluster, found)
    imported = imported_as(BATCH, document, name=wanted.name, region=reader.region)
    complete_network(reader, imported)
    if wanted.adopt:
        adopt_network(reader, imported)
    return imported


KINDS: Mapping[str, Callable[[AccountReader, Wanted], Imported | None]] = {
    "eks": _read_eks,
    "parallelcluster": _read_slurm,
    "batch": _read_batch,
}
"""Reads a cluster, or returns None if the region has none of the name; by `--kind`."""


def read_live(
    reader: AccountReader, cluster: str, *, name: str, kind: str = "", adopt: bool = False
) -> Imported:
    """Return what becomes of a cluster of the account.

    Args:
        reader: The account and region.
        cluster: Name of the cluster.
        name: Name of the stack; by default that of the cluster.
        kind: A key of `KINDS`; empty to look for a cluster of every kind.
        adopt: Whether the stack shall own the VPC, file systems and repositories that no stack has.

    Raises:
        ClusterMissingError: there is no such cluster, or there is one of several kinds.
        AccountUnreachableError: the account cannot be queried.
    """
    kinds = [kind] if kind else [*KINDS]
    wanted = Wanted(cluster, name, adopt)
    found = {each: read for each in kinds if (read := KINDS[each](reader, wanted))}
    if len(found) > 1:
        raise ClusterMissingError(
            f"{reader.region} has {cluster} as {' and as '.join(found)}; choose one with "
            + " or ".join(f"`--kind {each}`" for each in found)
        )
    if not found:
        denied = "".join(f"\n  not read: {each}" for each in reader.not_read())
        raise ClusterMissingError(
            f"{reader.region} has no {' or '.join(kinds)} cluster {cluster!r} that this account "
            f"can see; look at the name, --region and AWS_PROFILE{denied}"
        )
    (imported,) = found.values()
    imported.report.notes += [
        f"{each}: the answer is not in the stack file; allow the call, and import again"
        for each in reader.not_read()
    ]
    imported.report.notes += [
        f"left out: {what}: {why}" for what, why in sorted(reader.left_out.items())
    ]
    return imported
