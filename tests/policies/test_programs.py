"""Whole programs under the pack: this program passes, a foreign one with the costly mistake fails.

The stack files pass it in `tests/corpus`.
"""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from tests.support.cloud import Cloud
from tests.support.eks import PRIVATE, with_odcr
from tests.support.eks import config as stack_config_of
from tests.support.policy_pack import violations
from tests.support.policy_programs import ASSISTED_ID, BLOCK_ID
from tests.support.stack_files import plan_from
from trainyard.components.architectures.build import build
from trainyard.policies.pack.stack_config import pack_config

FOREIGN = Path(__file__).parent / "foreign" / "flat" / "__main__.py"


@pytest.fixture
def foreign(deploy):
    def run(capacity: str, reservation: str, *, placement: bool) -> Cloud:
        config = {
            "capacity": capacity,
            "reservation": reservation,
            "placement": str(placement).lower(),
            "vpc": "vpc-0123456789abcdef0",
            "subnet": "subnet-0b000000000000002",
            "image": "ami-0123456789abcdef0",
        }
        settings = {f"trainyard:{key}": value for key, value in config.items()}
        return deploy(lambda: runpy.run_path(str(FOREIGN)), config=settings)

    return run


CAPACITY = {
    "odcr": (ASSISTED_ID, "odcr-aws-assisted-no-placement-group"),
    "block": (BLOCK_ID, "capacity-block-no-placement-group"),
}


@pytest.mark.parametrize("capacity", CAPACITY)
def test_a_foreign_program_is_refused_for_its_placement_group_and_nothing_else(foreign, capacity):
    reservation, rule = CAPACITY[capacity]
    found = violations(foreign(capacity, reservation, placement=True))
    assert list(found) == [rule]
    assert violations(foreign(capacity, reservation, placement=False)) == {}


@pytest.mark.parametrize("management", ["managed", "self-managed"])
@pytest.mark.parametrize(
    "reservation",
    [
        pytest.param({"placement_group": "mine"}, id="own-in-a-placement-group"),
        pytest.param({}, id="own"),
        pytest.param({"provenance": "aws-assisted"}, id="aws-assisted"),
    ],
)
def test_what_we_plan_for_a_reservation_passes_with_the_configuration_of_its_stack(
    deploy, reservation, management
):
    """A reservation that the account created in a placement group keeps it, and passes."""
    raw = with_odcr(reservation, management=management, subnet_id=PRIVATE[1])
    cloud = deploy(lambda: build(plan_from(raw)))
    config = stack_config_of(raw)
    assert violations(cloud, pack_config(config)) == {}
    template = cloud.one("p5-cb-p5-launch-template")
    assert ("placement" in template.inputs) == ("placement_group" in reservation)
