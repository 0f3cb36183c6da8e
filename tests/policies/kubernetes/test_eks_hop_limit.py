"""Pods need a hop limit of 2 (E15), which CKV_AWS_341 flags (H3)."""

from __future__ import annotations

import pytest

from policies.rules.kubernetes.eks_hop_limit import POLICY
from tests.support.policy import check
from tests.support.policy_programs import compute_environment
from tests.support.policy_programs_eks import eks_template, joining_group, role, workers

ROLE = role("node-role")


def hops(count):
    return eks_template(
        metadataOptions={"httpTokens": "required", "httpPutResponseHopLimit": count}
    )


FROM_THE_IMAGE = eks_template(metadataOptions={"httpTokens": "required"})
FAULTS = {"managed": (ROLE, hops(1), workers()), "self-managed": (hops(1), joining_group())}
VIOLATING = tuple(FAULTS.values())
RIGHT = {
    "managed": (ROLE, hops(2), workers()),
    "self-managed": (hops(2), joining_group()),
    "from-the-image": (ROLE, FROM_THE_IMAGE, workers()),
    "from-the-image-as-the-provider-reads-it": (ROLE, hops(0), workers()),
}
CLEAN = tuple(RIGHT.values())


@pytest.mark.parametrize("program", FAULTS.values(), ids=FAULTS)
def test_fails(program):
    (message,) = check(POLICY, *program).messages
    assert message.startswith("workers-template: its hop limit is 1")


@pytest.mark.parametrize("program", RIGHT.values(), ids=RIGHT)
def test_passes(program):
    found = check(POLICY, *program)
    assert (found.messages, found.undecided) == ([], [])


def test_a_template_of_two_groups_is_named_once():
    assert len(check(POLICY, ROLE, hops(1), workers(), joining_group()).messages) == 1


def test_nodes_of_batch_may_have_one_hop():
    batch = compute_environment(
        computeResources={"launchTemplate": {"launchTemplateId": "workers-template-id"}}
    )
    assert check(POLICY, hops(1), batch).messages == []
