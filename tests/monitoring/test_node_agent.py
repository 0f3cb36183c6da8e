"""The configuration of the CloudWatch agent of Slurm and Batch nodes."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from components.catalog.instance_types import instance_type
from components.monitoring.node_agent import (
    Measured,
    agent_configurations,
    agent_script,
    measured_on,
)
from tests.monitoring.conftest import changes_of, monitoring_of
from tests.support.stacks import prepared

BOTH = Measured(gpus=True, efa=True)
AGENT = "/opt/aws/amazon-cloudwatch-agent"
CTL = """\
#!/bin/sh
file="${7#file:}"
echo "$(basename "$file")" >> "$(dirname "$0")/given"
cp "$file" "$(dirname "$file")/amazon-cloudwatch-agent.d/file_$(basename "$file").tmp"
case "$file" in *efa*) exit "$EFA_RESULT" ;; esac
"""
"""The agent's command, as far as the script needs it: a refused document stays as `.tmp`."""


@pytest.mark.parametrize(
    ("type_name", "efa", "name"),
    [
        ("p5.48xlarge", True, "gpu-efa"),
        ("g5.12xlarge", False, "gpu"),
        ("trn1.32xlarge", True, "efa"),
        ("trn1.2xlarge", False, None),
        ("m5.large", False, None),
    ],
)
def test_the_agent_measures_the_devices_of_a_node(
    type_name: str, efa: bool, name: str | None
) -> None:
    measured = measured_on(instance_type(type_name), efa=efa)
    assert (measured and measured.name) == name


@pytest.mark.parametrize("measured", [BOTH, Measured(gpus=True, efa=False)])
def test_a_metric_of_a_device_is_sent_only_as_a_sum(measured: Measured) -> None:
    documents = agent_configurations("c", measured)
    collected = {
        name: section
        for document in documents.values()
        for name, section in document["metrics"]["metrics_collected"].items()
    }
    assert {*collected} == {"mem", "nvidia_gpu", *(("efa",) if measured.efa else ())}
    for name in collected.keys() - {"mem"}:
        assert collected[name]["drop_original_metrics"] == collected[name]["measurement"]


def test_documents_that_the_agent_merges_agree() -> None:
    # mergeMap of its translator refuses two values of a key.
    gpus, efa = (each["metrics"] for each in agent_configurations("c", BOTH).values())
    assert gpus.keys() == efa.keys()
    assert {key: gpus[key] for key in gpus if key != "metrics_collected"} == {
        key: efa[key] for key in efa if key != "metrics_collected"
    }


def run(script: str, agent: Path, efa_result: int) -> subprocess.CompletedProcess[str]:
    for directory in ("bin", "etc/amazon-cloudwatch-agent.d"):
        (agent / directory).mkdir(parents=True)
    command = agent / "bin/amazon-cloudwatch-agent-ctl"
    command.write_text(CTL)
    command.chmod(0o755)
    return subprocess.run(
        ["sh", "-c", script.replace(AGENT, str(agent))],
        env={"PATH": "/usr/bin:/bin", "EFA_RESULT": str(efa_result)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("efa_result", [0, 1])
def test_an_agent_that_does_not_know_efa_measures_the_gpus(tmp_path: Path, efa_result: int) -> None:
    done = run(agent_script("c", BOTH), tmp_path, efa_result)
    assert done.returncode == 0
    assert ("no EFA metrics" in done.stderr) == bool(efa_result)
    assert (tmp_path / "bin/given").read_text().split() == ["trainyard.json", "trainyard-efa.json"]
    written = json.loads((tmp_path / "etc/trainyard.json").read_text())
    assert written == agent_configurations("c", BOTH)["trainyard"]
    left = {path.name for path in (tmp_path / "etc/amazon-cloudwatch-agent.d").iterdir()}
    assert ("file_trainyard-efa.json.tmp" in left) == (not efa_result)


def test_nodes_with_different_devices_get_different_configurations() -> None:
    agents = prepared("pc-p4de-g5", changes={"monitoring": {"node_metrics": "cloudwatch"}})
    plan = agents.plan.monitoring_plan
    assert plan is not None
    assert {agent.tag_value for agent in plan.agents} == {"pc-p4de-g5/gpu", "pc-p4de-g5/gpu-efa"}
    assert len({agent.script for agent in plan.agents}) == len(plan.agents)


def test_systems_manager_configures_slurm_nodes_and_user_data_those_of_batch() -> None:
    assert [agent.name for agent in monitoring_of("pc-gpu").agents] == ["gpu-efa"]
    assert monitoring_of("batch-p5").agents == ()
    plan = prepared("batch-p5", changes=changes_of("batch-p5")).plan
    (environment,) = plan.compute_environments
    assert environment.agent_script == agent_script("batch-p5", BOTH)
    assert any(arn.endswith("/CloudWatchAgentServerPolicy") for arn in environment.iam_policies)


@pytest.mark.parametrize("stack", ["pc-gpu", "batch-p5"])
def test_a_stack_without_node_metrics_has_no_agent(stack: str) -> None:
    plan = prepared(stack, changes={"monitoring": {"alarms": {}}}).plan
    assert plan.monitoring_plan.agents == ()
    titles = {graph.title for graph in plan.monitoring_plan.graphs}
    assert "GPU utilization" not in titles
