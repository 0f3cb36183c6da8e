"""IAM roles that are passed to EKS."""

from __future__ import annotations

from typing import Any

from moto.iam.models import iam_backends

from trainyard.sandbox.aws.eks.errors import invalid_parameter
from trainyard.sandbox.aws.eks.store import without_path


def check_role(account_id: str, role_arn: str, **about: Any) -> None:
    """Reject a role that does not exist.

    Args:
        account_id: The account.
        role_arn: The role, with or without its path.
        about: Names for the error: `clusterName`, `nodegroupName`.

    Raises:
        InvalidParameterException: The role does not exist.
    """
    roles = iam_backends[account_id]["aws"].roles.values()
    if not any(without_path(role.arn) == without_path(role_arn) for role in roles):
        name = role_arn.rpartition("/")[2]
        invalid_parameter(f"The role with name {name} cannot be found.", **about)


def role_named_in(account_id: str, role_arn: str) -> Any:
    """Return moto's role of an ARN, with or without its path; None if it does not exist."""
    for role in iam_backends[account_id]["aws"].roles.values():
        if without_path(role.arn) == without_path(role_arn):
            return role
    return None
