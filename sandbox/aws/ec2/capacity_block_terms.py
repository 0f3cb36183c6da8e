"""How EC2 sells Capacity Blocks and extensions, and the tags that it sets on them.

Sources, in https://docs.aws.amazon.com/AWSEC2/latest/:
    UserGuide/ec2-capacity-blocks.html, "Considerations": instances, earliest and latest start, end
    UserGuide/capacity-blocks-how.html: when EC2 begins to terminate instances
    UserGuide/capacity-blocks-purchase.html: durations, number of offerings
    UserGuide/capacity-blocks-extend.html: extensions
    UserGuide/capacity-blocks-view.html: the tag with the number of instances
    APIReference/API_DescribeCapacityBlockOfferings.html: the same durations and numbers
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from types import MappingProxyType
from typing import Any

MOST_OFFERINGS = 6
"""Offerings in one answer."""
MOST_INSTANCES = 64
"""Instances of a block."""
EARLIEST_START, LATEST_START = timedelta(minutes=30), timedelta(weeks=8)
"""When a block can start, from now."""
MOST_DAYS = 182
"""Longest duration of a block with its extensions."""
EXTENDABLE = ("active", "scheduled")
"""States of a block that can be extended."""
LAST_EXTENSION, FIRST_EXTENSION = timedelta(hours=1), timedelta(days=56)
"""The latest and the earliest time before its end at which a block can be extended."""
_END = time(11, 30)
"""Time of the day at which blocks end, in UTC."""
_MOST_SINGLE_DAYS, _WEEK = 14, 7
_TAGS = "aws:ec2capacityreservation:"
"""Prefix of the keys of tags that EC2 sets on a block."""


@dataclass(frozen=True, slots=True)
class Ultraserver:
    """Instances with one accelerator interconnect, which are sold together as one block."""

    instance_type: str
    instances: int


ULTRASERVERS: Mapping[str, Ultraserver] = MappingProxyType(
    {
        "u-trn2x64": Ultraserver("trn2u.48xlarge", 4),
        "u-p6e-gb200x36": Ultraserver("p6e-gb200.36xlarge", 9),
        "u-p6e-gb200x72": Ultraserver("p6e-gb200.36xlarge", 18),
    }
)
"""By `UltraserverType`.

https://awsdocs-neuron.readthedocs-hosted.com/en/latest/about-neuron/arch/neuron-hardware/trn2-arch.html:
64 Trainium2 in four instances; https://aws.amazon.com/ec2/instance-types/p6/: 36 or 72 GPUs, four
in each instance.
"""


def is_sold(days: int) -> bool:
    """Return whether blocks and extensions of this many days are sold.

    "1-day increments up to 14 days, and in 7-day increments up to 182 days".
    """
    return 1 <= days <= MOST_DAYS and (days <= _MOST_SINGLE_DAYS or days % _WEEK == 0)


def end_of_day(moment: datetime) -> datetime:
    """Return when the blocks that end on the day of a moment do, in UTC."""
    return datetime.combine(moment.date(), _END, moment.tzinfo)


def terminated_before_end(*, ultraserver: bool) -> timedelta:
    """Return how long before the end of a block EC2 begins to terminate its instances."""
    return timedelta(minutes=60 if ultraserver else 30)


def tags_of_aws(instance_count: int) -> dict[str, str]:
    """Return the tags that EC2 sets on a block that was bought with this many instances.

    aws/aws-parallelcluster, cli/src/pcluster/aws/aws_resources.py: an answer with both.
    """
    return {
        f"{_TAGS}incrementalRequestedQuantity": str(instance_count),
        f"{_TAGS}capacityReservationType": "capacity-block",
    }


def bought_count(answer: Mapping[str, Any]) -> int:
    """Return the instances of a reservation in an answer: of a block, also before its start.

    A block has no instances until then: `TotalInstanceCount` is 0.
    """
    bought = [
        int(tag["Value"])
        for tag in answer.get("Tags") or []
        if tag["Key"] == f"{_TAGS}incrementalRequestedQuantity"
    ]
    return max(answer["TotalInstanceCount"], *bought, 0)
