"""What each reader says about a reservation that is not active."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import botocore.session
import pytest

from tests.support.eks_account import BLOCK, NOW, STARTED
from trainyard.components.account.facts import AccountFacts, PreflightFacts
from trainyard.components.capacity.checks import FREE, RUNS, reservation_rows
from trainyard.components.capacity.facts import LATER, OVER, ReservationFacts, why_not_active
from trainyard.diagnosis.failed_pool import ReservationUse
from trainyard.init.offers import unusable

EC2 = botocore.session.get_session().get_service_model("ec2")
STATES: list[str] = EC2.shape_for("CapacityReservationState").enum  # pyright: ignore[reportAttributeAccessIssue]
NOT_ACTIVE = sorted({*STATES} - {"active"})
ODCR = {"kind": "odcr", "reservation_id": BLOCK}


def test_every_state_of_ec2_has_a_meaning() -> None:
    """EC2's reference has no words for `unavailable`."""
    assert {"active", "unavailable", *LATER, *OVER} == {*STATES}
    assert not {*LATER} & {*OVER}


@pytest.mark.parametrize("state", NOT_ACTIVE)
def test_every_reader_says_why_nodes_do_not_launch(
    state: str, configure: Any, facts: AccountFacts, block: ReservationFacts
) -> None:
    odcr = replace(block, kind="odcr", state=state, available_count=0)
    why = str(why_not_active(state, STARTED))
    use = ReservationUse(BLOCK, state, "p5.48xlarge", 2, 0, starts_at=STARTED)
    account = replace(facts, reservations={BLOCK: odcr})
    config = configure(reservations__block=ODCR)
    rows = {row.asked: row for row in reservation_rows(config, account, PreflightFacts(), NOW)}
    assert (unusable(odcr, NOW), use.described().partition("): ")[2]) == (why, why)
    assert why in rows[RUNS].found
    assert rows[RUNS].verdict == "warning"
    # Before its start, all instances count; afterwards there are none.
    assert rows[FREE].verdict == ("ok" if state in LATER else "warning")


@pytest.mark.parametrize(
    ("state", "text"),
    [
        ("active", None),
        ("scheduled", "it is scheduled; it starts at 2026-11-20 11:30 UTC"),
        ("assessing", f"it is assessing: {LATER['assessing']}; it starts at 2026-11-20 11:30 UTC"),
        ("delayed", "it is delayed: EC2 could not deliver its instances at its start"),
        ("unsupported", f"it is unsupported: {OVER['unsupported']}"),
        ("expired", "it is expired"),
        ("unavailable", "it is unavailable"),
    ],
)
def test_the_reason_has_the_start_where_it_is_to_come(state: str, text: str | None) -> None:
    assert why_not_active(state, STARTED) == text
