"""How long the physical names become that Pulumi makes from logical ones, and AWS's limits.

No resource of the program but the cluster has a name of its own: Pulumi appends random digits,
so that a replacement can exist beside what it replaces.
"""

from __future__ import annotations

# https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
IAM_ROLE_NAME_LIMIT = 64
# https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateNodegroup.html
EKS_NODE_GROUP_NAME_LIMIT = 63

# A hyphen and seven hexadecimal digits.
# https://www.pulumi.com/docs/iac/concepts/resources/names/#autonaming
_SUFFIX_LENGTH = 8


def excess_length(logical_name: str, limit: int) -> int:
    """Return by how many characters the physical name of a resource exceeds its limit.

    0 or less where it fits. Pulumi fails in the middle of an update where it does not.
    """
    return len(logical_name) + _SUFFIX_LENGTH - limit
