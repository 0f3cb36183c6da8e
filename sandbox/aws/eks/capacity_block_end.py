"""EKS scales a Capacity Block's node group in before the block ends.

https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html: forty minutes before the
end, so that the pods are drained before EC2 terminates the instances.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.aws.ec2.capacity_reservations import reservations_of
from trainyard.sandbox.aws.eks.node_group_machines import Machines
from trainyard.sandbox.aws.eks.store import EksStore

SCALE_IN_LEAD = timedelta(minutes=40)


def scale_in_ending_blocks(ec2: Any, store: EksStore) -> list[str]:
    """Set the desired size of node groups with an ending block to 0.

    Returns:
        Names of the node groups that were scaled in.
    """
    names: list[str] = []
    for cluster in store.clusters.values():
        for group in cluster.node_groups.values():
            machines = Machines(store.account_id, store.region_name, cluster, group)
            sizes = machines.sizes()
            if group["capacityType"] != "CAPACITY_BLOCK" or not sizes["desiredSize"]:
                continue
            if _ends_soon(ec2, group["launchTemplate"]):
                group["scalingConfig"] = {**sizes, "minSize": 0, "desiredSize": 0}
                machines.resize()
                names.append(group["nodegroupName"])
    return names


def _ends_soon(ec2: Any, template: dict[str, str]) -> bool:
    data = ec2.get_launch_template(template["id"]).get_version(template["version"]).data
    target = data["CapacityReservationSpecification"]["CapacityReservationTarget"]
    reservation = reservations_of(ec2).by_id.get(target.get("CapacityReservationId", ""))
    if reservation is None or reservation.ends_at is None:
        return False
    return CLOCK.now() >= reservation.ends_at - SCALE_IN_LEAD
