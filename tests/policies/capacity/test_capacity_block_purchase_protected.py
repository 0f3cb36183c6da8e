"""Capacity Blocks that a program buys (D15)."""

from __future__ import annotations

import dataclasses

import pytest

from tests.support.policy import check
from tests.support.policy_programs import block, odcr
from trainyard.policies.rules.capacity.capacity_block_purchase_protected import POLICY

PROTECTED = dataclasses.replace(block(), protect=True)
VIOLATING = ((block(),),)
CLEAN = ((PROTECTED,),)


def test_fails():
    (message,) = check(POLICY, block()).messages
    assert message.startswith("block: the purchase of the Capacity Block is not protected")
    assert message.endswith("; set the resource option protect")


@pytest.mark.parametrize("program", [PROTECTED, odcr()], ids=["protected", "released-any-time"])
def test_passes(program):
    assert check(POLICY, program).messages == []
