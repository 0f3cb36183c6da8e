"""A compute environment in the real engine: changed in place, and replaced under a queue."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.pulumi_workspace import Workspace
from tests.support.sandbox_aws import PRIVATE_B, VPC, Account
from tests.support.tracked import ROOT

PROGRAM = f"""
import os, sys
sys.path.insert(0, {str(ROOT / "src")!r})
import pulumi
from trainyard.components.batch.compute_environment import *
from trainyard.components.catalog.instance_types import instance_type
from trainyard.components.network.efa_security_group import EfaSecurityGroup, EfaSecurityGroupArgs
from tests.support.batch import compute_environment

nodes = EfaSecurityGroup("nodes", EfaSecurityGroupArgs(vpc_id={VPC!r}, tags={{}}))
BatchComputeEnvironment(
    "batch-gpu",
    BatchComputeEnvironmentArgs(
        plan=compute_environment(
            instance_type=instance_type(os.environ.get("TYPE", "g4dn.8xlarge")),
            local_nvme=os.environ.get("NVME", "none"),
        ),
        region="us-west-2",
        subnet_ids=[{PRIVATE_B!r}],
        security_group_id=nodes.security_group_id,
        reservation_group_arn=None,
        launch_after=[nodes],
        tags={{}},
    ),
)
"""


def environments(account: Account) -> list[dict[str, Any]]:
    return account.client("batch").describe_compute_environments()["computeEnvironments"]


def queued(account: Account) -> list[str]:
    """Return the compute environments of the only queue, by ARN."""
    (queue,) = account.client("batch").describe_job_queues()["jobQueues"]
    assert queue["jobQueueName"] == "batch-gpu"
    return [order["computeEnvironment"] for order in queue["computeEnvironmentOrder"]]


def urn(workspace: Workspace) -> str:
    exported = json.loads(workspace.run("stack", "export"))
    urns = [each["urn"] for each in exported["deployment"]["resources"]]
    (found,) = [each for each in urns if each.endswith("::batch-gpu-environment")]
    return found


@pytest.mark.engine
def test_a_compute_environment_is_changed_in_place_and_replaced_without_a_deadlock(
    account: Account, workspace: Workspace
) -> None:
    """Pain 9: `Cannot delete, found existing JobQueue relationship`."""
    workspace.write("__main__.py", PROGRAM)
    workspace.run("up", "--yes", "--skip-preview")
    (first,) = environments(account)

    workspace.variables |= {"TYPE": "g5.8xlarge", "NVME": "raid0"}
    workspace.run("up", "--yes", "--skip-preview")
    (changed,) = environments(account)
    assert changed["computeEnvironmentArn"] == first["computeEnvironmentArn"]
    resources = changed["computeResources"]
    assert resources["instanceTypes"] == ["g5.8xlarge"]
    assert resources["launchTemplate"]["version"] == "2"

    workspace.run("up", "--yes", "--skip-preview", "--replace", urn(workspace))
    (second,) = environments(account)
    assert second["computeEnvironmentArn"] != first["computeEnvironmentArn"]
    assert queued(account) == [second["computeEnvironmentArn"]]

    workspace.run("up", "--yes", "--skip-preview", "--expect-no-changes")
    workspace.run("destroy", "--yes", "--skip-preview")
    assert environments(account) == []
