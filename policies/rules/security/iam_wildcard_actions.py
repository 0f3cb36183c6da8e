"""IAM policies name actions, not whole services.

Why:
    `s3:*` on a bucket of checkpoints also allows to delete the bucket and to open it to the world,
    and `NotAction` allows every action that AWS adds tomorrow. A prefix such as `s3:Get*` is not
    meant.
Fix:
    Name the actions that the workload calls.
Source:
    https://docs.aws.amazon.com/IAM/latest/UserGuide/best-practices.html
    https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_notaction.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, ResourceValidationPolicy, Severity

from policies.resources.iam import POLICY_HOLDERS, permissions
from policies.resources.props import Facts
from policies.rule import Config, on_types


def _check(_type: str, facts: Facts, _config: Config) -> Iterator[str]:
    for permission in permissions(facts):
        everything = "*" in permission.actions or "*:*" in permission.actions
        if everything and "*" in permission.resources and not permission.conditional:
            continue  # a rule of its own refuses it
        whole = [action for action in permission.actions if action == "*" or action[-2:] == ":*"]
        if whole:
            yield (
                f"it allows {', '.join(whole)}, which includes actions that delete and give away; "
                "name the actions that are needed"
            )
        if permission.all_but:
            yield (
                f"it allows all actions but {', '.join(permission.all_but)}, and with them those "
                "that AWS will add; name the actions that are needed"
            )


POLICY = ResourceValidationPolicy(
    name="iam-wildcard-actions",
    display_name="IAM policies name actions",
    description="No IAM policy allows all actions of a service, or all but some.",
    enforcement_level=EnforcementLevel.ADVISORY,
    severity=Severity.MEDIUM,
    tags=["security", "baseline"],
    remediation_steps="Name the actions that are needed.",
    url="https://docs.aws.amazon.com/IAM/latest/UserGuide/best-practices.html",
    validate=on_types(*POLICY_HOLDERS, check=_check),
)
