"""Why nodes are missing after `up`: each node group is explained, whatever the others are."""

from __future__ import annotations

from tests.support.sandbox_aws import PRIVATE_B, Account  # before boto3 makes a client

from tests.support.account_fixtures import account, server  # isort: skip
from trainyard.diagnosis.rollout import ClusterState  # isort: skip
from trainyard.diagnosis.rollout import GroupExpectation  # isort: skip
from trainyard.diagnosis.rollout import reasons  # isort: skip
from trainyard.workspace.accounts import target_of  # isort: skip
from trainyard.stack_files.stack_files import find_stack_file

__all__ = ["account", "server"]


def test_a_node_group_that_cannot_be_read_does_not_hide_the_others(account: Account) -> None:
    account.cluster()
    account.eks.create_nodegroup(
        clusterName="c", nodegroupName="n", nodeRole=account.role("node"), subnets=[PRIVATE_B]
    )
    outputs = {
        "cluster_name": "c",
        "node_groups": {"gone": {"node_group": "gone"}, "p5": {"node_group": "n"}},
    }
    found = reasons(
        outputs,
        [GroupExpectation("p5", "p5.48xlarge", "n", 1, {}, ())],
        ClusterState((), (), ()),
        target=target_of(find_stack_file("p5-cb"), sandbox=False),
        kubectl="kubectl",
    )
    assert found[0].startswith("node group gone: the reason cannot be read from the account: ")
    assert any(each.startswith("node group p5: i-") for each in found[1:])
