"""Limits of Capacity Blocks for ML and of their extensions.

Read in November 2026:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html (instances, start)
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-purchase.html (durations)
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-extend.html (extensions)
The types and regions that EC2 sells change often: `usage_classes` of the catalog has the types, and
EC2 itself refuses a region without them.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType

MOST_INSTANCES = 64
"""Instances of one Capacity Block. Not every type in every region has blocks of this size."""
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
ULTRASERVERS: Mapping[str, int] = MappingProxyType(
    {"u-p6e-gb200x36": 36, "u-p6e-gb200x72": 72, "u-trn2x64": 64}
)
"""Accelerators of each UltraServer type.

https://docs.aws.amazon.com/ec2/latest/instancetypes/ac.html,
https://awsdocs-neuron.readthedocs-hosted.com/en/latest/about-neuron/arch/neuron-hardware/trn2-arch.html
"""


def is_duration(days: int) -> bool:
    """Return whether EC2 sells blocks and extensions of this many days."""
    if not 1 <= days <= MOST_DAYS:
        return False
    return days <= DAILY_DAYS or days % WEEK_DAYS == 0
