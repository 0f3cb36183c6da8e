"""No IAM policy allows resource-level actions on every resource without a condition.

Why:
    A node with `s3:GetObject` or `ec2:TerminateInstances` on `*` can read every bucket or terminate
    every instance of the account. The rule accepts actions without resource-level permissions
    (`ecr:GetAuthorizationToken`, `cloudwatch:PutMetricData`), actions that only list or describe,
    and statements with a condition, such as the tag condition of the cluster autoscaler.
Fix:
    Name the ARNs in `Resource`, or add a condition to the statement.
Source:
    https://docs.aws.amazon.com/IAM/latest/UserGuide/best-practices.html
    https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.components.catalog.iam_actions import takes_a_resource
from trainyard.policies.resources.iam import POLICY_HOLDERS, permissions
from trainyard.policies.resources.props import Facts
from trainyard.policies.rule import Config, resource_rule


def _check(_type: str, facts: Facts, _config: Config) -> Iterator[str]:
    for permission in permissions(facts):
        if "*" not in permission.resources or permission.conditional:
            continue
        # iam-administrator and iam-wildcard-actions report wildcards of actions.
        named = [action for action in permission.actions if action.strip("*:")]
        actions = [action for action in named if takes_a_resource(action)]
        if actions:
            yield (
                f"it allows {_listed(actions)} on every resource of the account; name the ARNs in "
                "Resource, or add a Condition"
            )


def _listed(actions: list[str]) -> str:
    shown = ", ".join(actions[:3])
    return f"{shown} and {len(actions) - 3} more actions" if len(actions) > 3 else shown


POLICY = resource_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.ADVISORY,
    severity=Severity.MEDIUM,
    tags=["baseline"],
    types=POLICY_HOLDERS,
    check=_check,
)
