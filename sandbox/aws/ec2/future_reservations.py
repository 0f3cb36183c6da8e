"""On-Demand Capacity Reservations that start at a date, with a commitment.

EC2 approves every request at once here: it goes without the state `assessing`. The codes of the
errors are not documented.

Sources:
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateCapacityReservation.html
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CancelCapacityReservation.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.aws.ec2.capacity_reservations import CapacityReservation
from trainyard.sandbox.aws.errors import refuse

_AHEAD = (timedelta(days=5), timedelta(days=120))
_FAMILIES = re.compile(r"[cgimrt]\d")
_LEAST_VCPUS = 32


def check_future_dated(
    parameters: Mapping[str, Any], starts_at: datetime | None, vcpus: int
) -> None:
    """Refuse what EC2 refuses of a reservation with a start.

    Args:
        parameters: Those of the request.
        starts_at: The start that it asks for; None for an immediate one.
        vcpus: Of all instances.

    Raises:
        EC2ClientError: EC2 refuses the request.
    """
    own = {"CommitmentDuration", "DeliveryPreference"}
    if starts_at is None:
        if own & {*parameters}:
            refuse("InvalidParameterCombination", f"{', '.join(sorted(own))} need a StartDate.")
        return
    for problem in _problems(parameters, starts_at - CLOCK.now(), vcpus):
        refuse("InvalidParameterValue", problem)


def _problems(parameters: Mapping[str, Any], ahead: timedelta, vcpus: int) -> Iterator[str]:
    if parameters.get("DeliveryPreference") != "incremental":
        yield "DeliveryPreference must be incremental for a future-dated reservation."
    if not parameters.get("CommitmentDuration"):
        yield "CommitmentDuration is required for a future-dated reservation."
    if not _AHEAD[0] <= ahead <= _AHEAD[1]:
        yield "StartDate must be between 5 and 120 days in the future."
    if not _FAMILIES.match(parameters["InstanceType"]):
        yield "Future-dated reservations are for the families C, G, I, M, R and T."
    if vcpus < _LEAST_VCPUS:
        yield f"A future-dated reservation has at least {_LEAST_VCPUS} vCPUs."
    if "PlacementGroupArn" in parameters:
        yield "A future-dated reservation has no placement group."


def check_commitment(reservation: CapacityReservation) -> None:
    """Refuse to cancel a reservation that EC2 cancels only with a quote.

    Raises:
        EC2ClientError: it is scheduled, or in the time of its commitment.
    """
    ends_at = reservation.commitment_ends_at
    if ends_at is None or CLOCK.now() >= ends_at:
        return
    if reservation.state in ("scheduled", "active"):
        refuse(
            "InvalidCapacityReservationState",
            f"The capacity reservation '{reservation.reservation_id}' is cancelled only with a "
            "cancellation quote.",
        )
