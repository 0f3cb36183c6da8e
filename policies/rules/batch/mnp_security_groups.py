"""Compute environments for multi-node parallel jobs have at most five security groups.

Why:
    Batch gives each container of a multi-node parallel job a network interface of its own with
    the security groups of the environment, and ECS takes five. With a sixth the environment is
    made and its multi-node jobs do not start.
Fix:
    Merge security groups until five are left in `compute_resources.security_group_ids`.
Source:
    https://docs.aws.amazon.com/batch/latest/userguide/mnp-ce.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity, StackValidationPolicy

from policies.resources.batch import fit_environments, multi_node_jobs
from policies.resources.stack import Stack
from policies.rule import Config, on_stack

MOST_GROUPS = 5


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    if not multi_node_jobs(stack):
        return
    for environment in fit_environments(stack):
        count = stack.facts_of(environment.urn).count("computeResources", "securityGroupIds")
        if count > MOST_GROUPS:
            yield (
                environment.urn,
                (
                    f"the stack has multi-node parallel jobs, and it has {count} security groups "
                    f"where they take at most {MOST_GROUPS}; merge groups until {MOST_GROUPS} are "
                    "left in compute_resources.security_group_ids"
                ),
            )


POLICY = StackValidationPolicy(
    name="mnp-security-groups",
    display_name="Multi-node parallel jobs have at most five security groups",
    description="Compute environments beside multi-node parallel jobs name five groups at most.",
    enforcement_level=EnforcementLevel.MANDATORY,
    severity=Severity.MEDIUM,
    tags=["batch", "network", "G3"],
    remediation_steps="Merge security groups until five are left.",
    url="https://docs.aws.amazon.com/batch/latest/userguide/mnp-ce.html",
    validate=on_stack(_check),
)
