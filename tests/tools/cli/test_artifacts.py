"""`artifact` and `plan` show a Slurm cluster before it exists."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from components.architectures.prepare import Prepared
from tests.support.parallelcluster import new_vpc_plan, p4de_plan
from tools.cli import failures
from tools.workspace.stack_files import find_stack_file

OUTPUTS: dict[str, Any] = {
    "cluster_config": "deployed: true\n",
    "queues": {"compute": {"p4de": {"instance_type": "p4de.24xlarge", "minimum": 2, "maximum": 4}}},
    "file_systems": {"fsx": {"type": "FsxLustre", "mount_directory": "/fsx"}},
}


@pytest.fixture
def in_account(monkeypatch: pytest.MonkeyPatch):
    """Let the account fit a plan, and the backend give outputs or an error."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "not-real")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "not-real")

    def given(plan: Any, outputs: dict[str, Any] | Exception) -> None:
        def read(*_: object, **__: object) -> dict[str, Any]:
            if isinstance(outputs, Exception):
                raise outputs
            return outputs

        monkeypatch.setattr("tools.cli.artifacts.outputs_of", read)
        monkeypatch.setattr(
            "tools.cli.account_check.prepared_in_account", lambda *_, **__: Prepared(plan, ())
        )

    return given


MISSING = failures.NotDeployedError("no outputs yet")


def test_a_configuration_is_shown_before_the_cluster_exists(trainyard, in_account) -> None:
    in_account(p4de_plan(), MISSING)
    result = trainyard("artifact", "pc-gpu", "cluster-config")
    assert result.exit_code == 0, result.stderr
    assert yaml.safe_load(result.stdout)["HeadNode"]["Networking"]["SubnetId"].startswith("subnet-")
    assert "pc-gpu is not deployed; `up` would write this configuration" in result.stderr


def test_what_up_creates_is_named_in_a_comment(trainyard, in_account) -> None:
    in_account(new_vpc_plan(), MISSING)
    text = trainyard("artifact", "pc-trn1", "cluster-config").stdout
    subnet = yaml.safe_load(text)["HeadNode"]["Networking"]["SubnetId"]
    assert subnet.startswith("<subnet public")
    assert f"#   {subnet}\n" in text.partition("Region:")[0]


def test_the_deployed_configuration_comes_first_and_planned_selects_the_other(
    trainyard, in_account
) -> None:
    in_account(p4de_plan(), OUTPUTS)
    assert trainyard("artifact", "pc-gpu", "cluster-config").stdout == OUTPUTS["cluster_config"]
    planned = trainyard("artifact", "pc-gpu", "cluster-config", "--planned")
    assert "SlurmQueues" in planned.stdout
    assert planned.stderr == ""


def test_a_kubeconfig_is_not_planned(trainyard, in_account) -> None:
    in_account(None, failures.NotDeployedError("no outputs yet"))
    assert trainyard("artifact", "p5-cb", "kubeconfig").exit_code == failures.WORK_FAILED
    refused = trainyard("artifact", "p5-cb", "kubeconfig", "--planned")
    assert refused.exit_code == failures.WRONG_USE
    assert "--planned applies to cluster-config" in refused.stderr


def test_the_plan_of_a_slurm_stack_shows_the_cluster(
    trainyard, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = {"type": "aws:cloudformation/stack:Stack", "name": "pc-gpu-deployment"}
    planned = {"resources": [made], "outputs": OUTPUTS}
    monkeypatch.setattr("tools.cli.plans.planned", lambda *_, **__: planned)
    lines = trainyard("plan", "pc-gpu", "--sandbox").stdout.splitlines()
    shown = {" ".join(line.split()) for line in lines}
    head = find_stack_file("pc-gpu").cluster["architecture"]["head_node"]["instance_type"]
    assert {
        f"head node {head}",
        "partition compute 2 to 4 x p4de.24xlarge compute-st-p4de-[1-2], compute-dy-p4de-[1-2]",
        "storage fsx FsxLustre at /fsx",
    } <= shown
    assert lines[-1].endswith("./trainyard artifact pc-gpu cluster-config --planned --sandbox")
