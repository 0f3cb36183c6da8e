"""What was made and does not work stays in the engine's state, so that destroy finds it."""

from __future__ import annotations

import json

import pytest

from tests.support.pulumi_workspace import Workspace
from tests.support.sandbox_aws import BLOCK, NVIDIA_IMAGE, PRIVATE_B, Account

PROGRAM = """
import os

import pulumi

pulumi.CustomResource(
    "aws:autoscaling/group:Group",
    "g",
    {{
        "minSize": 0,
        "desiredCapacity": int(os.environ.get("DESIRED", "3")),
        "maxSize": 3,
        "vpcZoneIdentifiers": [{subnet!r}],
        "launchTemplate": {{"id": {template!r}, "version": "1"}},
    }},
)
"""


@pytest.mark.engine
def test_a_group_without_capacity_is_mended_by_an_update_or_deleted_by_destroy(
    account: Account, workspace: Workspace
) -> None:
    target = {"CapacityReservationTarget": {"CapacityReservationId": BLOCK}}
    template = account.template(
        "block-of-two",
        ImageId=NVIDIA_IMAGE,
        InstanceType="p5.48xlarge",
        InstanceMarketOptions={"MarketType": "capacity-block"},
        CapacityReservationSpecification=target,
    )
    workspace.write("__main__.py", PROGRAM.format(subnet=PRIVATE_B, template=template))
    said = workspace.run("up", "--yes", "--skip-preview", code=1)
    assert "waiting for 3 instances in service, 2 are: Scaling activity" in said
    assert "exited prematurely" not in said

    workspace.variables["DESIRED"] = "2"
    workspace.run("up", "--yes", "--skip-preview")
    exported = json.loads(workspace.run("stack", "export"))
    assert "g" in {each["urn"].rpartition("::")[2] for each in exported["deployment"]["resources"]}

    workspace.run("destroy", "--yes", "--skip-preview")
    groups = account.autoscaling.describe_auto_scaling_groups()["AutoScalingGroups"]
    assert groups == []
