"""The roles that stacks register: who can take them, what they allow, and the table of the docs.

AWS's own documents of its managed policies are those of moto, which generates them from AWS.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest
import yaml
from moto.iam.aws_managed_policies import aws_managed_policies_data

from tests.support.cloud import Cloud
from tests.support.stacks import program_of
from tests.support.tracked import ROOT

GOLDENS = sorted((ROOT / "tests" / "goldens" / "stacks").glob("*.yaml"))
CLUSTERS = sorted((ROOT / "tests" / "goldens" / "clusters").glob("*.yaml"))
PAGE = ROOT / "docs" / "security.md"
ROLE = "aws:iam/role:Role"
ATTACHMENT = "aws:iam/rolePolicyAttachment:RolePolicyAttachment"
INLINE = "aws:iam/rolePolicy:RolePolicy"
NODES = "Nodes of an EKS node group"

EVERY_ADDON = {
    "architecture": {
        "addons": {
            "ebs_csi_driver": True,
            "fsx_csi_driver": True,
            "node_monitoring_agent": True,
            "cloudwatch_observability": True,
        }
    }
}
WARNED = {
    "monitoring": {"alarms": {"block_warning_hours": [24]}},
    "reservations": {
        "block": {"starts_at": "2026-11-29T12:00:00Z", "ends_at": "2026-12-06T12:00:00Z"}
    },
}
MORE = {"eks-g4dn": EVERY_ADDON, "p5-cb": EVERY_ADDON | WARNED}
"""Stacks whose goldens lack roles that a stack file can ask for."""

WITHOUT_SOURCE = {
    # The caller needs `iam:PassRole`, and the request is that of an instance of the same account:
    # https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_use_switch-role-ec2.html
    "ec2.amazonaws.com",
}
"""Services that assume a role without `aws:SourceAccount`."""


@dataclass(frozen=True)
class Role:
    stack: str
    name: str
    description: str
    trust: tuple[Mapping[str, Any], ...]
    managed: frozenset[str]
    """Names of AWS managed policies, with their paths."""
    inline: Mapping[str, Any]
    """Policy documents, by the last part of the name of the resource."""

    @property
    def services(self) -> frozenset[str]:
        return frozenset(statement["Principal"]["Service"] for statement in self.trust)

    def statements(self) -> Iterator[Mapping[str, Any]]:
        documents = _documents()
        for name in self.managed:
            yield from documents[name.rpartition("/")[2]]["Document"]["Statement"]
        for document in self.inline.values():
            yield from document["Statement"]

    def actions(self) -> set[str]:
        return {action for each in self.statements() for action in _listed(each.get("Action"))}


@cache
def _documents() -> Mapping[str, Any]:
    return json.loads(aws_managed_policies_data)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _roles(stack: str, resources: list[tuple[str, str, Mapping[str, Any]]]) -> Iterator[Role]:
    for type_, name, inputs in resources:
        if type_ != ROLE:
            continue
        mine = [each for each in resources if each[2].get("role") == name]
        yield Role(
            stack=stack,
            name=name,
            description=inputs.get("description", ""),
            trust=tuple(json.loads(inputs["assumeRolePolicy"])["Statement"]),
            managed=frozenset(
                given["policyArn"].partition(":policy/")[2]
                for kind, _, given in mine
                if kind == ATTACHMENT
            ),
            inline={
                policy.rpartition("-")[2]: json.loads(given["policy"])
                for kind, policy, given in mine
                if kind == INLINE
            },
        )


@cache
def _shipped() -> tuple[Role, ...]:
    found: list[Role] = []
    for golden in GOLDENS:
        loaded = yaml.load(golden.read_bytes(), Loader=yaml.CSafeLoader)
        resources = [(each["type"], each["name"], each.get("inputs") or {}) for each in loaded]
        found.extend(_roles(golden.stem, resources))
    return tuple(found)


@pytest.fixture
def roles(deploy: Callable[..., Cloud]) -> tuple[Role, ...]:
    """Return the roles of the goldens, and of stacks with every add-on and alarm."""
    found = list(_shipped())
    for stack, changes in MORE.items():
        cloud = deploy(program_of(stack, changes=changes), stack=stack)
        resources = [(each.type, each.name, each.inputs) for each in cloud.registered]
        found.extend(_roles(stack, resources))
    return tuple(found)


def test_a_service_takes_a_role_for_the_account_of_the_stack_alone(roles):
    """Confused deputy: https://docs.aws.amazon.com/IAM/latest/UserGuide/confused-deputy.html."""
    unbound = {
        (role.name, service)
        for role in roles
        for statement in role.trust
        for service in _listed(statement["Principal"]["Service"])
        if service not in WITHOUT_SOURCE
        and statement.get("Condition", {}).get("StringEquals", {}).get("aws:SourceAccount")
        != "123456789012"
    }
    assert unbound == set()
    assert {"pods.eks.amazonaws.com", "vpc-flow-logs.amazonaws.com"} <= {
        service for role in roles for service in role.services
    }


