"""How often loops poll."""

from __future__ import annotations

import pytest

from trainyard.sandbox.kubernetes import api
from trainyard.sandbox.kubernetes.api import Pace


@pytest.fixture
def clock(monkeypatch):
    """Monotonic time that a test sets."""
    now = [100.0]
    monkeypatch.setattr(api.time, "monotonic", lambda: now[0])
    return now


def test_a_loop_is_quick_until_nothing_has_changed_for_a_while(clock):
    paced = Pace(0.3)
    waits = []
    for seconds in (0.0, 2.9, 3.1):
        clock[0] = 100.0 + seconds
        waits.append(paced.interval("the same"))
    assert waits == [0.3, 0.3, 1.0]


def test_a_change_makes_it_quick_again(clock):
    paced = Pace(0.3)
    paced.interval(["a pod"])
    clock[0] += 60
    assert paced.interval(["a pod"]) == 1.0
    assert paced.interval(["a pod", "another"]) == 0.3
    clock[0] += 60
    assert paced.interval(["a pod", "another"]) == 1.0
