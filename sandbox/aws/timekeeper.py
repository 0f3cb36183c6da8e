"""Triggers timed events: scheduled actions, messages, jobs, the end of a Capacity Block."""

from __future__ import annotations

import logging
import threading

from moto.autoscaling.models import autoscaling_backends
from moto.ec2.models import ec2_backends
from moto.events.models import events_backends
from moto.scheduler.models import scheduler_backends
from moto.sns.models import sns_backends

from trainyard.sandbox.aws.autoscaling.calls import run_due_actions
from trainyard.sandbox.aws.autoscaling.groups import retry_launches
from trainyard.sandbox.aws.batch.scheduler import tick as move_jobs_on
from trainyard.sandbox.aws.batch.store import batch_stores
from trainyard.sandbox.aws.ec2.capacity_blocks import end_of_capacity, send_block_events
from trainyard.sandbox.aws.eks.node_groups import scale_in_ending_blocks
from trainyard.sandbox.aws.eks.store import eks_stores
from trainyard.sandbox.aws.environment import ACCOUNT_ID
from trainyard.sandbox.aws.scheduler import run_due_schedules
from trainyard.sandbox.aws.transitions import TRANSITIONS

LOG = logging.getLogger("trainyard.sandbox.aws")

_INTERVAL_SECONDS = 1.0


class Timekeeper:
    """Checks the clock every second in a thread, with the application's lock held.

    Args:
        lock: The application's lock.
        region: The region of the account.
    """

    def __init__(self, lock: threading.RLock, region: str) -> None:
        self._lock = lock
        self._region = region
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="timekeeper", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop and wait for the thread; idempotent."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()

    def tick(self) -> None:
        """Perform everything that is due."""
        with self._lock:
            TRANSITIONS.end_due()
            ec2 = ec2_backends[ACCOUNT_ID][self._region]
            autoscaling = autoscaling_backends[ACCOUNT_ID][self._region]
            scheduler = scheduler_backends[ACCOUNT_ID][self._region]
            run_due_schedules(scheduler, sns_backends[ACCOUNT_ID][self._region])
            send_block_events(ec2, events_backends[ACCOUNT_ID][self._region])
            scale_in_ending_blocks(ec2, eks_stores[ACCOUNT_ID][self._region])
            end_of_capacity(ec2, autoscaling)
            run_due_actions(autoscaling)
            retry_launches(autoscaling)
            move_jobs_on(batch_stores[ACCOUNT_ID][self._region], ec2)

    def _run(self) -> None:
        while not self._stopped.wait(_INTERVAL_SECONDS):
            try:
                self.tick()
            except Exception:
                LOG.exception("the timekeeper broke")
