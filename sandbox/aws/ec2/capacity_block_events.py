"""EC2's events about a Capacity Block: its start, and a warning before its instances terminate.

https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-monitor.html
https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html ("10 minutes before the
termination process begins")
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.aws.ec2.capacity_reservations import CapacityReservation, reservations_of
from trainyard.sandbox.aws.state import state_of

WARNING_LEAD = timedelta(minutes=10)
DELIVERED = "Capacity Block Reservation Delivered"
EXPIRATION_WARNING = "Capacity Block Reservation Expiration Warning"

_Due = tuple[datetime, str, CapacityReservation]


@dataclass
class _Sent:
    """Events that were sent: the reservation, the type and the time of the event."""

    events: set[tuple[str, str, datetime]] = field(default_factory=set)


def send_block_events(ec2: Any, events: Any) -> None:
    """Send the events of all blocks that are due, each once, in the order of their times.

    An extended block gets another warning before its new end.
    """
    sent = state_of(ec2, _Sent).events
    due = [each for block in reservations_of(ec2).by_id.values() for each in _due(block)]
    for at, name, block in sorted(due, key=lambda each: each[0]):
        if (block.reservation_id, name, at) in sent:
            continue
        sent.add((block.reservation_id, name, at))
        end = f"{block.ends_at:%Y-%m-%dT%H:%M:%SZ}"
        event = {
            "Source": "aws.ec2",
            "DetailType": name,
            "Time": at.timestamp(),
            "Resources": [block.arn],
            "Detail": json.dumps(
                {"capacity-reservation-id": block.reservation_id, "end-date": end}
            ),
        }
        events.put_events([event])


def _due(block: CapacityReservation) -> Iterator[_Due]:
    if block.terminates_at is None or block.state in ("cancelled", "payment-pending"):
        return
    warned = block.terminates_at - WARNING_LEAD
    for at, name in ((block.starts_at, DELIVERED), (warned, EXPIRATION_WARNING)):
        if at <= CLOCK.now():
            yield at, name, block
