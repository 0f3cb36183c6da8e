"""The complete preflight, against the sandbox's account."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.support.sandbox_aws import (  # before boto3
    AWS_ASSISTED,
    BLOCK,
    NVIDIA_IMAGE,
    ODCR,
    OTHER_ZONE,
    SCHEDULED,
)

from trainyard.components.account.reader import AccountReader  # isort: skip
from trainyard.components.compute.dry_run import LAUNCH  # isort: skip
from trainyard.components.compute.dry_run import IMAGE  # isort: skip
from trainyard.components.quotas.checks import QUOTA  # isort: skip
from trainyard.components.capacity.checks import FREE, HEALTHY, READ  # isort: skip
from trainyard.components.account.check import Row  # isort: skip
from trainyard.components.architectures.preflight import CALLER, Preflight, run_preflight  # isort: skip
from moto.ec2 import ec2_backends  # isort: skip
from trainyard.sandbox.aws.ec2.capacity_reservations import reservations_of  # isort: skip
from trainyard.stack_files.stack_config import config_of  # isort: skip
from trainyard.stack_files.completion import completed, sandbox_completion

from trainyard.stack_files.stack_files import find_stack_file  # isort: skip

P5 = "architecture.node_groups.p5"
pytestmark = pytest.mark.usefixtures("account")


def preflight(stack: str, cluster: dict[str, Any] | None = None) -> Preflight:
    """Run it for a tracked stack file; `cluster` adds the values that the file omits."""
    found = find_stack_file(stack)
    file = completed(completed(found, cluster or {}), sandbox_completion(found))
    return run_preflight(
        config_of(file), stack_file=file.name, region=file.region, now=datetime.now(UTC)
    )


def with_reservation(stack: str, **changes: str) -> Preflight:
    """Run it for a tracked stack file with a changed reservation."""
    return changed_preflight(
        stack, lambda cluster: cluster["reservations"]["training"].update(changes)
    )


def changed_preflight(stack: str, change: Callable[[dict[str, Any]], None]) -> Preflight:
    """Run it for a tracked stack file with changed values."""
    file = completed(find_stack_file(stack), sandbox_completion(find_stack_file(stack)))
    content = copy.deepcopy(dict(file.content))
    change(content["config"]["trainyard:cluster"])
    changed = replace(file, content=content)
    return run_preflight(
        config_of(changed), stack_file=file.name, region=file.region, now=datetime.now(UTC)
    )


def block(reservation_id: str) -> dict[str, Any]:
    return {"reservations": {"block": {"reservation_id": reservation_id}}}


def one(found: Preflight, subject: str, asked: str) -> Row:
    (row,) = [row for row in found.rows if (row.subject, row.asked) == (subject, asked)]
    return row


@pytest.mark.parametrize("stack", ["p5-cb", "eks-p4de-odcr-vpc", "pc-p4de-g5", "batch-p4d"])
def test_a_stack_that_fits_the_account_passes_every_question(stack):
    found = preflight(stack)
    assert Counter(row.verdict for row in found.rows) == {"ok": len(found.rows)}
    assert found.problems == ()


def test_identity_and_region_are_told():
    found = preflight("p5-cb")
    assert (found.account_id, found.region) == ("123456789012", "us-west-2")
    assert found.caller_arn.startswith("arn:aws:")


def test_a_node_of_each_pool_is_launched_dry():
    """E14."""
    found = preflight("p5-cb")
    launched = [row.subject for row in found.rows if row.asked == LAUNCH]
    assert launched == ["architecture.system_node_group", P5]
    assert f"p5.48xlarge from {NVIDIA_IMAGE}" in one(found, P5, LAUNCH).found


def test_a_dry_run_launches_nothing(account):
    preflight("p5-cb")
    assert account.ec2.describe_instances()["Reservations"] == []


def test_a_block_of_another_zone_is_refused_and_no_launch_is_tried():
    """C2."""
    found = preflight("p5-cb", block(OTHER_ZONE))
    assert found.problems
    assert not [row for row in found.rows if row.asked == LAUNCH]


def test_a_block_that_has_not_begun_passes_and_is_not_launched_into():
    """D8."""
    found = preflight("p5-cb", block(SCHEDULED))
    assert found.problems == ()
    row = one(found, "reservations.block", FREE)
    assert (row.verdict, row.found) == ("ok", "2 instances from its start, 2 needed")
    assert one(found, P5, LAUNCH).verdict == "skipped"


@pytest.mark.parametrize(
    ("health", "verdict", "words"),
    [
        ({}, "ok", "interconnect ok, 4 instances"),
        ({"interconnect": "impaired", "unavailable": 1}, "warning", "1 of 4 instances"),
    ],
)
def test_the_health_of_an_ultraserver_is_read_from_the_account(monkeypatch, health, verdict, words):
    """D17."""
    reservation = reservations_of(ec2_backends["123456789012"]["us-west-2"]).with_id(BLOCK)
    sold = {"instance_type": "trn2u.48xlarge", "ultraserver_type": "u-trn2x64", "instance_count": 4}
    for name, value in (sold | health).items():
        monkeypatch.setattr(reservation, name, value)

    def whole_ultraserver(cluster: dict[str, Any]) -> None:
        group = cluster["architecture"]["node_groups"]["p5"]
        group.update(instance_type="trn2u.48xlarge", desired=4, maximum=4)
        cluster["reservations"]["block"]["instance_count"] = 4

    row = one(changed_preflight("p5-cb", whole_ultraserver), "reservations.block", HEALTHY)
    assert (row.verdict, words in row.found) == (verdict, True)


def test_a_new_vpc_has_no_subnet_to_launch_in():
    found = preflight("eks-g4dn")
    row = one(found, "architecture.node_groups.g4dn", LAUNCH)
    assert (row.verdict, "creates its VPC" in row.found) == ("skipped", True)
    assert one(found, "architecture.node_groups.g4dn", IMAGE).verdict == "ok"
    assert one(found, "architecture.node_groups.g4dn", QUOTA).verdict == "ok"


def test_a_share_that_nobody_has_accepted_is_found_waiting():
    share = "arn:aws:ram:us-west-2:999988887777:resource-share/"
    waiting = {
        "reservations": {
            "training": {
                "reservation_id": "cr-0a550000000000002",
                "resource_share_arn": f"{share}0a1b2c3d-0a1b-2c3d-4e5f-0a1b2c3d4e5f",
            }
        }
    }
    found = preflight("pc-p4de-ami", waiting)
    told = [row.found for row in found.rows if row.subject == "reservations.training"]
    assert any("the invitation of account 999988887777 is pending" in text for text in told)


@pytest.mark.parametrize(
    ("reservation_id", "words"),
    [
        (AWS_ASSISTED, "aws-assisted: nodes launch into no group"),
        (ODCR, "own: nodes launch into no group"),
    ],
)
def test_the_account_says_what_auto_is_and_ec2_would_launch_so(reservation_id, words):
    """B10: the sandbox refuses a launch into another group than the reservation's."""
    found = with_reservation("eks-p5-odcr", reservation_id=reservation_id, provenance="auto")
    assert one(found, "reservations.training.provenance", READ).found == words
    assert {row.verdict for row in found.rows if row.asked == LAUNCH} == {"ok"}


