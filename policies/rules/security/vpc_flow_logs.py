"""Every VPC has flow logs, if the configuration of the rule requires them.

Why:
    Flow logs show which connections were rejected and where data was sent. AWS charges for them by
    volume, and training clusters produce a lot of traffic, so the rule applies only if its
    configuration has `required: true`.
Fix:
    Add an `aws.ec2.FlowLog` for the VPC (in a stack file: `flow_logs` of the network).
Source:
    https://docs.aws.amazon.com/vpc/latest/userguide/flow-logs.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import (
    EnforcementLevel,
    PolicyConfigSchema,
    Severity,
)

from trainyard.policies.resources.stack import Stack
from trainyard.policies.resources.types import FLOW_LOG, VPC
from trainyard.policies.rule import Config, stack_rule


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


POLICY = stack_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.ADVISORY,
    severity=Severity.LOW,
    tags=["network", "baseline"],
    config_schema=PolicyConfigSchema(
        {
            "required": {
                "type": "boolean",
                "description": "Whether every VPC must have flow logs.",
            }
        }
    ),
    check=_check,
)
