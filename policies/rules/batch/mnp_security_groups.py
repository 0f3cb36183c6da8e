"""Compute environments for multi-node parallel jobs have at most five security groups.

Why:
    AWS Batch gives each container of a multi-node parallel job its own network interface with the
    security groups of the environment, and Amazon ECS accepts five. With six groups AWS Batch
    creates the environment, but multi-node jobs do not start.
Fix:
    Merge security groups until `compute_resources.security_group_ids` has at most five.
Source:
    https://docs.aws.amazon.com/batch/latest/userguide/mnp-ce.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.batch import fit_environments, multi_node_jobs
from trainyard.policies.resources.stack import Stack
from trainyard.policies.rule import Config, stack_rule

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
                    f"it has {count} security groups, and multi-node parallel jobs support at most "
                    f"{MOST_GROUPS}; merge groups until compute_resources.security_group_ids has "
                    f"at most {MOST_GROUPS}"
                ),
            )


POLICY = stack_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.MEDIUM,
    tags=["network", "G3"],
    check=_check,
)
