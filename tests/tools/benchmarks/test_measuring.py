"""Measurements of a benchmark, and their report."""

import sys

import pytest

from tools.benchmarks.measuring import Comparison, Spent, alternate, run_call, run_process


def spent(seconds: float, *, wall: float = 1.0, memory: float = 10.0) -> Spent:
    return Spent(wall_seconds=wall, processor_seconds=seconds, memory_mib=memory)


def comparison(of: list[Spent], against: list[Spent], **budgets) -> Comparison:
    given = {"budget": None, **budgets}
    return Comparison(name="n", of="a", against="b", runs={"a": of, "b": against}, **given)


def test_the_ratios_are_those_of_the_medians():
    runs = comparison(
        [spent(3, wall=6), spent(100, wall=9), spent(4, wall=60)], [spent(2, wall=3)] * 3
    )
    assert runs.processor_ratio == 2
    assert runs.ratio == 3


@pytest.mark.parametrize(("budget", "within"), [(None, True), (2.0, True), (1.9, False)])
def test_a_ratio_over_its_budget_is_said(budget, within):
    one, other = [spent(1, wall=4)], [spent(1, wall=2)]
    assert comparison(one, other, budget=budget).within_budget is within


def test_seconds_and_memory_have_budgets_of_their_own():
    one, other = [spent(1, wall=4, memory=20)], [spent(1, wall=2)]
    assert comparison(one, other, budget_seconds_over=2).within_budget
    assert not comparison(one, other, budget_seconds_over=1.9).within_budget
    assert comparison(one, other, budget_memory_mib=20).within_budget
    assert not comparison(one, other, budget_memory_mib=19).within_budget


def test_sides_alternate_and_the_first_run_is_not_counted():
    order: list[str] = []

    def side(name: str):
        def run() -> Spent:
            order.append(name)
            return spent(len(order))

        return run

    runs = alternate({"a": side("a"), "b": side("b")}, 2)
    assert order == ["a", "b"] * 3
    assert [s.processor_seconds for s in runs["a"]] == [3, 5]


def test_a_process_is_measured_with_what_it_starts():
    work = "sum(range(3_000_000))"
    child = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {work!r}], check=True)"
    alone, with_child = (run_process([sys.executable, "-c", code]) for code in ("pass", child))
    assert with_child.processor_seconds > alone.processor_seconds > 0
    assert with_child.memory_mib > 1


def test_a_process_says_its_lines():
    said: list[str] = []
    run_process([sys.executable, "-c", "print('one'); print('two')"], said=said)
    assert said == ["one", "two"]


def test_a_process_keeps_its_bytecode(monkeypatch):
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    said: list[str] = []
    run_process([sys.executable, "-c", "import sys; print(sys.dont_write_bytecode)"], said=said)
    assert said == ["False"]


def test_a_process_that_fails_ends_the_benchmark_with_what_it_said():
    with pytest.raises(SystemExit, match="ended with 3:\nnot today"):
        run_process([sys.executable, "-c", "import sys; print('not today'); sys.exit(3)"])


def test_a_call_is_measured_by_the_processes_that_it_waits_for():
    work = [sys.executable, "-c", "sum(range(3_000_000))"]
    assert run_call(lambda: run_process(work)).processor_seconds > 0
    assert run_call(lambda: None).processor_seconds == 0


def test_a_comparison_is_one_json_object():
    shown = comparison([spent(4, wall=3)], [spent(2)], budget=3.0).as_json()
    assert (shown["ratio"], shown["processor_ratio"], shown["within_budget"]) == (3, 2, True)
    assert shown["sides"]["a"]["processor_seconds"] == {"minimum": 4, "median": 4}
