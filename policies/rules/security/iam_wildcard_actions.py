"""No IAM policy allows all actions of a service, or all actions except some.

Why:
    `s3:*` on a bucket of checkpoints also allows deleting the bucket and making it public, and
    `NotAction` allows every action that AWS adds later. The rule accepts prefixes such as
    `s3:Get*`.
Fix:
    Name the actions that the workload calls.
Source:
    https://docs.aws.amazon.com/IAM/latest/UserGuide/best-practices.html
    https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_notaction.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.iam import POLICY_HOLDERS, permissions
from trainyard.policies.resources.props import Facts
from trainyard.policies.rule import Config, resource_rule


def _check(_type: str, facts: Facts, _config: Config) -> Iterator[str]:
    for permission in permissions(facts):
        everything = "*" in permission.actions or "*:*" in permission.actions
        if everything and "*" in permission.resources and not permission.conditional:
            continue  # iam-administrator reports it
        whole = [action for action in permission.actions if action == "*" or action[-2:] == ":*"]
        if whole:
            yield (
                f"it allows {', '.join(whole)}, which includes deleting data and granting access; "
                "name the actions that are needed"
            )
        if permission.all_but:
            yield (
                f"it allows all actions except {', '.join(permission.all_but)}, including those "
                "that AWS adds later; name the actions that are needed"
            )


POLICY = resource_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.ADVISORY,
    severity=Severity.MEDIUM,
    tags=["baseline"],
    types=POLICY_HOLDERS,
    check=_check,
)
