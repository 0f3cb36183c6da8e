"""The network interfaces that ParallelCluster gives its nodes.

Source: https://github.com/aws/aws-parallelcluster/blob/v3.16.1/cli/src/pcluster/templates/queues_stack.py
(`add_network_interfaces`) and `templates/cluster_stack.py` (`_add_head_node`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Card:
    """One network card of an instance type."""

    index: int
    maximum_interfaces: int


def compute_interfaces(
    cards: Sequence[Card],
    *,
    efa_enabled: bool,
    efa_on_first_card: bool,
    assign_public_ip: bool | None,
    combined: bool = False,
) -> tuple[dict[str, Any], ...]:
    """Return the interfaces of a compute node, with EC2's field names.

    Args:
        cards: The instance type's network cards, the first one first.
        efa_enabled: Whether the compute resource has EFA.
        efa_on_first_card: Whether the first card carries EFA.
        assign_public_ip: Setting of the queue; None for the subnet's default.
        combined: `DevSettings/EfaInterfaceType: efa`: EFA and addresses on the same interface.
    """
    on_first = efa_enabled and efa_on_first_card
    beside = on_first and not combined and cards[0].maximum_interfaces >= 2
    first: dict[str, Any] = {"DeviceIndex": 0, "NetworkCardIndex": 0}
    if on_first and not beside:
        first["InterfaceType"] = "efa"
    if assign_public_ip is not None:
        first["AssociatePublicIpAddress"] = assign_public_ip
    made = [first]
    if beside:
        made.append({"DeviceIndex": 1, "NetworkCardIndex": 0, "InterfaceType": "efa-only"})
    kind = ("efa" if combined else "efa-only") if efa_enabled else None
    made.extend(_further(card, kind) for card in cards[1:])
    return tuple(made)


def head_interfaces(cards: Sequence[Card]) -> tuple[dict[str, Any], ...]:
    """Return the interfaces of a head node: one per card, without EFA."""
    first = {"DeviceIndex": 0, "NetworkCardIndex": 0}
    return (first, *(_further(card, None) for card in cards[1:]))


def _further(card: Card, kind: str | None) -> dict[str, Any]:
    made = {
        "DeviceIndex": 0 if card.maximum_interfaces == 1 else 1,
        "NetworkCardIndex": card.index,
    }
    return {**made, "InterfaceType": kind} if kind else made
