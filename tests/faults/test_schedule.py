"""Valid schedules of faults, and the messages about invalid ones."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainyard.sandbox.faults.schedule import (
    FaultScheduleError,
    InForce,
    parse_schedule,
    read_schedule,
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- {call: 'ec2:RunInstances', happens: throtled}", "nearest: throttled"),
        ("- {call: 'ec2:RunInstance', happens: throttled}", "nearest: RunInstances"),
        ("- {call: 'ek:CreateCluster', happens: throttled}", "the service 'ek' is not known; near"),
        ("- {call: RunInstances, happens: throttled}", "is not service:Operation"),
        ("- {happens: throttled}", "throttled needs `call`, such as ec2:RunInstances"),
        ("- {call: 'ec2:CreateVpc', happens: not-found-yet}", "needs `for_calls`"),
        ("- {call: 'ec2:CreateVpc', happens: throttled, pid: 7}", "throttled has no such key"),
        (
            "- {call: 'ec2:CreateVpc', happens: throttled, nht: 2}",
            "'nht' is not known; nearest: nth",
        ),
        (
            "- {call: 'ec2:CreateVpc', happens: throttled, nth: 0}",
            "[0].nth: Input should be greater",
        ),
        (
            "- {call: 'ec2:CreateVpc', happens: throttled, times: often}",
            "[0].times: 'often' is neither a whole number from 1 nor `always`",
        ),
        (
            "- {call: 'iam:CreateRole', happens: insufficient-capacity}",
            "iam:CreateRole does not give insufficient-capacity; no call of this service does",
        ),
        (
            "- {call: 'ec2:CreateVpc', happens: insufficient-capacity}",
            "it does for ec2:CreateCapacityReservation, ec2:RunInstances",
        ),
        ("call: x", "a schedule is a list"),
        ("- 3", "[0]: an entry is a mapping"),
        ("- {", "not YAML"),
    ],
)
def test_what_cannot_be_is_refused_with_what_could(text: str, said: str) -> None:
    with pytest.raises(FaultScheduleError) as caught:
        read_schedule(text)
    assert said in str(caught.value)


def test_every_problem_of_a_schedule_is_named_at_once() -> None:
    with pytest.raises(FaultScheduleError) as caught:
        read_schedule("- {happens: throtled, call: 'ec2:*'}\n- {happens: throttled}")
    assert [line[:3] for line in str(caught.value).splitlines()] == ["[0]", "[1]"]


def test_an_empty_schedule_ends_every_fault() -> None:
    assert read_schedule("") == []


def _hits(schedule: str, *calls: str) -> list[bool]:
    in_force = InForce()
    in_force.use(read_schedule(schedule))
    return [in_force.refusal(*call.split(":")) is not None for call in calls]


def test_nth_and_times_pick_a_run_of_the_matching_calls() -> None:
    schedule = "- {call: 'ec2:RunInstances', happens: throttled, nth: 2, times: 2}"
    calls = ["ec2:RunInstances", "ec2:RunInstances", "ec2:CreateVpc", *["ec2:RunInstances"] * 2]
    assert _hits(schedule, *calls) == [False, True, False, True, False]


def test_always_never_ends() -> None:
    schedule = "- {call: 'ec2:*', happens: throttled, nth: 2, times: always}"
    assert _hits(schedule, *["ec2:CreateVpc"] * 4) == [False, True, True, True]


def test_a_glob_means_only_the_calls_that_can_fail_so() -> None:
    schedule = "- {call: '*', happens: insufficient-capacity}"
    assert _hits(schedule, "iam:CreateRole", "ec2:RunInstances") == [False, True]


def test_of_two_faults_the_first_happens_and_both_count() -> None:
    in_force = InForce()
    in_force.use(
        read_schedule(
            "- {call: 'ec2:CreateVpc', happens: throttled}\n"
            "- {call: 'ec2:CreateVpc', happens: internal-error, nth: 2}"
        )
    )
    codes = [in_force.refusal("ec2", "CreateVpc") for _ in range(3)]
    assert [each.code if each else "" for each in codes] == [
        "RequestLimitExceeded",
        "InternalError",
        "",
    ]
    assert [each["matched"] for each in in_force.described()] == [3, 3]


_PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
_ENTRY = st.fixed_dictionaries(
    {},
    optional={
        "happens": _PLAIN | st.sampled_from(["throttled", "not-found-yet", "engine-killed"]),
        "call": _PLAIN | st.sampled_from(["sts:*", "sts:GetCallerIdentity"]),
        "nth": _PLAIN,
        "times": _PLAIN,
        "for_calls": _PLAIN,
    },
)


@given(st.lists(_ENTRY | _PLAIN, max_size=3) | _PLAIN)
def test_any_data_is_a_schedule_or_an_error_for_people(content: object) -> None:
    with contextlib.suppress(FaultScheduleError):
        assert isinstance(parse_schedule(content), list)
