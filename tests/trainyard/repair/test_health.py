"""Which conditions of a node make it bad, and after how long."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from trainyard.repair.decision import REPAIR_AFTER, Condition, health_of

NOW = datetime(2026, 11, 25, 12, tzinfo=UTC)


def condition(kind: str, status: str, minutes: float, **said: str) -> Condition:
    return Condition(type=kind, status=status, since=NOW - timedelta(minutes=minutes), **said)


@pytest.mark.parametrize("kind", REPAIR_AFTER)
def test_a_condition_makes_a_node_bad_when_it_has_lasted_as_long_as_eks_waits(kind: str) -> None:
    wait = REPAIR_AFTER[kind].total_seconds() / 60
    before = health_of([condition(kind, "False", wait - 1)], now=NOW)
    assert not before.bad_because
    assert before.suspected.startswith(f"{kind} is False for {wait - 1:g} min")
    after = health_of([condition(kind, "False", wait)], now=NOW)
    assert after.bad_because == f"{kind} is False for {wait:g} min"
    assert not after.suspected


def test_the_waits_are_those_of_eks() -> None:
    """https://docs.aws.amazon.com/eks/latest/userguide/node-repair.html, "Repair after"."""
    assert {kind: wait.total_seconds() / 60 for kind, wait in REPAIR_AFTER.items()} == {
        "AcceleratedHardwareReady": 10,
        "ContainerRuntimeReady": 30,
        "KernelReady": 30,
        "NetworkingReady": 30,
        "StorageReady": 30,
        "Ready": 30,
    }


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("Ready", "True"),
        ("KernelReady", "True"),
        ("KernelReady", "Unknown"),
        ("MemoryPressure", "True"),
        ("DiskPressure", "False"),
    ],
)
def test_other_conditions_are_not_repaired(kind: str, status: str) -> None:
    found = health_of([condition(kind, status, 10_000)], now=NOW)
    assert (found.bad_because, found.suspected) == ("", "")


def test_a_kubelet_that_does_not_report_is_bad() -> None:
    assert health_of([condition("Ready", "Unknown", 31)], now=NOW).bad_because


def test_a_condition_without_a_time_has_just_begun() -> None:
    found = health_of([Condition(type="Ready", status="False")], now=NOW)
    assert found.suspected.startswith("Ready is False for 0 s")


def test_the_reason_of_the_agent_is_said_in_one_short_line() -> None:
    long = condition("KernelReady", "False", 40, reason="ForkFailed", message="no\nPIDs " * 99)
    said = health_of([long], now=NOW).bad_because
    assert "(ForkFailed: no PIDs no PIDs" in said
    assert "\n" not in said
    assert len(said) < 260


def test_several_faults_are_all_said() -> None:
    faults = [condition("KernelReady", "False", 40), condition("StorageReady", "False", 5)]
    found = health_of(faults, now=NOW)
    assert found.bad_because.startswith("KernelReady")
    assert found.suspected.startswith("StorageReady")
