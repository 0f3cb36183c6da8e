"""What is said about a node group whose answer of EKS lacks keys."""

from __future__ import annotations

from typing import Any

import pytest

from trainyard.diagnosis.node_groups import (
    NodeGroupPlace,
    read_group,
    scaling_group_of,
    what_it_lacks,
)
from trainyard.workspace.accounts import AwsAccount

ISSUE = {"code": "Ec2SubnetInvalidConfiguration", "message": "no public IP", "resourceIds": []}
FAILED: dict[str, Any] = {
    "nodegroupName": "c-p5-nodes",
    "status": "CREATE_FAILED",
    "scalingConfig": {"minSize": 0, "maxSize": 2, "desiredSize": 2},
    "health": {"issues": [ISSUE]},
}


class Eks:
    """EKS with one node group."""

    def __init__(self, group: dict[str, Any]) -> None:
        self._group = group

    def describe_nodegroup(self, **_: str) -> dict[str, Any]:
        return {"nodegroup": self._group}


def said(group: dict[str, Any]) -> list[str]:
    facts = read_group(
        Eks(group),
        None,  # without a name, Auto Scaling is not asked
        cluster="c",
        name="p5",
        output={"node_group": "c-p5-nodes"},
        mapped_roles=(),
    )
    return what_it_lacks(
        facts, (), NodeGroupPlace(region="us-west-2", cluster="c", account=AwsAccount())
    )


def test_the_issue_of_a_group_that_failed_early_is_said():
    first, issue = said(FAILED)
    assert "EKS has not created its Auto Scaling group, so none of its 2 instances" in first
    assert issue == "node group p5: EKS says: Ec2SubnetInvalidConfiguration: no public IP"


@pytest.mark.parametrize("resources", [None, {}, {"autoScalingGroups": []}])
def test_a_group_without_resources_has_no_autoscaling_group(resources):
    group = FAILED if resources is None else FAILED | {"resources": resources}
    assert scaling_group_of(Eks(group), "c", {"node_group": "c-p5-nodes"}) == ""


def test_a_known_issue_leads_to_its_section():
    issue = {"code": "AsgInstanceLaunchFailures", "message": "VcpuLimitExceeded - more vCPUs"}
    found = said(FAILED | {"health": {"issues": [issue]}})
    assert found[-1] == "  more: docs/troubleshooting.md#vcpulimitexceeded"


def test_an_issue_without_code_or_message_is_said_too():
    """The model of EKS requires neither."""
    found = said(FAILED | {"health": {"issues": [{"resourceIds": ["i-1"]}]}})
    assert found[1:] == ["node group p5: EKS says: unknown issue: EKS gives no reason"]
