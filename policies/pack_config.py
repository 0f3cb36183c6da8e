"""The configuration of the pack for one stack: what its rules cannot see in the resources.

Who made a reservation, and in which placement group, stands in the stack file only. The launcher
writes what `pack_config` returns to a file and passes it as `--policy-pack-config`; a program
that is not ours is checked without it, by the strictest reading.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from components.config.reservations import CapacityBlock, Odcr, OdcrGroup
from components.config.stack import StackConfig
from policies.rules.capacity.auto_scaling_group_placement_group import POLICY as AUTO_SCALING_GROUP
from policies.rules.capacity.odcr_aws_assisted_no_placement_group import POLICY as ASSISTED_ODCR
from policies.rules.capacity.parallelcluster_placement_group import POLICY as PARALLELCLUSTER


def pack_config(config: StackConfig) -> dict[str, dict[str, Any]]:
    """Return the configuration of each rule that takes one, by rule name; plain JSON."""
    own: dict[str, str] = {}
    assisted: list[str] = []
    for reservation in config.reservations.values():
        if isinstance(reservation, CapacityBlock):
            continue
        for target in _targets(reservation):
            if reservation.provenance == "aws-assisted":
                assisted.append(target)
            else:
                own[target] = reservation.placement_group or ""
    declared = {"own_reservations": own, "assisted_reservations": assisted}
    return {
        policy.name: declared for policy in (ASSISTED_ODCR, AUTO_SCALING_GROUP, PARALLELCLUSTER)
    }


def _targets(reservation: Odcr | OdcrGroup) -> Iterator[str]:
    """Yield what launch templates target; for a group that the stack makes, its members."""
    if isinstance(reservation, Odcr):
        yield reservation.reservation_id
    elif reservation.group_arn is not None:
        yield reservation.group_arn
    else:
        yield from reservation.members or ()
