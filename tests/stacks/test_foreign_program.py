"""The policy pack stops other programs: the preview fails, and so `up` creates nothing.

The pack detects in the resources of any program what schema and plan refuse in stack files.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.stacks.support.foreign_program import Run, foreign_program
from tests.support.sandbox import Sandbox
from tests.support.tracked import ROOT

pytestmark = pytest.mark.sandbox

LAUNCH_TEMPLATE = """\
import pulumi_aws as aws

group = aws.ec2.PlacementGroup("group", strategy="cluster")
aws.ec2.LaunchTemplate(
    "template",
    instance_type="p5.48xlarge",
    metadata_options={{"http_tokens": "required"}},
    placement={{"group_name": group.name}},
    {capacity}
)
"""
CAPACITY_BLOCK = """\
instance_market_options={"market_type": "capacity-block"},
    capacity_reservation_specification={
        "capacity_reservation_target": {"capacity_reservation_id": "cr-0123456789abcdef0"}
    },"""
AWS_ASSISTED = """\
capacity_reservation_specification={
        "capacity_reservation_preference": "capacity-reservations-only",
        "capacity_reservation_target": {"capacity_reservation_id": "cr-0a550000000000001"},
    },"""


@pytest.fixture
def pulumi(sandbox: Sandbox, tmp_path: Path) -> Callable[[str], Run]:
    """Run `pulumi` on a foreign program against the sandbox's account."""
    return lambda program: foreign_program(sandbox, tmp_path, program)


@pytest.mark.parametrize(
    ("capacity", "rule"),
    [
        pytest.param(CAPACITY_BLOCK, "capacity-block-no-placement-group", id="capacity-block"),
        pytest.param(AWS_ASSISTED, "odcr-aws-assisted-no-placement-group", id="aws-assisted-odcr"),
    ],
)
def test_a_placement_group_where_aws_places_itself_is_stopped(
    sandbox: Sandbox, pulumi, capacity: str, rule: str
) -> None:
    before = sandbox.inventory()
    run = pulumi(LAUNCH_TEMPLATE.format(capacity=capacity))
    done = run("up", "--yes", "--policy-pack", str(ROOT / "policies"))
    assert done.returncode != 0, done.stdout
    assert rule in done.stdout + done.stderr
    assert sandbox.inventory() == before


def test_without_the_pack_the_same_program_is_made_so_it_is_the_pack_that_stops_it(
    sandbox: Sandbox, pulumi
) -> None:
    before = sandbox.inventory()
    run = pulumi(LAUNCH_TEMPLATE.format(capacity=CAPACITY_BLOCK))
    made = run("up", "--yes", "--skip-preview")
    assert made.returncode == 0, made.stdout + made.stderr
    assert len(sandbox.inventory()) == len(before) + 2
    assert run("destroy", "--yes", "--skip-preview").returncode == 0
    assert sandbox.inventory() == before


PORTED = ROOT / "tests" / "policies" / "foreign" / "ported"


def test_a_template_that_was_ported_with_its_faults_is_stopped_and_its_twin_is_not(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    """Rules A12, A16, B7 and E9, for resources and for the stack, in one preview."""
    before = sandbox.inventory()
    pack = ("preview", "--policy-pack", str(ROOT / "policies"))
    run = foreign_program(sandbox, tmp_path, (PORTED / "__main__.py").read_text())
    stopped = run(*pack)
    assert stopped.returncode != 0, stopped.stdout
    said = stopped.stdout + stopped.stderr
    for rule in (
        "capacity-block-no-placement-group",
        "efa-interface-layout",
        "group-sizes-in-order",
        "interface-security-groups",
    ):
        assert rule in said
    mended = (PORTED / "mended.py").read_text()
    (tmp_path / "program" / "__main__.py").write_text(mended)
    passed = run(*pack)
    assert passed.returncode == 0, passed.stdout + passed.stderr
    assert sandbox.inventory() == before
