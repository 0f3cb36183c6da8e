"""Typical programs that are not from a plan: they break exactly the expected rules.

Each folder in `foreign` has a program with the faults that its docstring describes, and a fixed
version that no rule reports.
"""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.policies.support.pulumi_eks_node_group import with_children
from tests.support.cloud import Cloud
from tests.support.policy import check
from tests.support.policy_pack import declared
from trainyard.policies.pack.discovery import POLICIES

FOREIGN = Path(__file__).parent / "foreign"
SPEAKING = {
    "ported": {
        "capacity-block-no-placement-group",
        "ebs-encrypted",
        "efa-interface-layout",
        "group-sizes-in-order",
        "imdsv2-required",
        "interface-security-groups",
    },
    "multi_zone": {
        "efa-security-group-self-reference",
        "efa-single-zone",
        "ports-closed-to-world",
    },
    "pulumi_eks": {
        "ebs-encrypted",
        "efa-plugin-instance-types",
        "efa-plugin-tolerations",
        "eks-update-strategy-reserved",
        "imdsv2-required",
        "odcr-aws-assisted-no-placement-group",
    },
    "batch": {
        "compute-environment-updatable",
        "compute-environment-vcpus",
        "efa-single-zone",
        "mnp-compute-environment",
        "mnp-node-groups",
    },
}


@pytest.fixture
def rules_that_speak(deploy: Callable[..., Cloud]) -> Callable[[str, str], dict[str, list[str]]]:
    """Run a program of a folder; return the messages of every broken rule."""

    def run(folder: str, file: str) -> dict[str, list[str]]:
        cloud = deploy(lambda: runpy.run_path(str(FOREIGN / folder / file)))
        program = with_children(declared(cloud))
        found = {policy.name: check(policy, *program) for policy in POLICIES}
        assert not [said for each in found.values() for said in each.undecided]
        return {name: each.messages for name, each in found.items() if each.messages}

    return run


@pytest.mark.parametrize("folder", SPEAKING)
def test_exactly_the_rules_that_a_program_breaks_speak(rules_that_speak, folder):
    """A5, A6, A12, A16, A19, A20, B7, B10, E9, G1, G4 and G11."""
    assert set(rules_that_speak(folder, "__main__.py")) == SPEAKING[folder]


@pytest.mark.parametrize("folder", SPEAKING)
def test_no_rule_says_a_word_of_the_mended_twin(rules_that_speak, folder):
    assert rules_that_speak(folder, "mended.py") == {}


@pytest.mark.parametrize("folder", SPEAKING)
def test_a_rule_speaks_once_of_each_resource(rules_that_speak, folder):
    """`ported` has 31 interfaces at a device that their cards do not have."""
    for rule, messages in rules_that_speak(folder, "__main__.py").items():
        names = [message.partition(": ")[0] for message in messages]
        assert len(names) == len(set(names)), rule


def test_every_program_that_is_broken_has_its_twin():
    """A configuration fixes `flat`; `test_programs.py` runs it."""
    folders = {path.parent.name for path in FOREIGN.glob("*/__main__.py")}
    assert folders == {*SPEAKING, "flat"}
    assert {path.parent.name for path in FOREIGN.glob("*/mended.py")} == set(SPEAKING)
