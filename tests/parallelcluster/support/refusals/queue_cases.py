"""Broken queues and compute resources: names, numbers, types, subnets, parameters."""

from __future__ import annotations

from typing import Any

from tests.parallelcluster.support.refusals.case import (
    PRIVATE_A,
    PRIVATE_B,
    PUBLIC_B,
    QUEUES,
    YAML_QUEUES,
    Case,
)
from tests.parallelcluster.support.refusals.cluster_cases import SCHEMA, SLURM

_OPEN, _YAML_OPEN = f"{QUEUES}.open", f"{YAML_QUEUES}.open"
_G4DN, _YAML_G4DN = f"{_OPEN}.compute_resources.g4dn", f"{_YAML_OPEN}.ComputeResources.g4dn"
_LONG = "a" * 26


def _resource(maximum: int = 1) -> dict[str, Any]:
    return {"instance_type": "g4dn.8xlarge", "maximum": maximum}


def _yaml_resource(name: str) -> dict[str, Any]:
    return {"Name": name, "InstanceType": "g4dn.8xlarge", "MinCount": 0, "MaxCount": 1}


def _queue() -> dict[str, Any]:
    return {"subnet_ids": [PRIVATE_B], "compute_resources": {"g4dn": _resource()}}


def _yaml_queue(name: str) -> dict[str, Any]:
    return {
        "Name": name,
        "Networking": {"SubnetIds": [PRIVATE_B]},
        "ComputeResources": [_yaml_resource("g4dn")],
    }


def _named_queue(name: str, what: str, validator: str = "NameValidator") -> Case:
    return Case(
        name=what,
        ours={f"{QUEUES}.{name}": _queue()},
        theirs={f"{YAML_QUEUES}.+": _yaml_queue(name)},
        path=f"{QUEUES}.{name}",
        validators=(validator,),
    )


