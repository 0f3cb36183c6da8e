"""An AWS Batch compute environment with its launch template and job queue.

Sources:
    https://docs.aws.amazon.com/batch/latest/userguide/updating-compute-environments.html
    https://docs.aws.amazon.com/batch/latest/userguide/launch-templates.html
    https://docs.aws.amazon.com/batch/latest/userguide/mnp-ce.html
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import pulumi
import pulumi_aws as aws

from trainyard.components.batch.compute_environment_plan import (
    ComputeEnvironmentPlan,
    render_user_data,
)
from trainyard.components.capacity.plan import SchedulePlan
from trainyard.components.catalog.batch import image_type
from trainyard.components.compute.launch_template import NodeLaunchTemplate, NodeLaunchTemplateArgs
from trainyard.components.compute.placement_group import (
    ClusterPlacementGroup,
    ClusterPlacementGroupArgs,
)
from trainyard.components.identity.node_role import (
    NodeInstanceProfile,
    NodeInstanceProfileArgs,
    attach_policies,
    once_made,
)
from trainyard.components.identity.one_time_calls import (
    OneTimeCall,
    OneTimeCallsArgs,
    schedule_calls,
)
from trainyard.components.identity.trust import ec2_trust_policy
from trainyard.components.naming import COMPUTE_ENVIRONMENT, LAUNCH, managed_policy_arns, partition

# The opening and closing of a compute environment in a Capacity Block.
#
# A disabled compute environment starts no jobs and no nodes; jobs that are starting or running
# continue. A disabled job queue would instead refuse new jobs, and start those that it has.
#
# Sources:
#     https://docs.aws.amazon.com/batch/latest/APIReference/API_UpdateComputeEnvironment.html
#     https://docs.aws.amazon.com/batch/latest/APIReference/API_UpdateJobQueue.html
#     https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-targets-universal.html
#     https://docs.aws.amazon.com/service-authorization/latest/reference/list_awsbatch.html


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentScheduleArgs:
    """Arguments of `schedule_environment`."""

    environment_arn: pulumi.Output[str]
    schedule: SchedulePlan
    region: str
    tags: Mapping[str, str]


def schedule_environment(
    name: str, args: EnvironmentScheduleArgs, options: pulumi.ResourceOptions
) -> None:
    """Register the calls that enable and disable a compute environment at the planned times.

    The calls are `opens` and `closes` of `schedule_calls`, if planned.
    """
    calls = OneTimeCallsArgs(
        calls=list(_calls(args)),
        subject_arn=args.environment_arn,
        role_description="Opens and closes a compute environment in a Capacity Block",
        policy=args.environment_arn.apply(update_policy),
        tags=args.tags,
    )
    schedule_calls(name, calls, options)


def update_policy(environment_arn: str) -> str:
    """Return the policy of the role: update one compute environment."""
    statement = {
        "Effect": "Allow",
        "Action": "batch:UpdateComputeEnvironment",
        "Resource": environment_arn,
    }
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]}, sort_keys=True)


def _calls(args: EnvironmentScheduleArgs) -> Iterator[OneTimeCall]:
    target = f"arn:{partition(args.region)}:scheduler:::aws-sdk:batch:updateComputeEnvironment"
    closes_at, ends_at = args.schedule.scale_down_at, args.schedule.ends_at
    for name, at, state, retried_for in (
        ("opens", args.schedule.scale_up_at, "ENABLED", None),
        # A later call could close it in the next block.
        ("closes", closes_at, "DISABLED", ends_at - closes_at if ends_at and closes_at else None),
    ):
        if at is not None:
            yield OneTimeCall(
                name=name,
                at=at,
                target_arn=target,
                input=args.environment_arn.apply(partial(_request, state=state)),
                retried_for=retried_for,
            )


def _request(environment_arn: str, *, state: str) -> str:
    # Keys are those of the AWS SDK in PascalCase; Scheduler refuses `computeEnvironment`, the name
    # in the request of Batch.
    # https://docs.aws.amazon.com/cdk/api/v2/docs/aws-cdk-lib.aws_scheduler_targets.Universal.html
    return json.dumps({"ComputeEnvironment": environment_arn, "State": state}, sort_keys=True)


# The IAM role and instance profile of the nodes of a compute environment.
#
# Source: https://docs.aws.amazon.com/batch/latest/userguide/instance_IAM_role.html


REQUIRED_POLICIES = (
    "service-role/AmazonEC2ContainerServiceforEC2Role",
    # Shell access through Session Manager, without SSH keys or open ports.
    "AmazonSSMManagedInstanceCore",
)
"""AWS managed policies that every node has, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchInstanceRoleArgs:
    """Arguments of `BatchInstanceRole`."""

    extra_policy_arns: Sequence[str]
    """ARNs of AWS managed policies in addition to `REQUIRED_POLICIES`."""
    region: str
    """Region of the stack, for the partition of the required policies."""
    tags: Mapping[str, str]


