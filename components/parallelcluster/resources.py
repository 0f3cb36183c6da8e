"""The ParallelCluster architecture: the cluster and its prerequisites.

The plan decides which resources exist.
"""

from __future__ import annotations

from collections.abc import Mapping

import pulumi
import pulumi_aws as aws

from trainyard.components.catalog.parallelcluster import DEFAULT_USERS, RESERVATION_PLATFORMS
from trainyard.components.compute.reservations import accept_shares, make_reservations
from trainyard.components.monitoring.plan import Subject
from trainyard.components.network.cluster_network import ClusterNetwork
from trainyard.components.parallelcluster.node_scripts import HEAD_NODE_PREFIX, script_text
from trainyard.components.parallelcluster.plan import ParallelClusterPlan, SharedStoragePlan
from trainyard.components.parallelcluster.queue_plan import QueuePlan
from trainyard.components.parallelcluster.slurm_cluster import SlurmCluster, SlurmClusterArgs
from trainyard.components.storage.open_zfs import OpenZfs, OpenZfsArgs, client_cidrs
from trainyard.components.storage.private_bucket import PrivateBucket, PrivateBucketArgs, TextObject

LOG_GROUP_PARAMETER = "ClusterCWLogGroup"
"""Parameter of ParallelCluster's CloudFormation stack with the name of the log group. The name ends
with the creation time in minutes and cannot be derived otherwise.
https://github.com/aws/aws-parallelcluster/blob/develop/cli/src/pcluster/constants.py"""

SCRIPT_BUCKET_PREFIX = "parallelcluster-scripts-"
"""The Lambda function of the ParallelCluster provider, which asks whether the scripts exist, may
read buckets of the prefix `parallelcluster-` only (`S3ResourcesBucket`).
https://github.com/aws/aws-parallelcluster/blob/003dc38fbc3e77513df2bd3a935f8a64c82922e1/cloudformation/policies/parallelcluster-policies.yaml"""


def login_commands(
    plan: ParallelClusterPlan, outputs: pulumi.Output[Mapping[str, str]]
) -> dict[str, pulumi.Input[object]]:
    """Return the commands that open a shell on the head node; None for unavailable methods.

    SSH needs a key, an address and an open port; Session Manager needs none of them.
    """
    head_node = plan.head_node
    session = pulumi.Output.concat(
        "aws ssm start-session --target ", outputs["HeadNodeInstanceId"], " --region ", plan.region
    )
    has_key = head_node.key_name is not None or head_node.public_key is not None
    if not (has_key and head_node.public and head_node.allowed_cidr is not None):
        return {"ssh_command": None, "ssm_command": session}
    user = DEFAULT_USERS[plan.operating_system]
    ssh = pulumi.Output.concat("ssh ", user, "@", outputs["HeadNodePublicIp"])
    return {"ssh_command": ssh, "ssm_command": session}


def log_group(
    plan: ParallelClusterPlan,
    outputs: pulumi.Output[Mapping[str, str]],
    parent: pulumi.Resource,
) -> pulumi.Output[str] | None:
    """Return the name of the cluster's log group, from ParallelCluster's CloudFormation stack."""
    if not plan.monitoring.logs:
        return None
    found = aws.cloudformation.get_stack_output(
        # The stack output ensures that the cluster exists before the lookup.
        name=outputs["ClusterName"],
        region=plan.region,
        opts=pulumi.InvokeOutputOptions(parent=parent),
    )
    return found.parameters.apply(lambda parameters: parameters.get(LOG_GROUP_PARAMETER))


