"""How EC2 sells an instance type (C15)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, check
from tests.support.policy_programs import EFA_NETWORK, node_group, slurm, template
from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.policies.rules.capacity.usage_class_supported import POLICY

NO_BLOCK = "g5.48xlarge"
VIOLATING = (
    (template("networkInterfaces", instanceType=NO_BLOCK),),
    (slurm({"CapacityType": "CAPACITY_BLOCK"}, {"InstanceType": NO_BLOCK}),),
)
CLEAN = ((template(), *EFA_NETWORK),)


def test_the_type_of_this_test_has_no_capacity_blocks():
    assert "capacity-block" not in INSTANCE_TYPES[NO_BLOCK].usage_classes


def test_the_message_says_how_the_type_is_sold():
    (message,) = check(POLICY, *VIOLATING[0]).messages
    assert message == (
        "p5-template: EC2 does not sell g5.48xlarge as capacity-block, only as on-demand or spot; "
        "change the market or the instance type"
    )


def test_a_queue_of_parallelcluster_is_named():
    (message,) = check(POLICY, *VIOLATING[1]).messages
    assert message.startswith("slurm: in its compute resource gpu/p5, EC2 does not sell")


def test_the_types_of_a_managed_node_group_count():
    group = node_group("launchTemplate", instanceTypes=[NO_BLOCK, "p5.48xlarge"])
    assert len(check(POLICY, group).messages) == 1


@pytest.mark.parametrize(
    "program",
    [
        CLEAN[0],
        (template("instanceMarketOptions", instanceType=NO_BLOCK),),
        (template(instanceType="p9.48xlarge"),),
        (template(instanceType=UNKNOWN),),
        (template(instanceMarketOptions=UNKNOWN, instanceType=NO_BLOCK),),
        (node_group(),),
        (slurm({"CapacityType": "SPOT"}, {"InstanceType": NO_BLOCK}),),
    ],
    ids=["sold", "on-demand", "unheard-of", "type-later", "market-later", "template", "spot"],
)
def test_passes(program):
    assert check(POLICY, *program).messages == []
