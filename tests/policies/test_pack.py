"""Properties of every rule of the pack."""

from __future__ import annotations

import pytest

from tests.support.policy import Declared, check
from trainyard.policies.pack.discovery import POLICIES


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
def test_other_resource_types_pass_without_a_property_being_read(policy):
    class Untouchable(dict):
        def __getitem__(self, key):
            raise AssertionError(f"{key} was read")

    other = Declared("aws:ec2/vpc:Vpc", "vpc", Untouchable())
    assert check(policy, other).messages == []
