"""The shares of other accounts that a stack accepts, because its reservations are in them."""

from __future__ import annotations

from collections.abc import Mapping

import pulumi
import pulumi_aws as aws


def accept_shares(
    name: str, shares: Mapping[str, str], *, parent: pulumi.Resource
) -> list[pulumi.Resource]:
    """Accept every invitation once, and return what must be there before a reservation is used.

    Args:
        name: Prefix of the names.
        shares: ARNs of RAM shares, by the name of the reservation; several may name one share.
        parent: The architecture.
    """
    # Whoever leaves a share loses the reservation until its owner invites the account again.
    kept = pulumi.ResourceOptions(parent=parent, retain_on_delete=True)
    first: dict[str, str] = {}
    for reservation, share in shares.items():
        first.setdefault(share, reservation)  # one invitation may bring several reservations
    return [
        aws.ram.ResourceShareAccepter(f"{name}-{reservation}-share", share_arn=share, opts=kept)
        for share, reservation in first.items()
    ]
