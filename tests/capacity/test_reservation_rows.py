"""Facts of a reservation that change over time, and their messages."""

from dataclasses import replace
from datetime import timedelta

import pytest

from tests.support.eks_account import ACCOUNT, BLOCK, ENDS, NOW, STARTED
from trainyard.components.architectures.prepare import complete
from trainyard.components.capacity.checks import (
    FREE,
    HEALTHY,
    RUNS,
    SHARED,
    provenance_rows,
    reservation_rows,
)
from trainyard.components.capacity.facts import InvitationFacts, UltraserverFacts

SHARE = "arn:aws:ram:us-west-2:999988887777:resource-share/0a1b2c3d-0a1b-2c3d-4e5f-0a1b2c3d4e5f"
ODCR = {"kind": "odcr", "reservation_id": BLOCK, "availability_zone": "us-west-2b"}


@pytest.fixture
def rows(configure, facts, more):
    def _rows(*found, now=NOW, more=more, **changes):
        account = replace(facts, reservations={each.reservation_id: each for each in found})
        config = complete(configure(**changes), account)
        told = reservation_rows(config, account, more, now)
        return {row.asked: row for row in told}

    return _rows


def test_free_instances_are_compared_with_what_is_wanted(rows, block):
    """C12."""
    row = rows(replace(block, available_count=2))[FREE]
    assert (row.verdict, row.found) == ("ok", "2 of 2 are available, 2 needed")


def test_too_few_free_instances_are_a_warning_for_the_stack_may_hold_them(rows, block):
    """C12: a second check of a running stack must not be refused."""
    row = rows(replace(block, available_count=0))[FREE]
    assert row.verdict == "warning"
    assert "nodes of this stack use the others" in row.found


def test_a_number_that_is_not_told_is_skipped(rows, block):
    assert rows(block)[FREE].verdict == "skipped"


@pytest.mark.parametrize(
    ("state", "now", "verdict", "words"),
    [
        ("active", NOW, "ok", "155 hours from now"),
        ("scheduled", STARTED - timedelta(days=1), "warning", "starts at 2026-11-20 11:30 UTC"),
        ("active", ENDS - timedelta(minutes=20), "warning", "0 hours from now"),
    ],
)
def test_the_times_of_a_block_are_held_against_now(rows, block, state, now, verdict, words):
    """D13."""
    row = rows(replace(block, state=state), now=now)[RUNS]
    assert row.verdict == verdict
    assert words in row.found


def test_a_block_that_has_not_begun_counts_in_full(rows, block):
    row = rows(replace(block, state="scheduled", available_count=0))[FREE]
    assert (row.verdict, row.found) == ("ok", "2 instances from its start, 2 needed")


def test_a_block_that_shows_no_number_before_its_start_is_not_counted(rows, block):
    row = rows(replace(block, state="scheduled", available_count=0, instance_count=0))[FREE]
    assert (row.verdict, row.found) == (
        "skipped",
        "EC2 does not show the number of instances before the start",
    )


def test_an_own_reservation_has_no_row_about_sharing(rows, block):
    assert SHARED not in rows(replace(block, kind="odcr"), reservations__block=ODCR)


def test_the_owner_of_a_shared_reservation_is_named(rows, block):
    shared = replace(block, kind="odcr", owner_id="999988887777")
    row = rows(shared, reservations__block=ODCR)[SHARED]
    assert (row.verdict, "999988887777" in row.found) == ("ok", True)


def test_an_invitation_that_waits_is_named_beside_a_reservation_that_is_not_seen(
    configure, facts, more
):
    waits = InvitationFacts(
        share_arn=SHARE, share_name="p5", sender_id="999988887777", status="PENDING"
    )
    account = replace(facts, reservations={})
    config = configure(reservations__block=ODCR)
    (row,) = reservation_rows(config, account, replace(more, invitations=(waits,)), NOW)
    assert row.verdict == "warning"
    assert SHARE in row.found


