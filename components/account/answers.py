"""Plain records of EC2 responses.

Source: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_Types.html
"""

from __future__ import annotations

from typing import Any

from trainyard.components.account.facts import DefaultRoute, ReservationFacts
from trainyard.components.account.named_facts import ImageFacts
from trainyard.components.catalog.capacity_blocks import BOUGHT_TAG
from trainyard.components.tagging import tag_map


def default_route(routes: list[dict[str, Any]]) -> DefaultRoute:
    """Return the default route of a route table, from `Routes`."""
    for route in routes:
        if route.get("DestinationCidrBlock") != "0.0.0.0/0" or route.get("State") == "blackhole":
            continue
        if route.get("GatewayId", "").startswith("igw-"):
            return "internet-gateway"
        if route.get("NatGatewayId") or route.get("InstanceId"):
            return "nat"
        return "other"
    return "none"


def image(answer: dict[str, Any]) -> ImageFacts:
    """Return a machine image, from one of `Images`."""
    root = answer.get("RootDeviceName")
    volumes = {
        mapping.get("DeviceName"): mapping["Ebs"].get("VolumeSize", 0)
        for mapping in answer.get("BlockDeviceMappings", [])
        if "Ebs" in mapping
    }
    return ImageFacts(
        image_id=answer["ImageId"],
        state=answer.get("State", ""),
        architecture=answer.get("Architecture", ""),
        root_volume_gib=volumes.get(root, 0),
        platform=answer.get("PlatformDetails", ""),
        name=answer.get("Name", ""),
        from_amazon=answer.get("ImageOwnerAlias") == "amazon",
        root_device=root or "",
        tags=tag_map(answer.get("Tags")),
    )


def reservation(answer: dict[str, Any]) -> ReservationFacts:
    """Return a capacity reservation, from one of `CapacityReservations`."""
    group_arn = answer.get("PlacementGroupArn")
    lent = answer.get("InterruptibleCapacityAllocation") or {}
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
        interruptible=bool(answer.get("Interruptible")),
        source_id=(answer.get("InterruptionInfo") or {}).get("SourceCapacityReservationId"),
        lent_to=lent.get("InterruptibleCapacityReservationId"),
        committed_until=(answer.get("CommitmentInfo") or {}).get("CommitmentEndDate"),
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
    lent: int = (answer.get("InterruptibleCapacityAllocation") or {}).get("InstanceCount", 0)
    if not lent:
        return total
    free: int = answer.get("AvailableInstanceCount", 0)
    allocations = answer.get("CapacityAllocations") or ()
    used = sum(each["Count"] for each in allocations if each["AllocationType"] == "used")
    return free + (used or max(0, total - free - lent))
