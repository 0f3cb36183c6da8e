"""Every resource that supports tags has the tag with its name."""

from __future__ import annotations

import re

import pulumi
import pulumi_aws as aws
import pytest
import yaml

from tests.support.tracked import ROOT
from trainyard.components.resource_tags import tag_every_resource
from trainyard.components.tagging import MAX_VALUE_LENGTH, RESOURCE_TAG, resource_tag

ALLOWED = re.compile(r"[A-Za-z0-9 +\-=._:/@]+")
GOLDENS = sorted((ROOT / "tests" / "goldens" / "stacks").glob("*.yaml"))


def tag(name: str, token: str = "aws:ec2/vpc:Vpc") -> str:
    return resource_tag(stack="p5", project="trainyard", type_token=token, name=name)


def program() -> None:
    tag_every_resource()
    late = pulumi.Output.from_input({"team": "late"})
    aws.ec2.Vpc("plain", cidr_block="10.0.0.0/16")
    aws.ec2.Vpc("own", cidr_block="10.0.0.0/16", tags={"team": "vision"})
    aws.ec2.Vpc("late", cidr_block="10.0.0.0/16", tags=late)
    aws.ec2.Route("route", route_table_id="rtb-1", destination_cidr_block="0.0.0.0/0")
    pair = aws.autoscaling.GroupTagArgs(key="team", value="vision", propagate_at_launch=True)
    aws.autoscaling.Group("nodes", min_size=0, max_size=1, tags=[pair])


@pytest.mark.parametrize(
    ("name", "own"), [("plain", {}), ("own", {"team": "vision"}), ("late", {"team": "late"})]
)
def test_it_stands_beside_the_tags_of_the_program(deploy, name: str, own: dict[str, str]) -> None:
    made = deploy(program, stack="p5").one(name)
    assert made.inputs["tags"][RESOURCE_TAG].endswith(f"::aws:ec2/vpc:Vpc::{name}")
    assert {k: v for k, v in made.inputs["tags"].items() if k != RESOURCE_TAG} == own


def test_a_type_without_tags_gets_none(deploy) -> None:
    assert "tags" not in deploy(program, stack="p5").one("route").inputs


def test_instances_of_an_auto_scaling_group_do_not_carry_it(deploy) -> None:
    theirs, own = deploy(program, stack="p5").one("nodes").inputs["tags"]
    assert (theirs["key"], theirs["propagateAtLaunch"]) == ("team", True)
    assert (own["key"], own["propagateAtLaunch"]) == (RESOURCE_TAG, False)


def test_the_value_is_the_urn_without_parents() -> None:
    assert tag("p5-vpc") == "p5::trainyard::aws:ec2/vpc:Vpc::p5-vpc"


@pytest.mark.parametrize("name", ["x" * 300, "a$b", "ü" * 10, "x" * 300 + "y"])
def test_what_a_tag_cannot_hold_is_cut_and_stays_the_only_one(name: str) -> None:
    value = tag(name)
    assert len(value) <= MAX_VALUE_LENGTH
    assert ALLOWED.fullmatch(value)
    assert value != tag(name + "z")
    assert value == tag(name)


@pytest.mark.parametrize("golden", GOLDENS, ids=lambda path: path.stem)
def test_no_two_resources_of_a_stack_share_a_value(golden) -> None:
    """Types of parents are omitted: type and name are unique in a stack."""
    made = [m for m in yaml.safe_load(golden.read_text()) if m["type"].startswith("aws:")]
    values = [tag(each["name"], each["type"]) for each in made]
    assert len(set(values)) == len(values)
    assert all(len(value) <= MAX_VALUE_LENGTH and ALLOWED.fullmatch(value) for value in values)


def test_it_is_no_tag_of_the_user_s() -> None:
    from trainyard.components.tagging import tag_fault

    assert tag_fault(RESOURCE_TAG, "mine") == "is set by the program itself"
