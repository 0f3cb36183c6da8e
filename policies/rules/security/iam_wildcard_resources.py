"""Actions that act on a resource are allowed on named resources.

Why:
    A node with `s3:GetObject` or `ec2:TerminateInstances` on `*` reads every bucket and ends every
    instance of the account. Actions that take no resource (`ecr:GetAuthorizationToken`,
    `cloudwatch:PutMetricData`), and those that only list or describe, need the `*` and are not
    meant; nor is a statement with a condition, such as the cluster autoscaler's on tags.
Fix:
    Name the ARNs in `Resource`, or narrow the statement by a condition.
Source:
    https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html
    https://docs.aws.amazon.com/IAM/latest/UserGuide/best-practices.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, ResourceValidationPolicy, Severity

from components.catalog.iam_actions import takes_a_resource
from policies.resources.iam import POLICY_HOLDERS, permissions
from policies.resources.props import Facts
from policies.rule import Config, on_types


def _check(_type: str, facts: Facts, _config: Config) -> Iterator[str]:
    for permission in permissions(facts):
        if "*" not in permission.resources or permission.conditional:
            continue
        # All actions at once are for the rules on actions to refuse.
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


POLICY = ResourceValidationPolicy(
    name="iam-wildcard-resources",
    display_name="Actions on resources name the resources",
    description=(
        "No IAM policy allows an action with resource-level permissions on every resource without "
        "a condition."
    ),
    enforcement_level=EnforcementLevel.ADVISORY,
    severity=Severity.MEDIUM,
    tags=["security", "baseline"],
    remediation_steps="Name the ARNs in Resource.",
    url="https://docs.aws.amazon.com/IAM/latest/UserGuide/best-practices.html",
    validate=on_types(*POLICY_HOLDERS, check=_check),
)
