"""The JSON documents of job definitions for the Batch API.

Sources:
    https://docs.aws.amazon.com/batch/latest/APIReference/API_ContainerProperties.html
    https://docs.aws.amazon.com/batch/latest/APIReference/API_NodeProperties.html
    https://docs.aws.amazon.com/batch/latest/userguide/efa.html
"""

from __future__ import annotations

from typing import Any

from trainyard.components.batch.plan import ContainerPlan, JobDefinitionPlan
from trainyard.components.batch.user_data_plan import SCRATCH

ULIMITS = {"memlock": -1, "stack": 67_108_864, "nofile": 1_024_000}
"""Limits of the container; -1 is unlimited. EFA registers memory, which a `memlock` limit prevents:
https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html; the others are as in the AWS
templates (https://github.com/awslabs/awsome-distributed-ai, 1.architectures/3.aws-batch)."""
PERMISSIONS = ("READ", "WRITE", "MKNOD")
"""Permissions that Batch requires for an EFA device."""
ALL_NODES = "0:"
"""Open-ended node range, so that a job submission can override the number of nodes.
https://docs.aws.amazon.com/batch/latest/APIReference/API_NodeOverrides.html"""


def container_properties(
    plan: ContainerPlan,
    *,
    image: str,
    job_role_arn: str,
    execution_role_arn: str | None = None,
    scratch: bool,
) -> dict[str, Any]:
    """Return `containerProperties` of a single-node job.

    Args:
        plan: The container.
        image: The image, with a tag or a digest.
        job_role_arn: ARN of the job role.
        execution_role_arn: ARN of the role with which ECS reads the secrets; None without secrets.
        scratch: Whether to mount `SCRATCH` of the node.
    """
    return {
        "image": image,
        **({"command": list(plan.command)} if plan.command else {}),
        "jobRoleArn": job_role_arn,
        **({"executionRoleArn": execution_role_arn} if execution_role_arn else {}),
        "environment": [
            {"name": name, "value": value} for name, value in sorted(plan.environment.items())
        ],
        **_secrets(plan),
        "resourceRequirements": _requirements(plan),
        "linuxParameters": {
            "devices": [
                {"hostPath": device, "containerPath": device, "permissions": list(PERMISSIONS)}
                for device in plan.devices
            ],
            "sharedMemorySize": plan.shared_memory_mib,
        },
        "ulimits": [
            {"name": name, "hardLimit": limit, "softLimit": limit}
            for name, limit in ULIMITS.items()
        ],
        **(_scratch() if scratch else {}),
    }


def node_properties(
    plan: JobDefinitionPlan,
    *,
    image: str,
    job_role_arn: str,
    execution_role_arn: str | None = None,
    scratch: bool,
) -> dict[str, Any]:
    """Return `nodeProperties` of a multi-node parallel job with one node range.

    See `container_properties` for the arguments.
    """
    container = container_properties(
        plan.container,
        image=image,
        job_role_arn=job_role_arn,
        execution_role_arn=execution_role_arn,
        scratch=scratch,
    )
    return {
        "mainNode": 0,
        "numNodes": plan.nodes,
        "nodeRangeProperties": [
            {
                "targetNodes": ALL_NODES,
                "container": {**container, "instanceType": plan.instance_type.name},
            }
        ],
    }


def _secrets(plan: ContainerPlan) -> dict[str, Any]:
    """https://docs.aws.amazon.com/batch/latest/APIReference/API_Secret.html."""
    listed = [{"name": name, "valueFrom": arn} for name, arn in sorted(plan.secrets.items())]
    return {"secrets": listed} if listed else {}


def _requirements(plan: ContainerPlan) -> list[dict[str, str]]:
    amounts = {"VCPU": plan.vcpus, "MEMORY": plan.memory_mib, "GPU": plan.gpus}
    # Batch refuses a GPU requirement of 0.
    return [{"type": kind, "value": str(amount)} for kind, amount in amounts.items() if amount]


def _scratch() -> dict[str, Any]:
    return {
        "volumes": [{"name": "scratch", "host": {"sourcePath": SCRATCH}}],
        "mountPoints": [{"sourceVolume": "scratch", "containerPath": SCRATCH, "readOnly": False}],
    }
