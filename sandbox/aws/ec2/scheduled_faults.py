"""Scheduled faults in launches that Auto Scaling and Batch make for the user.

AWS makes them with RunInstances in the user's account, so schedule entries for that call affect
them too. The error appears as a scaling activity, or as a status reason of the compute environment.
"""

from __future__ import annotations

from trainyard.sandbox.aws.errors import refuse
from trainyard.sandbox.faults.in_force import FAULTS


def refuse_scheduled_launch() -> None:
    """Reject a launch if the schedule says so.

    Raises:
        EC2ClientError: the schedule says so.
    """
    refusal = None if FAULTS.is_empty else FAULTS.refusal("ec2", "RunInstances")
    if refusal is not None:
        refuse(refusal.code, refusal.message)
