"""Whole programs under the pack: ours pass, a foreign one with the costly mistake does not."""

from __future__ import annotations

import runpy
from pathlib import Path

import pulumi
import pytest

from components.account.prepare import prepare
from components.architectures.build import build
from components.config.load import load_stack_config
from policies.pack import POLICIES
from policies.pack_config import pack_config
from tests.support.cloud import Cloud
from tests.support.policy import Declared, check
from tests.support.policy_programs import ASSISTED_ID, BLOCK_ID
from tests.support.stack_files import PRIVATE, plan, with_odcr
from tests.support.stack_files import config as stack_config_of
from tests.support.stacks import NOW, STACKS, account_facts, stack_config

FOREIGN = Path(__file__).parent / "foreign" / "__main__.py"


def declared(cloud: Cloud) -> list[Declared]:
    """Return what a program registered; every property depends on all that its resource does."""
    names = {made.urn: made.name for made in cloud.registered}
    return [
        Declared(
            made.type,
            made.name,
            {"id": f"{made.name}-id", **made.inputs},
            {key: [names[u] for u in made.dependencies if u in names] for key in made.inputs},
            protect=made.protect,
        )
        for made in cloud.registered
        if not made.is_component
    ]


def violations(cloud: Cloud, config=None) -> dict[str, list[str]]:
    """Return the messages of every rule that is broken, by rule."""
    program = declared(cloud)
    found = {p.name: check(p, *program, config=(config or {}).get(p.name)) for p in POLICIES}
    assert not [said for findings in found.values() for said in findings.undecided]
    return {name: findings.messages for name, findings in found.items() if findings.messages}


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


@pytest.mark.parametrize("stack", STACKS)
def test_every_stack_file_passes_the_whole_pack(deploy, stack):
    raw, stack_file = stack_config(stack), f"Pulumi.{stack}.yaml"
    config = load_stack_config(raw["trainyard:cluster"], stack_file=stack_file)

    def program():
        region = raw["aws:region"]
        facts = account_facts()
        prepared = prepare(config, facts, stack_file=stack_file, region=region, now=NOW)
        for name, value in build(prepared.plan).outputs().items():
            pulumi.export(name, value)

    assert violations(deploy(program), pack_config(config)) == {}


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
    """An own reservation that was made in a placement group keeps it, and passes."""
    raw = with_odcr(reservation, management=management, subnet_id=PRIVATE[1])
    cloud = deploy(lambda: build(plan(raw)))
    config = stack_config_of(raw)
    assert violations(cloud, pack_config(config)) == {}
    template = cloud.one("p5-cb-p5-launch-template")
    assert ("placement" in template.inputs) == ("placement_group" in reservation)