QUEUE_CASES = (
    _named_queue("default", "a queue named `default`"),
    _named_queue(_LONG, "a queue with a name of 26 characters"),
    _named_queue("Train", "a queue with a capital letter"),
    Case(
        name="a compute resource named `default`",
        ours={f"{_OPEN}.compute_resources.default": _resource()},
        theirs={f"{_YAML_OPEN}.ComputeResources.+": _yaml_resource("default")},
        path=f"{_OPEN}.compute_resources.default",
        validators=("NameValidator",),
    ),
    Case(
        name="a compute resource with an underscore",
        ours={f"{_OPEN}.compute_resources.g4_dn": _resource()},
        theirs={f"{_YAML_OPEN}.ComputeResources.+": _yaml_resource("g4_dn")},
        path=f"{_OPEN}.compute_resources.g4_dn",
        validators=("NameValidator",),
    ),
    Case(
        name="51 compute resources, over all queues",
        ours={f"{_OPEN}.compute_resources": {f"r{n}": _resource() for n in range(49)}},
        theirs={f"{_YAML_OPEN}.ComputeResources": [_yaml_resource(f"r{n}") for n in range(49)]},
        path=QUEUES,
        validators=("MaxCountValidator",),
    ),
    Case(
        name="a minimum above the maximum",
        ours={f"{_G4DN}.minimum": 5},
        theirs={f"{_YAML_G4DN}.MinCount": 5},
        path=f"{_G4DN}.minimum",
        validators=("ComputeResourceSizeValidator",),
    ),
    Case(
        name="a maximum of none",
        ours={f"{_G4DN}.maximum": 0},
        theirs={f"{_YAML_G4DN}.MaxCount": 0},
        path=f"{_G4DN}.maximum",
        validators=SCHEMA,
    ),
    Case(
        name="an instance type that does not exist",
        ours={f"{_G4DN}.instance_type": "g4dn.9xlarge"},
        theirs={f"{_YAML_G4DN}.InstanceType": "g4dn.9xlarge"},
        path=f"{_G4DN}.instance_type",
        validators=("AWSClientError",),
    ),
    Case(
        name="EFA on a type that has none",
        ours={f"{_G4DN}.instance_type": "g4dn.xlarge", f"{_G4DN}.efa_enabled": True},
        theirs={
            f"{_YAML_G4DN}.InstanceType": "g4dn.xlarge",
            f"{_YAML_G4DN}.Efa": {"Enabled": True},
            f"{_YAML_OPEN}.Networking.PlacementGroup": {"Enabled": True},
        },
        path=f"{_G4DN}.efa_enabled",
        validators=("EfaValidator",),
    ),
    Case(
        name="EFA in two zones",
        ours={
            "storage": {},
            f"{_OPEN}.subnet_ids": [PRIVATE_A, PRIVATE_B],
            f"{_G4DN}.efa_enabled": True,
        },
        theirs={
            "SharedStorage": ...,
            f"{_YAML_OPEN}.Networking.SubnetIds": [PRIVATE_A, PRIVATE_B],
            f"{_YAML_G4DN}.InstanceType": ...,
            f"{_YAML_G4DN}.Instances": [{"InstanceType": "g4dn.8xlarge"}],
            f"{_YAML_G4DN}.Efa": {"Enabled": True},
        },
        path=f"{_OPEN}.subnet_ids",
        validators=("EfaMultiAzValidator",),
    ),
    Case(
        name="a placement group in two zones",
        ours={
            "storage": {},
            f"{_OPEN}.subnet_ids": [PRIVATE_A, PRIVATE_B],
            f"{_G4DN}.placement": {"group": "create"},
        },
        theirs={
            "SharedStorage": ...,
            f"{_YAML_OPEN}.Networking.SubnetIds": [PRIVATE_A, PRIVATE_B],
            f"{_YAML_OPEN}.Networking.PlacementGroup": {"Enabled": True},
            f"{_YAML_G4DN}.InstanceType": ...,
            f"{_YAML_G4DN}.Instances": [{"InstanceType": "g4dn.8xlarge"}],
        },
        path=f"{_G4DN}.placement.group",
        validators=("MultiAzPlacementGroupValidator",),
    ),
    Case(
        name="a placement group of a type that takes none",
        ours={f"{_G4DN}.instance_type": "t3.large", f"{_G4DN}.placement": {"group": "create"}},
        theirs={
            f"{_YAML_G4DN}.InstanceType": "t3.large",
            f"{_YAML_OPEN}.Networking.PlacementGroup": {"Enabled": True},
        },
        path=f"{_G4DN}.placement.group",
        validators=("InstanceTypePlacementGroupValidator",),
    ),
    Case(
        name="a subnet twice",
        ours={f"{_OPEN}.subnet_ids": [PRIVATE_B, PRIVATE_B]},
        theirs={
            f"{_YAML_OPEN}.Networking.SubnetIds": [PRIVATE_B, PRIVATE_B],
            f"{_YAML_G4DN}.InstanceType": ...,
            f"{_YAML_G4DN}.Instances": [{"InstanceType": "g4dn.8xlarge"}],
        },
        path=f"{_OPEN}.subnet_ids",
        validators=("QueueSubnetsValidator",),
    ),
    Case(
        name="a reservation over two subnets",
        ours={"storage": {}, f"{QUEUES}.train.subnet_ids": [PRIVATE_B, PRIVATE_A]},
        theirs={
            "SharedStorage": ...,
            f"{YAML_QUEUES}.train.Networking.SubnetIds": [PRIVATE_B, PRIVATE_A],
        },
        path=f"{QUEUES}.train.subnet_ids",
        validators=(
            "EfaMultiAzValidator",
            "MultiAzPlacementGroupValidator",
            "SingleInstanceTypeSubnetValidator",
        ),
    ),
    Case(
        name="nodes of several network cards in a public subnet",
        ours={"storage": {}, f"{QUEUES}.block.subnet_ids": [PUBLIC_B]},
        theirs={
            "SharedStorage": ...,
            f"{YAML_QUEUES}.block.Networking.SubnetIds": [PUBLIC_B],
        },
        path=f"{QUEUES}.block.subnet_ids",
        validators=("MultiNetworkInterfacesInstancesValidator",),
    ),
    Case(
        name="a parameter of the partition that ParallelCluster sets",
        ours={f"{_OPEN}.slurm_settings": {"OverSubscribe": "FORCE"}},
        theirs={f"{_YAML_OPEN}.CustomSlurmSettings": {"OverSubscribe": "FORCE"}},
        path=f"{_OPEN}.slurm_settings.OverSubscribe",
        validators=SLURM,
    ),
    Case(
        name="a parameter of the nodes that ParallelCluster sets",
        ours={f"{_G4DN}.slurm_settings": {"Weight": 10}},
        theirs={f"{_YAML_G4DN}.CustomSlurmSettings": {"Weight": 10}},
        path=f"{_G4DN}.slurm_settings.Weight",
        validators=SLURM,
    ),
    Case(
        name="more memory than the type has",
        ours={f"{_G4DN}.schedulable_memory_mib": 131073},
        theirs={f"{_YAML_G4DN}.SchedulableMemory": 131073},
        path=f"{_G4DN}.schedulable_memory_mib",
        validators=("SchedulableMemoryValidator",),
    ),
    Case(
        name="a scaling strategy that does not exist",
        ours={"architecture.slurm": {"scaling_strategy": "some"}},
        theirs={"Scheduling.ScalingStrategy": "some"},
        path="architecture.slurm.scaling_strategy",
        validators=SCHEMA,
    ),
    Case(
        name="a health check of GPUs where there are none",
        ours={f"{_G4DN}.instance_type": "c5.4xlarge", f"{_OPEN}.gpu_health_check": True},
        theirs={
            f"{_YAML_G4DN}.InstanceType": "c5.4xlarge",
            f"{_YAML_OPEN}.HealthChecks": {"Gpu": {"Enabled": True}},
        },
        path=f"{_OPEN}.gpu_health_check",
        why="a check that tests nothing is a mistake",
    ),
    Case(
        name="the disks of nodes in a directory of the system",
        ours={f"{_OPEN}.scratch_directory": "/opt"},
        theirs={
            f"{_YAML_OPEN}.ComputeSettings.LocalStorage.EphemeralVolume": {"MountDir": "/opt"},
        },
        path=f"{_OPEN}.scratch_directory",
        why="the validators look at the directories of shared storage only; Slurm is hidden",
    ),
    Case(
        name="a root volume of a queue smaller than the official image",
        ours={f"{_OPEN}.root_volume": {"size_gib": 30}},
        theirs={f"{_YAML_OPEN}.ComputeSettings.LocalStorage.RootVolume.Size": 30},
        path=f"{_OPEN}.root_volume.size_gib",
        validators=("RootVolumeSizeValidator",),
    ),
)
