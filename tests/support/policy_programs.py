"""Resources and programs for the tests of several rules: capacity, networks, storage, jobs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import yaml

from tests.support.policy import UNKNOWN, Declared
from tests.support.tracked import ROOT
from trainyard.policies.resources.types import (
    AUTO_SCALING_GROUP,
    AUTO_SCALING_SCHEDULE,
    BATCH_COMPUTE_ENVIRONMENT,
    BATCH_JOB_DEFINITION,
    CAPACITY_BLOCK_RESERVATION,
    CAPACITY_RESERVATION,
    CLOUDFORMATION_STACK,
    ECR_REPOSITORY,
    EKS_NODE_GROUP,
    IAM_ROLE_POLICY,
    LAUNCH_TEMPLATE,
    LUSTRE_FILE_SYSTEM,
    RESOURCE_GROUP,
    RESOURCE_GROUP_MEMBER,
    SECURITY_GROUP,
    SECURITY_GROUP_EGRESS_RULE,
    SECURITY_GROUP_INGRESS_RULE,
    SUBNET,
)

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


def file_system(**changes: Any) -> Declared:
    """Return a protected PERSISTENT_2 file system of 1200 GiB and 125 MB/s/TiB, with changes."""
    props = {
        "deploymentType": "PERSISTENT_2",
        "perUnitStorageThroughput": 125,
        "storageCapacity": 1200,
        "subnetIds": "subnet-0",
        **changes,
    }
    kept = {key: value for key, value in props.items() if value is not None}
    return Declared(LUSTRE_FILE_SYSTEM, "lustre", kept, protect=True)


def shared_storage(name: str = "fsx", directory: str = "/fsx", **settings: Any) -> dict[str, Any]:
    """Return the same file system as shared storage of a ParallelCluster."""
    made = {
        "DeploymentType": "PERSISTENT_2",
        "PerUnitStorageThroughput": 125,
        "StorageCapacity": 1200,
        **settings,
    }
    kept = {key: value for key, value in made.items() if value is not None}
    return {
        "Name": name,
        "MountDir": directory,
        "StorageType": "FsxLustre",
        "FsxLustreSettings": kept,
    }


def cluster_with(*storage: dict[str, Any], subnets: int = 1) -> Declared:
    """Return a ParallelCluster with shared storage, and a queue of some subnets."""
    ids = [f"subnet-{index}" for index in range(subnets)]
    return slurm({"Networking": {"SubnetIds": ids}}, {}, SharedStorage=list(storage))


def rendered_cluster(stack: str, change: Callable[[dict[str, Any]], object]) -> Declared:
    """Return a cluster as the program's renderer writes it, with changes."""
    golden = ROOT / "tests" / "goldens" / "clusters" / f"{stack}.yaml"
    cluster = yaml.safe_load(golden.read_text(encoding="utf-8"))
    change(cluster)
    made = {
        "Type": "Custom::PclusterCluster",
        "Properties": {"ClusterName": stack, "ClusterConfiguration": cluster},
    }
    body = json.dumps({"Resources": {"PclusterCluster": made}})
    return Declared(CLOUDFORMATION_STACK, stack, {"templateBody": body})


EFA_DEVICE = {"hostPath": "/dev/infiniband/uverbs0", "containerPath": "/dev/infiniband/uverbs0"}


def node_range(nodes: str = "0:", **more: Any) -> dict[str, Any]:
    """Return a node group of a job whose containers are privileged, as EFA jobs are."""
    container = {"image": "nccl-tests:1", "privileged": True, **more.pop("container", {})}
    return {"targetNodes": nodes, "container": container, **more}


def multi_node_job(*ranges: dict[str, Any], **changes: Any) -> Declared:
    """Return the definition of a job of two nodes."""
    properties = {
        "mainNode": 0,
        "numNodes": 2,
        "nodeRangeProperties": list(ranges) or [node_range()],
        **changes.pop("node_properties", {}),
    }
    props = {"type": "multinode", "nodeProperties": json.dumps(properties), **changes}
    return Declared(BATCH_JOB_DEFINITION, "nccl-tests", props)


def unknown_job() -> Declared:
    """Return a definition whose image the program creates, so that the document is unknown."""
    props = {"type": "multinode", "nodeProperties": UNKNOWN}
    return Declared(BATCH_JOB_DEFINITION, "nccl-tests", props, {"nodeProperties": ["images"]})


IMAGES = Declared(ECR_REPOSITORY, "images", {"imageScanningConfiguration": {"scanOnPush": True}})
"""The repository of that image."""


def single_node_job(**container: Any) -> Declared:
    """Return the definition of a job of one node."""
    properties = json.dumps({"image": "preprocess:1", **container})
    props = {"type": "container", "containerProperties": properties}
    return Declared(BATCH_JOB_DEFINITION, "preprocess", props)


BUCKET = "arn:aws:s3:::checkpoints/*"


def allow(actions: Any, resources: Any = "*", **more: Any) -> dict[str, Any]:
    """Return a statement that allows actions on resources."""
    return {"Effect": "Allow", "Action": actions, "Resource": resources, **more}


def document(*statements: Any) -> str:
    """Return a policy as JSON."""
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements)})


def role_policy(*statements: Any) -> Declared:
    """Return the inline policy of a role."""
    return Declared(IAM_ROLE_POLICY, "job", {"role": "job", "policy": document(*statements)})
