"""The reservations that a stack has created, found by their tags."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.support.eks import config, with_created_odcr, with_odcr
from tests.support.sandbox_aws import AWS_ASSISTED, Account
from trainyard.components.account.reader import AccountReader
from trainyard.components.architectures.prepare import complete
from trainyard.components.capacity.lookup import look_up_created


def tags_of(cluster: str, entry: str) -> list[dict[str, str]]:
    tags = {"trainyard:cluster": cluster, "trainyard:reservation": entry}
    return [{"Key": key, "Value": value} for key, value in tags.items()]


def create(account: Account, cluster: str, entry: str) -> str:
    made = account.ec2.create_capacity_reservation(
        InstanceType="p5.48xlarge",
        InstancePlatform="Linux/UNIX",
        AvailabilityZone="us-west-2b",
        InstanceCount=2,
        TagSpecifications=[
            {
                "ResourceType": "capacity-reservation",
                "Tags": tags_of(cluster, entry),
            }
        ],
    )
    return made["CapacityReservation"]["CapacityReservationId"]


def test_the_reservation_of_the_stack_and_the_entry_is_found(
    account: Account, reader: AccountReader
) -> None:
    create(account, "other", "block")
    create(account, "p5-cb", "elsewhere")
    # Another account shares one with the same tags.
    account.ec2.create_tags(Resources=[AWS_ASSISTED], Tags=tags_of("p5-cb", "block"))
    gone = create(account, "p5-cb", "block")
    account.ec2.cancel_capacity_reservation(CapacityReservationId=gone)
    mine = create(account, "p5-cb", "block")
    found = look_up_created(reader, config(with_created_odcr()))
    assert {name: each.reservation_id for name, each in found.items()} == {"block": mine}


def test_without_a_reservation_to_create_nothing_is_asked(
    reader: AccountReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    def asked(*_: Any, **__: Any) -> Any:
        raise AssertionError("a call")

    monkeypatch.setattr(reader, "ask", asked)
    assert look_up_created(reader, config(with_odcr())) == {}


def test_a_created_reservation_keeps_the_numbers_of_the_stack_file(facts, block) -> None:
    known = replace(
        facts,
        reservations={block.reservation_id: replace(block, kind="odcr", instance_count=1)},
        created_reservations={"block": block.reservation_id},
    )
    done = complete(config(with_created_odcr(instance_count=6)), known).reservations["block"]
    assert (done.reservation_id, done.instance_count) == (block.reservation_id, 6)
