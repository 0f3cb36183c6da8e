"""Resource shares of other accounts that a stack accepts to use their reservations."""

from __future__ import annotations

from collections.abc import Mapping

import pulumi
import pulumi_aws as aws


def accept_shares(
    name: str, shares: Mapping[str, str], *, parent: pulumi.Resource
) -> list[pulumi.Resource]:
    """Accept every invitation once; return the resources that reservations depend on.

    Args:
        name: Prefix of the names.
        shares: ARNs of RAM shares, by the name of the reservation; several can use one share.
        parent: The architecture.
    """
    # An account that leaves a share loses the reservation until the owner invites it again.
    kept = pulumi.ResourceOptions(parent=parent, retain_on_delete=True)
    first: dict[str, str] = {}
    for reservation, share in shares.items():
        first.setdefault(share, reservation)  # one share can contain several reservations
    return [
        aws.ram.ResourceShareAccepter(f"{name}-{reservation}-share", share_arn=share, opts=kept)
        for share, reservation in first.items()
    ]
