"""The program uses the clock of the account."""

from datetime import UTC, datetime, timedelta

import pytest

from trainyard.components import clock


@pytest.mark.parametrize(("ahead", "expected"), [(None, 0), ("", 0), ("0", 0), ("176400", 176400)])
def test_an_emulated_account_may_be_ahead_of_this_machine(monkeypatch, ahead, expected):
    monkeypatch.delenv(clock.VARIABLE, raising=False)
    if ahead is not None:
        monkeypatch.setenv(clock.VARIABLE, ahead)
    before = datetime.now(UTC)
    found = clock.now()
    assert before <= found - timedelta(seconds=expected) <= datetime.now(UTC)
