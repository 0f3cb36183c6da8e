"""The cluster of the account that `import --live` reads."""

from __future__ import annotations

from collections.abc import Callable

from trainyard.cli import failures
from trainyard.components.account.reader import AccountReader
from trainyard.components.account.session import usual_region
from trainyard.importing.imported import Imported
from trainyard.importing.live.clusters import KINDS, ClusterMissingError, WantedCluster, read_live
from trainyard.workspace.target import Account


def read_from_account(
    wanted: WantedCluster,
    account: Account,
    *,
    kind: str,
    region: str,
    reader: Callable[..., AccountReader],
) -> Imported:
    """Return what becomes of a cluster of an account.

    Args:
        wanted: The cluster.
        account: Its account.
        kind: Its kind; empty to look for a cluster of every kind.
        region: Its region; empty for the usual one.
        reader: Returns the reader of a region.

    Raises:
        WrongUseError: there is no region, no credentials, or no such cluster.
        AccountUnreachableError: the account cannot be queried.
    """
    if kind and kind not in KINDS:
        raise failures.WrongUseError(f"--kind is one of {', '.join(KINDS)}, not {kind!r}")
    with account.access():
        found = region or usual_region()
        if not found:
            raise failures.WrongUseError(
                "the region of the cluster is not known: add --region, or set AWS_REGION"
            )
        try:
            return read_live(
                reader(region=found),
                wanted.cluster,
                name=wanted.name,
                kind=kind,
                adopt=wanted.adopt,
            )
        except ClusterMissingError as error:
            raise failures.WrongUseError(str(error)) from error
