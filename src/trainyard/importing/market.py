"""The market type of a launch, which no stack file has: it follows from the reservation.

https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_InstanceMarketOptionsRequest.html
"""

from __future__ import annotations

from trainyard.importing.reader import Reader
from trainyard.importing.source import Location


def claim_market(market: Reader, *, ours: Location) -> None:
    """Record what becomes of a market type.

    Args:
        market: The market type.
        ours: The key of the stack file that it follows from.
    """
    if market.value == "interruptible-capacity-reservation":
        market.unsupported(
            "stacks do not launch into interruptible reservations: set the id of another one"
        )
    else:
        market.claim("taken over", ours=ours)
