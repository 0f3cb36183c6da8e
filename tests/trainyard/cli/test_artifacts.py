"""`artifact` and `plan` show a Slurm cluster before it exists."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import Result

from tests.support.recorded_stack import RecordedStack
from tests.support.sandbox_here import running_sandbox
from trainyard.cli import failures
from trainyard.cli.options import target
from trainyard.commands.stack_file.plan import show_plan

OUTPUTS: dict[str, Any] = {
    "cluster_config": "deployed: true\n",
    "queues": {"compute": {"p4de": {"instance_type": "p4de.24xlarge", "minimum": 2, "maximum": 4}}},
    "file_systems": {"fsx": {"type": "FsxLustre", "mount_directory": "/fsx"}},
}


DEPLOYED = RecordedStack(found=OUTPUTS)
NOT_DEPLOYED = RecordedStack(found=failures.NotDeployedError("no outputs yet"))


@pytest.fixture
def shown(trainyard, tmp_path: Path) -> Iterator[Callable[..., Result]]:
    """Print the configuration of a cluster, with the account of the sandbox."""
    with running_sandbox(tmp_path / "sandbox"):
        yield lambda stack, deployed, *more: trainyard(
            "artifact", stack, "cluster-config", "--sandbox", *more, deployed=deployed
        )


def test_a_configuration_is_shown_before_the_cluster_exists(shown) -> None:
    result = shown("pc-gpu", NOT_DEPLOYED)
    assert result.exit_code == 0, result.stderr
    assert yaml.safe_load(result.stdout)["HeadNode"]["Networking"]["SubnetId"].startswith("subnet-")
    assert "pc-gpu is not deployed; `up` would write this configuration" in result.stderr


def test_what_up_creates_is_named_in_a_comment(shown) -> None:
    text = shown("pc-trn1", NOT_DEPLOYED).stdout
    subnet = yaml.safe_load(text)["HeadNode"]["Networking"]["SubnetId"]
    assert subnet.startswith("<subnet public")
    assert f"#   {subnet}\n" in text.partition("Region:")[0]


def test_the_deployed_configuration_comes_first_and_planned_selects_the_other(shown) -> None:
    assert shown("pc-gpu", DEPLOYED).stdout == OUTPUTS["cluster_config"]
    planned = shown("pc-gpu", DEPLOYED, "--planned")
    assert "SlurmQueues" in planned.stdout
    assert planned.stderr == ""


def test_a_kubeconfig_is_not_planned(trainyard) -> None:
    asked = ("artifact", "p5-cb", "kubeconfig")
    assert trainyard(*asked, deployed=NOT_DEPLOYED).exit_code == failures.WORK_FAILED
    refused = trainyard(*asked, "--planned", deployed=NOT_DEPLOYED)
    assert refused.exit_code == failures.WRONG_USE
    assert "--planned applies to cluster-config" in refused.stderr


def test_the_plan_of_a_slurm_stack_shows_the_cluster(capsys) -> None:
    made = {"type": "aws:cloudformation/stack:Stack", "name": "pc-gpu-deployment"}
    planned = {"resources": [made], "outputs": OUTPUTS}
    found = target("pc-gpu", path=None, sandbox=True)
    show_plan(found, planned)
    lines = capsys.readouterr().out.splitlines()
    shown = {" ".join(line.split()) for line in lines}
    head = found.stack_file.cluster["architecture"]["head_node"]["instance_type"]
    assert {
        f"head node {head}",
        "partition compute 2 to 4 x p4de.24xlarge compute-st-p4de-[1-2], compute-dy-p4de-[1-2]",
        "storage fsx FsxLustre at /fsx",
    } <= shown
    assert lines[-1].endswith("./trainyard artifact pc-gpu cluster-config --planned --sandbox")