class BatchInstanceRole(pulumi.ComponentResource):
    """A role for EC2 instances that are Batch nodes.

    Children: `<name>-role` (`aws.iam.Role`), `<name>-<policy>` (`aws.iam.RolePolicyAttachment`) for
    each managed policy, `<name>-instance` (`NodeInstanceProfile`).
    """

    profile_arn: pulumi.Output[str]
    """ARN of the instance profile, which Batch calls the instance role; resolves when every policy
    is attached."""

    def __init__(
        self,
        name: str,
        args: BatchInstanceRoleArgs,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("trainyard:batch:BatchInstanceRole", name, {}, opts)
        child = pulumi.ResourceOptions(parent=self)
        role = aws.iam.Role(
            f"{name}-role",
            description="Nodes of an AWS Batch compute environment",
            assume_role_policy=ec2_trust_policy(args.region),
            tags=dict(args.tags),
            opts=child,
        )
        arns = (*args.extra_policy_arns, *managed_policy_arns(REQUIRED_POLICIES, args.region))
        attachments = attach_policies(name, role, arns, child)
        profile = NodeInstanceProfile(
            f"{name}-instance",
            NodeInstanceProfileArgs(role_name=once_made(role.name, attachments), tags=args.tags),
            child,
        )

        self.profile_arn = profile.arn
        self.register_outputs({"profile_arn": self.profile_arn})


UPDATE_TIMEOUT_MINUTES = 360
"""How long jobs continue when an update replaces their nodes: the maximum of the provider, because
training runs for hours. Batch allows 7,200.
https://docs.aws.amazon.com/batch/latest/APIReference/API_UpdatePolicy.html
https://github.com/hashicorp/terraform-provider-aws/issues/48709"""

METADATA_HOP_LIMIT = 1
"""Only the node itself. This excludes containers on a bridge network, which Batch jobs do not use:
the user data blocks the service for multi-node jobs, and single-node jobs use the host network,
where it cannot be blocked.
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
    """Ids of `plan.subnets`, in order."""
    security_group_id: pulumi.Input[str]
    """Security group for traffic between nodes and egress."""
    reservation_id: pulumi.Input[str] | None = None
    """The reservation that the stack creates; None without one."""
    reservation_group_arn: pulumi.Input[str] | None
    """The reservation group to launch into; None without a group."""
    next_environments: Sequence[pulumi.Input[str]] | None = ()
    """ARNs of the compute environments that the queue uses after this one; None without a queue."""
    launch_after: Sequence[pulumi.Resource]
    """Resources that must exist before the first node and until after the last one."""
    tags: Mapping[str, str]


class BatchComputeEnvironment(pulumi.ComponentResource):
    """A managed compute environment with its job queue, launch template and instance role.

    When the launch template or the instance type changes, Batch updates the environment in place
    and replaces the nodes. This requires the service-linked role (no custom service role), an
    allocation strategy that supports it, and an explicit template version, because `$Latest` would
    hide the change. If the engine must replace the environment, it creates one with a new name,
    updates the queue, which references the ARN, and then deletes the old one, which Batch refuses
    while a queue uses it.

    The program installs no EFA driver. The Amazon Linux kernel contains one, which can be older
    than the one of the EFA installer
    (https://github.com/bottlerocket-os/bottlerocket-kernel-kit/pull/313); the ECS AMIs install no
    other (https://github.com/aws/amazon-ecs-ami), and the AWS templates for p5 and p6 do not either
    (https://github.com/awslabs/awsome-distributed-ai/pull/448, /pull/893). The container provides
    libfabric.

    The nodes of further Capacity Blocks are compute environments without a queue: that of the first
    block tries them in order. A job waits for the first one that can provide its nodes
    (https://docs.aws.amazon.com/batch/latest/userguide/compute_environments.html).

    Batch accepts security groups in the environment or in the template's interfaces, but not both
    (https://github.com/aws/aws-cdk/issues/21577).

    Children: `<name>` (`BatchInstanceRole`), `<name>-launch` (`NodeLaunchTemplate`),
    `<name>-placement` (`ClusterPlacementGroup`, if planned), `<name>-environment`
    (`aws.batch.ComputeEnvironment`), `<name>-queue` (`aws.batch.JobQueue`, if it has one) and those
    of `schedule_environment`, if planned.
    """

    arn: pulumi.Output[str]
    """ARN of the compute environment."""
    environment_name: pulumi.Output[str]
    """Name of the compute environment; changes on replacement."""
    queue_arn: pulumi.Output[str] | None = None
    """ARN of the job queue, which is kept when the environment is replaced; None without one."""
    queue_name: pulumi.Output[str] | None = None
    """Name of the job queue: `<name>`; None without one."""

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
            state="ENABLED" if args.plan.is_open else "DISABLED",
            compute_resources=_compute_resources(args, role, template),
            update_policy=aws.batch.ComputeEnvironmentUpdatePolicyArgs(
                terminate_jobs_on_update=False,
                job_execution_timeout_minutes=UPDATE_TIMEOUT_MINUTES,
            ),
            tags=dict(args.tags),
            opts=pulumi.ResourceOptions(
                parent=self,
                depends_on=[*args.launch_after],
                delete_before_replace=False,
                ignore_changes=["state"] if args.plan.schedule.scale_up_at else None,
            ),
        )
        if args.plan.schedule.moved_by_schedule:
            schedule = EnvironmentScheduleArgs(
                environment_arn=environment.arn,
                schedule=args.plan.schedule,
                region=args.region,
                tags=args.tags,
            )
            schedule_environment(name, schedule, child)
        self.arn, self.environment_name = environment.arn, environment.name
        self._environment = environment
        if args.next_environments is not None:
            queue = _queue(name, args, [environment.arn, *args.next_environments], child)
            self.queue_arn, self.queue_name = queue.arn, queue.name
        self.register_outputs({"arn": self.arn, "queue_arn": self.queue_arn})

    @property
    def ecs_cluster_name(self) -> pulumi.Output[str]:
        """Name of the ECS cluster that Batch makes for the compute environment."""
        return self._environment.ecs_cluster_arn.apply(lambda arn: arn.rpartition("/")[2])

    def _launch_template_args(
        self, name: str, args: BatchComputeEnvironmentArgs, opts: pulumi.ResourceOptions
    ) -> NodeLaunchTemplateArgs:
        plan = args.plan
        return NodeLaunchTemplateArgs(
            instance_type=plan.instance_type.name,
            capacity=plan.capacity,
            reservation_id=args.reservation_id,
            reservation_group_arn=args.reservation_group_arn,
            market_type="capacity-block" if plan.capacity.kind == "capacity-block" else None,
            interfaces=plan.interfaces,
            cluster_security_group_id=None,
            efa_security_group_id=args.security_group_id,
            placement_group_name=_placement_group_name(name, args, opts),
            root_volume=plan.root_volume,
            metadata_hop_limit=METADATA_HOP_LIMIT,
            user_data=render_user_data(plan.local_nvme, agent_script=plan.agent_script),
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


def _queue(
    name: str,
    args: BatchComputeEnvironmentArgs,
    environments: Sequence[pulumi.Input[str]],
    opts: pulumi.ResourceOptions,
) -> aws.batch.JobQueue:
    """Create the queue that tries compute environments in order."""
    return aws.batch.JobQueue(
        f"{name}-queue",
        name=name,
        state="ENABLED",
        priority=args.plan.config.queue_priority,
        compute_environment_orders=[
            aws.batch.JobQueueComputeEnvironmentOrderArgs(order=order, compute_environment=arn)
            for order, arn in enumerate(environments, 1)
        ],
        tags=dict(args.tags),
        opts=opts,
    )


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
                # For a custom AMI, Batch requires the image type that it is based on.
                # https://docs.aws.amazon.com/batch/latest/APIReference/API_Ec2Configuration.html
                image_type=plan.image_type or image_type(plan.instance_type) or "ECS_AL2023",
                image_id_override=plan.config.custom_ami_id,
            )
        ],
        launch_template=aws.batch.ComputeEnvironmentComputeResourcesLaunchTemplateArgs(
            launch_template_id=template.launch_template_id, version=template.version
        ),
        subnets=list(args.subnet_ids),
        security_group_ids=None if plan.interfaces else [args.security_group_id],
    )
