"""What an account has that a new stack can use: nothing is offered that could not work."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from trainyard.components.capacity.facts import USABLE_STATES, ReservationFacts, why_not_active
from trainyard.components.capacity.plan import LINUX
from trainyard.components.capacity.schedule import in_minutes, nodes_leave_before_end
from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.components.catalog.parallelcluster import OPERATING_SYSTEMS_WITHOUT_RSA_KEYS
from trainyard.components.catalog.regions import zone_region
from trainyard.components.network.facts import SubnetFacts
from trainyard.components.storage.checks import USABLE
from trainyard.components.storage.facts import FileSystemFacts
from trainyard.init.account_listing import AccountListing
from trainyard.init.design import KINDS, Kind, PoolDesign

ZONE_KIND = "availability-zone"
"""`ZoneType` of EC2: stacks use no Local Zone and no Wavelength Zone."""


def unusable(found: ReservationFacts, now: datetime) -> str | None:
    """Return why nodes cannot launch into a reservation, or None if they can."""
    if found.state not in USABLE_STATES[found.kind]:
        return why_not_active(found.state, found.starts_at)
    if found.interruptible:
        return "it is interruptible, and nodes of a stack do not launch into such a reservation"
    leave = nodes_leave_before_end(found.instance_type)
    if found.ends_at is not None and found.ends_at - now <= leave:
        ends = f"{found.ends_at:%Y-%m-%d %H:%M} UTC"
        return f"it ends at {ends}, and nodes leave {in_minutes(leave)} before"
    if found.instance_type not in INSTANCE_TYPES:
        return f"its instance type {found.instance_type} is not in the catalog"
    if found.platform != LINUX:
        return f"its platform is {found.platform}, and nodes need {LINUX}"
    return None


def usable_reservations(listing: AccountListing, now: datetime) -> list[ReservationFacts]:
    """Return the reservations with free instances into which nodes can launch, blocks first."""
    found = [
        each
        for each in listing.reservations
        if unusable(each, now) is None and (each.state == "scheduled" or each.available_count != 0)
    ]
    return sorted(found, key=lambda each: (each.kind, each.instance_type, each.reservation_id))


def usable_zones(listing: AccountListing, kind: Kind) -> list[str]:
    """Return the names of the zones that a stack of this kind can use."""
    excluded = KINDS[kind].excluded_zones
    return [
        zone.name
        for zone in listing.zones
        if zone.kind == ZONE_KIND and zone.zone_id not in excluded
    ]


def offering_zones(listing: AccountListing, instance_type: str, kind: Kind) -> list[str]:
    """Return the names of the usable zones that offer an instance type."""
    offered = listing.offered_zone_ids.get(instance_type, frozenset())
    names = {zone.name for zone in listing.zones if zone.zone_id in offered}
    return [zone for zone in usable_zones(listing, kind) if zone in names]


def accelerated_types(region: str) -> list[str]:
    """Return the instance types with accelerators and EFA that the catalog knows in a region."""
    return [
        name
        for name, found in INSTANCE_TYPES.items()
        if found.accelerators is not None
        and found.efa_supported
        and any(zone_region(zone) == region for zone in found.zone_ids)
    ]


def catalog_zones(region: str, instance_type: str) -> list[str]:
    """Return the ids of the zones that offered a type when the catalog was generated."""
    found = INSTANCE_TYPES.get(instance_type)
    return [zone for zone in found.zone_ids if zone_region(zone) == region] if found else []


def subnets_of(
    listing: AccountListing, vpc_id: str, *, public: bool, least_addresses: int = 1
) -> list[SubnetFacts]:
    """Return the public or private subnets of a VPC, by zone, those with most addresses first.

    A private subnet has a default route that is no internet gateway: nodes that have several
    network interfaces get no public address.
    """
    found = [
        each
        for each in listing.subnets.values()
        if each.vpc_id == vpc_id
        and each.free_addresses >= least_addresses
        and (
            each.default_route == "internet-gateway"
            if public
            else each.default_route in {"nat", "other"}
        )
    ]
    return sorted(
        found, key=lambda each: (each.availability_zone, -each.free_addresses, each.subnet_id)
    )


def usable_vpcs(listing: AccountListing, kind: Kind, pools: Sequence[PoolDesign]) -> list[str]:
    """Return the VPCs in which the nodes of all pools can launch, sorted by id."""
    return [
        vpc_id
        for vpc_id in sorted(listing.vpcs)
        if not vpc_faults(listing, vpc_id, kind=kind, pools=pools)
    ]


def vpc_faults(
    listing: AccountListing, vpc_id: str, *, kind: Kind, pools: Sequence[PoolDesign]
) -> list[str]:
    """Return why a stack cannot be in a VPC; empty if it can."""
    facts = listing.vpcs[vpc_id]
    faults: list[str] = []
    if not (facts.dns_support and facts.dns_hostnames):
        faults.append("DNS support or DNS hostnames are disabled")
    private = subnets_of(listing, vpc_id, public=False)
    zones = {subnet.availability_zone for subnet in private}
    faults += pool_faults(listing, zones, pools, kind=kind)
    public = subnets_of(listing, vpc_id, public=True)
    every = {subnet.availability_zone for subnet in (*private, *public)}
    usable = every & set(usable_zones(listing, kind))
    return faults + control_plane_faults(usable, kind)


def control_plane_faults(zones: Collection[str], kind: Kind) -> list[str]:
    """Return what a control plane lacks if its subnets are in these zones."""
    least = KINDS[kind].control_plane_zones
    return [f"EKS needs subnets in {least} zones"] if len(zones) < least else []


def pool_faults(
    listing: AccountListing, zones: Collection[str], pools: Iterable[PoolDesign], *, kind: Kind
) -> list[str]:
    """Return the pools for which the private subnets, in `zones`, are in no fitting zone."""
    faults: list[str] = []
    for pool in pools:
        if pool.reserved is not None:
            if pool.reserved.zone is not None and pool.reserved.zone not in zones:
                faults.append(
                    f"no private subnet is in {pool.reserved.zone}, the zone of "
                    f"{pool.reserved.reservation_id}"
                )
        elif not set(offering_zones(listing, pool.instance_type, kind)) & set(zones):
            faults.append(f"no private subnet is in a zone that offers {pool.instance_type}")
    return faults


def mountable(listing: AccountListing, vpc_id: str, kind: Kind) -> dict[str, str]:
    """Return the file systems that nodes in a VPC can mount: explanations by id."""
    found = {
        each.file_system_id: f"FSx for Lustre, {each.capacity_gib} GiB, in {each.availability_zone}"
        for each in listing.fsx
        if lustre_fault(each, vpc_id) is None
    }
    if "existing-efs" in KINDS[kind].file_systems:
        found |= {
            each.file_system_id: f"EFS, in {len(each.targets)} zones"
            for each in listing.efs
            if any(target.vpc_id == vpc_id for target in each.targets)
        }
    return found


def lustre_fault(found: FileSystemFacts, vpc_id: str) -> str | None:
    """Return why nodes in a VPC cannot mount an FSx file system as Lustre, or None."""
    if found.type != "LUSTRE":
        return f"its type is {found.type}, and nodes mount FSx for Lustre"
    if found.lifecycle not in USABLE:
        return f"its state is {found.lifecycle}"
    if found.vpc_id != vpc_id:
        return f"it is in {found.vpc_id}, which the nodes cannot reach"
    return None


def usable_keys(listing: AccountListing, operating_system: str) -> dict[str, str]:
    """Return the key pairs with which users can log in: types, by name."""
    return {
        name: type_
        for name, type_ in sorted(listing.key_pairs.items())
        if type_ != "rsa" or operating_system not in OPERATING_SYSTEMS_WITHOUT_RSA_KEYS
    }