def test_no_role_of_eks_nodes_allows_what_a_pod_could_misuse(roles):
    """Pods of a node may reach its role; AWS's documents say what its policies allow."""
    nodes = [role for role in roles if role.description == NODES]
    assert len(nodes) > 18
    services = {action.partition(":")[0] for role in nodes for action in role.actions()}
    assert services == {
        *("autoscaling", "ec2", "ecr", "eks", "eks-auth"),
        *("ssm", "ssmmessages", "ec2messages"),  # Session Manager
    }


def test_no_role_of_eks_nodes_manages_volumes_or_instances(roles):
    """What is left is the network of the node, by the policy of the VPC CNI."""
    nodes = [role for role in roles if role.description == NODES]
    changes = {
        action
        for role in nodes
        for action in role.actions()
        if action.startswith("ec2:") and not action.startswith("ec2:Describe")
    }
    assert changes - {"ec2:GetInstanceTypesFromInstanceRequirements"} <= set(
        _documents()["AmazonEKS_CNI_Policy"]["Document"]["Statement"][0]["Action"]
    ) | {"ec2:CreateTags"}


def test_only_system_nodes_let_pods_change_anything_through_the_role_of_the_nodes(roles):
    """The Cluster Autoscaler is no add-on of a stack: docs/node-groups.md."""
    with_pods = {role.name for role in roles if role.description == NODES and role.inline}
    assert with_pods
    assert all(name.endswith("-system-role") for name in with_pods)
    assert {tuple(role.inline) for role in roles if role.name in with_pods} == {("autoscaler",)}


def test_nodes_of_eks_have_one_hop_unless_pods_use_their_role():
    for golden in GOLDENS:
        loaded = yaml.load(golden.read_bytes(), Loader=yaml.CSafeLoader)
        autoscaled = {each["name"] for each in loaded if each["name"].endswith("-autoscaler")}
        for each in loaded:
            if each["type"] == "aws:ec2/launchTemplate:LaunchTemplate":
                limit = each["inputs"]["metadataOptions"]["httpPutResponseHopLimit"]
                group = each["name"].removesuffix("-launch-template")
                assert limit == (2 if f"{group}-autoscaler" in autoscaled else 1), each["name"]


def test_no_policy_allows_the_use_of_every_key(roles):
    for role in roles:
        for statement in role.statements():
            keys = [a for a in _listed(statement.get("Action")) if str(a).startswith("kms:")]
            assert not keys or "*" not in _listed(statement["Resource"]), role.name


@pytest.mark.parametrize("golden", CLUSTERS, ids=lambda golden: golden.stem)
def test_no_head_node_reads_every_bucket_of_the_account(golden):
    cluster = yaml.load(golden.read_bytes(), Loader=yaml.CSafeLoader)
    access = cluster["HeadNode"].get("Iam", {})
    names = [each["Policy"].rpartition("/")[2] for each in access.get("AdditionalIamPolicies", [])]
    statements = (
        statement for name in names for statement in _documents()[name]["Document"]["Statement"]
    )
    actions = {action for each in statements for action in _listed(each["Action"])}
    assert not {action for action in actions if action.startswith("s3")}
    assert all(each["KeyName"] for each in access.get("S3Access", []))


def _table() -> dict[str, tuple[frozenset[str], frozenset[str]]]:
    section = PAGE.read_text().partition("\n## What each role may do, and why\n")[2]
    section = section.partition("\n## ")[0]
    rows: dict[str, tuple[frozenset[str], frozenset[str]]] = {}
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) == 4 and not cells[0].startswith(("Role", "---")):
            services, allowed = (re.findall(r"`([^`]+)`", cell) for cell in cells[1:3])
            rows[cells[0]] = (frozenset(services), frozenset(allowed))
    return rows


def test_the_table_of_the_docs_lists_every_role_and_what_it_allows(roles):
    found: dict[str, tuple[set[str], set[str]]] = {}
    for role in roles:
        services, allowed = found.setdefault(role.description, (set(), set()))
        services |= role.services
        allowed |= role.managed
        for name, document in role.inline.items():
            named = {action for each in document["Statement"] for action in _listed(each["Action"])}
            allowed |= {name} if name == "autoscaler" else named
    assert found == _table()
