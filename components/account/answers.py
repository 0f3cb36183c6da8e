"""Plain records of AWS responses, and checks of their types against the API models."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, cast

from trainyard.components.account.facts import DefaultRoute, ImageFacts, ReservationFacts
from trainyard.components.catalog.capacity_blocks import BOUGHT_TAG
from trainyard.components.plain_text import legible
from trainyard.components.tagging import tag_map

# Type checks of AWS responses against the API models.
#
# An endpoint, a proxy or an emulator can return anything. After the check, code can rely on the
# types; a missing key that the program needs raises an error that names the call. Times are in UTC:
# botocore converts those that a service sends as numbers, as EKS does, to the zone of this machine
# (`_parse_timestamp_with_tzinfo` in `botocore/utils.py`), so that a day could be another one.
#
# Source: botocore's service models, the machine-readable API references
# (https://github.com/boto/botocore/tree/develop/botocore/data)


_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "character": (str,),
    "integer": (int,),
    "long": (int,),
    "float": (int, float),
    "double": (int, float),
    "boolean": (bool,),
    "timestamp": (datetime,),
}
"""Python types by shape type."""
_PARSED = frozenset({"TemplateBody", "PolicyDocument", "AssumeRolePolicyDocument"})
"""String members that boto3 returns as parsed JSON."""
_LAST = threading.local()


class AccountUnreachableError(Exception):
    """No credentials, or no answer from AWS; the message says what to do."""

    def __str__(self) -> str:
        """Return the message, which can contain text from AWS."""
        return legible(super().__str__())


class UnexpectedAnswerError(AccountUnreachableError):
    """The response of AWS, or of a proxy or emulator, does not match the API."""

    def __init__(self, call: str, problem: str) -> None:
        super().__init__(
            f"the answer to {call} cannot be used: {problem}; look at what answers in AWS's place "
            "(AWS_ENDPOINT_URL, a proxy), and try again"
        )


class MissingValueError(UnexpectedAnswerError):
    """An object in a response lacks a value that the program needs."""

    def __init__(self, call: str, key: str) -> None:
        self.problem = f"it has no {key}"
        super().__init__(call, self.problem)


class Answer(dict[str, Any]):
    """A part of a response; a missing key raises an error that names the call."""

    __slots__ = ("call",)

    def __init__(self, call: str, values: Mapping[str, Any]) -> None:
        super().__init__(values)
        self.call = call

    def __missing__(self, key: str) -> Any:
        """Raise an error for the missing key.

        Raises:
            MissingValueError: always.
        """
        raise MissingValueError(self.call, key)


def understood(call: str, value: Any, do: object) -> Any:
    """Return the checked response of a client method, with its mappings as `Answer`.

    Args:
        call: For messages: `ec2:DescribeVpcs`.
        value: What the method returned.
        do: The method; only responses of boto3 methods are checked.

    Raises:
        UnexpectedAnswerError: a value does not have the type in the API.
    """
    _LAST.call = call
    return _checked(call, value, _output_shape(do), call.partition(":")[2])


def last_call() -> str:
    """Return the last call of this thread, for errors while its response is read."""
    return getattr(_LAST, "call", "AWS")


def _output_shape(do: object) -> Any:
    meta = getattr(getattr(do, "__self__", None), "meta", None)
    try:
        name = meta.method_to_api_mapping[getattr(do, "__name__", "")]  # pyright: ignore[reportOptionalMemberAccess]
        return meta.service_model.operation_model(name).output_shape  # pyright: ignore[reportOptionalMemberAccess]
    except (AttributeError, KeyError, TypeError):
        return None


def _checked(call: str, value: Any, shape: Any, path: str) -> Any:
    kind = getattr(shape, "type_name", None)
    if isinstance(value, Mapping):
        if kind not in (None, "structure", "map") and path.rpartition(".")[2] not in _PARSED:
            raise _wrong(call, path, kind)
        return _mapping(call, cast("Mapping[str, Any]", value), shape, path)
    if isinstance(value, list):
        if kind not in (None, "list"):
            raise _wrong(call, path, kind)
        inner = getattr(shape, "member", None)
        entries = enumerate(cast("list[Any]", value))
        return [_checked(call, each, inner, f"{path}[{index}]") for index, each in entries]
    wanted = _TYPES.get(kind or "")
    boolean = isinstance(value, bool) and kind != "boolean"
    if kind in ("structure", "map", "list") or (
        wanted and (boolean or not isinstance(value, wanted))
    ):
        raise _wrong(call, path, kind)
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC)
    return value


def _mapping(call: str, value: Mapping[str, Any], shape: Any, path: str) -> Answer:
    members: Mapping[str, Any] = getattr(shape, "members", {})
    entries = getattr(shape, "value", None)
    # Null values are omitted, as in boto3.
    given = {key: inner for key, inner in value.items() if inner is not None}
    return Answer(
        call,
        {
            key: _checked(call, inner, members.get(key, entries), f"{path}.{key}")
            for key, inner in given.items()
        },
    )


def _wrong(call: str, path: str, kind: str | None) -> UnexpectedAnswerError:
    return UnexpectedAnswerError(call, f"{path} is no {kind}")


# Plain records of EC2 responses.
#
# Source: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_Types.html


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
