"""The purchase of a Capacity Block for a stack, in the terms of EC2.

Sources:
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_PurchaseCapacityBlock.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-pricing-billing.html
    https://github.com/hashicorp/terraform-provider-aws/blob/main/internal/service/ec2/ec2_capacity_block_reservation.go
    (the tags are those of a `capacity-reservation`)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from trainyard.capacity.offerings import Offering
from trainyard.capacity.records import Purchase
from trainyard.components.account import answers
from trainyard.components.account.facts import ReservationFacts
from trainyard.components.account.lookup import AccountReader, AccountUnreachableError
from trainyard.components.account.reservations import DESCRIBE
from trainyard.components.capacity.plan import LINUX

PURCHASE = "ec2:PurchaseCapacityBlock"
PURCHASE_TAG = "trainyard:purchase"
"""Key of the tag with the id of a purchase, by which a reservation is found again."""
STACK_TAG = "trainyard:stack"
"""Key of the tag with the stack that a block was bought for."""
EXPECTED_ID = "cr-00000000000000000"
"""Stands for the id of a block that is not bought yet."""
_RECENT = timedelta(days=1)


def expected_block(offering: Offering) -> ReservationFacts:
    """Return the reservation that a purchase would create, after its payment."""
    return ReservationFacts(
        reservation_id=EXPECTED_ID,
        kind="capacity-block",
        instance_type=offering.node_type,
        availability_zone=offering.zone,
        zone_id=offering.zone_id,
        state="scheduled",
        instance_count=offering.instances,
        owner_id=offering.account_id,
        platform=LINUX,
        placement_group=None,
        starts_at=offering.starts_at,
        ends_at=offering.ends_at,
        available_count=0,
    )


def purchase_arguments(purchase: Purchase) -> dict[str, Any]:
    """Return the arguments of PurchaseCapacityBlock."""
    tags = {PURCHASE_TAG: purchase.purchase_id, STACK_TAG: purchase.subject}
    return {
        "CapacityBlockOfferingId": purchase.offering.offering_id,
        "InstancePlatform": LINUX,
        "TagSpecifications": [
            {
                "ResourceType": "capacity-reservation",
                "Tags": [{"Key": key, "Value": value} for key, value in tags.items()],
            }
        ],
    }


def answered_block(result: Mapping[str, Any]) -> ReservationFacts:
    """Return the reservation in EC2's answer to the purchase of one block.

    It is in `CapacityReservation` and in `CapacityReservations`; EC2 does not document whether the
    first is there for an UltraServer.
    """
    return answers.reservation(
        result.get("CapacityReservation") or result["CapacityReservations"][0]
    )


def recent_blocks(
    reader: AccountReader, stack: str, now: datetime
) -> Iterator[tuple[ReservationFacts, datetime]]:
    """Yield the blocks that were bought for a stack in the last day, with the time of the purchase.

    They show a purchase whose record was lost, for example with the disk of another machine.

    Raises:
        AccountUnreachableError: EC2 does not answer, or denies the call. Then it is unknown.
    """
    answer = _described(reader, STACK_TAG, stack, f"earlier purchases for {stack} are looked up")
    for each in answer:
        created = each.get("CreateDate")
        if created is not None and now - created < _RECENT:
            yield answers.reservation(each), created


def bought_block(reader: AccountReader, purchase: Purchase) -> ReservationFacts | None:
    """Return the reservation of a purchase, by its tag; None if EC2 does not show one.

    Raises:
        AccountUnreachableError: EC2 does not answer, or denies the call. Then it is unknown.
    """
    offering_id = purchase.offering.offering_id
    what = f"the purchase of {offering_id} is looked up"
    found = _described(reader, PURCHASE_TAG, purchase.purchase_id, what)
    return answers.reservation(found[0]) if found else None


def _described(reader: AccountReader, tag: str, value: str, what: str) -> Sequence[Any]:
    """Return EC2's description of the reservations with a tag."""
    filters = [{"Name": f"tag:{tag}", "Values": [value]}]
    answer = reader.ask(DESCRIBE, reader.ec2.describe_capacity_reservations, Filters=filters)
    if answer is None:
        raise AccountUnreachableError(
            f"AWS denies {DESCRIBE}, with which {what}; nothing else is bought until that is "
            "allowed"
        )
    return answer["CapacityReservations"]
