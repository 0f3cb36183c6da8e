"""Facts that the pack reads from EC2 if its configuration allows it."""

from __future__ import annotations

import builtins

import boto3
import pytest
from botocore.stub import Stubber
from pulumi_policy import (
    PolicyProviderResource,
    PolicyResource,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    StackValidationArgs,
    StackValidationPolicy,
)

from tests.support.policy import Declared, check
from tests.support.policy_programs import ASSISTED_ID, BLOCK_ID, OWN_GROUP, OWN_ID, in_odcr
from trainyard.policies.pack.configured import configured, served
from trainyard.policies.pack.discovery import POLICIES
from trainyard.policies.pack.lookup import LookupFailedError, ReservationLookup, boto3_client
from trainyard.policies.pack.suppressions import Ledger
from trainyard.policies.resources.reservations import DECLARED_SCHEMA

ACCOUNT = "123456789012"
RULE = next(p for p in POLICIES if p.name == "odcr-aws-assisted-no-placement-group")


def reservation(id_: str, group_owner: str = ACCOUNT, group: str | None = None, **more: str):
    group_arn = f"arn:aws:ec2:us-west-2:{group_owner}:placement-group/{group}"
    return {
        "CapacityReservationId": id_,
        "OwnerId": ACCOUNT,
        **({"PlacementGroupArn": group_arn} if group else {}),
        **more,
    }


DESCRIBED = [
    reservation(OWN_ID, group=OWN_GROUP),
    reservation(ASSISTED_ID, "999999999999", "of-aws"),
    reservation(BLOCK_ID, ReservationType="capacity-block"),
    reservation("cr-00d00000000000009"),
]


class Account:
    """An account that counts its calls."""

    def __init__(self, *, denied: bool = False) -> None:
        self.asked: list[tuple[str, str | None]] = []
        self._denied = denied

    def client(self, service: str, region: str | None):
        self.asked.append((service, region))
        made = boto3.client(
            service, region or "us-west-2", aws_access_key_id="a", aws_secret_access_key="b"
        )
        stubber = Stubber(made)
        if service == "sts":
            stubber.add_response("get_caller_identity", {"Account": ACCOUNT})
        elif self._denied:
            stubber.add_client_error("describe_capacity_reservations", "UnauthorizedOperation")
        else:
            stubber.add_response(
                "describe_capacity_reservations",
                {"CapacityReservations": DESCRIBED[:2], "NextToken": "more"},
            )
            stubber.add_response(
                "describe_capacity_reservations", {"CapacityReservations": DESCRIBED[2:]}
            )
        stubber.activate()
        return made


def test_what_ec2_shows_is_told_apart():
    """A group of another account cannot be used, even if this account owns the reservation.

    A reservation without a group does not show who created it, and remains undeclared.
    """
    found = ReservationLookup(Account().client).completed({}, [None])
    assert found == {
        "own_reservations": {OWN_ID: OWN_GROUP},
        "assisted_reservations": [ASSISTED_ID],
        "capacity_blocks": [BLOCK_ID],
    }


def test_what_is_declared_goes_before_what_ec2_says():
    declared = {"assisted_reservations": [OWN_ID], "own_reservations": {ASSISTED_ID: ""}}
    found = ReservationLookup(Account().client).completed(declared, [None])
    assert found["own_reservations"] == {ASSISTED_ID: ""}
    assert found["assisted_reservations"] == [OWN_ID]


def test_a_rule_that_is_allowed_to_ask_passes_the_group_that_ec2_shows():
    account = Account()
    rule = configured(RULE, Ledger(), ReservationLookup(account.client))
    program = in_odcr(OWN_ID, placement={"groupName": OWN_GROUP})
    assert check(rule, program, config={"lookup": True}).messages == []
    assert check(rule, program, config={"lookup": True}).messages == []
    assert account.asked == [("sts", None), ("ec2", None)]


@pytest.mark.parametrize("config", [{}, {"lookup": False}])
def test_nothing_is_asked_without_leave(config):
    account = Account()
    rule = configured(RULE, Ledger(), ReservationLookup(account.client))
    (message,) = check(
        rule, in_odcr(OWN_ID, placement={"groupName": OWN_GROUP}), config=config
    ).messages
    assert "own_reservations" in message
    assert account.asked == []


def test_nothing_is_asked_for_a_resource_that_is_no_launch():
    account = Account()
    rule = configured(RULE, Ledger(), ReservationLookup(account.client))
    check(rule, Declared("aws:s3/bucket:Bucket", "data"), config={"lookup": True})
    assert account.asked == []


