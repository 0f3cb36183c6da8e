"""Each benchmark runs; `python -m tools/benchmarks`, not a test, judges its measurements."""

import json
from pathlib import Path

import pytest

from tools.benchmarks import cold_up, commands, growth, projects, report
from tools.benchmarks.cold_up import ColdUp
from tools.benchmarks.growth import Curve
from tools.benchmarks.measuring import Comparison, Spent
from trainyard.stack_files.stack_config import plan_of


@pytest.fixture
def small(monkeypatch):
    """Make every command of a benchmark take no time; return the commands."""
    run: list[list[str]] = []

    def run_process(command, **arguments):
        run.append([str(part) for part in command])
        if "said" in arguments:
            arguments["said"].append("0.5")
        return Spent(wall_seconds=1, processor_seconds=0.5, memory_mib=50)

    for module in (commands, growth, projects):
        monkeypatch.setattr(module, "run_process", run_process)
    return run


def test_check_compares_one_stack_with_imports_and_all_stacks_with_one(small):
    one, everything = commands.measure_check(1)
    assert (one.budget, everything.budget) == (3.0, 2.0)
    assert everything.against == one.of
    assert any(command[-2:] == ["check", "dev"] for command in small)
    assert any("p5-cb" in command and "batch-p5" in command for command in small)


def test_lint_may_take_50_ms_more_for_each_further_file(small):
    lines = commands.measure_lint(1)
    named = list(dict.fromkeys(tuple(command[2:]) for command in small if len(command) > 3))
    for line, paths in zip(lines, named, strict=True):
        files = sum(len([*Path(each).glob("*.tf")]) or 1 for each in paths)
        assert line.budget_seconds_over == pytest.approx(0.05 * (files - 1))
        assert line.within_budget


def test_a_hundred_node_pools_are_compared_with_ten(small):
    (pools,) = growth.measure(1)
    assert pools.ratio == 1
    assert {tuple(command[-2:]) for command in small} == {("10", "2"), ("100", "2")}


def test_the_curves_have_a_point_for_each_size(small):
    pools, nodes, stacks = growth.curves(1, pools=(1, 2), nodes=(1, 5), stacks=(1, 3))
    assert dict(pools.seconds) == {1: 0.5, 2: 0.5}
    assert dict(nodes.memory_mib) == {1: 50, 5: 50}
    assert list(stacks.seconds) == [1, 3]


@pytest.mark.parametrize(("pools", "nodes"), [(1, 1), (4, 30)])
def test_the_plan_that_is_measured_has_the_pools_and_nodes_that_are_asked_for(pools, nodes):
    plan = plan_of(growth.with_pools(pools, nodes=nodes))
    groups = [group for group in plan.node_groups if group.name.startswith("pool-")]
    assert [group.schedule.maximum for group in groups] == [nodes] * pools
    assert growth.planning_seconds(growth.with_pools(pools, nodes=nodes)) > 0


def test_a_preview_is_compared_on_every_side():
    previews: list[tuple[str, ...]] = []

    class Project:
        def preview(self, *arguments: str) -> Spent:
            previews.append(arguments)
            return Spent(wall_seconds=1, processor_seconds=2, memory_mib=3)

    measured = commands.measure_preview(
        1, project_of=lambda *_: Project(), flat=lambda scratch: scratch
    )
    lines = {line.name: line for line in measured}
    assert lines["preview"].budget == 1.1
    assert lines["policies"].budget == 1.25
    assert lines["pack"].budget_seconds_over == 1.0
    assert len(previews) == 2 * 5


def test_the_pack_of_one_rule_is_a_pack(tmp_path):
    pack = projects.pack_of_one_rule(tmp_path)
    compile((pack / "__main__.py").read_text(encoding="utf-8"), "__main__.py", "exec")
    assert "../.venv" not in (pack / "PulumiPolicy.yaml").read_text(encoding="utf-8")


def test_the_report_has_every_line_and_a_picture_of_every_curve(tmp_path, capsys):
    side = [Spent(wall_seconds=1, processor_seconds=2, memory_mib=3)]
    line = Comparison(name="l", of="a", against="b", budget=0.5, runs={"a": side, "b": side})
    curve = Curve(
        name="c", unit="node pools", seconds={1: 0.1, 10: 0.9}, memory_mib={1: 50, 10: 60}
    )
    path = cold_up.critical_path("batch-trn1")
    up = ColdUp(path=path, seconds=2 * path.times.seconds)
    results = report.Results(comparisons=[line], curves=[curve], paths=[path], ups=[up])
    report.write(tmp_path, results)
    report.show(results)
    written = json.loads((tmp_path / "bench.json").read_text(encoding="utf-8"))
    assert written["comparisons"][0]["within_budget"] is False
    assert written["curves"][0]["points"][1] == {"size": 10, "seconds": 0.9, "memory_mib": 60}
    assert written["cold_ups"][0]["ratio"] == 2
    assert results.missed == ["l"]
    drawn = {"growth-node-pools.svg", "growth-node-pools-memory.svg"}
    drawn.add("critical-path-batch-trn1.svg")
    assert {file.name for file in tmp_path.glob("*.svg")} == drawn
    assert "missed" in capsys.readouterr().out
