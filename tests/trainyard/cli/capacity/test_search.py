"""`capacity search` shows what EC2 offers, and asks only for what it sells."""

from __future__ import annotations

import json

from tests.support.capacity_commands import STACK, Commands
from tests.support.faults.account import CountedCalls


def test_a_search_shows_zones_prices_and_subnets(capacity: Commands) -> None:
    result = capacity(
        *("search", "--type", "p5.48xlarge", "--nodes", "4", "--days", "7", "--stack", STACK)
    )
    assert result.exit_code == 0, result.output
    for text in ("us-west-2b", "usw2-az1", "subnet-0b000000000000002", "subnet: none", "11:30 UTC"):
        assert text in result.stdout
    assert "3.93 an accelerator" in result.stdout
    assert "on demand: 55.04 a node and hour" in result.stdout
    assert "only the request tells whether EC2 has the instances" in result.stdout
    assert "./trainyard capacity buy cb-" in result.stdout


def test_the_offering_that_starts_first_comes_first(capacity: Commands) -> None:
    search = ("search", "--type", "p5.48xlarge", "--nodes", "4", "--days", "7", "--json")
    starts = [each["starts_at"] for each in json.loads(capacity(*search).stdout)["offerings"]]
    assert len({*starts}) > 1
    assert starts == sorted(starts)


def test_a_search_goes_over_regions_and_says_which_one_failed(capacity: Commands) -> None:
    capacity.use("call: 'ec2:DescribeCapacityBlockOfferings', nth: 2, happens: credentials-expired")
    result = capacity(
        *("search", "--type", "p5.48xlarge", "--nodes", "2", "--days", "1", "--json"),
        *("--regions", "us-east-2,us-west-2"),
    )
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert {each["region"] for each in found["offerings"]} == {"us-east-2"}
    assert [*found["failures"]] == ["us-west-2"]
    assert "us-west-2: ec2:DescribeCapacityBlockOfferings: the AWS credentials" in result.stderr


def test_a_search_that_ec2_would_refuse_is_not_made(
    capacity: Commands, counted: CountedCalls
) -> None:
    result = capacity("search", "--type", "g5.12xlarge", "--nodes", "65", "--days", "15")
    assert result.exit_code == 2
    for option in ("--type", "--nodes", "--days"):
        assert f"\n  {option}\n" in result.stderr
    assert not counted.done


def test_without_a_quota_the_search_says_how_to_look_at_it(capacity: Commands) -> None:
    result = capacity("search", "--type", "p5en.48xlarge", "--nodes", "2", "--days", "7")
    assert result.exit_code == 1
    assert "CapacityBlockDescribeLimitExceeded" in result.stderr
    assert "aws service-quotas list-service-quotas" in result.stderr
