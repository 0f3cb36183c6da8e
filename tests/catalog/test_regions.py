"""Regions and zones are known, and new regions are not refused."""

from __future__ import annotations

import pytest

from tools.catalog import regions as generator
from trainyard.components.catalog.regions import (
    can_be_region,
    is_known_region,
    known_regions,
    nearest_region,
    zone_region,
)
from trainyard.components.config.provider_settings import provider_problems


def test_the_file_is_that_of_the_installed_botocore():
    """Made with `python -m tools.catalog.regions`."""
    assert generator.DATA_FILE.read_text(encoding="utf-8") == generator.text()


@pytest.mark.parametrize("name", known_regions())
def test_every_region_of_botocore_is_accepted(name: str):
    assert not provider_problems({"aws:region": name}, stack_file="Pulumi.a.yaml")


@pytest.mark.parametrize("name", ["us-west-3", "ap-northeast-4", "us-gov-central-1", "cn-east-1"])
def test_a_new_region_is_accepted_by_the_pattern_of_its_partition(name: str):
    assert can_be_region(name)
    assert not is_known_region(name)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("us-wst-2", "us-west-2"),
        ("us-west2", "us-west-2"),
        ("us-west-2a", "us-west-2"),
        ("US-WEST-2", "us-west-2"),
        ("us_west_2", "us-west-2"),
        ("us\u2013west\u20132", "us-west-2"),
        ("eu-cental-1", "eu-central-1"),
    ],
)
def test_a_slip_of_typing_is_refused_with_the_region_that_is_meant(name: str, meant: str):
    (problem,) = provider_problems({"aws:region": name}, stack_file="Pulumi.a.yaml")
    assert problem.remedy == f"pulumi config set --stack a 'aws:region' {meant}"
    assert f"the nearest is `{meant}`" in problem.problem


@pytest.mark.parametrize("name", ["moon", "us-west-200", 7, ["us-west-2"]])
def test_what_is_like_no_region_has_an_example_only(name: object):
    (problem,) = provider_problems({"aws:region": name}, stack_file="Pulumi.a.yaml")
    assert "pulumi config" not in problem.remedy or nearest_region(str(name))


@pytest.mark.parametrize(
    ("zone", "region"),
    [
        ("us-west-2b", "us-west-2"),
        ("us-west-2-lax-1a", "us-west-2"),
        ("usw2-az2", "us-west-2"),
        ("usw2-lax1-az1", "us-west-2"),
        ("apne1-az4", "ap-northeast-1"),
        ("usgw1-az1", "us-gov-west-1"),
        ("cnnw1-az3", "cn-northwest-1"),
        ("xyz1-az1", None),
    ],
)
def test_a_zone_leads_to_its_region(zone: str, region: str | None):
    assert zone_region(zone) == region
