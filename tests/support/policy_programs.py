"""Typical resources and whole programs, for the tests of several rules."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from policies.resources.types import (
    AUTO_SCALING_GROUP,
    BATCH_COMPUTE_ENVIRONMENT,
    CLOUDFORMATION_STACK,
    EKS_NODE_GROUP,
    LAUNCH_TEMPLATE,
    LUSTRE_FILE_SYSTEM,
    SECURITY_GROUP,
    SECURITY_GROUP_EGRESS_RULE,
    SECURITY_GROUP_INGRESS_RULE,
)
from tests.support.policy import UNKNOWN, Declared

BLOCK_ID = "cr-0123456789abcdef0"
ASSISTED_ID = "cr-0a550000000000001"
OWN_ID = "cr-00d00000000000001"
OWN_GROUP = "p4de-reserved"

ONLY = "capacity-reservations-only"


def reservation(reservation_id: str = BLOCK_ID, preference: str | None = ONLY) -> dict[str, Any]:
    """Return the target of a launch template."""
    target = {"capacityReservationTarget": {"capacityReservationId": reservation_id}}
    return {**target, **({"capacityReservationPreference": preference} if preference else {})}


def interface(card: int, device: int, kind: str = "efa-only", **more: Any) -> dict[str, Any]:
    """Return a network interface of a launch template."""
    return {
        "networkCardIndex": card,
        "deviceIndex": device,
        "interfaceType": kind,
        "securityGroups": [UNKNOWN],
        **more,
    }


def p5_interfaces(**more: Any) -> list[dict[str, Any]]:
    """Return the 33 interfaces of a p5.48xlarge."""
    first = [interface(0, 0, "interface", **more), interface(0, 1, **more)]
    return [*first, *(interface(card, 0, **more) for card in range(1, 32))]


BLOCK_PROPS: Mapping[str, Any] = {
    "instanceType": "p5.48xlarge",
    "instanceMarketOptions": {"marketType": "capacity-block"},
    "capacityReservationSpecification": reservation(),
    "networkInterfaces": p5_interfaces(),
    "metadataOptions": {"httpTokens": "required", "httpPutResponseHopLimit": 2},
    "blockDeviceMappings": [
        {"deviceName": "/dev/xvda", "ebs": {"encrypted": "true", "volumeSize": 500}}
    ],
}


def template(*without: str, **changes: Any) -> Declared:
    """Return the launch template of a p5 node group in a Capacity Block, with changes."""
    props = {key: value for key, value in {**BLOCK_PROPS, **changes}.items() if key not in without}
    return Declared(LAUNCH_TEMPLATE, "p5-template", props, {"networkInterfaces": ["efa"]})


def in_odcr(reservation_id: str, **changes: Any) -> Declared:
    """Return the launch template of a node group in an On-Demand Capacity Reservation."""
    return template(
        "instanceMarketOptions",
        capacityReservationSpecification=reservation(reservation_id),
        **changes,
    )


def node_group(*without: str, **changes: Any) -> Declared:
    """Return the managed node group of that template."""
    props = {
        "capacityType": "CAPACITY_BLOCK",
        "launchTemplate": {"id": UNKNOWN, "version": UNKNOWN},
        "subnetIds": ["subnet-0b000000000000002"],
        **changes,
    }
    kept = {key: value for key, value in props.items() if key not in without}
    return Declared(EKS_NODE_GROUP, "p5-nodes", kept, {"launchTemplate": ["p5-template"]})


def auto_scaling_group(**changes: Any) -> Declared:
    """Return the Auto Scaling group of that template."""
    props = {
        "launchTemplate": {"id": UNKNOWN, "version": UNKNOWN},
        "vpcZoneIdentifiers": ["subnet-0b000000000000002"],
        **changes,
    }
    return Declared(AUTO_SCALING_GROUP, "p5-asg", props, {"launchTemplate": ["p5-template"]})


EFA_GROUP = Declared(SECURITY_GROUP, "efa", {"vpcId": "vpc-0123456789abcdef0"})


def self_rule(direction: str, **changes: Any) -> Declared:
    """Return a self-referencing rule of the EFA security group."""
    type_ = SECURITY_GROUP_INGRESS_RULE if direction == "ingress" else SECURITY_GROUP_EGRESS_RULE
    props = {
        "securityGroupId": UNKNOWN,
        "referencedSecurityGroupId": UNKNOWN,
        "ipProtocol": "-1",
        **changes,
    }
    named = ("securityGroupId", "referencedSecurityGroupId")
    return Declared(type_, f"efa-{direction}", props, {name: ["efa"] for name in named})


INTERNET_RULE = Declared(
    SECURITY_GROUP_EGRESS_RULE,
    "efa-internet",
    {"securityGroupId": UNKNOWN, "cidrIpv4": "0.0.0.0/0", "ipProtocol": "-1"},
    {"securityGroupId": ["efa"]},
)
EFA_NETWORK = (EFA_GROUP, self_rule("ingress"), self_rule("egress"), INTERNET_RULE)


def lustre(*, protect: bool = True) -> Declared:
    """Return a Lustre file system behind the group `lustre-servers`."""
    props = {"storageCapacity": 1200, "securityGroupIds": [UNKNOWN]}
    depends = {"securityGroupIds": ["lustre-servers"]}
    return Declared(LUSTRE_FILE_SYSTEM, "lustre", props, depends, protect=protect)


def lustre_rule(direction: str, first: int, last: int, protocol: str = "tcp") -> Declared:
    """Return a rule of the file system's group."""
    type_ = SECURITY_GROUP_INGRESS_RULE if direction == "ingress" else SECURITY_GROUP_EGRESS_RULE
    props = {
        "securityGroupId": UNKNOWN,
        "referencedSecurityGroupId": UNKNOWN,
        "ipProtocol": protocol,
        "fromPort": first,
        "toPort": last,
    }
    named = ("securityGroupId", "referencedSecurityGroupId")
    depends = {name: ["lustre-servers"] for name in named}
    return Declared(type_, f"lustre-{direction}-{first}", props, depends)