class ParallelClusterArchitecture(pulumi.ComponentResource):
    """The Slurm cluster of a `ParallelClusterPlan`, created by ParallelCluster.

    Explicit dependencies ensure the order that AWS needs: resource shares are accepted before their
    reservations join a group. Reservation groups and routes exist before the cluster, whose
    creation waits for its static nodes.

    Children: `<name>` (`SlurmCluster`), `<name>-network` (`Vpc`, if new),
    `<name>-<reservation>-share` (`aws.ram.ResourceShareAccepter`) and `<name>-<reservation>`
    (`CapacityReservation` or `ReservationGroup`) for reservations that need them, and
    `<name>-<storage>` (`OpenZfs`) for file systems that ParallelCluster cannot create, and
    `<name>-scripts` (`PrivateBucket`) if nodes run built-in scripts.
    """

    def __init__(
        self, name: str, plan: ParallelClusterPlan, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("trainyard:architectures:ParallelClusterArchitecture", name, {}, opts)
        self._plan = plan
        self._child = pulumi.ResourceOptions(parent=self)

        self._network = ClusterNetwork(
            f"{name}-network", plan.network, tags=plan.tags, opts=self._child
        )
        shares = accept_shares(name, plan.resource_shares, parent=self)
        file_systems = self._make_file_systems(name)
        scripts = self._make_script_bucket(name)
        self._reservations = make_reservations(
            name,
            plan,
            platform=RESERVATION_PLATFORMS[plan.operating_system],
            opts=self._child,
            after=shares,
        )
        self._cluster = SlurmCluster(
            name,
            SlurmClusterArgs(
                plan=plan,
                subnet_id=self._network.subnet_id,
                reservation_ids=self._reservations.ids,
                reservation_group_arns=self._reservations.group_arns,
                open_zfs_volume_ids={
                    storage: made.root_volume_id for storage, made in file_systems.items()
                },
                script_bucket=scripts.bucket if scripts else None,
                script_addresses=scripts.addresses if scripts else {},
                launch_after=[
                    *self._network.ready,
                    *shares,
                    *(ready for made in file_systems.values() for ready in made.ready),
                    *(scripts.ready if scripts else ()),
                ],
            ),
            self._child,
        )
        self._log_group = log_group(plan, self._cluster.outputs, self)
        self.register_outputs({})

    def monitored(self) -> Mapping[Subject, pulumi.Input[str]]:
        """Return the ids of what the metrics of the stack measure."""
        name = self._plan.name
        ids: dict[Subject, pulumi.Input[str]] = {
            Subject(kind="head-node", name=name): self._cluster.outputs["HeadNodeInstanceId"],
            **Subject.each("reservation", self._reservations.ids),
        }
        if self._log_group is not None:
            ids[Subject(kind="log-group", name=name)] = self._log_group
        return ids

    def outputs(self) -> dict[str, pulumi.Input[object]]:
        """Return the stack outputs, by name."""
        plan, made = self._plan, self._cluster.outputs
        return {
            "cluster_name": made["ClusterName"],
            "cluster_version": plan.version,
            "cluster_status": made["ClusterStatus"],
            "compute_fleet_status": made["ComputeFleetStatus"],
            "cluster_stack_arn": made["ClusterStackArn"],
            "head_node": {
                "instance_id": made["HeadNodeInstanceId"],
                "private_ip": made["HeadNodePrivateIp"],
                "public_ip": made["HeadNodePublicIp"] if plan.head_node.public else None,
            },
            **login_commands(plan, made),
            "log_group": self._log_group,
            "validation_messages": made["ValidationMessages"],
            "cluster_config": self._cluster.configuration,
            "queues": {queue.name: _describe(queue) for queue in plan.queues},
            "vpc_id": self._network.vpc_id,
            "private_subnet_ids": [
                self._network.subnet_id(subnet) for subnet in plan.network.private_names
            ],
            "file_systems": {each.name: _mounted(each) for each in plan.shared_storage},
            "notes": list(plan.notes),
        }

    def _make_script_bucket(self, name: str) -> PrivateBucket | None:
        scripts = self._plan.node_scripts
        if not scripts:
            return None
        objects = {
            f"{'head-node' if key.startswith(HEAD_NODE_PREFIX) else 'queues'}-{script}": TextObject(
                key=key, text=script_text(script), content_type="text/x-shellscript"
            )
            for key, script in scripts.items()
        }
        return PrivateBucket(
            f"{name}-scripts",
            PrivateBucketArgs(prefix=SCRIPT_BUCKET_PREFIX, objects=objects, tags=self._plan.tags),
            self._child,
        )

    def _make_file_systems(self, name: str) -> Mapping[str, OpenZfs]:
        return {
            each.name: OpenZfs(
                f"{name}-{each.name}",
                OpenZfsArgs(
                    plan=each,
                    vpc_id=self._network.vpc_id,
                    subnet_id=self._network.subnet_id(each.subnets[0]),
                    client_cidrs=client_cidrs(each, self._plan.network),
                ),
                self._child,
            )
            for each in self._plan.open_zfs
        }


def _describe(queue: QueuePlan) -> dict[str, object]:
    return {
        resource.name: {
            "instance_type": resource.instance_type.name,
            "minimum": resource.minimum,
            "maximum": resource.maximum,
        }
        for resource in queue.compute_resources
    }


def _mounted(storage: SharedStoragePlan) -> dict[str, object]:
    return {
        "type": storage.type,
        "mount_directory": storage.mount_directory,
        "outlives_the_cluster": storage.retained,
    }
