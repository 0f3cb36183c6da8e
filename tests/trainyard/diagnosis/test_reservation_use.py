"""The users of a reservation are read from the account, and named in one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from tests.support.sandbox_aws import (
    BLOCK,
    EXPIRED,
    ODCR,
    SCHEDULED,
    Account,
    p5_block,
)
from trainyard.diagnosis.failed_pool import ReservationUse, read_reservations
from trainyard.sandbox.aws.server import AwsServer

OWNED = [{"ResourceType": "instance", "Tags": [{"Key": "trainyard:cluster", "Value": "p5-cb"}]}]


@pytest.fixture(scope="module")
def server() -> Iterator[AwsServer]:
    with AwsServer(keep_time=False) as started:
        yield started


@pytest.fixture
def account(server: AwsServer) -> Account:
    server.reset()
    return Account(server)


def test_a_full_block_names_whose_instances_hold_it(account: Account) -> None:
    template = account.template("p5", **p5_block(account.group()), TagSpecifications=OWNED)
    group = account.autoscaling_group("p5", template, DesiredCapacity=2)
    ids = ", ".join(sorted(each["InstanceId"] for each in group["Instances"]))
    (use,) = read_reservations(account.ec2, [BLOCK])
    held = {owner: tuple(sorted(ids)) for owner, ids in use.holders.items()}
    assert list(held) == ["p5-cb"]
    assert ", ".join(held["p5-cb"]) == ids
    assert (use.available, use.total) == (0, 2)
    assert f"{BLOCK} (2 x p5.48xlarge) is full: 2 used by p5-cb (" in use.described()


def test_a_free_block_says_how_much_is_free_and_when_it_ends(account: Account) -> None:
    (use,) = read_reservations(account.ec2, [BLOCK])
    assert "has 2 of 2 instances available; it ends at 20" in use.described()


def test_every_id_is_read_and_nothing_is_asked_for_none(account: Account) -> None:
    assert [use.reservation_id for use in read_reservations(account.ec2, [BLOCK, ODCR])] == [
        BLOCK,
        ODCR,
    ]
    assert read_reservations(None, []) == ()


@pytest.mark.parametrize(
    ("reservation_id", "said"),
    [
        (SCHEDULED, "it is scheduled; it starts at 20"),
        (EXPIRED, "(2 x p5.48xlarge): it is expired"),
    ],
)
def test_a_reservation_that_is_not_active_says_so(
    account: Account, reservation_id: str, said: str
) -> None:
    (use,) = read_reservations(account.ec2, [reservation_id])
    assert said in use.described()


def test_what_another_account_holds_is_told_apart_from_ours() -> None:
    moment = datetime(2026, 12, 1, tzinfo=UTC)
    use = ReservationUse(
        "cr-0",
        "active",
        "p5.48xlarge",
        4,
        0,
        moment,
        moment + timedelta(days=1),
        {"p5-cb": ("i-1",), "batch-p5": ("i-2", "i-3")},
    )
    assert use.described() == (
        "cr-0 (4 x p5.48xlarge) is full: 1 used by p5-cb (i-1), 2 used by batch-p5 (i-2, i-3), 1 "
        "by instances in other accounts; it ends at 2026-12-02 00:00 UTC"
    )
