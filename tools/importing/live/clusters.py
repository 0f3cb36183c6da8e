"""Find a cluster of an account by its name, and read it into a stack file."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from components.account.lookup import AccountReader
from tools.importing.formats import Format
from tools.importing.imported import Imported, imported_as
from tools.importing.live.answers import document_of
from tools.importing.live.batch import answers as batch
from tools.importing.live.eks.answers import read_answers, read_cluster
from tools.importing.live.network import complete_network
from tools.importing.live.parallelcluster import read_slurm

EKS = Format("live.eks", "EKS cluster of the account", lambda _: False, ())
BATCH = Format("live.batch", "compute environments of the account", lambda _: False, ())


class ClusterMissingError(Exception):
    """The region has no cluster of the name, or several; the message says what to do."""


def _read_eks(reader: AccountReader, cluster: str, name: str) -> Imported | None:
    found = read_cluster(reader, cluster)
    if found is None:
        return None
    document = document_of(cluster, read_answers(reader, found))
    return imported_as(EKS, document, name=name, region=reader.region)


def _read_batch(reader: AccountReader, cluster: str, name: str) -> Imported | None:
    found = batch.read_answers(reader, cluster)
    if not found:
        return None
    imported = imported_as(BATCH, document_of(cluster, found), name=name, region=reader.region)
    complete_network(reader, imported)
    return imported


KINDS: Mapping[str, Callable[[AccountReader, str, str], Imported | None]] = {
    "eks": _read_eks,
    "parallelcluster": read_slurm,
    "batch": _read_batch,
}
"""Reads a cluster by the name of the cluster, with the name of the stack; by `--kind`."""


def read_live(reader: AccountReader, cluster: str, *, name: str, kind: str = "") -> Imported:
    """Return what becomes of a cluster of the account.

    Args:
        reader: The account and region.
        cluster: Name of the cluster.
        name: Name of the stack; by default that of the cluster.
        kind: A key of `KINDS`; empty to look for a cluster of every kind.

    Raises:
        ClusterMissingError: there is no such cluster, or there is one of several kinds.
        AccountUnreachableError: the account cannot be queried.
    """
    wanted = [kind] if kind else [*KINDS]
    found = {each: read for each in wanted if (read := KINDS[each](reader, cluster, name))}
    if len(found) > 1:
        raise ClusterMissingError(
            f"{reader.region} has {cluster} as {' and as '.join(found)}; choose one with "
            + " or ".join(f"`--kind {each}`" for each in found)
        )
    if not found:
        denied = "".join(f"\n  not read: {each}" for each in reader.not_read())
        raise ClusterMissingError(
            f"{reader.region} has no {' or '.join(wanted)} cluster {cluster!r} that this account "
            f"can see; look at the name, --region and AWS_PROFILE{denied}"
        )
    (imported,) = found.values()
    imported.report.notes += [
        f"{each}: the answer is not in the stack file; allow the call, and import again"
        for each in reader.not_read()
    ]
    return imported
