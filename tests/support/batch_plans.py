"""AWS Batch and network stacks for tests: complete plans.

Plans are written by hand, so that a test of a component does not depend on the planner: a small
On-Demand plan, p4d in an ODCR of the account, p5 in a Capacity Block, Trainium, and networks alone.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from components.batch.compute_environment_plan import ComputeEnvironmentPlan
from components.batch.plan import BatchPlan, ContainerPlan, JobDefinitionPlan, RepositoryPlan
from components.capacity.plan import CapacityPlan, PlacementPlan, SchedulePlan
from components.catalog.instance_types import instance_type
from components.compute.interface_plan import plan_interfaces
from components.compute.root_volume import RootVolume
from components.config.batch import ComputeEnvironment
from components.config.network import NewVpc
from components.network.network_plan import existing_network
from components.network.vpc_plan import plan_network
from components.network_stack.plan import NetworkStackPlan
from tests.support.batch_configs import IMAGE, NETWORK_RAW, P4D, P5, RAW, TRN1
from tests.support.changed_plans import changed
from tests.support.parallelcluster_configs import (
    AMI,
    PRIVATE_A,
    PRIVATE_B,
    PUBLIC_A,
    PUBLIC_B,
    RESERVATION,
    VPC,
    raw_config,
)

# Stack files for the plans.
__all__ = ["AMI", "IMAGE", "NETWORK_RAW", "P4D", "P5", "RAW", "TRN1", "raw_config"]

REGION = "us-west-2"
NETWORK = existing_network(
    VPC, public_subnet_ids=(PUBLIC_A, PUBLIC_B), private_subnet_ids=(PRIVATE_A, PRIVATE_B)
)
ON_DEMAND = CapacityPlan(purchase_option="on-demand", kind="on-demand")
SPOT = CapacityPlan(
    purchase_option="spot", kind="spot", market_type="spot", eks_capacity_type="SPOT"
)
ODCR = CapacityPlan(
    purchase_option="p4d",
    kind="odcr",
    reservation_id=RESERVATION,
    preference="capacity-reservations-only",
    availability_zone="us-west-2b",
)
ODCR_GROUP = CapacityPlan(
    purchase_option="group",
    kind="odcr-group",
    reservation_group_members=(RESERVATION, "cr-0123456789abcdef1"),
    preference="capacity-reservations-only",
    availability_zone="us-west-2b",
)
BLOCK = CapacityPlan(
    purchase_option="block",
    kind="capacity-block",
    market_type="capacity-block",
    reservation_id=RESERVATION,
    preference="capacity-reservations-only",
    availability_zone="us-west-2b",
    eks_capacity_type="CAPACITY_BLOCK",
)
NO_PLACEMENT = PlacementPlan(group="none", reason="the location of the capacity is fixed")
NEW_PLACEMENT = PlacementPlan(group="create", reason="training with EFA runs fastest")


def compute_environment(name: str = "g4dn", **changes: Any) -> ComputeEnvironmentPlan:
    """Return up to four On-Demand g4dn.8xlarge without EFA."""
    plan = ComputeEnvironmentPlan(
        name=name,
        config=ComputeEnvironment(instance_type="g4dn.8xlarge", maximum=4),
        instance_type=instance_type("g4dn.8xlarge"),
        capacity=ON_DEMAND,
        placement=NO_PLACEMENT,
        interfaces=None,
        subnets=(PRIVATE_A, PRIVATE_B),
        schedule=SchedulePlan(state="unlimited", minimum=0, desired=0, maximum=4),
        minimum_vcpus=0,
        maximum_vcpus=128,
        image_type="ECS_AL2023_NVIDIA",
        allocation_strategy="BEST_FIT_PROGRESSIVE",
        root_volume=RootVolume(size_gib=500),
        local_nvme="raid0",
        iam_policies=(),
        ssh_key_name=None,
    )
    return changed(plan, changes)


def efa_environment(name: str, type_name: str, **changes: Any) -> ComputeEnvironmentPlan:
    """Return up to two nodes with EFA in one subnet."""
    found = instance_type(type_name)
    return compute_environment(
        name,
        **{
            "instance_type": found,
            "interfaces": plan_interfaces(found),
            "subnets": (PRIVATE_B,),
            "maximum_vcpus": 2 * found.vcpus,
            **changes,
        },
    )


def container(**changes: Any) -> ContainerPlan:
    """Return a container of one GPU."""
    plan = ContainerPlan(
        image=IMAGE,
        command=("nvidia-smi",),
        environment={},
        vcpus=32,
        memory_mib=115_000,
        gpus=1,
        devices=(),
        shared_memory_mib=14_375,
    )
    return replace(plan, **changes)


def job_definition(name: str = "nccl-single", **changes: Any) -> JobDefinitionPlan:
    """Return a job on one node of `compute_environment()`."""
    plan = JobDefinitionPlan(
        name=name,
        compute_environment="g4dn",
        nodes=1,
        instance_type=instance_type("g4dn.8xlarge"),
        container=container(),
        attempts=1,
        timeout_seconds=None,
        iam_policies=(),
    )
    return replace(plan, **changes)


def plan(**changes: Any) -> BatchPlan:
    """Return the small plan: On-Demand g4dn in an existing VPC, and a job on one node."""
    small = BatchPlan(
        name="batch-g4dn",
        region=REGION,
        tags={"team": "vision", "trainyard:cluster": "batch-g4dn"},
        network=NETWORK,
        compute_environments=(compute_environment(),),
        job_definitions=(job_definition(),),
        repository=None,
        resource_shares={},
    )
    return replace(small, **changes)


def p4d_plan(**changes: Any) -> BatchPlan:
    """Return two p4d in an ODCR of the account, a repository, and jobs on one node and on both."""
    nodes = efa_environment("p4d", "p4d.24xlarge", capacity=ODCR)
    own = container(
        vcpus=96,
        memory_mib=1_121_406,
        gpus=8,
        devices=tuple(f"/dev/infiniband/uverbs{index}" for index in range(4)),
        shared_memory_mib=49_152,
    )
    single = job_definition(
        compute_environment="p4d", instance_type=nodes.instance_type, container=own
    )
    changes = {
        "name": "batch-p4d",
        "tags": {"trainyard:cluster": "batch-p4d"},
        "compute_environments": (nodes,),
        "job_definitions": (
            single,
            replace(single, name="nccl-multi", nodes=2, container=replace(own, image=None)),
        ),
        "repository": RepositoryPlan(
            name="batch-p4d", untagged_days=14, kept_images=100, deletion_protection=True
        ),
        **changes,
    }
    return plan(**changes)


def p5_plan(**changes: Any) -> BatchPlan:
    """Return two p5 in a Capacity Block, and a job on both."""
    nodes = efa_environment("p5", "p5.48xlarge", capacity=BLOCK)
    both = job_definition(
        "nccl-multi",
        compute_environment="p5",
        nodes=2,
        instance_type=nodes.instance_type,
        container=container(
            vcpus=192,
            memory_mib=1_989_118,
            gpus=8,
            devices=tuple(f"/dev/infiniband/uverbs{index}" for index in range(32)),
            shared_memory_mib=49_152,
        ),
    )
    changes = {
        "name": "batch-p5",
        "tags": {"trainyard:cluster": "batch-p5"},
        "compute_environments": (nodes,),
        "job_definitions": (both,),
        **changes,
    }
    return plan(**changes)


def trn1_plan(**changes: Any) -> BatchPlan:
    """Return four trn1 in a new placement group with a custom image, and a job on all."""
    nodes = efa_environment(
        "trn1",
        "trn1.32xlarge",
        placement=NEW_PLACEMENT,
        maximum_vcpus=512,
        image_type=None,
        custom_ami_id=AMI,
    )
    devices = (
        *(f"/dev/infiniband/uverbs{index}" for index in range(8)),
        *(f"/dev/neuron{index}" for index in range(16)),
    )
    job = job_definition(
        "nccom-multi",
        compute_environment="trn1",
        nodes=4,
        instance_type=nodes.instance_type,
        container=container(vcpus=128, memory_mib=479_486, gpus=0, devices=devices),
    )
    changes = {
        "name": "batch-trn1",
        "tags": {"trainyard:cluster": "batch-trn1"},
        "compute_environments": (nodes,),
        "job_definitions": (job,),
        **changes,
    }
    return plan(**changes)


def new_network(*zones: str, **settings: Any) -> NewVpc:
    """Return a new VPC of these zones, by default that of the one-zone template."""
    defaults: dict[str, Any] = {
        "availability_zones": zones or ("us-west-2b",),
        "addresses": "vpc-multi-az" if len(zones) > 1 else "vpc-one-az",
        "flow_logs": True,
    }
    return NewVpc(kind="new-vpc", **{**defaults, **settings})


def network_stack_plan(*zones: str, **changes: Any) -> NetworkStackPlan:
    """Return a network alone, of one zone or of these."""
    stack = NetworkStackPlan(
        name="vpc-one-az",
        region=REGION,
        tags={"trainyard:cluster": "vpc-one-az"},
        network=plan_network(new_network(*zones), region=REGION),
        efa_security_group=True,
        lustre_security_group=True,
        deletion_protection=True,
    )
    return replace(stack, **changes)
