"""Programs that create the reservation into which they launch."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from policies.resources.types import (
    AUTO_SCALING_SCHEDULE,
    CAPACITY_BLOCK_RESERVATION,
    CAPACITY_RESERVATION,
    CLOUDFORMATION_STACK,
    RESOURCE_GROUP,
    RESOURCE_GROUP_MEMBER,
    SUBNET,
)
from tests.support.policy import UNKNOWN, Declared
from tests.support.policy_programs import ONLY, template

ZONE, OTHER_ZONE = "us-west-2b", "us-west-2c"
ODCR_PROPS: Mapping[str, Any] = {
    "instanceType": "p5.48xlarge",
    "availabilityZone": ZONE,
    "instancePlatform": "Linux/UNIX",
    "instanceCount": 2,
}


def odcr(name: str = "odcr", **changes: Any) -> Declared:
    """Return an On-Demand Capacity Reservation of two p5.48xlarge."""
    return Declared(CAPACITY_RESERVATION, name, {**ODCR_PROPS, "id": UNKNOWN, **changes})


def block(name: str = "block", **changes: Any) -> Declared:
    """Return a purchase of a Capacity Block, as the program that made it sees it."""
    bought = {
        **ODCR_PROPS,
        "id": UNKNOWN,
        "capacityBlockOfferingId": "cb-0123456789abcdef0",
        "startDate": "2000-01-01T11:30:00Z",
        "endDate": "2999-01-01T11:30:00Z",
    }
    return Declared(CAPACITY_BLOCK_RESERVATION, name, {**bought, **changes})


def targets(name: str = "odcr", preference: str | None = ONLY) -> dict[str, Any]:
    """Return the specification of a launch into a reservation or group of the program."""
    by_id = {"capacityReservationId": UNKNOWN}
    by_group = {"capacityReservationResourceGroupArn": UNKNOWN}
    chosen = {"capacityReservationTarget": by_group if name == "pool" else by_id}
    return {**chosen, **({"capacityReservationPreference": preference} if preference else {})}


def into(*names: str, market: bool = False, **changes: Any) -> Declared:
    """Return the p5 launch template into reservations of the program, `pool` for a group."""
    names = names or ("odcr",)
    props = {
        "capacityReservationSpecification": targets(names[0]),
        **changes,
    }
    made = template(*(() if market else ("instanceMarketOptions",)), **props)
    depends = {**made.depends, "capacityReservationSpecification": list(names)}
    return Declared(made.type, made.name, made.props, depends)


POOL_CONFIGURATION = [
    {"type": "AWS::EC2::CapacityReservationPool"},
    {
        "type": "AWS::ResourceGroups::Generic",
        "parameters": [
            {"name": "allowed-resource-types", "values": ["AWS::EC2::CapacityReservation"]}
        ],
    },
]


def pool(*members: str, **changes: Any) -> tuple[Declared, ...]:
    """Return a group of reservations, and the resources that add members to it."""
    group = Declared(
        RESOURCE_GROUP, "pool", {"configurations": POOL_CONFIGURATION, "arn": UNKNOWN, **changes}
    )
    props = {"groupArn": UNKNOWN, "resourceArn": UNKNOWN}
    return (
        group,
        *(
            Declared(
                RESOURCE_GROUP_MEMBER,
                f"pool-{name}",
                props,
                {"groupArn": ["pool"], "resourceArn": [name]},
            )
            for name in members
        ),
    )


def subnets(*zones: str) -> tuple[Declared, ...]:
    """Return one subnet for each zone: `subnet-0`, `subnet-1` and so on."""
    return tuple(
        Declared(SUBNET, f"subnet-{i}", {"id": f"subnet-{i}", "availabilityZone": zone})
        for i, zone in enumerate(zones)
    )


def subnet_ids(count: int) -> list[str]:
    """Return the ids of the first of those."""
    return [f"subnet-{index}" for index in range(count)]


def scheduled(
    desired: int, start: str, name: str = "at", group: str = "p5-asg", **changes: Any
) -> Declared:
    """Return a scheduled action of the Auto Scaling group `p5-asg`."""
    props = {
        "autoscalingGroupName": UNKNOWN,
        "scheduledActionName": name,
        "desiredCapacity": desired,
        "startTime": start,
        **changes,
    }
    return Declared(AUTO_SCALING_SCHEDULE, name, props, {"autoscalingGroupName": [group]})


def slurm(queue: Mapping[str, Any], nodes: Mapping[str, Any], **cluster: Any) -> Declared:
    """Return a ParallelCluster of one queue with one compute resource, as CloudFormation."""
    whole = {
        "Image": {"Os": "alinux2023"},
        "Scheduling": {
            "SlurmQueues": [
                {
                    "Name": "gpu",
                    "Networking": {"SubnetIds": ["subnet-0"]},
                    **queue,
                    "ComputeResources": [
                        {"Name": "p5", "InstanceType": "p5.48xlarge", **nodes},
                    ],
                }
            ]
        },
        **cluster,
    }
    made = {
        "Type": "Custom::PclusterCluster",
        "Properties": {"ClusterName": "training", "ClusterConfiguration": whole},
    }
    body = json.dumps({"Resources": {"PclusterCluster": made}})
    return Declared(CLOUDFORMATION_STACK, "slurm", {"templateBody": body})


def reserved_queue(reservation_id: str, **changes: Any) -> dict[str, Any]:
    """Return the part of a queue that targets a reservation by id."""
    return {"CapacityReservationTarget": {"CapacityReservationId": reservation_id}, **changes}
