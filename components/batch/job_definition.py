"""An AWS Batch job definition, single-node or multi-node parallel, with the roles of its jobs.

Source: https://docs.aws.amazon.com/batch/latest/userguide/job_definitions.html
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi
import pulumi_aws as aws

from trainyard.components.batch.job_definition_plan import container_properties, node_properties
from trainyard.components.batch.plan import JobDefinitionPlan
from trainyard.components.catalog.secret_arns import SecretArn
from trainyard.components.identity.node_role import attach_policies, once_made
from trainyard.components.identity.trust import service_trust
from trainyard.components.naming import dns_suffix, managed_policy_arns, partition

# The IAM roles of a job: that of its containers, and that with which ECS reads its secrets.
#
# Sources:
#     https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task-iam-roles.html
#     https://docs.aws.amazon.com/batch/latest/userguide/execution-IAM-role.html: a job with
#     secrets
#         needs an execution role on EC2 too; the agent then pulls the image with it as well
#     https://docs.aws.amazon.com/batch/latest/userguide/specifying-sensitive-data-secrets.html
#     and
#         https://docs.aws.amazon.com/batch/latest/userguide/specifying-sensitive-data-parameters.html:
#         its permissions
#     https://docs.aws.amazon.com/secretsmanager/latest/userguide/security-encryption.html and
#         https://docs.aws.amazon.com/kms/latest/developerguide/services-parameter-store.html:
#         the encryption contexts `SecretARN` and `PARAMETER_ARN`


_OF_TASKS = "service-role/AmazonECSTaskExecutionRolePolicy"
"""Managed policy for images in ECR, and for logs."""
_READING = {
    "secretsmanager": ("secretsmanager:GetSecretValue", "SecretARN"),
    "ssm": ("ssm:GetParameters", "PARAMETER_ARN"),
}
"""The action that reads a secret of a service, and the key of its encryption context."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRoleArgs:
    """Arguments of `JobRole`."""

    policy_arns: Sequence[str]
    """ARNs of AWS managed policies; without any, the job has no permissions."""
    region: str
    """Region of the stack; only its tasks can assume the role."""
    tags: Mapping[str, str]


class JobRole(pulumi.ComponentResource):
    """A role that only ECS tasks of this account and region can assume.

    A job has a role even without permissions; otherwise it would get the credentials of the node.
    Jobs without secrets need no execution role: on EC2 the agent pulls images and writes logs with
    the node role.

    Children: `<name>-role` (`aws.iam.Role`), `<name>-<policy>` (`aws.iam.RolePolicyAttachment`) for
    each managed policy.
    """

    arn: pulumi.Output[str]
    """ARN of the role; resolves when every policy is attached."""

    def __init__(
        self, name: str, args: JobRoleArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("trainyard:batch:JobRole", name, {}, opts)
        child, invoke = pulumi.ResourceOptions(parent=self), pulumi.InvokeOptions(parent=self)
        account_id = aws.get_caller_identity_output(opts=invoke).account_id
        role = aws.iam.Role(
            f"{name}-role",
            description="Containers of an AWS Batch job",
            assume_role_policy=account_id.apply(lambda known: _trust_policy(args.region, known)),
            tags=dict(args.tags),
            opts=child,
        )
        self.arn = once_made(role.arn, attach_policies(name, role, args.policy_arns, child))
        self.register_outputs({"arn": self.arn})


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionRoleArgs:
    """Arguments of `ExecutionRole`."""

    secrets: Sequence[str]
    """ARNs of the secrets, as the job definition has them."""
    region: str
    """Region of the stack; only its tasks can assume the role."""
    tags: Mapping[str, str]


class ExecutionRole(pulumi.ComponentResource):
    """A role that may read some secrets, and that containers do not get.

    Children: `<name>-role` (`aws.iam.Role`), `<name>-AmazonECSTaskExecutionRolePolicy`
    (`aws.iam.RolePolicyAttachment`), `<name>-secrets` (`aws.iam.RolePolicy`).
    """

    arn: pulumi.Output[str]
    """ARN of the role; resolves when it has its policies."""

    def __init__(
        self, name: str, args: ExecutionRoleArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("trainyard:batch:ExecutionRole", name, {}, opts)
        child, invoke = pulumi.ResourceOptions(parent=self), pulumi.InvokeOptions(parent=self)
        account_id = aws.get_caller_identity_output(opts=invoke).account_id
        role = aws.iam.Role(
            f"{name}-role",
            description="Reads the secrets of an AWS Batch job",
            assume_role_policy=account_id.apply(lambda known: _trust_policy(args.region, known)),
            tags=dict(args.tags),
            opts=child,
        )
        attached = attach_policies(name, role, managed_policy_arns([_OF_TASKS], args.region), child)
        secrets = aws.iam.RolePolicy(
            f"{name}-secrets", role=role.name, policy=_secrets_policy(args.secrets), opts=child
        )
        self.arn = once_made(role.arn, [*attached, secrets])
        self.register_outputs({"arn": self.arn})


def _trust_policy(region: str, account_id: str) -> str:
    tasks = f"arn:{partition(region)}:ecs:{region}:{account_id}:*"
    # ECS has the same service principal in every partition.
    return service_trust("ecs-tasks.amazonaws.com", account_id, tasks)


def _secrets_policy(references: Sequence[str]) -> str:
    """Return the policy that lets a role read exactly these secrets.

    A key of your own must allow the role as well; keys that AWS manages need no permission. The
    role can decrypt nothing but the values of these secrets.
    """
    secrets = {each.arn: each for each in map(SecretArn, references)}
    statements = [
        each for service in _READING for each in _statements(service, [*secrets.values()])
    ]
    return json.dumps({"Version": "2012-10-17", "Statement": statements})


def _statements(service: str, secrets: Sequence[SecretArn]) -> Iterator[dict[str, Any]]:
    action, context = _READING[service]
    of_service = [each for each in secrets if each.service == service]
    if not of_service:
        return
    arns = sorted(each.arn for each in of_service)
    yield {"Effect": "Allow", "Action": action, "Resource": arns}
    regions = sorted({each.region for each in of_service})
    places = sorted({(each.region, each.account_id) for each in of_service})
    yield {
        "Effect": "Allow",
        "Action": "kms:Decrypt",
        "Resource": [
            f"arn:{partition(region)}:kms:{region}:{owner}:key/*" for region, owner in places
        ],
        "Condition": {
            "StringEquals": {
                "kms:ViaService": [
                    f"{service}.{region}.{dns_suffix(region)}" for region in regions
                ],
                f"kms:EncryptionContext:{context}": arns,
            }
        },
    }


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
