"""The emulated EKS access policies, and the groups that represent them.

Source: https://docs.aws.amazon.com/eks/latest/userguide/access-policy-permissions.html
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from trainyard.sandbox.aws.eks.errors import invalid_parameter
from trainyard.sandbox.kubernetes.access_policies import GROUPS

_ARN = re.compile(r"arn:aws(-[a-z-]+)?:eks::aws:cluster-access-policy/(Amazon\w+Policy)")


def check_policy(policy_arn: str, scope: str) -> None:
    """Reject an unknown or unsupported policy.

    Raises:
        InvalidParameterException: it is not the ARN of a policy.
        NotImplementedError: it is limited to namespaces.
    """
    match = _ARN.fullmatch(policy_arn)
    if match is None or match[2] not in GROUPS:
        invalid_parameter("The policyArn parameter format is not valid")
    if scope != "cluster":
        raise NotImplementedError(
            f"the sandbox plays access policies for a whole cluster, none of the scope {scope}"
        )


def groups_of(policy_arns: Iterable[str]) -> list[str]:
    """Return the groups that represent access policies."""
    return sorted({GROUPS[arn.rpartition("/")[2]] for arn in policy_arns})