def compute_environment(**changes: Any) -> Declared:
    """Return a compute environment with the template of `template()`, updated in place."""
    resources = {
        "type": "EC2",
        "allocationStrategy": "BEST_FIT_PROGRESSIVE",
        "launchTemplate": {"launchTemplateId": "lt-1", "version": "1"},
        "subnets": ["subnet-a"],
        **changes.pop("computeResources", {}),
    }
    props = {"type": "MANAGED", "computeResources": resources, **changes}
    return Declared(BATCH_COMPUTE_ENVIRONMENT, "batch-p5-environment", props)


LUSTRE_GROUP = Declared(SECURITY_GROUP, "lustre-servers", {"vpcId": "vpc-0123456789abcdef0"})
LUSTRE_NETWORK = (
    LUSTRE_GROUP,
    *(
        lustre_rule(direction, *ports)
        for direction in ("ingress", "egress")
        for ports in ((988, 988), (1018, 1023))
    ),
)


def slurm_cluster(reservation_id: str = OWN_ID, **networking: Any) -> Declared:
    """Return a ParallelCluster whose only queue launches into a reservation."""
    queue = {
        "Name": "compute-gpu",
        "CapacityType": "ONDEMAND",
        "CapacityReservationTarget": {"CapacityReservationId": reservation_id},
        "Networking": networking,
        "ComputeResources": [{"Name": "distributed-ml", "InstanceType": "p5.48xlarge"}],
    }
    return slurm_queues(queue)


def slurm_queues(*queues: Mapping[str, Any]) -> Declared:
    """Return a ParallelCluster with these queues."""
    cluster = {
        "Type": "Custom::PclusterCluster",
        "Properties": {"ClusterConfiguration": {"Scheduling": {"SlurmQueues": list(queues)}}},
    }
    body = json.dumps({"Resources": {"PclusterCluster": cluster}})
    return Declared(CLOUDFORMATION_STACK, "pc-deployment", {"templateBody": body})
