"""List what an account has that a new stack can use.

Sources: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_Operations.html,
https://docs.aws.amazon.com/efs/latest/ug/API_DescribeFileSystems.html
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from trainyard.components.account.reader import AccountReader, Reading, read_side_by_side, readable
from trainyard.components.capacity.facts import ReservationFacts
from trainyard.components.capacity.lookup import every_reservation
from trainyard.components.network.facts import SubnetFacts, VpcFacts, ZoneFacts
from trainyard.components.network.lookup import look_up_vpc, look_up_zones, subnet_facts
from trainyard.components.storage.facts import EfsFacts, FileSystemFacts
from trainyard.components.storage.lookup import efs_facts, every_file_system
from trainyard.components.tagging import tag_map

_MOST_FILTER_VALUES = 200
"""Values of one filter: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/Query-Requests.html,
and `Filter` of each operation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountListing:
    """What one region of an account has. What could not be read is empty."""

    region: str
    account_id: str = ""
    zones: tuple[ZoneFacts, ...] = ()
    vpcs: Mapping[str, VpcFacts] = field(default_factory=dict[str, VpcFacts])
    """By id."""
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    """Values of the tag `Name` of VPCs and subnets, by id."""
    subnets: Mapping[str, SubnetFacts] = field(default_factory=dict[str, SubnetFacts])
    """By id."""
    reservations: tuple[ReservationFacts, ...] = ()
    """In every state."""
    key_pairs: Mapping[str, str] = field(default_factory=dict[str, str])
    """Types (`rsa`, `ed25519`), by name."""
    fsx: tuple[FileSystemFacts, ...] = ()
    """FSx file systems of every type."""
    efs: tuple[EfsFacts, ...] = ()
    offered_zone_ids: Mapping[str, frozenset[str]] = field(
        default_factory=dict[str, frozenset[str]]
    )
    """Zone ids of the region that offer an instance type, by type; only the types asked for."""
    unreadable: tuple[str, ...] = ()
    """Calls that were denied, each with the reason from AWS."""
    left_out: Mapping[str, str] = field(default_factory=dict[str, str])
    """Why objects of the account are not in this listing, by object."""

    def denied(self, *calls: str) -> tuple[str, ...]:
        """Return the reasons for which AWS denied one of these calls (`ec2:DescribeVpcs`)."""
        return tuple(line for line in self.unreadable if line.partition(": ")[0] in calls)

    def zone(self, name_or_id: str) -> ZoneFacts | None:
        """Return a zone by name or id; None if the region has none."""
        return next((z for z in self.zones if name_or_id in (z.name, z.zone_id)), None)


def list_account(reader: AccountReader, instance_types: Iterable[str]) -> AccountListing:
    """Return what the region of the reader has; `instance_types` are those to look for in zones.

    Raises:
        AccountUnreachableError: no credentials, or no answer.
    """
    types = sorted(set(instance_types))
    readings: list[Reading] = [
        lambda: {"zones": look_up_zones(reader), "account_id": reader.account_id()},
        lambda: _networks(reader),
        lambda: {"reservations": tuple(every_reservation(reader))},
        lambda: {"key_pairs": _key_pairs(reader)},
        lambda: {"fsx": tuple(every_file_system(reader))},
        lambda: {"efs": tuple(_efs(reader))},
        lambda: {"offered_zone_ids": _offered(reader, types)},
    ]
    found = read_side_by_side(readings)
    return AccountListing(
        region=reader.region,
        **found,
        unreadable=reader.not_read(),
        left_out=dict(sorted(reader.left_out.items())),
    )


def _networks(reader: AccountReader) -> dict[str, Any]:
    names: dict[str, str] = {}
    vpc_ids: list[str] = []
    for page in reader.pages("ec2:DescribeVpcs", reader.ec2.describe_vpcs, next_key="NextToken"):
        for vpc in page["Vpcs"]:
            vpc_ids.append(vpc["VpcId"])
            names[vpc["VpcId"]] = tag_map(vpc.get("Tags")).get("Name", "")
    described: list[Mapping[str, Any]] = []
    do = reader.ec2.describe_subnets
    for page in reader.pages("ec2:DescribeSubnets", do, next_key="NextToken"):
        for subnet in page["Subnets"]:
            described.append(subnet)
            names[subnet["SubnetId"]] = tag_map(subnet.get("Tags")).get("Name", "")
    vpcs = {
        vpc_id: found for vpc_id in vpc_ids if (found := look_up_vpc(reader, vpc_id)) is not None
    }
    return {"vpcs": vpcs, "subnets": subnet_facts(reader, described), "names": names}


def _key_pairs(reader: AccountReader) -> dict[str, str]:
    answer = reader.ask("ec2:DescribeKeyPairs", reader.ec2.describe_key_pairs)
    found = (answer or {}).get("KeyPairs", [])
    return {each["KeyName"]: each.get("KeyType", "rsa") for each in found}


def _efs(reader: AccountReader) -> Iterator[EfsFacts]:
    do = reader.client("efs").describe_file_systems
    call = "elasticfilesystem:DescribeFileSystems"
    for page in _marked_pages(reader, call, do):
        yield from readable(
            reader,
            "file system",
            "FileSystemId",
            page["FileSystems"],
            lambda each: efs_facts(reader, each["FileSystemId"]),
        )


def _marked_pages(reader: AccountReader, call: str, do: Any) -> Iterator[Any]:
    """Yield the pages of EFS, which takes `Marker` and returns it as `NextMarker`."""
    arguments: dict[str, str] = {}
    while answer := reader.ask(call, do, **arguments):
        yield answer
        following = answer.get("NextMarker")
        if not following or following == arguments.get("Marker"):
            return
        arguments["Marker"] = following


def _offered(reader: AccountReader, instance_types: list[str]) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {name: set() for name in instance_types}
    for names in _batches(instance_types):
        pages = reader.pages(
            "ec2:DescribeInstanceTypeOfferings",
            reader.ec2.describe_instance_type_offerings,
            next_key="NextToken",
            LocationType="availability-zone-id",
            Filters=[{"Name": "instance-type", "Values": names}],
        )
        for page in pages:
            for each in page["InstanceTypeOfferings"]:
                found[each["InstanceType"]].add(each["Location"])
    return {name: frozenset(zones) for name, zones in found.items()}


def _batches(values: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(values), _MOST_FILTER_VALUES):
        yield values[start : start + _MOST_FILTER_VALUES]
