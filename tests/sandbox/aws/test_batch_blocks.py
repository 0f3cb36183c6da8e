"""A job queue with a compute environment for each Capacity Block of its stack."""

from __future__ import annotations

from datetime import timedelta

from tests.support.batch_account import Batch
from tests.support.sandbox_aws import BLOCK, SCHEDULED, Account
from trainyard.sandbox.aws.clock import CLOCK


def test_a_queue_uses_the_environments_of_its_blocks_as_they_come_and_go(account: Account) -> None:
    """A stack with `further_blocks` has one queue, which tries an environment for each block."""
    batch = Batch(account)
    batch.queue(batch.block(), batch.block("further", block=SCHEDULED))
    batch.multinode()
    first, further = (account.reservation(each) for each in (BLOCK, SCHEDULED))
    second = timedelta(seconds=1)  # the times of the answers are whole seconds

    def blocks_of(jobs: int) -> set[str]:
        submitted = [batch.submit("mnp") for _ in range(jobs)]
        batch.wait(1)
        used = {each["CapacityReservationId"] for each in account.instances()}
        batch.wait(12)
        assert all(batch.job(each)["status"] == "SUCCEEDED" for each in submitted)
        return used

    assert blocks_of(1) == {BLOCK}
    CLOCK.advance(further["StartDate"] - CLOCK.now() + second)
    assert blocks_of(2) == {BLOCK, SCHEDULED}
    CLOCK.advance(first["EndDate"] - CLOCK.now() + second)
    assert blocks_of(1) == {SCHEDULED}
    CLOCK.advance(further["EndDate"] - CLOCK.now() + second)
    waits = batch.submit("mnp")
    batch.wait(12)
    assert batch.job(waits)["status"] == "RUNNABLE"
