"""The subnet of a file system whose entry sets a subnet or a zone."""

from __future__ import annotations

from trainyard.components.config.base import same_kind_of_zone
from trainyard.components.config.fsx_lustre import NewFsxLustre
from trainyard.components.config.open_zfs import NewFsxOpenZfs
from trainyard.components.config.review import Review
from trainyard.components.network.network_plan import NetworkPlan


def given_subnets(
    name: str,
    wanted: NewFsxLustre | NewFsxOpenZfs,
    network: NetworkPlan,
    *,
    subnets_known: bool,
    review: Review,
) -> tuple[str, ...]:
    """Return the subnet that an entry of `storage` sets, as a reference of the network.

    Args:
        name: Key in `storage`.
        wanted: The entry.
        network: Plan of the network.
        subnets_known: Whether the account was queried, so that unknown values stay unknown.
        review: Records problems.

    Returns:
        One subnet; several if only the account knows which one; none if the entry sets neither
        subnet nor zone.
    """
    if wanted.subnet_id is not None:
        _review_subnet(name, wanted.subnet_id, network, review)
        return (wanted.subnet_id,)
    if wanted.availability_zone is None:
        return ()
    return _subnets_in_zone(
        name, wanted.availability_zone, network, subnets_known=subnets_known, review=review
    )


def _review_subnet(name: str, subnet_id: str, network: NetworkPlan, review: Review) -> None:
    private = network.private_names
    if subnet_id not in private:
        review.refuse(
            f"storage.{name}.subnet_id",
            "is not a private subnet of the network, so nodes could not reach the file system",
            found=subnet_id,
            allowed=", ".join(private),
            remedy=(
                "set availability_zone instead"
                if network.is_new
                else "use one of them, or add it to network.private_subnet_ids"
            ),
        )


def _subnets_in_zone(
    name: str, zone: str, network: NetworkPlan, *, subnets_known: bool, review: Review
) -> tuple[str, ...]:
    private = network.private_subnets
    found = tuple(subnet.name for subnet in private if subnet.availability_zone == zone)
    if found:
        return found[:1]
    # Only the account can compare zone names with zone ids or look up missing zones.
    open_ = tuple(
        subnet.name
        for subnet in private
        if subnet.availability_zone is None or not same_kind_of_zone(subnet.availability_zone, zone)
    )
    if open_ and not subnets_known:
        review.note(
            f"storage {name}: is in the private subnet in {zone}, which can only be read from the "
            "account"
        )
        return open_
    review.refuse(
        f"storage.{name}.availability_zone",
        "is a zone in which the network has no private subnet",
        found=zone,
        allowed=", ".join(subnet.availability_zone or subnet.name for subnet in private),
        remedy="set the zone of one of them, or add a private subnet in this zone to the network",
    )
    return tuple(subnet.name for subnet in private)
