"""The capacity of the node groups of an eksctl `ClusterConfig`."""

from __future__ import annotations

from trainyard.importing.draft import Draft
from trainyard.importing.market import claim_market
from trainyard.importing.placeholders import id_for
from trainyard.importing.reader import Reader

_ID, _GROUP = "capacityReservationID", "capacityReservationResourceGroupARN"


def read_purchase_option(group: Reader, nodes: Draft, cluster: Draft) -> None:
    """Read Spot, the market type and the reservation of a node group."""
    name = str(group.at("name").value)
    market = group.at("instanceMarketOptions", "marketType")
    reserved = group.at("capacityReservation")
    target = reserved.at("capacityReservationTarget")
    is_block = market.value == "capacity-block"
    spot = group.at("spot")
    if spot.flag is True and not is_block:
        nodes.take("purchase_option", spot, change=lambda _: "spot")
        reserved.claim("dropped", "Spot Instances do not launch into reservations", rule="C15")
    elif target.at(_ID).exists or target.at(_GROUP).exists or is_block:
        _read_reservation(name, target, nodes, cluster, is_block=is_block)
        claim_market(market, ours=("reservations", name, "kind"))
    spot.implied("the node group is not Spot")
    _read_preference(reserved.at("capacityReservationPreference"), nodes)
    _read_distribution(group.at("instancesDistribution"), nodes)


def _read_reservation(
    name: str, target: Reader, nodes: Draft, cluster: Draft, *, is_block: bool
) -> None:
    reservation = cluster.section("reservations").section(name, target)
    nodes.put("purchase_option", name)
    target.report.origins.setdefault((*nodes.at, "purchase_option"), target.location)
    by_id, by_group = target.at(_ID), target.at(_GROUP)
    if by_group.exists and not by_id.exists and not is_block:
        reservation.put("kind", "odcr-group")
        reservation.take("group_arn", by_group)
        return
    by_group.claim("dropped", "a launch targets an id or a group, not both", rule="C8")
    reservation.put("kind", "capacity-block" if is_block else "odcr")
    reservation.take_id("reservation_id", by_id, "cr")
    if not by_id.exists:
        reservation.needs("reservation_id", id_for("cr"))


def _read_preference(source: Reader, nodes: Draft) -> None:
    if nodes.values.get("purchase_option") not in (None, "spot"):
        source.claim("taken over better", "nodes launch in the reservation and nowhere else")
    elif source.value == "open":
        source.implied("On-Demand nodes use open reservations that match")
    source.unsupported("name a reservation in `reservations`, or remove the preference")


def _read_distribution(source: Reader, nodes: Draft) -> None:
    """Read a mix of On-Demand and Spot, of which a node group has one."""
    base, above = (
        source.at("onDemandBaseCapacity"),
        source.at("onDemandPercentageAboveBaseCapacity"),
    )
    if above.value == 0 and base.value in (None, 0) and not nodes.has("purchase_option"):
        nodes.take("purchase_option", above, change=lambda _: "spot")
        base.implied("all nodes are Spot")
    elif above.value == 100:
        above.implied("all nodes are On-Demand")
        base.implied("all nodes are On-Demand")
