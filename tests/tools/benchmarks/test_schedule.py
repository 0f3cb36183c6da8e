"""Start and end of steps, and the critical path."""

import pytest

from tools.benchmarks.cold_up import Step, schedule


def step(name: str, seconds: float, *waits_for: str, ends_with: tuple[str, ...] = ()) -> Step:
    return Step(
        urn=name,
        type="aws:x:X",
        name=name,
        inputs={},
        seconds=seconds,
        waits_for=frozenset(waits_for),
        ends_with=frozenset(ends_with),
    )


def times(steps, **options):
    return {each.step.name: (each.begins, each.ends) for each in schedule(steps, **options).timed}


def chain(steps):
    return [each.step.name for each in schedule(steps).critical_path]


def test_what_needs_nothing_of_each_other_is_made_at_once():
    assert times([step("a", 5), step("b", 3)]) == {"a": (0, 5), "b": (0, 3)}


def test_a_step_begins_when_the_last_that_it_waits_for_is_done():
    assert times([step("a", 5), step("b", 3), step("c", 1, "a", "b")])["c"] == (5, 6)


def test_the_critical_path_is_the_chain_that_ends_last():
    steps = [step("vpc", 2), step("nat", 50, "vpc"), step("cluster", 90, "vpc"), step("role", 3)]
    assert chain(steps) == ["vpc", "cluster"]


def test_components_pass_on_what_was_waited_for_and_are_no_link():
    steps = [step("a", 5), step("component", 0, "a"), step("b", 1, "component")]
    assert chain(steps) == ["a", "b"]


def test_a_packages_component_is_done_with_the_last_of_its_children():
    package = step("package", 0, ends_with=("cluster", "add-on"))
    steps = [step("cluster", 9), step("add-on", 2, "cluster"), package, step("n", 1, "package")]
    assert times(steps)["n"] == (11, 12)


def test_no_more_are_under_way_than_there_are_places_and_the_first_registered_is_first():
    steps = [step("a", 5), step("b", 3), step("c", 1), step("component", 0)]
    assert times(steps, parallel=1) == {"a": (0, 5), "b": (5, 8), "c": (8, 9), "component": (0, 0)}


def test_what_is_not_among_the_steps_is_not_waited_for():
    assert times([step("a", 5, "urn of the stack")]) == {"a": (0, 5)}


def test_steps_that_wait_for_each_other_are_refused():
    with pytest.raises(ValueError, match="a, b"):
        schedule([step("a", 1, "b"), step("b", 1, "a")])
