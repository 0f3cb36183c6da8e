"""Let the stack own the VPC of a cluster of the account, if the keys of a network describe it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from trainyard.components.account.lookup import AccountReader
from trainyard.components.account.vpc_layout import VpcLayout
from trainyard.components.account.vpc_lookup import look_up_vpc
from trainyard.importing.imported import Imported
from trainyard.importing.live.owner import owner_of
from trainyard.importing.live.vpc_proposal import NotDescribableError, proposal
from trainyard.importing.source import Location


def adopt_network(reader: AccountReader, imported: Imported) -> None:
    """Replace the existing VPC of a stack file by an adopted one, or note why it is only used."""
    network = imported.stack.values.get("network", {})
    vpc_id = network.get("vpc_id")
    found = look_up_vpc(reader, vpc_id) if vpc_id else None
    if found is None:
        return
    notes = imported.report.notes
    owner = owner_of(reader, found.tags)
    if owner:
        notes.append(f"{vpc_id} is used and not adopted: it is part of {owner}")
        return
    try:
        section = proposal(
            found,
            private=network.get("private_subnet_ids", ()),
            public=network.get("public_subnet_ids", ()),
            region=reader.region,
        )
    except NotDescribableError as error:
        notes.append(f"{vpc_id} is used and not adopted: {error}")
        return
    _move_claims(imported, section, found)
    imported.stack.forget("network")
    imported.stack.values["network"] = section
    _name_zones(imported.stack.values, found)
    notes.append(
        f"{vpc_id} becomes part of the stack with the next `up`, with what network.adopt names: if "
        "it is not for this cluster alone, set network to kind: existing-vpc; if another tool has "
        "it, remove it there first, without deleting it"
    )


def _name_zones(value: Any, found: VpcLayout) -> None:
    """Replace subnets of nodes and file systems by their zones, as a new VPC has them."""
    for each in _sections(value):
        subnet = found.subnets.get(str(each.get("subnet_id")))
        if subnet is not None:
            del each["subnet_id"]
            each["availability_zone"] = subnet.zone


def _sections(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            yield from _sections(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _sections(inner)


def _move_claims(imported: Imported, section: Mapping[str, Any], found: VpcLayout) -> None:
    """Let the report name the keys that have the values now."""
    values, report = imported.stack.values, imported.report
    for location, claim in [*report.claims.items()]:
        ours = _moved(claim.ours, values, section, found)
        if ours != claim.ours:
            report.claims[location] = replace(claim, ours=ours)
            report.origins.setdefault(ours, location)


def _moved(
    ours: Location, values: Mapping[str, Any], section: Mapping[str, Any], found: VpcLayout
) -> Location:
    if ours == ("network", "vpc_id"):
        return "network", "adopt", "vpc_id"
    if ours[:1] == ("network",) and len(ours) == 3:
        subnet = values["network"][ours[1]][ours[2]]
        for zone, ids in section["adopt"]["zones"].items():
            for key in ("public_subnet_id", "private_subnet_id"):
                if ids.get(key) == subnet:
                    return "network", "adopt", "zones", zone, key
    if ours[-1:] == ("subnet_id",) and ours[0] != "network":
        return *ours[:-1], "availability_zone"
    return ours
