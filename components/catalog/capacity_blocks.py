"""Limits of Capacity Blocks for ML and of their extensions, and the tags that EC2 sets on them.

Read in November 2026:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html (instances, start,
    UltraServers, termination)
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-purchase.html (durations)
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-extend.html (extensions)
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-view.html (their tag)
    aws/aws-parallelcluster, cli/src/pcluster/aws/aws_resources.py at 451cc5320d5d (an answer of EC2
    with both tags)
The types and regions that EC2 sells change often: `usage_classes` of the catalog has the types, and
EC2 itself refuses a region without them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from types import MappingProxyType

MOST_INSTANCES = 64
"""Instances of one Capacity Block. Not every type in every region has blocks of this size."""
MOST_INSTANCES_OF_ALL_BLOCKS = 256
"""Instances of all Capacity Blocks together, of an account or its organization.

https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeCapacityBlockOfferings.html:
"you can have up to 256 instances across Capacity Blocks"
"""
DAILY_DAYS = 14
"""Longest duration that is any number of days."""
WEEK_DAYS = 7
"""Longer durations are multiples of it."""
MOST_DAYS = 182
"""Longest duration, with all extensions."""
LATEST_START = timedelta(weeks=8)
"""The latest start, from now."""
DURATIONS = "1 to 14 days, or a multiple of 7 up to 182"
EXTENDABLE_STATES = ("active", "scheduled")
"""States in which a block can be extended."""
EXTENDABLE_BEFORE_END = (timedelta(hours=1), timedelta(days=56))
"""The latest and the earliest time before its end at which a block can be extended."""
TERMINATED_BEFORE_END = timedelta(minutes=30)
"""How long before the end of a block EC2 begins to terminate its instances.

https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html
"""
ULTRASERVERS_TERMINATED_BEFORE_END = timedelta(minutes=60)
"""The same of a block of UltraServers."""
WARNED_BEFORE_TERMINATION = timedelta(minutes=10)
"""How long before it begins to terminate instances EC2 sends `Capacity Block Expiration Warning`.

https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html
"""
EKS_SCALES_IN_BEFORE_END = timedelta(minutes=40)
"""How long before the end EKS scales managed groups in, which is too late for UltraServers.

https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html
"""
BOUGHT_TAG = "aws:ec2capacityreservation:incrementalRequestedQuantity"
"""Key of the tag with the number of instances that was bought.

Before its start, a block has no instances: `TotalInstanceCount` is 0."""
TYPE_TAG = "aws:ec2capacityreservation:capacityReservationType"
"""Key of the tag with the type of the reservation, `capacity-block`."""


@dataclass(frozen=True, slots=True)
class Ultraserver:
    """Instances with one accelerator interconnect, which EC2 sells together as one block.

    Unlike other blocks, its owner cannot share it with accounts of the organization:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-share.html, "Prerequisites".
    """

    instance_type: str
    instances: int
    accelerators: int
    """Accelerators of all its instances."""


_GB200 = "p6e-gb200.36xlarge"
ULTRASERVERS: Mapping[str, Ultraserver] = MappingProxyType(
    {
        "u-p6e-gb200x36": Ultraserver(_GB200, 9, 36),
        "u-p6e-gb200x72": Ultraserver(_GB200, 18, 72),
        "u-trn2x64": Ultraserver("trn2u.48xlarge", 4, 64),
    }
)
"""The UltraServer types that EC2 sells, by `UltraserverType`.

A stack can use those whose instance type is in the catalog; docs/capacity.md says what the others
would need.

https://docs.aws.amazon.com/eks/latest/userguide/ml-eks-nvidia-ultraserver.html,
https://awsdocs-neuron.readthedocs-hosted.com/en/latest/about-neuron/arch/neuron-hardware/trn2-arch.html
"""


def ultraserver_sizes(instance_type: str) -> tuple[int, ...]:
    """Return how many instances a block of an instance type can have because of UltraServers.

    EC2 sells these types only as UltraServers, and each UltraServer is one block with a
    reservation of its own.

    Returns:
        The sizes in ascending order; empty for the types of other blocks.
    """
    found = {e.instances for e in ULTRASERVERS.values() if e.instance_type == instance_type}
    return tuple(sorted(found))


def terminated_before_end(instance_type: str) -> timedelta:
    """Return how long before the end of a block of a type EC2 begins to terminate its instances."""
    if ultraserver_sizes(instance_type):
        return ULTRASERVERS_TERMINATED_BEFORE_END
    return TERMINATED_BEFORE_END


def is_duration(days: int) -> bool:
    """Return whether EC2 sells blocks and extensions of this many days."""
    if not 1 <= days <= MOST_DAYS:
        return False
    return days <= DAILY_DAYS or days % WEEK_DAYS == 0
