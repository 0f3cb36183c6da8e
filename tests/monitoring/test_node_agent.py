"""The configuration of the CloudWatch agent of Slurm and Batch nodes."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.monitoring.conftest import changes_of, monitoring_of
from tests.support.monitoring import CLOUDWATCH, PROMETHEUS, WORKSPACE_ID
from tests.support.stacks import prepared, stack_config
from trainyard.components.catalog.instance_types import instance_type
from trainyard.components.config.load import load_stack_config
from trainyard.components.config.stack import StackConfig
from trainyard.components.monitoring.node_agent import (
    Measured,
    agent_configurations,
    agent_script,
    measured_on,
)

DESTINATION_POLICIES = ("CloudWatchAgentServerPolicy", "AmazonPrometheusRemoteWriteAccess")
BOTH = Measured(gpus=True, efa=True)
AGENT = "/opt/aws/amazon-cloudwatch-agent"


def given(stack: str, monitoring: Mapping[str, Any]) -> StackConfig:
    raw = {**stack_config(stack)["trainyard:cluster"], "monitoring": monitoring}
    return load_stack_config(raw, stack_file=f"Pulumi.{stack}.yaml")


TO_CLOUDWATCH = given("pc-gpu", CLOUDWATCH)
TO_PROMETHEUS = given("pc-gpu", PROMETHEUS)
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
    documents = agent_configurations(TO_CLOUDWATCH, measured)
    collected = {
        name: section
        for document in documents.values()
        for name, section in document["metrics"]["metrics_collected"].items()
    }
    assert {*collected} == {"mem", "nvidia_gpu", *(("efa",) if measured.efa else ())}
    for name in collected.keys() - {"mem"}:
        assert collected[name]["drop_original_metrics"] == collected[name]["measurement"]


def test_prometheus_gets_the_series_of_single_devices_with_the_names_of_instance_and_cluster() -> (
    None
):
    # A sum of the node without labels would be the same series on every node.
    documents = agent_configurations(TO_PROMETHEUS, BOTH)
    for document in documents.values():
        metrics = document["metrics"]
        assert metrics["metrics_destinations"] == {"amp": {"workspace_id": WORKSPACE_ID}}
        assert metrics["append_dimensions"] == {"InstanceId": "${aws:InstanceId}"}
        assert "aggregation_dimensions" not in metrics
    collected = [document["metrics"]["metrics_collected"] for document in documents.values()]
    sections = {name: section for each in collected for name, section in each.items()}
    assert {*sections} == {"mem", "nvidia_gpu", "efa"}
    labelled = {name for name, each in sections.items() if "append_dimensions" in each}
    assert labelled == {"mem", "nvidia_gpu"}
    assert not any("drop_original_metrics" in each for each in sections.values())


def test_both_destinations_get_the_same_measurements() -> None:
    def measured(config: StackConfig) -> list[tuple[str, list[str]]]:
        return [
            (name, section["measurement"])
            for document in agent_configurations(config, BOTH).values()
            for name, section in document["metrics"]["metrics_collected"].items()
        ]

    assert measured(TO_PROMETHEUS) == measured(TO_CLOUDWATCH)


@pytest.mark.parametrize("config", [TO_CLOUDWATCH, TO_PROMETHEUS])
def test_documents_that_the_agent_merges_agree(config: StackConfig) -> None:
    # mergeMap of its translator refuses two values of a key.
    gpus, efa = (each["metrics"] for each in agent_configurations(config, BOTH).values())
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
    done = run(agent_script(TO_PROMETHEUS, BOTH), tmp_path, efa_result)
    assert done.returncode == 0
    assert ("no EFA metrics" in done.stderr) == bool(efa_result)
    assert (tmp_path / "bin/given").read_text().split() == ["trainyard.json", "trainyard-efa.json"]
    written = json.loads((tmp_path / "etc/trainyard.json").read_text())
    assert written == agent_configurations(TO_PROMETHEUS, BOTH)["trainyard"]
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
    (environment,) = prepared("batch-p5", changes=changes_of("batch-p5")).plan.compute_environments
    assert environment.agent_script == agent_script(given("batch-p5", CLOUDWATCH), BOTH)


@pytest.mark.parametrize(
    ("monitoring", "policy"),
    [
        (CLOUDWATCH, "CloudWatchAgentServerPolicy"),
        (PROMETHEUS, "AmazonPrometheusRemoteWriteAccess"),
    ],
)
def test_nodes_may_send_to_their_destination_alone(
    monitoring: Mapping[str, str], policy: str
) -> None:
    (batch,) = prepared("batch-p5", changes={"monitoring": monitoring}).plan.compute_environments
    (slurm,) = prepared("pc-gpu", changes={"monitoring": monitoring}).plan.queues
    for policies in (batch.iam_policies, slurm.access.iam_policies):
        names = [arn.rpartition("/")[2] for arn in policies]
        assert [name for name in names if name in DESTINATION_POLICIES] == [policy]


@pytest.mark.parametrize("stack", ["pc-gpu", "batch-p5"])
def test_cloudwatch_has_no_graphs_and_alarms_of_metrics_that_go_to_prometheus(stack: str) -> None:
    plan = prepared(stack, changes={"monitoring": {**PROMETHEUS, "alarms": {}}}).plan
    titles = {graph.title for graph in plan.monitoring_plan.graphs}
    assert titles
    assert not titles & {"GPU utilization", "EFA traffic", "Memory of nodes"}
    assert "gpus-idle" not in {alarm.name for alarm in plan.monitoring_plan.alarms.alarms}


@pytest.mark.parametrize("stack", ["pc-gpu", "batch-p5"])
def test_a_stack_without_node_metrics_has_no_agent(stack: str) -> None:
    plan = prepared(stack, changes={"monitoring": {"alarms": {}}}).plan
    assert plan.monitoring_plan.agents == ()
    titles = {graph.title for graph in plan.monitoring_plan.graphs}
    assert "GPU utilization" not in titles
