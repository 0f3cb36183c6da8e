"""An evaluator of CloudWatch alarms.

CloudWatch evaluates the most recent points that exist. If fewer than the evaluation periods exist
in a range of some more periods, it uses missing points, as few as possible:
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Literal

State = Literal["OK", "ALARM"]
Point = float | None
"""The value of a metric in a period; None without data."""
_EXTRA_PERIODS = 2
"""The documentation has a range of 5 periods for 3 evaluation periods."""
_COMPARISONS = {"GreaterThanThreshold": operator.gt, "LessThanThreshold": operator.lt}


def state(
    points: Sequence[Point],
    *,
    comparison: str,
    threshold: float,
    periods: int,
    to_alarm: int,
    missing: Literal["breaching", "notBreaching"],
) -> State:
    """Return the state of an alarm after the last point."""
    recent = points[-(periods + _EXTRA_PERIODS) :]
    real = [point for point in recent if point is not None][-periods:]
    breaching = sum(_COMPARISONS[comparison](point, threshold) for point in real)
    if missing == "breaching":
        breaching += periods - len(real)
    return "ALARM" if breaching >= to_alarm else "OK"


def times_fired(
    points: Sequence[Point],
    *,
    comparison: str,
    threshold: float,
    periods: int,
    missing: Literal["breaching", "notBreaching"],
) -> int:
    """Return how often an alarm goes off while the points arrive, one a period."""
    states = [
        state(
            points[:end],
            comparison=comparison,
            threshold=threshold,
            periods=periods,
            to_alarm=periods,
            missing=missing,
        )
        for end in range(1, len(points) + 1)
    ]
    return sum(
        (before, after) == ("OK", "ALARM")
        for before, after in zip(["OK", *states], states, strict=False)
    )
