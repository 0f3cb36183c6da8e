"""The command runs the selected benchmarks, writes the results, and fails if a budget is missed."""

import json

import pytest

from tools.benchmarks import __main__ as command
from tools.benchmarks.measuring import Comparison, Spent
from tools.benchmarks.report import Benchmarks


def line(budget: float) -> Comparison:
    side = [Spent(wall_seconds=1, processor_seconds=2, memory_mib=3)]
    return Comparison(name="l", of="a", against="b", budget=budget, runs={"a": side, "b": side})


@pytest.fixture
def asked() -> list[str]:
    """Names of the tools/benchmarks of whole updates that ran."""
    return []


@pytest.fixture
def bench(tmp_path, asked):
    def run(*arguments: str, budget: float = 1.0) -> int:
        benchmarks = Benchmarks(
            lines={name: lambda _: [line(budget)] for name in ("check", "pools")},
            curves=lambda _: [],
            paths=lambda: asked.append("critical-path") or [],
            ups=lambda: asked.append("cold-up") or [],
        )
        return command.main([*arguments, "--output", str(tmp_path)], benchmarks)

    return run


def test_every_benchmark_runs_where_none_is_named(bench, asked, tmp_path):
    assert bench() == 0
    assert asked == ["critical-path", "cold-up"]
    assert len(json.loads((tmp_path / "bench.json").read_text())["comparisons"]) == 2


def test_one_benchmark_runs_where_it_is_named(bench, asked, capsys):
    assert bench("check", "--json") == 0
    assert asked == []
    assert len(json.loads(capsys.readouterr().out)["comparisons"]) == 1


def test_a_missed_budget_is_a_failure(bench, capsys):
    assert bench("check", budget=0.5) == 1
    assert "over the budget: l" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["chekc"], "check, pools, growth"), (["--rounds", "0"], "must be at least 1")],
)
def test_arguments_that_cannot_be_used_are_refused(bench, capsys, arguments, message):
    with pytest.raises(SystemExit) as ended:
        bench(*arguments)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_a_benchmark_without_a_sandbox_says_how_to_start_one(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("TRAINYARD_SANDBOX", str(tmp_path / "none"))
    assert command.main(["preview"]) == 1
    assert "./trainyard sandbox start" in capsys.readouterr().err
