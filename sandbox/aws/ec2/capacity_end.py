"""The end of a Capacity Block: EC2 takes the instances away half an hour before it."""

from __future__ import annotations

from typing import Any

from sandbox.aws.ec2.capacity_reservations import reservations_of


def end_of_capacity(ec2: Any, autoscaling: Any) -> list[str]:
    """Terminate the instances of blocks that end, and let Auto Scaling know.

    Returns:
        Ids of the instances that were terminated.
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
