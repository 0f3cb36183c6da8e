"""Several instance types in one cluster placement group (B6)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, Declared, check
from tests.support.policy_programs import slurm_queues
from tests.support.policy_programs_eks import (
    TOGETHER,
    environment,
    fleet,
    mixed,
    on_demand_nodes,
    placed,
    plain,
)
from trainyard.policies.rules.placement.placement_group_one_type import POLICY

TYPES = ("m5.large", "m5.xlarge")
GROUP = placed(plain("instanceType"))
LISTED = [{"InstanceType": name} for name in TYPES]
SLURM = {"Name": "q", "Networking": {"PlacementGroup": {"Enabled": True}}}
VIOLATING = (
    (GROUP, TOGETHER, mixed(*TYPES)),
    (GROUP, TOGETHER, on_demand_nodes(instanceTypes=[*TYPES])),
    (GROUP, TOGETHER, environment(instanceTypes=[*TYPES])),
    (GROUP, TOGETHER, fleet(*({"instanceType": name} for name in TYPES))),
    (slurm_queues({**SLURM, "ComputeResources": [{"Name": "n", "Instances": LISTED}]}),),
)
CLEAN = (
    (GROUP, TOGETHER, on_demand_nodes(instanceTypes=["m5.large"])),
    (plain("instanceType"), mixed(*TYPES)),
)


@pytest.mark.parametrize(
    "program", VIOLATING, ids=["mixed-instances", "managed", "batch", "fleet", "slurm"]
)
def test_advises(program):
    (message,) = check(POLICY, *program).messages
    assert "m5.large, m5.xlarge" in message
    assert "launches of several types often fail" in message


@pytest.mark.parametrize(
    "program",
    [
        *CLEAN,
        (GROUP, TOGETHER, fleet({"instanceType": "m5.large"}, {"instanceType": "m5.large"})),
        (slurm_queues({"Name": "q", "ComputeResources": [{"Name": "n", "Instances": LISTED}]}),),
        (plain("instanceType", placement={"groupName": "elsewhere"}), mixed(*TYPES)),
    ],
)
def test_passes(program):
    found = check(POLICY, *program)
    assert (found.messages, found.undecided) == ([], [])


def test_a_list_that_is_not_known_yet_is_said():
    made = on_demand_nodes(instanceTypes=UNKNOWN)
    depends = {**made.depends, "instanceTypes": ["together"]}
    found = check(POLICY, GROUP, TOGETHER, Declared(made.type, made.name, made.props, depends))
    assert found.messages == []
    assert "p5-nodes.instanceTypes" in found.undecided[0]
