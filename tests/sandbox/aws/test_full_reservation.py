"""A full reservation: no instance launches until the running ones have terminated.

Therefore node groups in reservations are deleted before they are replaced
(`tests/eks/test_managed_node_group.py`, `tests/eks/test_self_managed_node_group.py`), and compute
environments need not be.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.batch_account import Batch
from tests.support.sandbox_aws import BLOCK, ODCR, PRIVATE_B, Account, p5_block, target


@pytest.fixture
def node_role(account: Account) -> str:
    account.cluster()
    return account.role("node")


def managed(account: Account, role: str, name: str, template: str) -> dict[str, Any]:
    account.eks.create_nodegroup(
        clusterName="c",
        nodegroupName=name,
        nodeRole=role,
        subnets=[PRIVATE_B],
        launchTemplate={"id": template},
        scalingConfig={"minSize": 0, "maxSize": 2, "desiredSize": 2},
    )
    return account.eks.describe_nodegroup(clusterName="c", nodegroupName=name)["nodegroup"]


def odcr_template(account: Account) -> str:
    data = {"InstanceType": "p5.48xlarge", "CapacityReservationSpecification": target(ODCR)}
    return account.template("odcr", **data)


def free(account: Account, reservation: str) -> int:
    return account.reservation(reservation)["AvailableInstanceCount"]


def test_a_managed_group_beside_a_full_one_fails_and_after_it_runs(
    account: Account, node_role: str
) -> None:
    """G11: the old group goes first."""
    template = odcr_template(account)
    assert managed(account, node_role, "old", template)["status"] == "ACTIVE"
    assert free(account, ODCR) == 0
    beside = managed(account, node_role, "beside", template)
    assert beside["health"]["issues"]
    assert len(account.instances("running")) == 2
    for name in ("beside", "old"):
        account.eks.delete_nodegroup(clusterName="c", nodegroupName=name)
    assert free(account, ODCR) == 2
    after = managed(account, node_role, "after", template)
    assert (after["status"], after["health"]["issues"]) == ("ACTIVE", [])
    assert free(account, ODCR) == 0


def test_a_self_managed_group_beside_a_full_one_is_empty_and_after_it_fills(
    account: Account,
) -> None:
    """G11: the old group goes first."""
    template = account.template("p5", **p5_block(account.group()))
    assert len(account.autoscaling_group("old", template, DesiredCapacity=2)["Instances"]) == 2
    assert not account.autoscaling_group("beside", template, DesiredCapacity=2)["Instances"]
    for name in ("beside", "old"):
        account.autoscaling.delete_auto_scaling_group(AutoScalingGroupName=name, ForceDelete=True)
    assert len(account.autoscaling_group("after", template, DesiredCapacity=2)["Instances"]) == 2
    assert free(account, BLOCK) == 0


def test_an_environment_is_made_beside_a_full_one_without_an_instance(account: Account) -> None:
    """G11: it is valid at once, so the queue moves to it before the old one is deleted."""
    batch = Batch(account)
    batch.block("old", minvCpus=384)
    assert free(account, BLOCK) == 0
    batch.environment(
        "new",
        instanceTypes=["p5.48xlarge"],
        maxvCpus=384,
        minvCpus=0,
        securityGroupIds=[],
        launchTemplate={"launchTemplateName": "old", "version": "1"},
    )
    (new,) = batch.client.describe_compute_environments(computeEnvironments=["new"])[
        "computeEnvironments"
    ]
    assert (new["status"], new["state"]) == ("VALID", "ENABLED")
    assert len(account.instances("running", "pending")) == 2
