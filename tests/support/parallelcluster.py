"""ParallelCluster for tests: stack files, plans by hand, and a registered stack.

Plans are written by hand, so that a test of a component or of the renderer does not depend on the
planner: a small one without a reservation, p4de in an ODCR of the account, and Trainium. Ids are
those of the sandbox's account.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from tests.support.cloud import Cloud
from tests.support.pools import (
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
    PUBLIC_A,
    PUBLIC_B,
    REGION,
    RESERVATION,
    VPC,
    plan_from,
    raw_config,
)
from trainyard.components.capacity.plan import PlacementPlan
from trainyard.components.catalog.instance_types import instance_type
from trainyard.components.catalog.versions import PARALLELCLUSTER_VERSION
from trainyard.components.compute.node_pool_plan import ImageSource
from trainyard.components.config.network import ExistingVpc, NewVpc
from trainyard.components.config.node_pool import RootVolume
from trainyard.components.config.parallelcluster import (
    ComputeResource,
    Monitoring,
    Queue,
    S3Access,
    Slurm,
)
from trainyard.components.network.network_plan import plan_network
from trainyard.components.parallelcluster.cluster_template import CLUSTER, PROVIDER
from trainyard.components.parallelcluster.node_scripts import NodeAccess, ScriptPlan
from trainyard.components.parallelcluster.plan import (
    DeploymentPlan,
    HeadNodePlan,
    ParallelClusterPlan,
    SharedStoragePlan,
)
from trainyard.components.parallelcluster.queue_plan import ComputeResourcePlan, QueuePlan
from trainyard.components.parallelcluster.references import resolve
from trainyard.components.parallelcluster.rendering import render_cluster

RAW: dict[str, Any] = {
    "name": "pc-g4dn",
    "network": EXISTING_NETWORK,
    "architecture": {
        "kind": "parallelcluster",
        "head_node": {"instance_type": "m5.8xlarge", "ssh": {"key_name": "sandbox"}},
        "queues": {
            "compute": {
                "compute_resources": {"g4dn": {"instance_type": "g4dn.8xlarge", "maximum": 2}}
            }
        },
    },
}
"""The stack file of a small cluster in an existing VPC."""

RAW_P4DE: dict[str, Any] = {
    **RAW,
    "name": "pc-p4de",
    "reservations": {
        "p4de": {
            "kind": "odcr",
            "reservation_id": RESERVATION,
            "availability_zone": "us-west-2b",
            "instance_count": 4,
        }
    },
    "storage": {
        "fsx": {
            "kind": "fsx-lustre",
            "mount_directory": "/fsx",
            "storage_capacity_gib": 4800,
            "per_unit_storage_throughput": 250,
        },
        "apps": {
            "kind": "ebs",
            "mount_directory": "/apps",
            "size_gib": 200,
            "iops": 6000,
            "throughput_mibps": 300,
        },
    },
    "architecture": {
        "kind": "parallelcluster",
        "custom_ami_id": AMI,
        "head_node": {"instance_type": "m5.8xlarge", "ssh": {"key_name": "sandbox"}},
        "queues": {
            "compute-gpu": {
                "purchase_option": "p4de",
                "exclusive_jobs": True,
                "scratch_directory": "/local_scratch",
                "compute_resources": {
                    "distributed-ml": {
                        "instance_type": "p4de.24xlarge",
                        "minimum": 4,
                        "maximum": 4,
                        "efa_enabled": True,
                    }
                },
            }
        },
    },
}
"""The stack file of a p4de cluster in an ODCR of the account, with shared storage."""

RAW_TRN1: dict[str, Any] = {
    **RAW,
    "name": "pc-trn1",
    "architecture": {
        "kind": "parallelcluster",
        "head_node": {"instance_type": "m5.4xlarge", "ssh": {"key_name": "sandbox"}},
        "queues": {
            "compute1": {
                "subnet_ids": [PRIVATE_B],
                "compute_resources": {
                    "queue1-i1": {
                        "instance_type": "trn1.32xlarge",
                        "maximum": 16,
                        "efa_enabled": True,
                    }
                },
            }
        },
    },
}
"""The stack file of an On-Demand Trainium cluster."""

ODCR = odcr("p4de")


def raw_g4dn(**changes: Any) -> dict[str, Any]:
    """Return the stack file of the small cluster, changed as in `raw_config`."""
    return raw_config(RAW, **changes)


def raw_p4de(**changes: Any) -> dict[str, Any]:
    """Return the stack file of the p4de cluster, changed as in `raw_config`."""
    return raw_config(RAW_P4DE, **changes)


def raw_trn1(**changes: Any) -> dict[str, Any]:
    """Return the stack file of the Trainium cluster, changed as in `raw_config`."""
    return raw_config(RAW_TRN1, **changes)


POLICY = "arn:aws:iam::aws:policy/"

NEW_NETWORK = plan_network(
    NewVpc(kind="new-vpc", availability_zones=("us-west-2a", "us-west-2b")),
    region=REGION,
    public_subnet_tags={},
    private_subnet_tags={},
)
EXISTING_VPC = ExistingVpc(
    kind="existing-vpc",
    vpc_id=VPC,
    public_subnet_ids=(PUBLIC_A, PUBLIC_B),
    private_subnet_ids=(PRIVATE_A, PRIVATE_B),
)

NAMED_PLACEMENT = PlacementPlan(
    group="existing", name="training-group", reason="the reservation was created in it"
)


def compute_resource(name: str = "g4dn", **changes: Any) -> ComputeResourcePlan:
    """Return up to two On-Demand g4dn.8xlarge without EFA."""
    plan = ComputeResourcePlan(
        name=name,
        config=ComputeResource(instance_type="g4dn.8xlarge", maximum=2),
        queue="compute",
        instance_type=instance_type("g4dn.8xlarge"),
        subnets=(PRIVATE_A, PRIVATE_B),
        interfaces=None,
        root_volume=None,
        ami=ImageSource(name="aws-parallelcluster-3.16.1-amzn2023-hvm-x86_64"),
        minimum=0,
        maximum=2,
        efa_enabled=False,
        capacity=ON_DEMAND,
        placement=NO_PLACEMENT,
    )
    return changed(plan, changes)


def queue(name: str = "compute", *resources: ComputeResourcePlan, **changes: Any) -> QueuePlan:
    """Return a queue of these compute resources (by default, of `compute_resource()`)."""
    plan = QueuePlan(
        name=name,
        config=Queue(compute_resources={"g4dn": compute_resource().config}),
        capacity=ON_DEMAND,
        subnets=(PRIVATE_A, PRIVATE_B),
        compute_resources=resources or (compute_resource(),),
        access=NodeAccess(),
    )
    return changed(plan, changes)


def head_node(**changes: Any) -> HeadNodePlan:
    """Return a head node in a public subnet that users reach with an existing key pair."""
    plan = HeadNodePlan(
        instance_type="m5.8xlarge",
        subnets=(PUBLIC_A,),
        public=True,
        root_volume=RootVolume(size_gib=500),
        key_name="sandbox",
        public_key=None,
        allowed_cidr="0.0.0.0/0",
        access=NodeAccess(iam_policies=(f"{POLICY}AmazonSSMManagedInstanceCore",)),
    )
    return replace(plan, **changes)


def _plan(name: str, **settings: Any) -> ParallelClusterPlan:
    defaults: dict[str, Any] = {
        "tags": {"team": "vision", "trainyard:cluster": name},
        "network": NETWORK,
        "custom_ami_id": None,
        "head_node": head_node(),
        "slurm": Slurm(),
        "monitoring": Monitoring(),
        "deployment": DeploymentPlan(
            stack_name=f"{name}-deployment",
            provider_template_url=(
                f"https://{REGION}-aws-parallelcluster.s3.{REGION}.amazonaws.com/parallelcluster/"
                f"{PARALLELCLUSTER_VERSION}/templates/custom_resource/cluster.yaml"
            ),
            provider_service_token=None,
            suppress_validators=(),
            deletion_policy="Delete",
            timeout_minutes=90,
        ),
    }
    return ParallelClusterPlan(
        name=name,
        region=REGION,
        version=PARALLELCLUSTER_VERSION,
        operating_system="alinux2023",
        **{**defaults, **settings},
    )


def plan(**changes: Any) -> ParallelClusterPlan:
    """Return the small plan: one queue of On-Demand g4dn in an existing VPC, without storage."""
    return replace(_plan("pc-g4dn", queues=(queue(),)), **changes)


def new_vpc_plan(**changes: Any) -> ParallelClusterPlan:
    """Return the small plan in a new VPC, so that no subnet has an id yet."""
    public, private = (NEW_NETWORK.public_subnets, NEW_NETWORK.private_subnets)
    small = plan(
        network=NEW_NETWORK,
        head_node=head_node(subnets=(public[0].name,)),
        queues=(queue(subnets=tuple(subnet.name for subnet in private)),),
    )
    return replace(small, **changes)


FSX = SharedStoragePlan(
    name="fsx",
    mount_directory="/fsx",
    type="FsxLustre",
    settings={
        "StorageCapacity": 4800,
        "DeploymentType": "PERSISTENT_2",
        "PerUnitStorageThroughput": 250,
        "DataCompressionType": "LZ4",
        "DeletionPolicy": "Retain",
    },
    retained=True,
)
APPS = SharedStoragePlan(
    name="apps",
    mount_directory="/apps",
    type="Ebs",
    settings={
        "VolumeType": "gp3",
        "Size": 200,
        "Iops": 6000,
        "Throughput": 300,
        "Encrypted": True,
        "DeletionPolicy": "Retain",
    },
    retained=True,
)
SCRIPTS = (
    ScriptPlan(url="https://scripts.example.com/0123abc/docker.sh"),
    ScriptPlan(url="https://scripts.example.com/0123abc/pyxis.sh", arguments=("/fsx",)),
)


def p4de_plan(**changes: Any) -> ParallelClusterPlan:
    """Return the p4de plan: four static nodes with EFA in an ODCR, FSx for Lustre and EBS."""
    training = compute_resource(
        "distributed-ml",
        instance_type=instance_type("p4de.24xlarge"),
        minimum=4,
        maximum=4,
        efa_enabled=True,
        capacity=ODCR,
        placement=PlacementPlan(group="none", reason="the location of the reservation is fixed"),
    )
    policies = ("AmazonSSMManagedInstanceCore", "AmazonS3ReadOnlyAccess")
    access = NodeAccess(
        iam_policies=tuple(POLICY + policy for policy in policies),
        s3_access=(S3Access(bucket="training-scripts"),),
        on_node_configured=SCRIPTS,
    )
    full = _plan(
        "pc-p4de",
        custom_ami_id=AMI,
        head_node=head_node(access=access),
        queues=(
            queue(
                "compute-gpu",
                training,
                capacity=ODCR,
                subnets=(PRIVATE_B,),
                scratch_directory="/local_scratch",
                exclusive_jobs=True,
                access=NodeAccess(on_node_configured=SCRIPTS),
            ),
        ),
        slurm=Slurm(
            idle_minutes=60,
            settings={
                "JobCompType": "jobcomp/filetxt",
                "JobCompLoc": "/home/slurm/slurm-job-completions.txt",
                "JobAcctGatherType": "jobacct_gather/linux",
            },
        ),
        shared_storage=(FSX, APPS),
        monitoring=Monitoring(dashboard=False),
    )
    return replace(full, **changes)


def trn1_plan(**changes: Any) -> ParallelClusterPlan:
    """Return the Trainium plan: up to 16 On-Demand trn1.32xlarge with EFA, in a managed group."""
    training = compute_resource(
        "queue1-i1",
        instance_type=instance_type("trn1.32xlarge"),
        maximum=16,
        efa_enabled=True,
        placement=MANAGED_PLACEMENT,
    )
    full = _plan(
        "pc-trn1",
        head_node=head_node(instance_type="m5.4xlarge"),
        queues=(queue("compute1", training, subnets=(PRIVATE_B,)),),
        shared_storage=(FSX,),
    )
    return replace(full, **changes)


def first_queue(raw: object, **settings: Any) -> QueuePlan:
    """Return the plan of the first queue of a stack file."""
    return plan_from(raw, **settings).queues[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class SlurmStack:
    """One stack."""

    config: dict[str, Any]
    """`config` of the stack file, completed with the ids of the account."""
    plan: ParallelClusterPlan
    cloud: Cloud

    @property
    def deployment(self) -> dict[str, Any]:
        """Inputs of the CloudFormation stack."""
        (made,) = self.cloud.of_type("aws:cloudformation/stack:Stack")
        return made.inputs

    @property
    def template(self) -> dict[str, Any]:
        """Template of that stack."""
        return json.loads(self.deployment["templateBody"])

    @property
    def provider(self) -> dict[str, Any]:
        """Properties of the stack that provides ParallelCluster's custom resource."""
        return self.template["Resources"][PROVIDER]["Properties"]

    @property
    def custom_resource(self) -> dict[str, Any]:
        """Properties of the custom resource."""
        return self.template["Resources"][CLUSTER]["Properties"]

    @property
    def cluster(self) -> dict[str, Any]:
        """The cluster configuration, with ids."""
        return self.custom_resource["ClusterConfiguration"]

    @property
    def head(self) -> dict[str, Any]:
        """The section `HeadNode`."""
        return self.cluster["HeadNode"]

    @property
    def slurm(self) -> dict[str, Any]:
        """The section `SlurmSettings`."""
        return self.cluster["Scheduling"]["SlurmSettings"]

    @property
    def queues(self) -> dict[str, dict[str, Any]]:
        """The queues, by name."""
        return {queue["Name"]: queue for queue in self.cluster["Scheduling"]["SlurmQueues"]}

    @property
    def queue(self) -> dict[str, Any]:
        """The queue for training, which is the first."""
        return self.cluster["Scheduling"]["SlurmQueues"][0]

    @property
    def nodes(self) -> dict[str, Any]:
        """The one compute resource of that queue."""
        (resource,) = self.queue["ComputeResources"]
        return resource

    @property
    def storage(self) -> dict[str, dict[str, Any]]:
        """The shared storage, by name."""
        return {entry["Name"]: entry for entry in self.cluster.get("SharedStorage", [])}

    @property
    def outputs(self) -> dict[str, Any]:
        """What the stack exports."""
        return self.cloud.exports


def scripts(section: dict[str, Any], action: str = "OnNodeConfigured") -> list[dict[str, Any]]:
    """Return the scripts of a head node or a queue, in order."""
    return section.get("CustomActions", {}).get(action, {}).get("Sequence", [])


def policies(section: dict[str, Any]) -> list[str]:
    """Return the names of the managed policies of a head node or a queue."""
    attached = section.get("Iam", {}).get("AdditionalIamPolicies", [])
    return [each["Policy"].rpartition("/")[2] for each in attached]


def rendered(plan: ParallelClusterPlan) -> dict[str, Any]:
    """Return the cluster configuration of a plan, with the target of each reference as text."""
    return resolve(render_cluster(plan), lambda each: f"{each.kind} {each.name}")
