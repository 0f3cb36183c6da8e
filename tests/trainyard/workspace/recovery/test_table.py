"""Every type that a stack registers is searched for after a kill, or has a reason why not."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
import yaml

from tests.support.aws_plugin import mapped_types
from tests.support.tracked import ROOT
from tools.recovery.reference import DOCUMENT, with_table
from trainyard.workspace.recovery.lookups import By
from trainyard.workspace.recovery.table import IN_STATE, LOOKUPS, lookup_of

GOLDENS = sorted((ROOT / "tests" / "goldens" / "stacks").glob("*.yaml"))
TYPE = re.compile(r'"([a-z-]+:[A-Za-z0-9_./-]+:[A-Za-z0-9]+)"')

FOREIGN = {
    "aws:ec2/capacityReservation:CapacityReservation",
    "aws:ec2/securityGroupRule:SecurityGroupRule",
    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation",
    "aws:eks/podIdentityAssociation:PodIdentityAssociation",
    "aws:iam/policy:Policy",
}
"""Types of the plugin that neither the program nor the EKS package registers."""


@cache
def registered(golden: Path) -> set[str]:
    """Return the types of the resources of a stack."""
    return {made["type"] for made in yaml.safe_load(golden.read_text(encoding="utf-8"))}


@pytest.mark.parametrize("golden", GOLDENS, ids=lambda path: path.stem)
def test_every_type_of_a_stack_is_in_the_table(golden: Path) -> None:
    assert not {token for token in registered(golden) if lookup_of(token) is None}


def test_every_type_that_the_program_can_make_is_in_the_table() -> None:
    """Only the plugin's types that other programs create in a sandbox are missing."""
    assert mapped_types() - LOOKUPS.keys() == FOREIGN


def test_every_child_of_the_eks_package_is_in_the_table() -> None:
    sources = (ROOT / "sandbox" / "providers" / "eks").glob("*.py")
    named = {t for path in sources for t in TYPE.findall(path.read_text(encoding="utf-8"))}
    tokens = {token for token in named if ":get" not in token}  # functions
    assert "aws:eks/cluster:Cluster" in tokens
    assert not {token for token in tokens if lookup_of(token) is None}


def test_the_table_names_no_type_that_nobody_makes() -> None:
    made = set[str]().union(*map(registered, GOLDENS), mapped_types())
    assert {token for token in LOOKUPS if not token.endswith(":")} <= made


def test_what_is_not_looked_for_has_a_reason() -> None:
    unsought = {token: lookup for token, lookup in LOOKUPS.items() if lookup.look is None}
    assert unsought
    assert all(lookup.by is By.NOTHING and len(lookup.asks) > 20 for lookup in unsought.values())


@pytest.mark.parametrize(
    "token", ["trainyard:network:Vpc", "eks:index:Cluster", "pulumi:providers:aws"]
)
def test_components_and_providers_are_in_the_state_alone(token: str) -> None:
    assert lookup_of(token) is IN_STATE


def test_a_component_of_any_package_is_in_the_state_alone() -> None:
    assert lookup_of("mine:index:Nodes", custom=False) is IN_STATE


def test_a_type_that_nobody_thought_of_has_no_way() -> None:
    assert lookup_of("aws:sqs/queue:Queue") is None


def test_the_document_has_the_table_as_it_is() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert text == with_table(text), "run: python -m tools.recovery"