def test_what_the_caller_may_not_ask_is_skipped_and_said(monkeypatch):
    ask = AccountReader.ask

    def denied(reader: AccountReader, call: str, do: Any, **arguments: Any) -> Any:
        def refuse(**_: Any) -> None:
            raise ClientError({"Error": {"Code": "AccessDenied", "Message": ""}}, call)

        return ask(reader, call, refuse if call in MAY_NOT else do, **arguments)

    monkeypatch.setattr(AccountReader, "ask", denied)
    found = preflight("p5-cb")
    assert found.problems == ()
    skipped = [f"{row.asked} {row.found}" for row in found.rows if row.verdict == "skipped"]
    for call in MAY_NOT:
        assert any(call in text for text in skipped), call
    assert [row.asked for row in found.rows if row.subject == CALLER] == [
        "may ec2:DescribeVpcEndpoints"
    ]


MAY_NOT = (
    "ec2:DescribeVpcEndpoints",
    "ec2:DescribeInstanceTypes",
    "eks:DescribeClusterVersions",
    "iam:GetRole",
    "servicequotas:GetServiceQuota",
    "ssm:GetParameter",
)


def test_a_service_that_does_not_answer_the_preflight_does_not_end_it(monkeypatch):
    ask = AccountReader.ask

    def broken(reader: AccountReader, call: str, do: Any, **arguments: Any) -> Any:
        def fail(**_: Any) -> None:
            raise ClientError({"Error": {"Code": "InternalFailure", "Message": "later"}}, call)

        broken_call = call == "servicequotas:GetServiceQuota"
        return ask(reader, call, fail if broken_call else do, **arguments)

    monkeypatch.setattr(AccountReader, "ask", broken)
    found = preflight("p5-cb")
    row = one(found, "architecture.system_node_group", QUOTA)
    assert (row.verdict, "InternalFailure" in row.found) == ("skipped", True)
    assert found.problems == ()