AWS = PolicyProviderResource("pulumi:providers:aws", {"region": "eu-north-1"}, "urn", "aws")
KUBERNETES = PolicyProviderResource("pulumi:providers:kubernetes", {"region": "none"}, "urn", "k")


def test_the_region_is_that_of_the_provider_of_the_resource():
    account, seen = Account(), []
    rule = ResourceValidationPolicy(
        name="asks",
        description="Asks for reservations.",
        config_schema=DECLARED_SCHEMA,
        validate=lambda args, _: seen.append(args.get_config()["own_reservations"]),
    )
    served_rule = configured(rule, Ledger(), ReservationLookup(account.client))
    args = ResourceValidationArgs("t", {}, "urn", "name", None, AWS, {"lookup": True})
    served_rule.validate(args, lambda message, urn=None: None)
    assert seen == [{OWN_ID: OWN_GROUP}]
    assert {region for _, region in account.asked} == {"eu-north-1"}


@pytest.mark.parametrize(
    "setting", [{"profile": "team"}, {"assumeRoles": '[{"roleArn": "r"}]'}, {"accessKey": "a"}]
)
def test_a_provider_of_another_account_than_the_environment_is_left_out(setting):
    account, seen = Account(), []
    rule = ResourceValidationPolicy(
        name="asks",
        description="Asks for reservations.",
        config_schema=DECLARED_SCHEMA,
        validate=lambda args, _: seen.append(args.get_config()["own_reservations"]),
    )
    lookup = ReservationLookup(account.client)
    provider = PolicyProviderResource(
        "pulumi:providers:aws", {"region": "eu-north-1", **setting}, "urn", "aws"
    )
    args = ResourceValidationArgs("t", {}, "urn", "name", None, provider, {"lookup": True})
    configured(rule, Ledger(), lookup).validate(args, lambda message, urn=None: None)
    assert (seen, account.asked) == ([{}], [])
    (message,) = lookup.failures
    assert f"the AWS provider has the setting {next(iter(setting))}" in message


def test_a_stack_is_asked_for_in_the_regions_of_all_its_resources():
    account, seen = Account(), []
    rule = StackValidationPolicy(
        name="asks",
        description="Asks for reservations.",
        config_schema=DECLARED_SCHEMA,
        validate=lambda args, _: seen.append(args.get_config()["capacity_blocks"]),
    )
    served_rule = configured(rule, Ledger(), ReservationLookup(account.client))
    resources = [
        PolicyResource("t", {}, f"urn-{n}", "name", None, provider, None, [], {})
        for n, provider in enumerate((AWS, AWS, KUBERNETES, None))
    ]
    args = StackValidationArgs(resources, {"lookup": True})
    served_rule.validate(args, lambda message, urn=None: None)
    assert seen == [[BLOCK_ID]]
    assert account.asked == [("sts", "eu-north-1"), ("ec2", "eu-north-1")]


def lookup_advisories(lookup: ReservationLookup, program) -> list[str]:
    """Return the pack's messages about its lookups after a program."""
    policies = {policy.name: policy for policy in served([RULE], lookup=lookup)}
    assert check(policies[RULE.name], program, config={"lookup": True}).messages
    said: list[str] = []
    args = StackValidationArgs([])
    policies["account-lookup"].validate(args, lambda message, urn=None: said.append(message))
    return said


def test_an_account_that_refuses_is_an_advisory_and_the_strictest_reading_stays():
    lookup = ReservationLookup(Account(denied=True).client)
    program = in_odcr(OWN_ID, placement={"groupName": OWN_GROUP})
    (message,) = lookup_advisories(lookup, program)
    assert "UnauthorizedOperation" in message
    assert "; allow ec2:DescribeCapacityReservations" in message


def test_a_pack_without_boto3_says_so(monkeypatch):
    real = builtins.__import__

    def without_boto3(name, *arguments, **more):
        if name == "boto3":
            raise ImportError(name)
        return real(name, *arguments, **more)

    monkeypatch.setattr(builtins, "__import__", without_boto3)
    with pytest.raises(LookupFailedError, match="boto3 is not installed"):
        boto3_client("ec2", None)
    program = in_odcr(OWN_ID, placement={"groupName": OWN_GROUP})
    (message,) = lookup_advisories(ReservationLookup(), program)
    assert "boto3 is not installed" in message
