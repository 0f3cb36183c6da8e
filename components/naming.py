"""Names in AWS: how long the physical ones become that Pulumi makes from logical ones, and ARNs.

No resource of the program but the cluster has a name of its own: Pulumi appends random digits,
so that a replacement can exist beside what it replaces.
"""

from __future__ import annotations

from collections.abc import Iterable

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


def partition(region: str) -> str:
    """Return the partition that a region belongs to, the second part of ARNs there.

    https://docs.aws.amazon.com/whitepapers/latest/aws-fault-isolation-boundaries/partitions.html
    https://github.com/boto/botocore, botocore/data/partitions.json: every partition and its regions
    """
    prefixes = {
        "cn-": "aws-cn",
        "us-gov-": "aws-us-gov",
        "us-iso-": "aws-iso",
        "us-isob-": "aws-iso-b",
        "eu-isoe-": "aws-iso-e",
        "us-isof-": "aws-iso-f",
        "eusc-": "aws-eusc",
    }
    found = (name for prefix, name in prefixes.items() if region.startswith(prefix))
    return next(found, "aws")


def managed_policy_arns(names: Iterable[str], region: str) -> tuple[str, ...]:
    """Return the ARNs of AWS managed policies by their names, with the path where one has it."""
    return tuple(f"arn:{partition(region)}:iam::aws:policy/{name}" for name in names)
