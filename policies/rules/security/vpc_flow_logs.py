"""A VPC has flow logs, where the platform asks for them.

Why:
    Without flow logs nobody can tell which connection was dropped, or where data went. They cost
    by the gigabyte, and a training cluster moves many, so the rule speaks only where its
    configuration has `required: true`.
Fix:
    Add an `aws.ec2.FlowLog` for the VPC (in a stack file of ours: `flow_logs` of the network).
Source:
    https://docs.aws.amazon.com/vpc/latest/userguide/flow-logs.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import (
    EnforcementLevel,
    PolicyConfigSchema,
    Severity,
    StackValidationPolicy,
)

from policies.resources.stack import Stack
from policies.resources.types import FLOW_LOG, VPC
from policies.rule import Config, on_stack


def _check(stack: Stack, config: Config) -> Iterator[tuple[str, str]]:
    if not config.get("required"):
        return
    logged: set[str] = set()
    for log in stack.of_type(FLOW_LOG):
        reference = stack.refers(log, "vpcId", to=VPC)
        logged.update(vpc.urn for vpc in (reference.resources if reference else ()))
    for vpc in stack.of_type(VPC):
        if vpc.urn not in logged:
            yield vpc.urn, "it has no flow logs; add an aws.ec2.FlowLog with its vpc_id"


POLICY = StackValidationPolicy(
    name="vpc-flow-logs",
    display_name="VPCs have flow logs, where they are required",
    description="Every VPC has flow logs, if the rule's configuration requires them.",
    enforcement_level=EnforcementLevel.ADVISORY,
    severity=Severity.LOW,
    tags=["security", "network", "baseline"],
    config_schema=PolicyConfigSchema(
        {
            "required": {
                "type": "boolean",
                "description": "Whether every VPC must have flow logs.",
            }
        }
    ),
    remediation_steps="Add a flow log for the VPC.",
    url="https://docs.aws.amazon.com/vpc/latest/userguide/flow-logs.html",
    validate=on_stack(_check),
)
