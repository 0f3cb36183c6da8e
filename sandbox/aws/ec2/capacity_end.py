"""The end of a Capacity Block: EC2 terminates its instances half an hour before."""

from __future__ import annotations

from typing import Any

from moto.ec2.models import ec2_backends

from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.aws.ec2.capacity_reservations import reservations_of
from trainyard.sandbox.aws.environment import ACCOUNT_ID


def end_reservation(reservation_id: str) -> bool:
    """End a reservation now: a Capacity Block as by its end date, others as if canceled.

    The timekeeper terminates the instances of a block; those of a canceled reservation continue at
    the On-Demand price. Return whether the reservation exists.
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CancelCapacityReservation.html
    """
    backends = ec2_backends[ACCOUNT_ID]
    known = (reservations_of(backends[region]).by_id for region in list(backends))
    found = next((each[reservation_id] for each in known if reservation_id in each), None)
    if found is None:
        return False
    if found.reservation_type == "capacity-block":
        found.ends_at = CLOCK.now()
    else:
        found.cancelled = True
    return True


def end_of_capacity(ec2: Any, autoscaling: Any) -> list[str]:
    """Terminate the instances of ending blocks, and notify Auto Scaling.

    Returns:
        Ids of the terminated instances.
    """
    ending = {
        reservation.reservation_id
        for reservation in reservations_of(ec2).by_id.values()
        if reservation.terminates_instances
    }
    ids = [
        instance.id
        for instance in ec2.all_instances()
        if instance.state == "running"
        and getattr(instance, "capacity_reservation_id", None) in ending
    ]
    if ids:
        ec2.terminate_instances(ids)
        autoscaling.notify_terminate_instances(ids)
    return ids
