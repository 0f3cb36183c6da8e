"""Nodes that launch at once, and the number of reserved instances (C12, C5, D12)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, Declared, check
from tests.support.policy_programs import (
    EFA_NETWORK,
    ODCR_PROPS,
    auto_scaling_group,
    block,
    compute_environment,
    into,
    odcr,
    pool,
    reserved_queue,
    slurm,
    subnets,
    targets,
)
from trainyard.policies.resources.types import INSTANCE, RESOURCE_GROUP, RESOURCE_GROUP_MEMBER
from trainyard.policies.rules.capacity.reservation_size import POLICY


def group(name: str = "p5-asg", **sizes):
    made = auto_scaling_group(**sizes)
    return Declared(made.type, name, made.props, made.depends)


VIOLATING = (
    (odcr(), into(), group(desiredCapacity=3, maxSize=3, minSize=0), *EFA_NETWORK),
    (
        odcr(),
        into(),
        group(desiredCapacity=2, maxSize=2, minSize=0),
        group("second", desiredCapacity=1, maxSize=1, minSize=0),
        *EFA_NETWORK,
    ),
)
CLEAN = (
    (odcr(), into(), group(desiredCapacity=2, maxSize=2, minSize=0), *EFA_NETWORK),
    (
        odcr(id="cr-1"),
        slurm(reserved_queue("cr-1"), {"MinCount": 2, "MaxCount": 2}),
        *subnets("us-west-2b"),
    ),
)


def test_groups_that_fit_alone_are_counted_together():
    (message,) = check(POLICY, *VIOLATING[1]).messages
    assert message == (
        "second: with its nodes, 3 nodes launch into odcr, which holds 2; lower the desired size, "
        "or raise the instance count of the reservation"
    )


def test_the_minimum_counts_where_no_size_is_desired():
    assert len(check(POLICY, odcr(), into(), group(minSize=3, maxSize=3)).messages) == 1


def test_a_compute_environment_counts_by_the_vcpus_of_its_type():
    by_id = into()
    template = Declared(by_id.type, by_id.name, {**by_id.props, "id": "lt-1"}, by_id.depends)
    resources = {"instanceTypes": ["p5.48xlarge"], "minVcpus": 3 * 192, "maxVcpus": 3 * 192}
    program = (odcr(), template, compute_environment(computeResources=resources))
    (message,) = check(POLICY, *program).messages
    assert "3 nodes launch" in message


def test_static_nodes_of_a_queue_count():
    queue = slurm(reserved_queue("cr-1"), {"MinCount": 3, "MaxCount": 3})
    (message,) = check(POLICY, odcr(id="cr-1"), queue).messages
    assert message.startswith("slurm: in its compute resource gpu/p5, with its nodes, 3 nodes")


def test_a_block_that_has_not_started_shows_what_was_bought_in_a_tag():
    tag = {"aws:ec2capacityreservation:incrementalRequestedQuantity": "2"}
    program = (into("block", market=True), group(desiredCapacity=3, maxSize=3))
    assert len(check(POLICY, block(instanceCount=0, tagsAll=tag), *program).messages) == 1
    assert check(POLICY, block(instanceCount=UNKNOWN), *program).messages == []


def test_a_block_that_has_not_started_has_an_unknown_number_without_the_tag():
    """The provider leaves tags of AWS out of its state."""
    program = (into("block", market=True), group(desiredCapacity=3, maxSize=3))
    assert check(POLICY, block(instanceCount=0), *program).messages == []
    assert len(check(POLICY, block(instanceCount=2), *program).messages) == 1


def test_the_members_of_a_group_are_added():
    reserved = (odcr(), odcr("other"), *pool("odcr", "other"), into("pool"))
    assert check(POLICY, *reserved, group(desiredCapacity=4, maxSize=4)).messages == []
    assert len(check(POLICY, *reserved, group(desiredCapacity=5, maxSize=5)).messages) == 1


def test_a_target_by_id_holds_all_nodes_whatever_the_preference_is():
    """https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservations-launch.html"""
    made = into(capacityReservationSpecification=targets(preference=None))
    assert len(check(POLICY, odcr(), made, group(desiredCapacity=3, maxSize=3)).messages) == 1


def test_a_launch_into_a_group_of_blocks_never_runs_on_demand():
    made = into("pool", market=True, capacityReservationSpecification=targets("pool", None))
    program = (block(), *pool("block"), made, group(desiredCapacity=3, maxSize=3))
    assert len(check(POLICY, *program).messages) == 1


BY_GROUP = {"CapacityReservationTarget": {"CapacityReservationResourceGroupArn": "arn:pool"}}


def test_the_members_of_another_group_do_not_count():
    second = Declared(RESOURCE_GROUP, "second", {"arn": UNKNOWN})
    props = {"groupArn": UNKNOWN, "resourceArn": UNKNOWN}
    member = Declared(
        RESOURCE_GROUP_MEMBER,
        "second-other",
        props,
        {"groupArn": ["second"], "resourceArn": ["other"]},
    )
    reserved = (odcr(), odcr("other"), *pool("odcr"), second, member, into("pool"))
    assert len(check(POLICY, *reserved, group(desiredCapacity=3, maxSize=3)).messages) == 1


FIRST = {
    "capacityReservationPreference": "capacity-reservations-first",
    "capacityReservationTarget": {"capacityReservationIds": ["cr-1"]},
}


@pytest.mark.parametrize(
    "program",
    [
        *(pytest.param(program, id=f"clean-{i}") for i, program in enumerate(CLEAN)),
        pytest.param((odcr(), into(), group()), id="no-size"),
        pytest.param(
            (odcr(), into(), group(desiredCapacity=384, desiredCapacityType="vcpu")), id="in-vcpus"
        ),
        pytest.param(
            (
                odcr(id="cr-1"),
                into("elsewhere"),
                group(desiredCapacity=9, capacityReservationSpecification=FIRST),
            ),
            id="on-demand-takes-the-rest",
        ),
        pytest.param((*pool("other"), into("pool"), group(desiredCapacity=9)), id="elsewhere"),
        pytest.param(
            (odcr(), *pool("odcr", "other"), into("pool"), group(desiredCapacity=9)),
            id="also-elsewhere",
        ),
        pytest.param(
            (
                odcr(),
                odcr("other", instanceCount=UNKNOWN),
                *pool("odcr", "other"),
                into("pool"),
                group(desiredCapacity=9),
            ),
            id="size-of-a-member-not-known-yet",
        ),
        pytest.param(
            (
                odcr(),
                *pool("odcr", arn="arn:pool"),
                slurm(BY_GROUP, {"MinCount": 3, "MaxCount": 3}),
            ),
            id="slurm-takes-the-rest-on-demand",
        ),
        pytest.param(
            (
                odcr(),
                *(
                    Declared(
                        INSTANCE,
                        f"node-{i}",
                        {
                            "instanceType": ODCR_PROPS["instanceType"],
                            "capacityReservationSpecification": targets(),
                        },
                        {"capacityReservationSpecification": ["odcr"]},
                    )
                    for i in range(2)
                ),
            ),
            id="two-instances",
        ),
    ],
)
def test_passes(program):
    found = check(POLICY, *program)
    assert (found.messages, found.undecided) == ([], [])