@pytest.mark.parametrize(
    ("status", "verdict"), [("PENDING", "ok"), ("REJECTED", "warning"), (None, "warning")]
)
def test_the_share_that_the_stack_accepts_is_looked_for(configure, facts, more, status, verdict):
    invited = () if status is None else (status,)
    invitations = tuple(
        InvitationFacts(share_arn=SHARE, share_name="p5", sender_id="9", status=each)
        for each in invited
    )
    config = configure(reservations__block={**ODCR, "resource_share_arn": SHARE})
    account = replace(facts, reservations={})
    (row,) = reservation_rows(config, account, replace(more, invitations=invitations), NOW)
    assert row.verdict == verdict


def test_invitations_that_may_not_be_read_are_skipped(configure, facts, more):
    denied = replace(more, unreadable=("ram:GetResourceShareInvitations: AccessDenied",))
    account = replace(facts, reservations={})
    (row,) = reservation_rows(configure(reservations__block=ODCR), account, denied, NOW)
    assert (row.verdict, row.found) == ("skipped", "ram:GetResourceShareInvitations: AccessDenied")


@pytest.mark.parametrize(
    ("group", "owner", "verdict", "words"),
    [
        ("mine", ACCOUNT, "ok", "own: nodes launch into group mine"),
        ("aws-delivered", "999988887777", "ok", "aws-assisted: nodes launch into no group"),
        (None, None, "ok", "own: nodes launch into no group"),
    ],
)
def test_what_the_account_makes_of_auto_is_told(
    configure, facts, block, group, owner, verdict, words
):
    """B8, B10."""
    made = replace(block, kind="odcr", placement_group=group, placement_group_owner_id=owner)
    config = configure(reservations__block={**ODCR, "provenance": "auto"})
    account = replace(facts, reservations={BLOCK: made})
    (row,) = provenance_rows(config, complete(config, account))
    assert (row.verdict, row.found) == (verdict, words)


def test_auto_that_the_account_does_not_answer_is_a_warning(configure, facts):
    config = configure(reservations__block={**ODCR, "provenance": "auto"})
    (row,) = provenance_rows(config, complete(config, replace(facts, reservations={})))
    assert (row.subject, row.verdict) == ("reservations.block.provenance", "warning")


def test_what_the_stack_file_says_itself_has_no_such_row(configure, facts):
    config = configure(reservations__block=ODCR)
    assert list(provenance_rows(config, complete(config, facts))) == []


@pytest.fixture
def health(rows, block, more):
    """The row about an UltraServer with a status."""

    def _health(status, *, unreadable=(), **block_changes):
        statuses = {} if status is None else {BLOCK: UltraserverFacts(**status)}
        told = replace(more, ultraservers=statuses, unreadable=unreadable)
        found = replace(block, instance_type="trn2u.48xlarge", instance_count=4, **block_changes)
        return rows(found, more=told).get(HEALTHY)

    return _health


@pytest.mark.parametrize(
    ("interconnect", "unavailable", "verdict", "words"),
    [
        ("ok", 0, "ok", "interconnect ok, 4 instances"),
        ("impaired", 0, "warning", "interconnect impaired, 0 of 4 instances"),
        ("ok", 1, "warning", f"1 of 4 instances of {BLOCK} unavailable"),
        ("insufficient-data", 0, "skipped", "not enough data"),
    ],
)
def test_the_health_of_an_ultraserver_is_shown(health, interconnect, unavailable, verdict, words):
    """D17."""
    row = health({"interconnect": interconnect, "instances": 4, "unavailable": unavailable})
    assert (row.verdict, words in row.found) == (verdict, True)


def test_a_status_that_is_not_told_or_denied_is_skipped(health):
    assert "reports no status" in health(None).found
    denied = "ec2:DescribeCapacityBlockStatus: denied"
    row = health(None, unreadable=(denied,))
    assert (row.verdict, row.found) == ("skipped", denied)


def test_only_an_ultraserver_that_has_started_has_a_status(health, rows, block):
    assert health(None, state="scheduled") is None
    assert HEALTHY not in rows(block)
