"""An AWS Batch job definition, single-node or multi-node parallel, with the roles of its jobs.

Source: https://docs.aws.amazon.com/batch/latest/userguide/job_definitions.html
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws

from trainyard.components.batch.job_properties_plan import container_properties, node_properties
from trainyard.components.batch.job_role import (
    ExecutionRole,
    ExecutionRoleArgs,
    JobRole,
    JobRoleArgs,
)
from trainyard.components.batch.plan import JobDefinitionPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchJobDefinitionArgs:
    """Arguments of `BatchJobDefinition`."""

    plan: JobDefinitionPlan
    image: pulumi.Input[str]
    """Image of the container, with a tag or a digest."""
    scratch: bool
    """Whether the nodes have local disks for `/scratch`."""
    region: str
    """Region of the stack."""
    tags: Mapping[str, str]
    """Tags of the definition, propagated to the tasks of its jobs."""


class BatchJobDefinition(pulumi.ComponentResource):
    """A job definition. A change creates a new revision; waiting jobs keep theirs.

    Children: `<name>` (`JobRole`), `<name>-execution` (`ExecutionRole`) if it has secrets,
    `<name>-definition` (`aws.batch.JobDefinition`).
    """

    arn: pulumi.Output[str]
    """ARN of the newest revision."""
    role_arn: pulumi.Output[str]
    """ARN of the job role."""

    def __init__(
        self,
        name: str,
        args: BatchJobDefinitionArgs,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("trainyard:batch:BatchJobDefinition", name, {}, opts)
        child = pulumi.ResourceOptions(parent=self)
        plan = args.plan
        role = JobRole(
            name,
            JobRoleArgs(policy_arns=plan.iam_policies, region=args.region, tags=args.tags),
            child,
        )
        document = pulumi.Output.all(
            image=args.image,
            job_role_arn=role.arn,
            execution_role_arn=_execution_role_arn(name, args, child),
        ).apply(lambda known: _document(args, **known))
        multinode = plan.nodes > 1
        definition = aws.batch.JobDefinition(
            f"{name}-definition",
            name=name,
            type="multinode" if multinode else "container",
            container_properties=None if multinode else document,
            node_properties=document if multinode else None,
            platform_capabilities=["EC2"],
            propagate_tags=True,
            retry_strategy=aws.batch.JobDefinitionRetryStrategyArgs(attempts=plan.attempts),
            timeout=_timeout(plan),
            tags=dict(args.tags),
            opts=child,
        )
        self.arn, self.role_arn = definition.arn, role.arn
        self.register_outputs({"arn": self.arn})


def _execution_role_arn(
    name: str, args: BatchJobDefinitionArgs, options: pulumi.ResourceOptions
) -> pulumi.Input[str] | None:
    secrets = args.plan.container.secrets
    if not secrets:
        return None
    role = ExecutionRole(
        f"{name}-execution",
        ExecutionRoleArgs(secrets=[*secrets.values()], region=args.region, tags=args.tags),
        options,
    )
    return role.arn


def _document(
    args: BatchJobDefinitionArgs, image: str, job_role_arn: str, execution_role_arn: str | None
) -> str:
    if args.plan.nodes > 1:
        properties = node_properties(
            args.plan,
            image=image,
            job_role_arn=job_role_arn,
            execution_role_arn=execution_role_arn,
            scratch=args.scratch,
        )
    else:
        properties = container_properties(
            args.plan.container,
            image=image,
            job_role_arn=job_role_arn,
            execution_role_arn=execution_role_arn,
            scratch=args.scratch,
        )
    return json.dumps(properties)


def _timeout(plan: JobDefinitionPlan) -> aws.batch.JobDefinitionTimeoutArgs | None:
    if plan.timeout_seconds is None:
        return None
    return aws.batch.JobDefinitionTimeoutArgs(attempt_duration_seconds=plan.timeout_seconds)
