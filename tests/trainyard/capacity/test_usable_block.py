"""Until when a block in an entry of a stack file can be used, so that no other one replaces it."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest

from tests.support.capacity_commands import STACK, written_stack
from tests.support.reservation_answers import RESERVATION, described
from trainyard.capacity.records import Records
from trainyard.commands.capacity.buy import Buyer
from trainyard.components import clock
from trainyard.stack_files.stack_files import find_stack_file
from trainyard.workspace.accounts import target_of


def usable(directory: Path, **changes: Any) -> bool:
    """Return whether a block that ends in a week, with changes, can be used."""
    times = {"EndDate": clock.now() + timedelta(days=7)}
    answer = described(ReservationType="capacity-block", **{**times, **changes})
    reader: Any = SimpleNamespace(
        ask=lambda *_, **__: {"CapacityReservations": [answer]}, ec2=MagicMock()
    )
    buyer = Buyer(
        target=target_of(find_stack_file(STACK, path=written_stack(directory)), sandbox=False),
        records=Records(directory),
        reader=reader,
        check=lambda *_: (),
    )
    return buyer._usable_until(RESERVATION) is not None


@pytest.mark.parametrize(
    ("state", "is_usable"),
    [
        ("active", True),
        ("scheduled", True),
        ("payment-pending", True),
        ("payment-failed", False),
        ("cancelled", False),
        ("expired", False),
        ("failed", False),
    ],
)
def test_a_block_can_be_used_or_will_be_paid(tmp_path: Path, state: str, is_usable: bool) -> None:
    """https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CapacityReservation.html"""
    assert usable(tmp_path, State=state) is is_usable


@pytest.mark.parametrize(("minutes", "is_usable"), [(45, True), (39, False), (-1, False)])
def test_a_block_is_used_until_its_nodes_leave_it(
    tmp_path: Path, minutes: int, is_usable: bool
) -> None:
    """EC2 terminates them from 30 minutes before the end, and their pods drain for ten before."""
    ends = clock.now() + timedelta(minutes=minutes)
    assert usable(tmp_path, State="active", EndDate=ends) is is_usable
