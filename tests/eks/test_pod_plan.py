import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.instance_types import EFA_TYPES
from trainyard.components.catalog.instance_types import instance_type
from trainyard.components.compute.interface_plan import plan_interfaces
from trainyard.components.eks.node_group_plan import plan_maximum_pods


def maximum_pods(name, layout="efa-only"):
    found = instance_type(name)
    return plan_maximum_pods(found, plan_interfaces(found, layout))


def test_p5_keeps_one_interface_for_pods_beside_its_efa():
    """Two slots on card 0: the primary one with 50 addresses, and an EFA interface without any."""
    assert maximum_pods("p5.48xlarge") == 1 * (50 - 1) + 2 == 51


def test_p5_has_both_slots_for_pods_in_the_efa_layout():
    assert maximum_pods("p5.48xlarge", "efa") == 2 * (50 - 1) + 2


def test_a_card_zero_without_efa_is_left_to_pods_whole():
    assert maximum_pods("p6-b300.48xlarge") == 4 * (50 - 1) + 2


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        pytest.param("p4d.24xlarge", 250, id="more-than-30-vcpus"),
        pytest.param("p5.4xlarge", 3 * (30 - 1) + 2, id="16-vcpus-below-the-limit"),
    ],
)
def test_pods_are_limited_as_eks_recommends(name, limit):
    assert maximum_pods(name) == limit


def test_small_types_have_at_most_110_pods():
    small = dataclasses.replace(instance_type("p4d.24xlarge"), vcpus=16)
    assert plan_maximum_pods(small, plan_interfaces(small)) == 110


def test_without_efa_the_table_of_the_ami_decides():
    assert plan_maximum_pods(instance_type("p5.48xlarge"), None) is None


@given(st.sampled_from(EFA_TYPES), st.sampled_from(["efa-only", "efa"]))
def test_every_type_carries_the_system_pods_and_work(efa_type, layout):
    pods = plan_maximum_pods(efa_type, plan_interfaces(efa_type, layout))
    assert 10 < pods <= 250
