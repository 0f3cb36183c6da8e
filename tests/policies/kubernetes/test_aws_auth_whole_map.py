"""The aws-auth ConfigMap is merged into, never overwritten (G10)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, Declared, check
from tests.support.policy_programs_eks import aws_auth, cluster, eks_template, role, workers
from trainyard.policies.resources.types import CONFIG_MAP, FARGATE_PROFILE
from trainyard.policies.rules.kubernetes.aws_auth_whole_map import POLICY

CLUSTER = cluster(["one", "two"])
ROLES = (role("node-role"), role("self-managed-role"))
MANAGED = (eks_template(), workers())
FORCE = {"pulumi.com/patchForce": "true"}
FARGATE = Declared(
    FARGATE_PROFILE,
    "serverless",
    {"podExecutionRoleArn": UNKNOWN},
    {"podExecutionRoleArn": ["node-role"]},
)
ELSEWHERE = Declared(
    CONFIG_MAP, "settings", {"metadata": {"name": "aws-auth", "namespace": "tools"}, "data": {}}
)

FAULTS = {
    "adopted-cluster": (
        (*ROLES, aws_auth("self-managed-role")),
        "of a cluster that this program does not create",
    ),
    "forced-patch": (
        (*ROLES, aws_auth("self-managed-role", patch=True, annotations=FORCE)),
        "forces a patch of mapRoles",
    ),
    "managed-group-left-out": (
        (CLUSTER, *ROLES, *MANAGED, aws_auth("self-managed-role")),
        "does not name the role of workers",
    ),
    "fargate-left-out": (
        (CLUSTER, *ROLES, FARGATE, aws_auth("self-managed-role")),
        "does not name the role of serverless",
    ),
}
VIOLATING = tuple(program for program, _ in FAULTS.values())
RIGHT = {
    "own-cluster-without-managed-nodes": (CLUSTER, *ROLES, aws_auth("self-managed-role")),
    "every-role-named": (CLUSTER, *ROLES, *MANAGED, aws_auth("self-managed-role", "node-role")),
    "patch-that-is-not-forced": (*ROLES, aws_auth("self-managed-role", patch=True)),
    "another-config-map": (ELSEWHERE,),
}
CLEAN = tuple(RIGHT.values())


@pytest.mark.parametrize(("program", "fault"), FAULTS.values(), ids=FAULTS)
def test_fails(program, fault):
    (message,) = check(POLICY, *program).messages
    assert message.startswith("aws-auth: ")
    assert fault in message


@pytest.mark.parametrize("program", RIGHT.values(), ids=RIGHT)
def test_passes(program):
    found = check(POLICY, *program)
    assert (found.messages, found.undecided) == ([], [])


ARN = "arn:aws:iam::123456789012:role/nodes"


def written(arn):
    metadata = {"name": "aws-auth", "namespace": "kube-system"}
    data = {"mapRoles": f"- rolearn: {arn}\n"}
    return Declared(CONFIG_MAP, "aws-auth", {"metadata": metadata, "data": data})


@pytest.mark.parametrize("arn", [ARN, ARN.replace("role/", "role/training/gpu/")])
def test_a_role_that_stands_in_the_text_is_named(arn):
    """The map accepts no ARN with a path, so users omit the path of the role."""
    group = workers(nodeRoleArn=arn)
    assert check(POLICY, CLUSTER, eks_template(), group, written(ARN)).messages == []


def test_a_new_role_stands_in_the_text_by_the_name_that_it_will_have():
    made = role("node-role")
    named = Declared(made.type, made.name, {**made.props, "name": "nodes"})
    program = (CLUSTER, eks_template(), workers(), written(ARN))
    assert check(POLICY, named, *program).messages == []
    (message,) = check(POLICY, made, *program).messages
    assert "does not name the role of workers" in message


class OfPulumiEks(Declared):
    """The ConfigMap `<name>-nodeAccess`, a child of the cluster that the package creates."""

    @property
    def urn(self):
        return f"urn:pulumi:test::trainyard::eks:index:Cluster${self.type}::{self.name}"


def node_access(text, *roles):
    made = aws_auth(*roles)
    data = {"mapRoles": text} if text is not None else {}
    depends = {"data": list(roles)} if roles else {}
    return OfPulumiEks(made.type, made.name, {**made.props, "data": data}, depends)


def test_the_map_that_pulumi_eks_makes_names_the_roles_of_managed_groups_or_is_refused():
    """It is applied with force at every update (pulumi-eks#807)."""
    alone = [CLUSTER, *ROLES, *MANAGED]
    (message,) = check(POLICY, *alone, node_access("[]")).messages
    assert "does not name the role of workers" in message
    assert check(POLICY, *alone, node_access(UNKNOWN, "node-role")).messages == []


def test_the_map_that_pulumi_eks_makes_passes_without_content():
    """In this program, a transform removes `data`, so that no roles are overwritten."""
    assert check(POLICY, CLUSTER, *ROLES, *MANAGED, node_access(None)).messages == []
    assert check(POLICY, *ROLES, node_access("[]")).messages == []


@pytest.mark.parametrize("mode", ["API", "API_AND_CONFIG_MAP"])
def test_nodes_with_access_entries_lose_nothing_by_the_map(mode):
    made = cluster(["one", "two"], accessConfig={"authenticationMode": mode})
    assert check(POLICY, made, *ROLES, *MANAGED, aws_auth("self-managed-role")).messages == []


def test_the_map_of_another_cluster_without_access_entries_must_name_its_nodes():
    made = cluster(["one", "two"], accessConfig={"authenticationMode": "API"})
    other = Declared(made.type, "other", CLUSTER.props, CLUSTER.depends)
    program = (made, other, *ROLES, *MANAGED, aws_auth("self-managed-role"))
    (message,) = check(POLICY, *program).messages
    assert "does not name the role of workers" in message


def test_a_role_that_cannot_be_followed_is_no_fault():
    group = workers()
    untold = Declared(group.type, group.name, group.props, {"nodeRoleArn": ["workers-template"]})
    map_ = aws_auth("self-managed-role")
    assert check(POLICY, CLUSTER, *ROLES, eks_template(), untold, map_).messages == []
