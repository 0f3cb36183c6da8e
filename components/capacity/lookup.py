"""Read capacity reservations, their groups, holders, invitations and UltraServers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from trainyard.components.account.reader import AccountReader, AccountUnreachableError, readable
from trainyard.components.capacity.facts import (
    Holders,
    InvitationFacts,
    ReservationFacts,
    UltraserverFacts,
)
from trainyard.components.capacity.reservations import (
    DESCRIBE,
    LIST_GROUP_RESOURCES,
    block_times,
    read_provenance,
    reservation_ids,
)
from trainyard.components.catalog.capacity_blocks import BOUGHT_TAG
from trainyard.components.config.reservations import (
    CapacityBlock,
    OdcrGroup,
    Reservation,
)
from trainyard.components.config.stack import StackConfig
from trainyard.components.tagging import (
    CLUSTER_TAG,
    EKS_CLUSTER_TAG,
    PARALLELCLUSTER_TAG,
    RESERVATION_TAG,
    tag_map,
)


def reservation_facts(answer: dict[str, Any]) -> ReservationFacts:
    """Return a capacity reservation, from one of `CapacityReservations`."""
    group_arn = answer.get("PlacementGroupArn")
    lent: Mapping[str, Any] = answer.get("InterruptibleCapacityAllocation") or {}
    interruption: Mapping[str, Any] = answer.get("InterruptionInfo") or {}
    commitment: Mapping[str, Any] = answer.get("CommitmentInfo") or {}
    return ReservationFacts(
        reservation_id=answer["CapacityReservationId"],
        kind="capacity-block" if answer.get("ReservationType") == "capacity-block" else "odcr",
        instance_type=answer["InstanceType"],
        availability_zone=answer["AvailabilityZone"],
        zone_id=answer.get("AvailabilityZoneId", ""),
        state=answer["State"],
        instance_count=instance_count(answer),
        owner_id=answer["OwnerId"],
        platform=answer["InstancePlatform"],
        placement_group=group_arn.rpartition("/")[2] if group_arn else None,
        placement_group_owner_id=group_arn.split(":")[4] if group_arn else None,
        available_count=answer.get("AvailableInstanceCount"),
        starts_at=answer.get("StartDate"),
        ends_at=answer.get("EndDate"),
        arn=answer["CapacityReservationArn"],
        tenancy=answer.get("Tenancy", "default"),
        interruptible=bool(answer.get("Interruptible")),
        source_id=interruption.get("SourceCapacityReservationId"),
        lent_to=lent.get("InterruptibleCapacityReservationId"),
        committed_until=commitment.get("CommitmentEndDate"),
        tags=tag_map(answer.get("Tags")),
    )


def instance_count(answer: dict[str, Any]) -> int:
    """Return how many instances a reservation has, or will have, for those that target it.

    A Capacity Block has a total of 0 until it starts, and the number that was bought in a tag. The
    larger of both is correct before and after. It is 0 if the tag is missing:
    `ReservationFacts.known_count` is then None.

    EC2 moves the instances of an interruptible reservation out of its source, and does not document
    whether `TotalInstanceCount` of the source still has them. What is used and what is available
    is correct in both cases.

    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-view.html
    aws/aws-parallelcluster, cli/src/pcluster/validators/ec2_validators.py at 451cc5320d5d,
    CapacityReservationSizeValidator
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/interruptible-capacity-reservations.html
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CapacityAllocation.html
    """
    total: int = answer["TotalInstanceCount"]
    if answer.get("ReservationType") == "capacity-block":
        bought = tag_map(answer.get("Tags")).get(BOUGHT_TAG, "")
        return max(total, int(bought) if bought.isdecimal() else 0)
    allocation: Mapping[str, Any] = answer.get("InterruptibleCapacityAllocation") or {}
    lent: int = allocation.get("InstanceCount", 0)
    if not lent:
        return total
    free: int = answer.get("AvailableInstanceCount", 0)
    allocations = answer.get("CapacityAllocations") or ()
    used = sum(each["Count"] for each in allocations if each["AllocationType"] == "used")
    return free + (used or max(0, total - free - lent))


def look_up_reservation(reader: AccountReader, reservation_id: str) -> ReservationFacts | None:
    """Return the capacity reservation, or None if it does not exist or is not shared."""
    answer = reader.ask(
        "ec2:DescribeCapacityReservations",
        reader.ec2.describe_capacity_reservations,
        CapacityReservationIds=[reservation_id],
    )
    found: list[dict[str, Any]] = answer["CapacityReservations"] if answer else []
    return reservation_facts(found[0]) if found else None


# Sources:
#     https://docs.aws.amazon.com/ram/latest/APIReference/API_GetResourceShareInvitations.html
#     https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CapacityBlockStatus.html

GET_INVITATIONS = "ram:GetResourceShareInvitations"


DESCRIBE_BLOCK_STATUS = "ec2:DescribeCapacityBlockStatus"


def look_up_invitations(reader: AccountReader) -> tuple[InvitationFacts, ...]:
    """Return the invitations to resource shares; what cannot be read is recorded."""
    do = reader.client("ram").get_resource_share_invitations
    found: list[InvitationFacts] = []
    try:
        for answer in reader.pages(GET_INVITATIONS, do):
            found += [
                InvitationFacts(
                    share_arn=each["resourceShareArn"],
                    share_name=each.get("resourceShareName", ""),
                    sender_id=each.get("senderAccountId", ""),
                    status=each["status"],
                )
                for each in answer.get("resourceShareInvitations", [])
            ]
    except AccountUnreachableError as error:
        reader.unreadable.append(f"{GET_INVITATIONS}: {error}")
    return tuple(found)


def look_up_ultraservers(reader: AccountReader) -> dict[str, UltraserverFacts]:
    """Return the UltraServers by reservation; EC2 reports a block when it has started."""
    do, found = reader.ec2.describe_capacity_block_status, dict[str, UltraserverFacts]()
    try:
        for answer in reader.pages(DESCRIBE_BLOCK_STATUS, do, next_key="NextToken"):
            for each in answer.get("CapacityBlockStatuses", []):
                facts = UltraserverFacts(
                    interconnect=each.get("InterconnectStatus", "insufficient-data"),
                    instances=each.get("TotalCapacity", 0),
                    unavailable=each.get("TotalUnavailableCapacity", 0),
                )
                of = each.get("CapacityReservationStatuses", [])
                found |= {reservation["CapacityReservationId"]: facts for reservation in of}
    except AccountUnreachableError as error:
        reader.unreadable.append(f"{DESCRIBE_BLOCK_STATUS}: {error}")
    return found


OWNER_TAGS = (
    CLUSTER_TAG,
    EKS_CLUSTER_TAG,
    PARALLELCLUSTER_TAG,
    "aws:autoscaling:groupName",
    "Name",
)
"""Tags that identify the owner of an instance, most specific first."""


def holder_filters(reservation_ids: Sequence[str]) -> list[dict[str, Any]]:
    """Return the filters of `DescribeInstances` for instances that occupy reservations."""
    return [
        {"Name": "capacity-reservation-id", "Values": [*reservation_ids]},
        {"Name": "instance-state-name", "Values": ["pending", "running", "stopping"]},
    ]


def holders_of(pages: Iterable[Mapping[str, Any]]) -> dict[str, Holders]:
    """Return the holders of each reservation, from the pages of `DescribeInstances`."""
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for page in pages:
        for instance in (one for made in page["Reservations"] for one in made["Instances"]):
            if "CapacityReservationId" in instance:
                held = found.setdefault(instance["CapacityReservationId"], {})
                owner = _owner(instance.get("Tags") or [])
                held[owner] = (*held.get(owner, ()), instance["InstanceId"])
    return dict(found)


def look_up_holders(reader: AccountReader, reservation_ids: Sequence[str]) -> dict[str, Holders]:
    """Return the holders of each reservation; nothing if EC2 denies the request.

    Raises:
        AccountUnreachableError: no credentials, or no answer.
    """
    if not reservation_ids:
        return {}
    pages = reader.pages(
        "ec2:DescribeInstances",
        reader.ec2.describe_instances,
        next_key="NextToken",
        Filters=holder_filters(reservation_ids),
    )
    answered = list(pages)
    nobody: dict[str, Holders] = {name: {} for name in reservation_ids if answered}
    return nobody | holders_of(answered)


def _owner(tags: list[Mapping[str, str]]) -> str:
    values = tag_map(tags)
    return next((values[key] for key in OWNER_TAGS if values.get(key)), "instances without a name")


def look_up_reservation_groups(
    reader: AccountReader, config: StackConfig
) -> dict[str, tuple[str, ...]]:
    """Return the reservation ids of each group in the stack file, by group ARN."""
    arns = {r.group_arn for r in config.reservations.values() if isinstance(r, OdcrGroup)}
    found = {arn: _members(reader, arn) for arn in sorted(arn for arn in arns if arn)}
    return {arn: members for arn, members in found.items() if members is not None}


def look_up_created(reader: AccountReader, config: StackConfig) -> dict[str, ReservationFacts]:
    """Return the reservations that the stack has created and not released, by entry.

    EC2 has no filter for tags of reservations.
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeCapacityReservations.html
    """
    wanted = [name for name, each in config.reservations.items() if each.is_created]
    if not wanted:
        return {}
    filters = [
        {"Name": "state", "Values": ["active", "pending"]},
        # Another account can share the reservation of a stack with the same name.
        {"Name": "owner-id", "Values": [reader.account_id()]},
    ]
    do = reader.ec2.describe_capacity_reservations
    pages = reader.pages(DESCRIBE, do, next_key="NextToken", Filters=filters)
    listed = (each for page in pages for each in page["CapacityReservations"])
    mine = [each for each in listed if tag_map(each.get("Tags")).get(CLUSTER_TAG) == config.name]
    found = [reservation_facts(each) for each in mine]
    entries = {each.tags.get(RESERVATION_TAG, ""): each for each in found}
    return {name: entries[name] for name in wanted if name in entries}


def look_up_reservations(
    reader: AccountReader, config: StackConfig, groups: Mapping[str, tuple[str, ...]]
) -> dict[str, ReservationFacts]:
    """Return the reservations in the stack file, single or in groups, by id."""
    ids = [i for r in config.reservations.values() for i in reservation_ids(r, groups)]
    found = {i: look_up_reservation(reader, i) for i in dict.fromkeys(ids)}
    return {i: reservation for i, reservation in found.items() if reservation is not None}


def with_block_times(config: StackConfig, reader: AccountReader) -> StackConfig:
    """Return the configuration with the start and the end of each Capacity Block.

    Reads only the blocks whose times the stack file does not have.

    Raises:
        AccountUnreachableError: no credentials, or no answer.
    """
    reservations = dict(config.reservations)
    for name, block in config.reservations.items():
        if isinstance(block, CapacityBlock) and not (block.starts_at and block.ends_at):
            found = look_up_reservation(reader, block.reservation_id)
            if found is not None and found.kind == block.kind:
                reservations[name] = block.model_copy(update=block_times(block, found))
    return config.model_copy(update={"reservations": reservations})


def reads_provenance(config: StackConfig) -> bool:
    """Return whether an entry of `reservations` has `provenance: auto`."""
    return any(
        not isinstance(each, CapacityBlock) and each.provenance == "auto"
        for each in config.reservations.values()
    )


def with_provenance(config: StackConfig, reader: AccountReader) -> StackConfig:
    """Return the configuration with what `provenance: auto` stands for, as the plan has it.

    Raises:
        AccountUnreachableError: no credentials, or no answer.
    """
    asked = {
        name: each
        for name, each in config.reservations.items()
        if not isinstance(each, CapacityBlock) and each.provenance == "auto"
    }
    reading = config.model_copy(update={"reservations": asked})
    groups = look_up_reservation_groups(reader, reading)
    held = look_up_reservations(reader, reading, groups)
    told: dict[str, Reservation] = {}
    for name, each in asked.items():
        ids = reservation_ids(each, groups)
        found = [held[i] for i in ids if i in held and held[i].kind == "odcr"]
        update = read_provenance(each, found, reader.account_id())
        told[name] = each.model_copy(update=update)
    return config.model_copy(update={"reservations": {**config.reservations, **told}})


def _members(reader: AccountReader, group_arn: str) -> tuple[str, ...] | None:
    answer = reader.ask(
        LIST_GROUP_RESOURCES, reader.resource_groups.list_group_resources, Group=group_arn
    )
    if not answer:
        return None
    # Groups have far fewer reservations than the 50 resources per page.
    arns = [each["Identifier"]["ResourceArn"] for each in answer["Resources"]]
    return tuple(a.rpartition("/")[2] for a in arns if ":capacity-reservation/" in a)


def every_reservation(reader: AccountReader) -> Iterator[ReservationFacts]:
    """Yield the reservations that the account sees in the region of the reader, in every state."""
    do = reader.ec2.describe_capacity_reservations
    for page in reader.pages("ec2:DescribeCapacityReservations", do, next_key="NextToken"):
        yield from readable(
            reader,
            "capacity reservation",
            "CapacityReservationId",
            page["CapacityReservations"],
            reservation_facts,
        )
