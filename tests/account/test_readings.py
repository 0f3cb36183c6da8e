"""Calls to AWS run concurrently, and their answers are combined."""

import threading

import pytest

from tests.support.processes import PATIENCE
from trainyard.components.account.reader import AccountUnreachableError, read_side_by_side


def test_readings_run_at_the_same_time():
    met = threading.Barrier(3, timeout=PATIENCE)

    def reading():
        met.wait()  # fails unless all three run at the same time
        return {}

    assert read_side_by_side([reading] * 3) == {}


def test_mappings_of_one_field_are_joined():
    found = read_side_by_side([lambda: {"zones": {"a": 1}}, lambda: {"zones": {"b": 2}, "id": "x"}])
    assert found == {"zones": {"a": 1, "b": 2}, "id": "x"}


def test_what_the_first_failure_says_is_raised():
    def fails():
        raise AccountUnreachableError("no answer")

    with pytest.raises(AccountUnreachableError, match="no answer"):
        read_side_by_side([dict, fails])
