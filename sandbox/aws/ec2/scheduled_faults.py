"""Faults of the schedule in launches that Auto Scaling and Batch make for the user.

AWS makes them with RunInstances in the user's account, so the entries of a schedule for that call
hit them too; they come back as a scaling activity, or as a reason of the compute environment.
"""

from __future__ import annotations

from sandbox.aws.errors import refuse
from sandbox.faults.in_force import FAULTS


def refuse_scheduled_launch() -> None:
    """Refuse a launch that the schedule says to refuse.

    Raises:
        EC2ClientError: it does.
    """
    refusal = None if FAULTS.is_empty else FAULTS.refusal("ec2", "RunInstances")
    if refusal is not None:
        refuse(refusal.code, refusal.message)
