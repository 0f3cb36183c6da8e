"""`capacity list` and `capacity release`, and the page about all commands."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from typer.main import get_command

from tests.support.capacity_commands import Commands
from tests.support.faults.account import CountedCalls
from tests.support.reservation_answers import Reader, described
from tests.support.sandbox_aws import AWS_ASSISTED, BLOCK, ODCR
from tests.support.tracked import ROOT
from trainyard.capacity.reservation_list import listed_reservations
from trainyard.capacity.wording import utc
from trainyard.commands.capacity.capacity import app
from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.aws.transitions import TRANSITIONS


@pytest.mark.usefixtures("unchecked")
def test_the_list_has_every_kind_of_reservation(capacity: Commands) -> None:
    TRANSITIONS.scale = 1
    assert capacity.buy(capacity.offering()).exit_code == 0
    result = capacity("list")
    assert result.exit_code == 0
    for text in (
        "Capacity Block",
        "shared by 999988887777",
        "payment-pending",
        "expired",
        "h left",
    ):
        assert text in result.stdout
    listed = {
        each["reservation_id"]: each for each in json.loads(capacity("list", "--json").stdout)
    }
    assert (listed[ODCR]["used"], listed[ODCR]["instances"]) == (0, 2)
    assert not listed[AWS_ASSISTED]["is_own"]
    assert listed[ODCR]["hours_left"] is None


def test_a_reservation_is_released_when_its_id_is_typed(capacity: Commands) -> None:
    assert capacity("release", ODCR).exit_code == 2
    assert capacity("release", ODCR, "--confirm", BLOCK).exit_code == 2
    assert capacity.account.reservation(ODCR)["State"] == "active"
    assert capacity("release", ODCR, "--confirm", ODCR).exit_code == 0
    assert capacity.account.reservation(ODCR)["State"] == "cancelled"
    assert "cancelled already" in capacity("release", ODCR, "--confirm", ODCR).stdout


def test_the_stack_that_created_a_reservation_is_named_before_its_release(
    capacity: Commands,
) -> None:
    tags = [
        {"Key": "trainyard:reservation", "Value": "training"},
        {"Key": "trainyard:cluster", "Value": "prod-a"},
        {"Key": "trainyard:resource", "Value": "prod-a::trainyard::aws::reservation"},
    ]
    capacity.account.ec2.create_tags(Resources=[ODCR], Tags=tags)
    assert "created by stack prod-a" in capacity("list").stdout
    listed = {
        each["reservation_id"]: each for each in json.loads(capacity("list", "--json").stdout)
    }
    assert (listed[ODCR]["created_by"], listed[AWS_ASSISTED]["created_by"]) == ("prod-a", None)
    said = capacity("release", ODCR, "--confirm", ODCR)
    assert said.exit_code == 0
    assert "./trainyard refresh prod-a" in said.stdout


def test_a_release_whose_answer_is_lost_is_done(
    capacity: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("botocore.endpoint.time.sleep", lambda _: None)
    cancel = "ec2:CancelCapacityReservation"
    capacity.use(f"call: '{cancel}', nth: 2, times: 4, happens: done-without-answer")
    assert capacity("release", ODCR, "--confirm", ODCR).exit_code == 0


def test_a_release_that_ec2_refuses_is_a_failure(
    capacity: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("botocore.endpoint.time.sleep", lambda _: None)
    capacity.use("call: 'ec2:CancelCapacityReservation', nth: 2, times: 4, happens: throttled")
    result = capacity("release", ODCR, "--confirm", ODCR)
    assert (result.exit_code, result.stdout.count("released")) == (1, 0)
    assert capacity.account.reservation(ODCR)["State"] == "active"


@pytest.mark.parametrize(
    ("reservation", "said"),
    [(BLOCK, "neither cancels nor refunds"), (AWS_ASSISTED, "only its owner")],
)
def test_what_cannot_be_released_is_refused(
    capacity: Commands, counted: CountedCalls, reservation: str, said: str
) -> None:
    result = capacity("release", reservation, "--confirm", reservation)
    assert result.exit_code == 2
    assert said in result.stderr
    assert counted.done["ec2:CancelCapacityReservation"] == 0


def test_a_future_dated_reservation_is_listed_with_its_start_and_not_released(
    capacity: Commands,
) -> None:
    start = CLOCK.now() + timedelta(days=6)
    made = capacity.account.ec2.create_capacity_reservation(
        InstanceType="g6e.48xlarge",
        InstancePlatform="Linux/UNIX",
        AvailabilityZone="us-west-2b",
        InstanceCount=1,
        StartDate=start,
        CommitmentDuration=30 * 86_400,
        DeliveryPreference="incremental",
    )
    reservation_id = made["CapacityReservation"]["CapacityReservationId"]
    listed = {
        each["reservation_id"]: each for each in json.loads(capacity("list", "--json").stdout)
    }
    assert (listed[reservation_id]["state"], listed[reservation_id]["used"]) == ("scheduled", 0)
    assert utc(start) in " ".join(capacity("list").stdout.split())
    refused = capacity("release", reservation_id, "--confirm", reservation_id)
    assert refused.exit_code == 2
    assert "only for a charge" in refused.stderr


@pytest.mark.parametrize(
    ("state", "said"),
    [("delayed", "asked for 20"), ("assessing", "starts 20"), ("unsupported", "will not deliver")],
)
def test_a_state_is_explained_in_the_list(
    capacity: Commands, monkeypatch: pytest.MonkeyPatch, state: str, said: str
) -> None:
    reader: Any = Reader(described(State=state))
    found = listed_reservations(reader, {}, CLOCK.now())
    monkeypatch.setattr(
        "trainyard.commands.capacity.list_.listed_reservations", lambda *_, **__: found
    )
    listed = capacity("list").stdout
    assert f"{state}: EC2 " in listed
    assert said in listed


def test_the_page_describes_every_option() -> None:
    page = (ROOT / "docs" / "capacity.md").read_text(encoding="utf-8")
    group: Any = get_command(app)
    options = {
        name
        for each in group.commands.values()
        for parameter in each.params
        for name in parameter.opts
        if name.startswith("--")
    }
    assert {name for name in options - {"--help"} if f"`{name}" not in page} == set()
