"""`bench` runs the selected benchmarks, writes the results, and fails if a budget is exceeded."""

import json

import pytest
from typer.testing import CliRunner

from benchmarks import cold_up, critical_path, growth, report
from benchmarks.measuring import Comparison, Spent
from tools.cli.app import app


def line(budget: float) -> Comparison:
    side = [Spent(wall_seconds=1, processor_seconds=2, memory_mib=3)]
    return Comparison(name="l", of="a", against="b", budget=budget, runs={"a": side, "b": side})


@pytest.fixture
def asked() -> list[str]:
    """Names of the benchmarks of whole updates that ran."""
    return []


@pytest.fixture
def bench(monkeypatch, tmp_path, asked):
    def run(*arguments: str, budget: float = 1.0):
        measures = {name: lambda _: [line(budget)] for name in ("check", "pools")}
        monkeypatch.setattr(report, "BENCHMARKS", measures)
        monkeypatch.setattr(growth, "curves", lambda _: [])
        monkeypatch.setattr(critical_path, "measure", lambda: asked.append("critical-path") or [])
        monkeypatch.setattr(cold_up, "measure", lambda: asked.append("cold-up") or [])
        return CliRunner().invoke(app, ["bench", *arguments, "--output", str(tmp_path)])

    return run


def test_every_benchmark_runs_where_none_is_named(bench, asked, tmp_path):
    done = bench()
    assert done.exit_code == 0
    assert asked == ["critical-path", "cold-up"]
    assert len(json.loads((tmp_path / "bench.json").read_text())["comparisons"]) == 2


def test_one_benchmark_runs_where_it_is_named(bench, asked):
    done = bench("check", "--json")
    assert asked == []
    assert len(json.loads(done.stdout)["comparisons"]) == 1


def test_a_missed_budget_is_a_failure(bench):
    done = bench("check", budget=0.5)
    assert done.exit_code == 1
    assert "over the budget: l" in done.stderr


def test_an_unknown_benchmark_names_the_known_ones(bench):
    done = bench("chekc")
    assert done.exit_code == 2
    assert "check, pools, growth" in done.stderr
