"""The capacity of node groups: On-Demand, Spot, reservations and Capacity Blocks."""

from __future__ import annotations

from trainyard.importing.draft import Draft
from trainyard.importing.market import claim_market
from trainyard.importing.placeholders import id_for, is_id
from trainyard.importing.reader import Reader
from trainyard.importing.terraform.blocks import Blocks
from trainyard.importing.terraform.source_keys import Source, take, take_number
from trainyard.importing.terraform.values import is_known

_TARGET = "capacity_reservation_target"
_SECTIONS = ("aws_ec2_capacity_reservation", "aws_ec2_capacity_block_reservation")


def read_purchase_option(
    name: str, group: Source, nodes: Draft, cluster: Draft, blocks: Blocks
) -> None:
    """Read the capacity type, the market and the reservation of a node group."""
    kind, market = group.at("capacity_type"), group.at("instance_market_options", "market_type")
    target = group.at("capacity_reservation_specification", _TARGET)
    target = target.at(0) if isinstance(target.value, list) else target
    by_id, by_group = (
        target.at("capacity_reservation_id"),
        target.at("capacity_reservation_resource_group_arn"),
    )
    is_block = "CAPACITY_BLOCK" in (kind.value, str(market.value).upper().replace("-", "_"))
    is_spot = kind.value == "SPOT" or market.value == "spot"
    reserved = by_id if by_id.exists else by_group
    created = blocks.named(by_id.value)
    if created is not None and created.node is not None:
        is_block = is_block or created.node.section == "aws_ec2_capacity_block_reservation"
    if is_spot and not is_block:
        source = kind if kind.value == "SPOT" else market
        nodes.take("purchase_option", source, change=lambda _: "spot")
        target.claim("dropped", "Spot Instances do not launch into reservations", rule="C15")
    elif reserved.exists or is_block:
        _read_reservation(name, by_id, by_group, nodes, cluster, is_block=is_block)
        if created is not None:
            _read_created(created, cluster.section("reservations").section(name))
    ours = ("reservations", name, "kind") if is_block else (*nodes.at, "purchase_option")
    kind.claim("taken over", ours=ours)
    claim_market(market, ours=ours)
    preference = group.at("capacity_reservation_specification", "capacity_reservation_preference")
    if nodes.values.get("purchase_option") not in (None, "spot"):
        preference.implied("nodes launch in the reservation and nowhere else")
    elif preference.value == "open":
        preference.implied("On-Demand nodes use open reservations that match")
    preference.unsupported("name a reservation in `reservations`, or remove the preference")


def _read_reservation(
    name: str, by_id: Reader, by_group: Reader, nodes: Draft, cluster: Draft, *, is_block: bool
) -> None:
    origin = by_id if by_id.exists or not by_group.exists else by_group
    reservation = cluster.section("reservations").section(name, origin)
    nodes.put("purchase_option", name)
    origin.report.origins.setdefault((*nodes.at, "purchase_option"), origin.location)
    if by_group.exists and not by_id.exists and not is_block:
        reservation.put("kind", "odcr-group")
        example = "arn:aws:resource-groups:us-west-2:123456789012:group/training"
        take(reservation, "group_arn", by_group, example=example)
        return
    if by_group.exists:
        by_group.claim("dropped", "a launch targets an id or a group, not both", rule="C8")
    reservation.put("kind", "capacity-block" if is_block else "odcr")
    reservation.take_id("reservation_id", by_id, "cr")
    if not reservation.has("reservation_id"):
        reservation.needs("reservation_id", id_for("cr"))


def _read_created(created: Reader, reservation: Draft) -> None:
    """Read the reservation that Terraform creates for the node group."""
    take_number(reservation, "instance_count", created.at("instance_count"))
    group = created.at("placement_group_arn")
    if is_known(group) and reservation.values["kind"] == "odcr":
        take(reservation, "placement_group", group, change=lambda arn: arn.rpartition("/")[2])
    zone = created.at("availability_zone")
    if is_known(zone):
        take(reservation, "availability_zone", zone)
    if is_id(created.at("id").value, "cr"):
        created.at("id").claim("taken over", ours=(*reservation.at, "reservation_id"))


def imply_reservations(blocks: Blocks) -> None:
    """Record that a stack uses reservations and creates none."""
    for created in blocks.of(*_SECTIONS):
        created.claim(
            "not supported",
            "a stack uses reservations and creates none: keep it in Terraform, or buy it with "
            "`./trainyard capacity`, and set its id in `reservations`",
        )
