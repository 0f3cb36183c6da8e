"""Whether a cluster lets in the role of its nodes, in each authentication mode of EKS.

What a mapping means is EKS's word: an access entry takes precedence over aws-auth, and aws-auth
matches ARNs without a path
(https://docs.aws.amazon.com/eks/latest/userguide/migrating-access-entries.html,
https://docs.aws.amazon.com/eks/latest/userguide/auth-configmap.html).
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

import pytest

from tests.support.sandbox_aws import Account  # before boto3 makes a client

from tests.support.account_fixtures import account, server  # isort: skip
from trainyard.diagnosis.known_errors import NODE_LOST, known_error  # isort: skip
from trainyard.diagnosis.node_access import LostAccess, lost_access  # isort: skip
from trainyard.diagnosis.rollout import ClusterState, expected_of  # isort: skip
from trainyard.diagnosis.rollout import NodeState, reasons  # isort: skip
from trainyard.stack_files.stack_files import find_stack_file  # isort: skip
from trainyard.workspace.accounts import target_of

__all__ = ["account", "server"]

GROUPS = "  groups: [system:bootstrappers, system:nodes]\n"
NAME = '  username: "system:node:{{EC2PrivateDNSName}}"\n'
OURS = ["./trainyard refresh p5-cb", "./trainyard up p5-cb"]


class Cluster:
    """A cluster of the account in one mode, and the role of its nodes."""

    def __init__(self, account: Account, mode: str) -> None:
        self.account = account
        names = account.eks.list_clusters()["clusters"]
        self.name = f"c{len(names)}"
        account.cluster(self.name, accessConfig={"authenticationMode": mode})
        self.role = account.role(f"node-{self.name}")

    def mapped(self, *, arn: str = "", rest: str = NAME + GROUPS) -> dict[str, str]:
        """Return an aws-auth with the role."""
        return {"mapRoles": f"- rolearn: {arn or self.role}\n{rest}"}

    def lost(
        self, aws_auth: Mapping[str, str] | None, *, managed: bool = False
    ) -> list[LostAccess]:
        """Return what is said about one node group of the role."""
        kind = "node_group" if managed else "autoscaling_group"
        outputs: dict[str, Any] = {
            "cluster_name": self.name,
            "node_groups": {"p5": {kind: "n", "role_arn": self.role}},
        }
        target = target_of(find_stack_file("p5-cb"), sandbox=False)
        return lost_access(
            self.account.eks, outputs, aws_auth, target=target, kubectl="kubectl --kubeconfig k"
        )


@pytest.fixture
def both(account: Account) -> Cluster:
    return Cluster(account, "API_AND_CONFIG_MAP")


@pytest.fixture
def only_map(account: Account) -> Cluster:
    return Cluster(account, "CONFIG_MAP")


@pytest.fixture
def only_entries(account: Account) -> Cluster:
    return Cluster(account, "API")


def test_a_role_in_the_map_is_let_in(both: Cluster, only_map: Cluster) -> None:
    assert both.lost(both.mapped()) == []
    assert only_map.lost(only_map.mapped()) == []


def test_a_role_of_administrators_may_report_its_node(only_map: Cluster) -> None:
    """system:masters may do everything, under any name."""
    assert only_map.lost(only_map.mapped(rest="  username: x\n  groups: [system:masters]\n")) == []


def test_a_map_that_does_not_exist_lets_nobody_in(both: Cluster, only_map: Cluster) -> None:
    (lost,) = both.lost(None)
    assert "the ConfigMap kube-system/aws-auth does not exist, and the role has no" in lost.cause
    assert lost.answer == "Unauthorized"
    assert [*lost.heal] == OURS
    (lost,) = only_map.lost(None)
    assert "access entry" not in lost.cause
    assert [*lost.heal] == OURS


@pytest.mark.parametrize(
    ("arn", "rest", "said"),
    [
        ("arn:aws:iam::123456789012:role/another", NAME + GROUPS, "aws-auth has no entry of"),
        ("", NAME + "  groups: [system:bootstrappers]\n", "without system:nodes"),
        ("", NAME, "are none, without system:nodes"),
        ("", "  username: system:node:x\n" + GROUPS, "'system:node:x', and not system:node:{{EC2"),
        ("", GROUPS, "'empty', and not"),
    ],
)
def test_an_entry_that_lets_no_kubelet_in_is_named(
    both: Cluster, arn: str, rest: str, said: str
) -> None:
    (lost,) = both.lost(both.mapped(arn=arn, rest=rest))
    assert said in lost.cause
    # The authenticator knows a mapped role; the authorizer admits members of system:nodes.
    assert lost.answer == ("Unauthorized" if arn else "Forbidden")
    assert [*lost.heal] == OURS


def test_an_arn_with_a_path_never_matches(both: Cluster) -> None:
    wrong = both.role.replace(":role/", ":role/teams/vision/")
    (lost,) = both.lost(both.mapped(arn=wrong))
    assert f"aws-auth has {wrong} with its path, which never matches a caller" in lost.cause


@pytest.mark.parametrize("text", ["- rolearn: [x\n", "mapRoles: []\n", "text"])
def test_a_map_that_is_no_list_is_corrected_by_hand(both: Cluster, text: str) -> None:
    (lost,) = both.lost({"mapRoles": text})
    assert "no role in it has access" in lost.cause
    assert "nothing was changed" not in lost.cause
    edit = "kubectl --kubeconfig k --namespace kube-system edit configmap aws-auth"
    assert [*lost.heal] == [edit, OURS[1]]


def test_an_access_entry_takes_precedence_over_a_broken_map(both: Cluster) -> None:
    both.account.eks.create_access_entry(
        clusterName=both.name, principalArn=both.role, type="EC2_LINUX"
    )
    for aws_auth in (None, {"mapRoles": "- ["}, both.mapped(rest=NAME)):
        assert both.lost(aws_auth) == []


def test_an_access_entry_of_another_type_takes_precedence_over_a_right_map(both: Cluster) -> None:
    both.account.eks.create_access_entry(clusterName=both.name, principalArn=both.role)
    (lost,) = both.lost(both.mapped())
    assert "has the type STANDARD and not EC2_LINUX, and takes precedence" in lost.cause
    for command in lost.heal:
        run(both.account, command)
    assert both.lost(None) == []


@pytest.mark.parametrize("managed", [True, False])
def test_without_an_access_entry_the_mode_api_lets_nobody_in(
    only_entries: Cluster, managed: bool
) -> None:
    (lost,) = only_entries.lost(None, managed=managed)
    assert "has no access entry, and EKS reads no aws-auth in the mode API" in lost.cause
    if not managed:
        assert [*lost.heal] == OURS
        return
    run(only_entries.account, lost.heal[0])
    assert only_entries.lost(None, managed=True) == []


def test_the_access_of_a_managed_group_is_none_of_the_program(only_map: Cluster) -> None:
    """EKS wrote its entry into aws-auth once; with access entries it makes one again."""
    (lost,) = only_map.lost(None, managed=True)
    change, up = lost.heal
    assert change.endswith("authentication_mode' API_AND_CONFIG_MAP")
    assert up == OURS[1]


def run(account: Account, command: str) -> None:
    """Run `aws eks VERB --name value…` with the call of the same name."""
    aws, service, verb, *given = shlex.split(command)
    assert (aws, service) == ("aws", "eks")
    words = [name.removeprefix("--").split("-") for name in given[::2]]
    names = [first + "".join(map(str.title, more)) for first, *more in words]
    values = dict(zip(names, given[1::2], strict=True))
    assert values.pop("region") == "us-west-2"
    getattr(account.eks, verb.replace("-", "_"))(**values)


def test_groups_with_one_cause_are_one_sentence() -> None:
    lost = LostAccess(("a", "b"), "why", ("one", "two"), "Unauthorized")
    assert lost.line.startswith("node groups a, b: the cluster refuses the kubelets")
    assert lost.line.endswith("why. To restore the access: one, then two")
    assert lost.lines[1:] == ["  one", "  two", f"  {NODE_LOST.more}"]
    assert known_error(lost.line, "kubernetes") is NODE_LOST


def test_the_reasons_of_up_begin_with_it(both: Cluster) -> None:
    group = {
        "autoscaling_group": "",
        "role_arn": both.role,
        "instance_type": "p5.48xlarge",
        "desired": 1,
    }
    outputs = {"cluster_name": both.name, "node_groups": {"p5": group}}
    silent = NodeState("n", "p5.48xlarge", ready=False, devices={}, not_ready_because="silent")
    found = reasons(
        outputs,
        expected_of(outputs),
        ClusterState((silent,), (), ()),
        target=target_of(find_stack_file("p5-cb"), sandbox=False),
        kubectl="kubectl",
    )
    assert "kube-system/aws-auth does not exist" in found[0]
    assert [line.strip() for line in found[1:3]] == OURS
    assert any("n has joined and is not Ready: silent" in line for line in found[3:])
