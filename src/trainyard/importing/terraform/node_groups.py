"""The node groups of a Terraform cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.components.config.nearest import nearest
from trainyard.importing.cloudformation.values import whole
from trainyard.importing.draft import Draft, StackDraft
from trainyard.importing.placeholders import id_for, is_id
from trainyard.importing.reader import Reader
from trainyard.importing.terraform.blocks import Blocks, reference_of
from trainyard.importing.terraform.capacity import read_purchase_option
from trainyard.importing.terraform.groups import Group
from trainyard.importing.terraform.keys import KEYS
from trainyard.importing.terraform.node_settings import read_common, read_repair
from trainyard.importing.terraform.source_keys import take, take_number
from trainyard.importing.terraform.values import is_known

_SIZES = {"min_size": ("minimum", 1), "desired_size": ("desired", 1), "max_size": ("maximum", 3)}
"""Keys of the stack file and defaults of the module (`variables.tf` of both submodules)."""
_NEW_GROUP = (
    "Terraform launches these nodes into a new placement group, in which the reservation has no "
    "instances; the stack uses the group of the reservation, if it has one"
)


def read_node_groups(
    groups: list[Group], architecture: Draft, stack: StackDraft, blocks: Blocks, vpc: Reader | None
) -> None:
    """Read the node groups; the first managed one for services is the system node group."""
    system = next(
        (each for each in groups if each.management == "managed" and each.is_for_services), None
    )
    section = architecture.section("node_groups")
    for group in groups:
        _report_ignored(group)
        if group is system:
            nodes = architecture.section("system_node_group", group.source.reader)
            _read_sizes(group, nodes, least=1)
        else:
            nodes = section.section(group.name, group.source.reader)
            nodes.put("management", group.management)
            _read_sizes(group, nodes, least=0)
            read_purchase_option(group.name, group.source, nodes, stack.cluster, blocks)
            _read_efa(group, nodes, stack, blocks)
            _read_place(group, nodes, blocks, vpc)
            _use_subnet(nodes, stack)
            read_repair(group.source, nodes, architecture, group.management)
        for key in ("name", "name_prefix", "node_group_name", "node_group_name_prefix"):
            group.source.reader.at(key).claim("taken over", ours=nodes.at)
        _read_type(group, nodes)
        read_common(group.source, nodes, blocks, is_system=group is system)
    if groups and system is None:
        groups[0].source.reader.report.notes.append(
            "no managed node group runs services only: the stack adds a system node group of "
            "c5.2xlarge for CoreDNS; its size is in `architecture.system_node_group`"
        )


def _report_ignored(group: Group) -> None:
    """Record attributes of an entry that the module does not read, which Terraform accepts."""
    known = [path[2] for path in KEYS.kinds if path[:2] == ("eks", group.inputs) and len(path) > 2]
    for key, each in group.source.reader.entries() if group.inputs else ():
        if key not in known:
            meant = nearest(key, known)
            hint = f"; the nearest that it reads is `{meant}`" if meant else ""
            each.claim("dropped", f"the module does not read it{hint}", rule="schema/unknown-key")


def _read_sizes(group: Group, nodes: Draft, *, least: int) -> None:
    for theirs, (ours, default) in _SIZES.items():
        source, floor = group.source.at(theirs), max(least, 1 if ours == "maximum" else 0)
        number = whole(source)
        if number is not None and number < floor:
            nodes.put(ours, floor)
            why = f"it is at least {floor}"
            source.claim("taken over better", why, ours=(*nodes.at, ours))
        elif not take_number(nodes, ours, source, example=default) and not source.exists:
            nodes.put(ours, default)
    _order_sizes(group, nodes)


def _order_sizes(group: Group, nodes: Draft) -> None:
    """Raise the maximum of a default to the sizes that are given."""
    sizes = [nodes.values.get(key) for key in ("minimum", "desired", "maximum")]
    if all(isinstance(each, int) for each in sizes) and not group.source.at("max_size").exists:
        nodes.put("maximum", max(each for each in sizes if isinstance(each, int)))


def _read_type(group: Group, nodes: Draft) -> None:
    types = [*group.source.at("instance_types").items()]
    singles = (group.source.at("instance_type"), group.source.at("instance_types"))
    types += [each for each in singles if each.exists and not isinstance(each.value, list)]
    if not types:
        nodes.put("instance_type", group.instance_type)
        return
    first, *others = types
    take(nodes, "instance_type", first, example="p5.48xlarge" if group.has_efa else "m5.large")
    for other in others:
        if other.location != first.location:
            other.unsupported(
                "a node group has one instance type: add another node group for it",
                rule="A8" if group.has_efa else "",
            )


def _read_efa(group: Group, nodes: Draft, stack: StackDraft, blocks: Blocks) -> None:
    """Read `enable_efa_support`, with which the module creates a cluster placement group.

    It does so for nodes of a reservation too: `create_placement_group` in
    `modules/eks-managed-node-group/main.tf` and `modules/self-managed-node-group/main.tf`.
    """
    source = group.source
    efa = source.at("enable_efa_support")
    reservation = stack.values.get("reservations", {}).get(nodes.values.get("purchase_option"))
    if efa.flag is True and reservation is not None:
        nodes.better("efa_enabled", efa, value=True, why=_NEW_GROUP, rule=_group_rule(reservation))
    else:
        take(nodes, "efa_enabled", efa)
    only = source.at("enable_efa_only")
    if only.flag is False and nodes.has("efa_enabled"):
        only.claim("taken over", ours=(*nodes.at, "interface_layout"))
        nodes.put("interface_layout", "efa")
    only.implied("all EFA interfaces but the first have no IP addresses")
    _read_interfaces(group, nodes)
    _read_placement(group, nodes, blocks, reservation)


def _read_interfaces(group: Group, nodes: Draft) -> None:
    listed = list(group.source.at("network_interfaces").items())
    if group.has_efa and listed and not nodes.has("efa_enabled"):
        nodes.put("efa_enabled", value=True)
        for each in listed:
            each.claim("taken over", ours=(*nodes.at, "efa_enabled"))


def _group_rule(reservation: Mapping[str, Any]) -> str:
    return "B7" if reservation.get("kind") == "capacity-block" else "B9"


def _read_placement(
    group: Group, nodes: Draft, blocks: Blocks, reservation: Mapping[str, Any] | None
) -> None:
    created = group.source.at("create_placement_group")
    if created.flag is True:
        section = nodes.section("placement", created)
        section.put("group", "create")
        created.claim("taken over", ours=(*section.at, "group"))
    created.implied("the stack decides it by the capacity")
    name = group.source.at("placement", "group_name")
    if blocks.named(name.value, "aws_placement_group") is not None:
        if reservation is not None and "placement_group" not in reservation:
            name.claim("taken over better", _NEW_GROUP, rule=_group_rule(reservation))
        name.implied("the stack creates its placement groups")
    elif is_known(name):
        section = nodes.section("placement", name)
        section.put("group", "existing")
        section.take("name", name)
    name.unsupported("the stack creates the placement group: see `placement` of the node group")


def _read_place(group: Group, nodes: Draft, blocks: Blocks, vpc: Reader | None) -> None:
    """Read `subnet_ids`: one is a zone or a subnet, several are all zones."""
    source = group.source.at("subnet_ids")
    listed = list(source.items())
    if len(listed) == 1:
        _read_one_place(listed[0], nodes, blocks, vpc)
        return
    if not group.has_efa:
        source.implied("nodes launch in every private subnet")
        return
    nodes.needs("availability_zone", "use1-az4")
    if source.exists:
        source.unsupported(
            "all nodes with EFA launch in one zone: name only that of the capacity, in "
            "`availability_zone` of the node group",
            rule="A6" if len(listed) > 1 else "",
        )


def _read_one_place(each: Reader, nodes: Draft, blocks: Blocks, vpc: Reader | None) -> None:
    if is_id(each.value, "subnet"):
        nodes.take("subnet_id", each)
        return
    zone = _zone_of(each.value, blocks, vpc)
    if zone is not None:
        nodes.take("availability_zone", each, change=lambda _: zone)
        return
    key, example = ("availability_zone", "use1-az4") if vpc else ("subnet_id", id_for("subnet"))
    nodes.needs(key, example)
    each.claim(
        "not supported",
        f"the files do not have its zone: set `{key}` of the node group",
        ours=(*nodes.at, key),
    )


def _use_subnet(nodes: Draft, stack: StackDraft) -> None:
    """Add the subnet of a node group to those of the network, which has to name it."""
    subnet, network = nodes.values.get("subnet_id"), stack.values["network"]
    if subnet is not None and network["kind"] == "existing-vpc":
        listed = network.setdefault("private_subnet_ids", [])
        if subnet not in listed:
            listed.append(subnet)


def _zone_of(subnet: Any, blocks: Blocks, vpc: Reader | None) -> str | None:
    """Return the zone of a subnet of the VPC that the stack creates."""
    found = reference_of(subnet)
    if found is None or vpc is None:
        return None
    block = blocks.named(subnet)
    if block is not None and block.node is not None and block.node.section == "aws_subnet":
        zone = block.at("availability_zone")
    else:
        zone = vpc.at("azs", -1 if found.index is None else found.index)
    return str(zone.value) if is_known(zone) else None
