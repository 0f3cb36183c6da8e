"""The platform of a reservation and the images of its nodes (C3, D16; pain 10)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, check
from tests.support.policy_programs import (
    EFA_NETWORK,
    auto_scaling_group,
    into,
    node_group,
    odcr,
    reserved_queue,
    slurm,
    subnets,
)
from trainyard.policies.rules.capacity.reservation_platform import POLICY

RED_HAT = "Red Hat Enterprise Linux"
AL2023 = node_group(capacityType="ON_DEMAND", amiType="AL2023_x86_64_NVIDIA")
VIOLATING = (
    (odcr(instancePlatform=RED_HAT), into(), AL2023, *EFA_NETWORK),
    (odcr(id="cr-1", instancePlatform=RED_HAT), slurm(reserved_queue("cr-1"), {})),
)
CLEAN = (
    (odcr(), into(), AL2023, *EFA_NETWORK),
    (odcr(id="cr-1"), slurm(reserved_queue("cr-1"), {}), *subnets("us-west-2b")),
)


def test_the_message_names_both_platforms():
    (message,) = check(POLICY, *VIOLATING[0]).messages
    assert message == (
        "p5-nodes: its images are of the platform Linux/UNIX, but odcr is for Red Hat Enterprise "
        "Linux; set instance_platform of the reservation to Linux/UNIX"
    )


@pytest.mark.parametrize(
    ("system", "platform"),
    [("rhel9", RED_HAT), ("rocky9", "Linux/UNIX"), ("ubuntu2404", "Linux/UNIX")],
)
def test_the_operating_systems_of_parallelcluster_are_those_of_its_own_table(system, platform):
    queue = slurm(reserved_queue("cr-1"), {}, Image={"Os": system})
    assert check(POLICY, odcr(id="cr-1", instancePlatform=platform), queue).messages == []
    assert len(check(POLICY, odcr(id="cr-1", instancePlatform="Windows"), queue).messages) == 1


@pytest.mark.parametrize(
    "program",
    [
        *(pytest.param(program, id=f"clean-{i}") for i, program in enumerate(CLEAN)),
        pytest.param(
            (odcr(instancePlatform=RED_HAT), into(), node_group(amiType="CUSTOM")), id="own-image"
        ),
        pytest.param((odcr(instancePlatform=RED_HAT), into(), auto_scaling_group()), id="by-ami"),
        pytest.param((odcr(instancePlatform=UNKNOWN), into(), AL2023), id="known-later"),
    ],
)
def test_passes(program):
    found = check(POLICY, *program)
    assert (found.messages, found.undecided) == ([], [])
