"""AWS Batch for tests: stack files, plans by hand, and a registered stack.

Plans are written by hand, so that a test of a component does not depend on the planner: a small
On-Demand plan, p4d in an ODCR of the account, p5 in a Capacity Block, and Trainium. Ids are those
of the sandbox's account.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, replace
from typing import Any

from tests.support.cloud import Cloud, Registered
from tests.support.pools import (
    BLOCK,
    MANAGED_PLACEMENT,
    NETWORK,
    NO_PLACEMENT,
    ON_DEMAND,
    changed,
    odcr,
)
from tests.support.stack_files import (
    AMI,
    EXISTING_NETWORK,
    PRIVATE_A,
    PRIVATE_B,
    REGION,
    RESERVATION,
    plan_from,
)
from trainyard.components.batch.compute_environment_plan import ComputeEnvironmentPlan
from trainyard.components.batch.plan import (
    BatchPlan,
    ContainerPlan,
    JobDefinitionPlan,
    RepositoryPlan,
)
from trainyard.components.capacity.plan import SchedulePlan
from trainyard.components.catalog.instance_types import instance_type
from trainyard.components.compute.interface_plan import plan_interfaces
from trainyard.components.compute.node_pool_plan import RootVolumePlan
from trainyard.components.config.batch import ComputeEnvironment

IMAGE = "public.ecr.aws/example/nccl-tests:1.0"

RAW: dict[str, Any] = {
    "name": "batch-g4dn",
    "network": EXISTING_NETWORK,
    "architecture": {
        "kind": "batch",
        "compute_environments": {"g4dn": {"instance_type": "g4dn.8xlarge", "maximum": 4}},
        "job_definitions": {"nccl-single": {"compute_environment": "g4dn"}},
    },
}
"""A small On-Demand stack without EFA."""

P4D: dict[str, Any] = {
    **RAW,
    "name": "batch-p4d",
    "reservations": {
        "p4d": {
            "kind": "odcr",
            "reservation_id": RESERVATION,
            "availability_zone": "us-west-2b",
            "instance_count": 2,
        }
    },
    "architecture": {
        "kind": "batch",
        "compute_environments": {
            "p4d": {
                "instance_type": "p4d.24xlarge",
                "purchase_option": "p4d",
                "efa_enabled": True,
                "maximum": 2,
            }
        },
        "job_definitions": {
            "nccl-single": {"compute_environment": "p4d"},
            "nccl-multi": {"compute_environment": "p4d", "nodes": 2},
        },
        "repository": {},
    },
}
"""Two p4d.24xlarge in an ODCR of the account, with EFA."""

P5: dict[str, Any] = {
    **RAW,
    "name": "batch-p5",
    "reservations": {
        "block": {
            "kind": "capacity-block",
            "reservation_id": RESERVATION,
            "availability_zone": "us-west-2b",
            "instance_count": 2,
            "starts_at": "2026-11-01T11:30:00Z",
            "ends_at": "2027-01-01T11:30:00Z",
        }
    },
    "architecture": {
        "kind": "batch",
        "compute_environments": {
            "p5": {
                "instance_type": "p5.48xlarge",
                "purchase_option": "block",
                "efa_enabled": True,
                "maximum": 2,
            }
        },
        "job_definitions": {"nccl-multi": {"compute_environment": "p5", "nodes": 2}},
        "repository": {},
    },
}
"""Two p5.48xlarge in a Capacity Block, with EFA."""

TRN1: dict[str, Any] = {
    **RAW,
    "name": "batch-trn1",
    "architecture": {
        "kind": "batch",
        "compute_environments": {
            "trn1": {
                "instance_type": "trn1.32xlarge",
                "efa_enabled": True,
                "subnet_id": PRIVATE_B,
                "image": "custom",
                "custom_ami_id": AMI,
                "maximum": 4,
            }
        },
        "job_definitions": {
            "nccom-multi": {"compute_environment": "trn1", "nodes": 4, "image": IMAGE}
        },
    },
}
"""Four On-Demand trn1.32xlarge with EFA."""


# Stack files for the plans.


ODCR = odcr("p4d")


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
        root_volume=RootVolumePlan(size_gib=500),
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
        placement=MANAGED_PLACEMENT,
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


def environment(raw: object, **settings: Any) -> ComputeEnvironmentPlan:
    """Return the plan of the first compute environment of a stack file."""
    return plan_from(raw, **settings).compute_environments[0]


def definition(raw: object, name: str, **settings: Any) -> JobDefinitionPlan:
    """Return the plan of a job definition of a stack file."""
    found = plan_from(raw, **settings).job_definitions
    return next(each for each in found if each.name == name)


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchStack:
    """One stack with one compute environment."""

    plan: BatchPlan
    cloud: Cloud

    def inputs(self, type_: str) -> dict[str, Any]:
        """Return the inputs of the one resource of a type."""
        return only(self.cloud, type_).inputs

    @property
    def environment(self) -> dict[str, Any]:
        """Inputs of the compute environment."""
        return self.inputs("aws:batch/computeEnvironment:ComputeEnvironment")

    @property
    def resources(self) -> dict[str, Any]:
        """Its section `computeResources`."""
        return self.environment["computeResources"]

    @property
    def queue(self) -> dict[str, Any]:
        """Inputs of the job queue."""
        return self.inputs("aws:batch/jobQueue:JobQueue")

    @property
    def template(self) -> dict[str, Any]:
        """Inputs of the launch template."""
        return self.inputs("aws:ec2/launchTemplate:LaunchTemplate")

    @property
    def user_data(self) -> str:
        """User data of a node."""
        return base64.b64decode(self.template["userData"]).decode()

    @property
    def repository(self) -> Registered:
        """The repository of images."""
        return only(self.cloud, "aws:ecr/repository:Repository")

    @property
    def efa_cards(self) -> list[int]:
        """Cards of the EFA interfaces."""
        return [
            each["networkCardIndex"]
            for each in self.template["networkInterfaces"]
            if each["interfaceType"] != "interface"
        ]

    def definition(self, name: str) -> dict[str, Any]:
        """Return the inputs of a job definition, its container or its nodes as objects."""
        made = self.cloud.one(
            f"{self.plan.name}-{name}-definition", "aws:batch/jobDefinition:JobDefinition"
        ).inputs
        documents = {"containerProperties", "nodeProperties"} & made.keys()
        return made | {key: json.loads(made[key]) for key in documents}

    def container(self, name: str) -> dict[str, Any]:
        """Return the container of a job, on one node or on each."""
        made = self.definition(name)
        if "containerProperties" in made:
            return made["containerProperties"]
        (nodes,) = made["nodeProperties"]["nodeRangeProperties"]
        return nodes["container"]

    def policies(self, role: str) -> list[str]:
        """Return the names of the managed policies of a role, sorted."""
        attached = self.cloud.of_type("aws:iam/rolePolicyAttachment:RolePolicyAttachment")
        found = (each.inputs for each in attached)
        return sorted(
            each["policyArn"].rpartition("/")[2] for each in found if each["role"] == role
        )


def only(cloud: Cloud, type_: str) -> Registered:
    """Return the one resource of a type."""
    (made,) = cloud.of_type(type_)
    return made
