"""Lengths of physical resource names, and ARNs.

Clusters, CloudFormation stacks, job queues, job definitions, repositories and reservation groups
have explicit physical names (`made_names` of each architecture's `account` module). Pulumi appends
random digits to the names of other resources, so that a replacement can exist next to the original.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256

MANAGED_NODE_GROUP = "-node-group"
AUTO_SCALING_GROUP = "-nodes"
COMPUTE_ENVIRONMENT = "-environment"
LAUNCH, TEMPLATE = "-launch", "-template"
"""Suffixes of the logical names of a node pool's resources, after `CLUSTER-POOL`: the EKS node
group, the Auto Scaling group, the compute environment, the launch template (`LAUNCH` and
`TEMPLATE`)."""

RESERVATION_GROUP = "reservations-"
"""Prefix of the names of reservation groups: AWS refuses names that begin with `aws`."""

# https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
IAM_ROLE_NAME_LIMIT = 64
# https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateNodegroup.html
EKS_NODE_GROUP_NAME_LIMIT = 63
# https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutRule.html
EVENT_RULE_NAME_LIMIT = 64
# https://docs.aws.amazon.com/scheduler/latest/APIReference/API_CreateSchedule.html
SCHEDULE_NAME_LIMIT = 64

# A hyphen and seven hexadecimal digits.
# https://www.pulumi.com/docs/iac/concepts/resources/names/#autonaming
_SUFFIX_LENGTH = 8

_DIGEST_LENGTH = 7

_PARTITIONS = {
    "cn-": ("aws-cn", "amazonaws.com.cn"),
    "us-gov-": ("aws-us-gov", "amazonaws.com"),
    "us-iso-": ("aws-iso", "c2s.ic.gov"),
    "us-isob-": ("aws-iso-b", "sc2s.sgov.gov"),
    "eu-isoe-": ("aws-iso-e", "cloud.adc-e.uk"),
    "us-isof-": ("aws-iso-f", "csp.hci.ic.gov"),
    "eusc-": ("aws-eusc", "amazonaws.eu"),
}
"""Partition and DNS suffix, by region prefix.
https://docs.aws.amazon.com/whitepapers/latest/aws-fault-isolation-boundaries/partitions.html
https://github.com/boto/botocore, botocore/data/partitions.json: every partition and its regions"""


def excess_length(logical_name: str, limit: int) -> int:
    """Return the number of characters by which a physical name exceeds its limit.

    0 or less if it fits. Otherwise Pulumi would fail during the update.
    """
    return len(logical_name) + _SUFFIX_LENGTH - limit


def fitted(logical_name: str, limit: int) -> str:
    """Return a logical name whose physical name fits into its limit.

    A name that fits is not changed. A longer name is truncated and ends with digits that
    distinguish it from names with the same beginning.
    """
    if excess_length(logical_name, limit) <= 0:
        return logical_name
    digest = sha256(logical_name.encode()).hexdigest()[:_DIGEST_LENGTH]
    kept = limit - _SUFFIX_LENGTH - 1 - _DIGEST_LENGTH
    return f"{logical_name[:kept]}-{digest}"


def partition(region: str) -> str:
    """Return the partition of a region, the second part of its ARNs."""
    return _partition_and_dns_suffix(region)[0]


def dns_suffix(region: str) -> str:
    """Return the suffix of host names and some service principals in a region's partition."""
    return _partition_and_dns_suffix(region)[1]


def _partition_and_dns_suffix(region: str) -> tuple[str, str]:
    found = (names for prefix, names in _PARTITIONS.items() if region.startswith(prefix))
    return next(found, ("aws", "amazonaws.com"))


def managed_policy_arns(names: Iterable[str], region: str) -> tuple[str, ...]:
    """Return the ARNs of policies, each once, of AWS managed ones from names with paths."""
    return tuple(dict.fromkeys(managed_policy_arn(name, region) for name in names))


def is_customer_policy(name: str) -> bool:
    """Return whether this is the ARN of a customer managed policy."""
    return name.startswith("arn:") and ":iam::aws:" not in name


def managed_policy_arn(name: str, region: str) -> str:
    """Return the ARN of a policy, which can be the name already."""
    return name if name.startswith("arn:") else f"arn:{partition(region)}:iam::aws:policy/{name}"
