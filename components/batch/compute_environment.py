"""A compute environment of AWS Batch, with the nodes that it starts and the queue before it.

Sources:
    https://docs.aws.amazon.com/batch/latest/userguide/updating-compute-environments.html
    https://docs.aws.amazon.com/batch/latest/userguide/launch-templates.html
    https://docs.aws.amazon.com/batch/latest/userguide/mnp-ce.html
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws

from components.batch.instance_role import BatchInstanceRole, BatchInstanceRoleArgs
from components.batch.plan import ComputeEnvironmentPlan
from components.batch.user_data_plan import render_user_data
from components.catalog.batch import image_type
from components.compute.launch_template import NodeLaunchTemplate, NodeLaunchTemplateArgs
from components.compute.placement_group import ClusterPlacementGroup, ClusterPlacementGroupArgs
from components.naming import COMPUTE_ENVIRONMENT, LAUNCH

UPDATE_TIMEOUT_MINUTES = 360
"""How long jobs run on when an update replaces their nodes: the most that the provider takes, since
training runs for hours. Batch takes 7,200.
https://docs.aws.amazon.com/batch/latest/APIReference/API_UpdatePolicy.html
https://github.com/hashicorp/terraform-provider-aws/issues/48709"""

METADATA_HOP_LIMIT = 1
"""As far as the node itself. That keeps out containers on a bridge of the node, and no job of Batch
is on one: to those on several nodes the user data closes the service, and those on one node share
its network, where nothing can close it.
https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/configuring-instance-metadata-options.html
https://docs.aws.amazon.com/batch/latest/userguide/networking-modes-jobs.html
https://repost.aws/knowledge-center/ecs-container-ec2-metadata"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchComputeEnvironmentArgs:
    """Arguments of `BatchComputeEnvironment`."""

    plan: ComputeEnvironmentPlan
    region: str
    """Region of the stack."""
    subnet_ids: Sequence[pulumi.Input[str]]
    """Of `plan.subnets`, in their order."""
    security_group_id: pulumi.Input[str]
    """Group in which nodes reach each other and the way out."""
    reservation_group_arn: pulumi.Input[str] | None
    """The group of reservations to launch into; None where the capacity is no group."""
    launch_after: Sequence[pulumi.Resource]
    """What must be there before the first node starts, and go after the last one."""
    tags: Mapping[str, str]


class BatchComputeEnvironment(pulumi.ComponentResource):
    """A managed compute environment, its job queue, and what its nodes are made of.

    Batch replaces the nodes by itself, and keeps the environment, when the launch template or
    the instance type changes: it has no service role of ours (so that the service-linked one is
    used), an allocation strategy that allows it, and the version of the template by number, which
    `$Latest` would hide. Where the engine must replace the environment all the same, its name is
    a new one, and the queue names it by ARN: the new environment comes first, then the queue turns
    to it, then the old one goes, which Batch refuses as long as a queue has it.

    Nothing here installs an EFA driver. The kernel of Amazon Linux has one, which may be older than
    the installer's (https://github.com/bottlerocket-os/bottlerocket-kernel-kit/pull/313); the
    images of ECS put none over it (https://github.com/aws/amazon-ecs-ami), and AWS's own templates
    for p5 and p6 do without (https://github.com/awslabs/awsome-distributed-ai/pull/448, /pull/893).
    libfabric comes with the container.

    Batch takes security groups either from the environment or from the template's interfaces, and
    refuses both together (https://github.com/aws/aws-cdk/issues/21577).

    Children: `<name>` (`BatchInstanceRole`), `<name>-launch` (`NodeLaunchTemplate`),
    `<name>-placement` (`ClusterPlacementGroup`, where planned), `<name>-environment`
    (`aws.batch.ComputeEnvironment`) and `<name>-queue` (`aws.batch.JobQueue`).
    """

    arn: pulumi.Output[str]
    """ARN of the compute environment."""
    environment_name: pulumi.Output[str]
    """Name of the compute environment; it changes when that is replaced."""
    queue_arn: pulumi.Output[str]
    """ARN of the job queue, which stays when the environment is replaced."""
    queue_name: pulumi.Output[str]
    """Name of the job queue: `<name>`."""

    def __init__(
        self,
        name: str,
        args: BatchComputeEnvironmentArgs,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("trainyard:batch:BatchComputeEnvironment", name, {}, opts)
        child = pulumi.ResourceOptions(parent=self)
        role = BatchInstanceRole(
            name,
            BatchInstanceRoleArgs(
                extra_policy_arns=args.plan.iam_policies, region=args.region, tags=args.tags
            ),
            child,
        )
        template = NodeLaunchTemplate(
            f"{name}{LAUNCH}", self._launch_template_args(name, args, child), child
        )
        environment = aws.batch.ComputeEnvironment(
            f"{name}{COMPUTE_ENVIRONMENT}",
            name_prefix=f"{name}-",
            type="MANAGED",
            state="ENABLED",
            compute_resources=_compute_resources(args, role, template),
            update_policy=aws.batch.ComputeEnvironmentUpdatePolicyArgs(
                terminate_jobs_on_update=False,
                job_execution_timeout_minutes=UPDATE_TIMEOUT_MINUTES,
            ),
            tags=dict(args.tags),
            opts=pulumi.ResourceOptions(
                parent=self, depends_on=[*args.launch_after], delete_before_replace=False
            ),
        )
        queue = aws.batch.JobQueue(
            f"{name}-queue",
            name=name,
            state="ENABLED",
            priority=args.plan.queue_priority,
            compute_environment_orders=[
                aws.batch.JobQueueComputeEnvironmentOrderArgs(
                    order=1, compute_environment=environment.arn
                )
            ],
            tags=dict(args.tags),
            opts=child,
        )

        self.arn, self.environment_name = environment.arn, environment.name
        self.queue_arn, self.queue_name = queue.arn, queue.name
        self.register_outputs({"arn": self.arn, "queue_arn": self.queue_arn})

    def _launch_template_args(
        self, name: str, args: BatchComputeEnvironmentArgs, opts: pulumi.ResourceOptions
    ) -> NodeLaunchTemplateArgs:
        plan = args.plan
        return NodeLaunchTemplateArgs(
            instance_type=plan.instance_type.name,
            capacity=plan.capacity,
            reservation_group_arn=args.reservation_group_arn,
            market_type="capacity-block" if plan.capacity.kind == "capacity-block" else None,
            interfaces=plan.interfaces,
            cluster_security_group_id=None,
            efa_security_group_id=args.security_group_id,
            placement_group_name=_placement_group_name(name, args, opts),
            root_volume=plan.root_volume,
            metadata_hop_limit=METADATA_HOP_LIMIT,
            user_data=render_user_data(plan.local_nvme),
            image_id=None,
            instance_profile_arn=None,
            ssh_key_name=plan.ssh_key_name,
            node_name=name,
            tags=args.tags,
        )


def _placement_group_name(
    name: str, args: BatchComputeEnvironmentArgs, opts: pulumi.ResourceOptions
) -> pulumi.Input[str] | None:
    placement = args.plan.placement
    if placement.group != "create":
        return placement.name
    group = ClusterPlacementGroupArgs(tags=args.tags)
    return ClusterPlacementGroup(f"{name}-placement", group, opts).group_name


def _compute_resources(
    args: BatchComputeEnvironmentArgs, role: BatchInstanceRole, template: NodeLaunchTemplate
) -> aws.batch.ComputeEnvironmentComputeResourcesArgs:
    plan = args.plan
    return aws.batch.ComputeEnvironmentComputeResourcesArgs(
        type="SPOT" if plan.capacity.kind == "spot" else "EC2",
        allocation_strategy=plan.allocation_strategy,
        min_vcpus=plan.minimum_vcpus,
        max_vcpus=plan.maximum_vcpus,
        instance_types=[plan.instance_type.name],
        instance_role=role.profile_arn,
        ec2_configurations=[
            aws.batch.ComputeEnvironmentComputeResourcesEc2ConfigurationArgs(
                # Batch wants to know of an image of one's own which of its own it stands for.
                # https://docs.aws.amazon.com/batch/latest/APIReference/API_Ec2Configuration.html
                image_type=plan.image_type or image_type(plan.instance_type) or "ECS_AL2023",
                image_id_override=plan.custom_ami_id,
            )
        ],
        launch_template=aws.batch.ComputeEnvironmentComputeResourcesLaunchTemplateArgs(
            launch_template_id=template.launch_template_id, version=template.version
        ),
        subnets=list(args.subnet_ids),
        security_group_ids=None if plan.interfaces else [args.security_group_id],
    )
