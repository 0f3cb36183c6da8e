"""An EKS cluster of Terraform as a stack file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trainyard.components.catalog.versions import DEFAULT_KUBERNETES_VERSION, EKS_VERSIONS
from trainyard.components.config.problems import nearest
from trainyard.components.eks.cluster_review import control_plane_log_group
from trainyard.importing.draft import (
    Draft,
    StackDraft,
    claim_market,
    reservation_of,
    take_addon,
    take_repair,
    take_retention,
)
from trainyard.importing.formats import CLUSTERS_OF_TERRAFORM, GROUPS_OF_TERRAFORM, OF_TERRAFORM
from trainyard.importing.key_table import Keys
from trainyard.importing.report import OutcomeRow, OutcomeTable, Reader, Report, whole
from trainyard.importing.source import Document, id_for, is_id, is_placeholder
from trainyard.importing.terraform.blocks import (
    CLUSTER_MODULE,
    CLUSTER_RESOURCE,
    KEYS,
    Blocks,
    Group,
    Source,
    address_of,
    charts_of,
    groups_of,
    is_public,
    missing_note,
    take,
    take_number,
)
from trainyard.importing.terraform.values import is_known, is_unknown
from trainyard.importing.user_data import MARKS_OF_LABELS, decoded, said_in

_TARGET = "capacity_reservation_target"
_SECTIONS = ("aws_ec2_capacity_reservation", "aws_ec2_capacity_block_reservation")


def _read_purchase_option(
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
            made = str(nodes.values["purchase_option"])
            _read_created(created, cluster.section("reservations").section(made))
    name = str(nodes.values.get("purchase_option", name))
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
    name = reservation_of(cluster, by_id, by_group) or name
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


def _imply_reservations(blocks: Blocks) -> None:
    """Record that a stack uses reservations and creates none."""
    for created in blocks.of(*_SECTIONS):
        created.claim(
            "not supported",
            "a stack uses reservations and creates none: keep it in Terraform, or buy it with "
            "`./trainyard capacity`, and set its id in `reservations`",
        )


_PARTS = ("cloudinit_pre_nodeadm", "cloudinit_post_nodeadm")
_TEXTS = ("pre_bootstrap_user_data", "bootstrap_extra_args", "post_bootstrap_user_data")
"""Inputs of the modules for user data: `modules/_user_data/variables.tf` of the module."""
_ENCODED = "user_data"
_WHY = "the labels and taints in it; run a DaemonSet for other settings of nodes"


def _read_user_data(source: Source, nodes: Draft, *, is_system: bool) -> None:
    """Read labels and taints of a node group that its own keys do not have.

    The system node group has no taints.
    """
    for place, said in _said(source):
        labels = {
            key: value
            for key, value in said.get("labels", {}).items()
            if not key.startswith(MARKS_OF_LABELS) and not is_placeholder(f"{key}{value}")
        }
        taints = [
            each
            for each in said.get("taints", [])
            if not is_system and not any(map(is_placeholder, each.values()))
        ]
        for key, value in labels.items():
            nodes.section("labels").values.setdefault(key, value)
        if taints and not nodes.has("taints"):
            nodes.put("taints", taints)
        _claim(place, nodes, labels, taints)


def _said(source: Source) -> Iterator[tuple[Reader, dict[str, Any]]]:
    """Yield the places of user data and what they say, which a plan has as a mapping."""
    parts = (each.at("content") for key in _PARTS for each in source.at(key).items())
    for place in (*parts, *map(source.at, _TEXTS)):
        if isinstance(place.value, str):
            yield place, said_in(place.value)
    encoded = source.at(_ENCODED)
    if isinstance(encoded.value, dict):
        yield encoded, encoded.value
    elif isinstance(encoded.value, str):
        yield encoded, said_in(decoded(encoded.value) or encoded.value)


def _claim(place: Reader, nodes: Draft, labels: dict[str, str], taints: list[Any]) -> None:
    whole = {"labels": labels, "taints": taints}
    for key, taken in whole.items():
        if not taken:
            continue
        ours = (*nodes.at, key)
        if isinstance(place.value, dict):
            place.at(key).claim("taken over", ours=ours)
        else:
            place.claim("taken over", _WHY, ours=ours)
    if isinstance(place.value, dict):
        place.at("nodeConfig").implied("the stack writes the NodeConfig")
        place.at("localStorage").implied("it is the default of `local_nvme`")


def _read_network(blocks: Blocks, cluster: Source, stack: StackDraft) -> None:
    """Read the ids of the VPC and of the subnets of a cluster."""
    network = stack.cluster.section("network", cluster.reader)
    network.put("kind", "existing-vpc")
    network.take_id("vpc_id", cluster.at("vpc_id"), "vpc")
    if not network.has("vpc_id"):
        network.needs("vpc_id", id_for("vpc"))
    ids = [*cluster.at("subnet_ids").items(), *cluster.at("control_plane_subnet_ids").items()]
    _read_subnets(blocks, ids, network)
    if not ids and cluster.at("subnet_ids").exists:
        cluster.at("subnet_ids").unsupported(
            "the files do not have the ids: set `network.private_subnet_ids` in the stack file"
        )


def _read_subnets(blocks: Blocks, ids: Sequence[Reader], network: Draft) -> None:
    public = [each for each in ids if is_public(each, blocks)]
    network.take_ids("private_subnet_ids", [each for each in ids if each not in public], "subnet")
    network.take_ids("public_subnet_ids", public, "subnet")
    if not network.has("private_subnet_ids"):
        network.needs("private_subnet_ids", [id_for("subnet", 1), id_for("subnet", 2)])
    if not network.has("public_subnet_ids"):
        network.put("public_subnet_ids", [])


_EFFECTS = {
    "NO_SCHEDULE": "NoSchedule",
    "NO_EXECUTE": "NoExecute",
    "PREFER_NO_SCHEDULE": "PreferNoSchedule",
}
_REQUIRED = (
    "AmazonEKSWorkerNodePolicy",
    "AmazonEKS_CNI_Policy",
    "AmazonEC2ContainerRegistryReadOnly",
    "AmazonEC2ContainerRegistryPullOnly",
    "AmazonSSMManagedInstanceCore",
)
"""Policies that every node role of a stack has, or a narrower one."""
_AWS_POLICY = re.compile(r"(?:arn:aws[\w-]*|.*\}):?(?:iam::aws:)?policy/(?P<name>.+)")
_ROOT_DEVICES = ("/dev/xvda", "/dev/sda1", "xvda")
_LEAST_GIB = 20
"""Default of `disk_size` of EKS, and minimum of the AMI."""
_NO_AGENT = "plan/eks.eks_managed_node_groups.node_repair_config"
_RAID0 = "strategy: RAID0"


def _read_common(source: Source, nodes: Draft, blocks: Blocks, *, is_system: bool) -> None:
    """Read what a node group has in addition to its capacity and its place."""
    _read_volume(source, nodes)
    for key, value in source.at("labels").entries():
        take(nodes.section("labels"), key, value)
    _read_image(source)
    additional = source.at("iam_role_additional_policies")
    listed = [*additional.items(), *(each for _, each in additional.entries())]
    _read_policies([*listed, *_attached(source.reader, blocks)], nodes)
    if not is_system:
        _read_taints(source.at("taints"), nodes)
    _read_user_data(source, nodes, is_system=is_system)
    if is_system:
        source.at("taints").dropped("the system node group has no taints")
        return
    take(nodes, "ssh_key_name", source.at("key_name"))


def _read_image(source: Source) -> None:
    kind = source.at("ami_type")
    name = str(kind.value)
    if name.startswith("AL2023"):
        kind.implied("nodes run Amazon Linux 2023, with the drivers of their instance type")
    elif name.startswith("AL2_"):
        kind.claim(
            "taken over better",
            "nodes run Amazon Linux 2023: EKS publishes no Amazon Linux 2 AMI for Kubernetes 1.33 "
            "and later",
        )
    kind.unsupported("nodes run Amazon Linux 2023")
    for key in ("cloudinit_pre_nodeadm", "pre_bootstrap_user_data"):
        if _RAID0 in str(source.at(key).value):
            source.at(key).implied(
                "the stack writes the NodeConfig; `local_nvme` is `raid0` without a key"
            )


def _read_volume(source: Source, nodes: Draft) -> None:
    """Read the root volume: that of the launch template, otherwise `disk_size`."""
    volume = nodes.section("root_volume")
    mapping = _root_mapping(source.at("block_device_mappings"))
    size = source.at("disk_size")
    if mapping is not None:
        ebs = mapping.at("ebs", 0) if mapping.at("ebs", 0).exists else mapping.at("ebs")
        mapping.at("device_name").implied("the AMI names its root volume")
        size = ebs.at("volume_size") if ebs.at("volume_size").exists else size
        for theirs, ours in (("iops", "iops"), ("throughput", "throughput_mibps")):
            if ebs.at(theirs).value:
                take_number(volume, ours, ebs.at(theirs))
        kind = ebs.at("volume_type")
        kind.claim(
            "implied" if kind.value == "gp3" else "taken over better",
            "root volumes are gp3: faster and cheaper than others",
        )
        encrypted = ebs.at("encrypted")
        if encrypted.exists and encrypted.flag is False:
            encrypted.claim("taken over better", "root volumes are encrypted", rule="E16")
        encrypted.implied("root volumes are encrypted")
        ebs.at("delete_on_termination").implied("the volume ends with its node")
    gib = whole(size)
    if gib is not None and gib < _LEAST_GIB:
        volume.better("size_gib", size, _LEAST_GIB, "the AMI needs more", rule="E16")
    elif not take_number(volume, "size_gib", size):
        volume.put("size_gib", _LEAST_GIB)


def _root_mapping(source: Reader) -> Reader | None:
    listed = [*source.items(), *(each for _, each in source.entries())]
    for each in listed:
        if each.at("device_name").value in _ROOT_DEVICES:
            return each
    return None


def _read_taints(source: Reader, nodes: Draft) -> None:
    listed = [*source.items(), *(each for _, each in source.entries())]
    taints: list[dict[str, Any]] = []
    for each in listed:
        taint = Draft({}, (*nodes.at, "taints", len(taints)), nodes.unknown)
        take(taint, "key", each.at("key"))
        take(taint, "value", each.at("value"), change=str)
        take(taint, "effect", each.at("effect"), change=_effect)
        taints.append(taint.values)
    if taints:
        nodes.put("taints", taints)


def _effect(value: Any) -> str:
    return _EFFECTS.get(str(value), str(value))


def _attached(group: Reader, blocks: Blocks) -> Iterator[Reader]:
    """Yield the policies of the role of a node group that resources attach to it."""
    role = blocks.named(group.at("node_role_arn").value, "aws_iam_role")
    for each in blocks.of("aws_iam_role_policy_attachment"):
        if role is not None and blocks.named(each.at("role").value, "aws_iam_role") == role:
            each.at("role").implied("it is the role of the nodes")
            yield each.at("policy_arn")


def _read_policies(listed: Sequence[Reader], nodes: Draft) -> None:
    for each in listed:
        match = _AWS_POLICY.fullmatch(str(each.value))
        if match is None:
            each.unsupported(
                "name AWS managed policies in `iam_policies`; the stack makes no others"
            )
        elif match["name"] in _REQUIRED:
            each.implied("every node role has the policy, or a narrower one")
        else:
            policies = nodes.values.setdefault("iam_policies", [])
            if match["name"] not in policies:
                policies.append(match["name"])
            each.claim(
                "taken over", ours=(*nodes.at, "iam_policies", policies.index(match["name"]))
            )


def _read_repair(source: Source, nodes: Draft, architecture: Draft, management: str) -> None:
    """Read `node_repair_config` of a managed node group, which needs the agent."""
    enabled = source.at("node_repair_config", "enabled")
    if enabled.flag is not True or management != "managed":
        enabled.implied("EKS repairs no nodes without `auto_repair`")
        return
    take_repair(enabled, nodes, architecture, rule=_NO_AGENT)
    take_number(
        nodes,
        "maximum_parallel_repairs",
        source.at("node_repair_config", "max_parallel_nodes_repaired_count"),
    )


_AS_SYSTEM = "it becomes the system node group of the stack, under that name"
_SIZES = {"min_size": ("minimum", 1), "desired_size": ("desired", 1), "max_size": ("maximum", 3)}
"""Keys of the stack file and defaults of the module (`variables.tf` of both submodules)."""
_NEW_GROUP = (
    "Terraform launches these nodes into a new placement group, in which the reservation has no "
    "instances; the stack uses the group of the reservation, if it has one"
)


def _read_node_groups(
    groups: list[Group], architecture: Draft, stack: StackDraft, blocks: Blocks
) -> None:
    """Read the node groups; the first managed one for services is the system node group."""
    system = next(
        (
            each
            for each in groups
            if each.management == "managed"
            and each.is_for_services
            and each.source.at("create").flag is not False
        ),
        None,
    )
    section = architecture.section("node_groups")
    for group in groups:
        _report_ignored(group)
        if group.source.at("create").flag is False:
            group.source.reader.dropped("Terraform does not create it")
            continue
        if group is system:
            nodes = architecture.section("system_node_group", group.source.reader)
            _read_sizes(group, nodes, least=1)
        else:
            nodes = section.section(group.name, group.source.reader)
            nodes.put("management", group.management)
            _read_sizes(group, nodes, least=0)
            _read_purchase_option(group.name, group.source, nodes, stack.cluster, blocks)
            _read_efa(group, nodes, stack, blocks)
            _read_place(group, nodes)
            _use_subnet(nodes, stack)
            _read_repair(group.source, nodes, architecture, group.management)
        for key in ("name", "name_prefix", "node_group_name", "node_group_name_prefix"):
            why = _AS_SYSTEM if group is system else ""
            group.source.reader.at(key).claim("taken over", why, ours=nodes.at)
        _read_type(group, nodes)
        _read_common(group.source, nodes, blocks, is_system=group is system)
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
    elif created.flag is False and reservation is None and group.has_efa:
        section = nodes.section("placement", created)
        created.claim("taken over", ours=(*section.at, "group"))
        section.put("group", "none")
    created.implied("without EFA, nodes have no placement group")
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


def _read_place(group: Group, nodes: Draft) -> None:
    """Read `subnet_ids`: one is the subnet, several are all zones."""
    source = group.source.at("subnet_ids")
    listed = list(source.items())
    if len(listed) == 1:
        _read_one_place(listed[0], nodes)
        return
    if not group.has_efa:
        why = "nodes launch in every private subnet of the network, where there is capacity"
        source.claim("taken over better", why)
        return
    nodes.needs("availability_zone", "use1-az4")
    if source.exists:
        source.unsupported(
            "all nodes with EFA launch in one zone: name only that of the capacity, in "
            "`availability_zone` of the node group",
            rule="A6" if len(listed) > 1 else "",
        )


def _read_one_place(each: Reader, nodes: Draft) -> None:
    if is_id(each.value, "subnet"):
        nodes.take("subnet_id", each)
        return
    nodes.needs("subnet_id", id_for("subnet"))
    each.claim(
        "not supported",
        "the files do not have its id: set `subnet_id` of the node group",
        ours=(*nodes.at, "subnet_id"),
    )


def _use_subnet(nodes: Draft, stack: StackDraft) -> None:
    """Add the subnet of a node group to those of the network, which has to name it."""
    subnet, network = nodes.values.get("subnet_id"), stack.values["network"]
    if subnet is not None and network["kind"] == "existing-vpc":
        listed = network.setdefault("private_subnet_ids", [])
        if subnet not in listed:
            listed.append(subnet)


_LOG_TYPES = ["audit", "api", "authenticator"]
"""Default of the module: `enabled_log_types` in its `variables.tf`."""


def _read_cluster(cluster: Reader, blocks: Blocks, stack: StackDraft) -> None:
    """Read an EKS cluster into a stack file."""
    is_module = cluster.node is not None and cluster.node.section == "eks"
    source = Source([(cluster, CLUSTER_MODULE if is_module else CLUSTER_RESOURCE)])
    stack.claim_name(source.at("name"))
    for key, value in cluster.at("tags").entries():
        if value.node is not None and is_unknown(value.node):
            take(stack.cluster.section("tags"), key, value)
        else:
            stack.take_tag(key, value.value, value)
    _read_network(blocks, source, stack)
    architecture = stack.cluster.section("architecture")
    architecture.put("kind", "eks")
    _read_version(source.at("version"), architecture)
    _read_access(source, architecture)
    _read_endpoint(source, architecture, is_module=is_module)
    if not take(architecture, "log_types", source.at("log_types")) and is_module:
        architecture.put("log_types", list(_LOG_TYPES))
    _read_log_group(source, blocks, architecture)
    take(architecture, "secrets_key_arn", source.at("key"))
    _read_addons(cluster, blocks, architecture)
    groups = list(groups_of(cluster, blocks))
    _read_node_groups(groups, architecture, stack, blocks)
    _imply_reservations(blocks)
    _imply_defaults(source)


def _read_version(source: Reader, architecture: Draft) -> None:
    if str(source.value) in EKS_VERSIONS:
        architecture.take("kubernetes_version", source, change=str)
    elif source.node is not None and source.node.tag:
        take(architecture, "kubernetes_version", source)
    else:
        architecture.better(
            "kubernetes_version",
            source,
            DEFAULT_KUBERNETES_VERSION,
            f"Kubernetes {source.value} is not in standard support, or no AMI of it is pinned; "
            f"stacks have {', '.join(EKS_VERSIONS)}",
            rule="H5",
        )


def _read_access(source: Source, architecture: Draft) -> None:
    mode = source.at("authentication_mode")
    take(architecture, "authentication_mode", mode)
    if mode.value == "API":
        architecture.put("node_authorization", "access-entry")
    creator = source.at("creator")
    creator.claim(
        "implied" if creator.flag is not False else "taken over better",
        "the principal that creates the cluster administers it",
    )


def _read_endpoint(source: Source, architecture: Draft, *, is_module: bool) -> None:
    endpoint = architecture.section("endpoint")
    public, private = source.at("public_access"), source.at("private_access")
    if not take(endpoint, "public_access", public) and is_module and not public.exists:
        # `endpoint_public_access` in `variables.tf` of the module, since version 19.
        endpoint.put("public_access", value=_major(source) == 18)
    take(endpoint, "private_access", private)
    cidrs = source.at("public_cidrs")
    if cidrs.value and endpoint.values.get("public_access") is not False:
        take(endpoint, "public_access_cidrs", cidrs)
    cidrs.dropped("the endpoint is not public")
    if not endpoint.values:
        del architecture.values["endpoint"]


def _read_log_group(source: Source, blocks: Blocks, architecture: Draft) -> None:
    take_retention(architecture, source.at("log_retention"))
    created = source.at("create_cloudwatch_log_group")
    if created.flag is False:
        created.claim("taken over better", "the stack creates the log group of its control plane")
    name = control_plane_log_group(str(source.at("name").value))
    for group in blocks.of("aws_cloudwatch_log_group"):
        if group.at("name").value == name:
            take_retention(architecture, group.at("retention_in_days"))
            if group.at("kms_key_id").value:
                group.at("kms_key_id").unsupported(
                    "the log group is encrypted with the key of CloudWatch Logs"
                )
            group.implied("the stack creates the log group of its control plane")


def _major(source: Source) -> int | None:
    match = re.search(r"\d+", str(source.reader.at("version").value))
    return int(match[0]) if match else None


def _addons_of(cluster: Reader, blocks: Blocks) -> Iterator[tuple[str, Reader]]:
    """Yield the name and the place of each add-on."""
    for key in ("addons", "cluster_addons"):
        for name, each in cluster.at(key).entries():
            yield str(each.at("name").value or name), each
    for block in blocks.of("aws_eks_addon"):
        yield str(block.at("addon_name").value), block


def _read_addons(cluster: Reader, blocks: Blocks, architecture: Draft) -> None:
    for name, each in _addons_of(cluster, blocks):
        version = each.at("addon_version")
        if not take_addon(name, each, named=each, version=version, architecture=architecture):
            continue
        each.at("most_recent").implied("the stack pins a version that it was tested with")
        for key in ("before_compute", "preserve", "resolve_conflicts_on_update", "timeouts"):
            each.at(key).implied("the stack installs its add-ons in the order that they need")
        each.at("resolve_conflicts_on_create").implied(
            "the stack overwrites fields that others have changed"
        )
        for key in ("service_account_role_arn", "pod_identity_association"):
            each.at(key).implied("the stack gives the add-on the role that it needs")
        each.at("configuration_values").unsupported(
            f"after `up`, set it with `aws eks update-addon --cluster-name CLUSTER --addon-name "
            f"{name} --configuration-values`"
        )
    if not architecture.values.get("addons", True):
        del architecture.values["addons"]


def _imply_defaults(source: Source) -> None:
    family = source.at("family")
    if str(family.value).lower() == "ipv4":
        family.implied("pods have IPv4 addresses")
    irsa = source.at("enable_irsa")
    irsa.claim(
        "implied" if irsa.flag is not False else "taken over better",
        "every cluster has an OIDC provider, so that pods can have roles",
    )


def _outcomes() -> Mapping[Keys, OutcomeRow]:
    from trainyard.importing.terraform.outcomes import (
        table,  # 5 ms with the table, for reports only
    )

    return table()


OUTCOMES = OutcomeTable(_outcomes)
WORDS = {
    "instance_type": "instance_types",
    "efa_enabled": "enable_efa_support",
    "availability_zone": "subnet_ids",
    "subnet_id": "subnet_ids",
    "purchase_option": "capacity_reservation_specification",
    "reservation_id": "capacity_reservation_id",
    "group_arn": "capacity_reservation_resource_group_arn",
    "minimum": "min_size",
    "desired": "desired_size",
    "maximum": "max_size",
    "size_gib": "volume_size",
    "throughput_mibps": "throughput",
    "auto_repair": "node_repair_config",
    "node_monitoring_agent": "eks-node-monitoring-agent",
    "private_subnet_ids": "subnet_ids",
    "public_subnet_ids": "subnet_ids",
    "node_groups": "eks_managed_node_groups",
    "system_node_group": "eks_managed_node_groups",
}
_ARN = re.compile(r"arn:[\w-]+:[a-z0-9-]+:(?P<region>[a-z0-9-]+):")


def name_of(document: Document) -> str:
    """Return the name of the cluster, otherwise that of the directory."""
    blocks = Blocks(Reader(document.root, (), Report()))
    for block in blocks.of(*CLUSTERS_OF_TERRAFORM):
        for key in ("name", "cluster_name"):
            given = block.at(key)
            if is_known(given):
                return str(given.value)
    directory = document.path if document.path.is_dir() else document.path.parent
    return directory.resolve().name if document.path.suffix != ".json" else document.path.stem


def convert(source: Reader, stack: StackDraft) -> None:
    """Read the first cluster of a document into a stack file; the others are reported."""
    blocks = Blocks(source)
    stack.cluster.put("name", stack.name)
    _read_region(blocks, stack)
    _claim_unread(blocks)
    clusters = list(blocks.of(*CLUSTERS_OF_TERRAFORM))
    cluster = clusters[0] if clusters else blocks.first(*GROUPS_OF_TERRAFORM)
    if cluster is None:
        return  # a file that could not be read may have it
    for other in clusters[1:]:
        other.unsupported(
            f"a stack has one cluster, and this one is {address_of(cluster)}: move the other "
            "one to a directory of its own, and import that"
        )
    for block, why in charts_of(blocks):
        block.unsupported(why)
    _read_cluster(cluster, blocks, stack)
    blocks.root.report.notes[:0] = missing_note(blocks)


def _claim_unread(blocks: Blocks) -> None:
    """Report each module and each type of resource that is not read, in one entry."""
    for section, why in OF_TERRAFORM.items():
        found = [*blocks.of(section)]
        if not section.startswith("aws_"):
            for module in found:
                module.report.claim_together([module.location], why, address_of(module))
        elif found:
            ids = [str(each.at("id").value) for each in found if is_id(each.at("id").value, "fs")]
            number = f" ({', '.join(ids) or len(found)})" if ids or len(found) > 1 else ""
            locations = [each.location for each in found]
            blocks.root.report.claim_together(locations, why, f"{section}{number}")


def _read_region(blocks: Blocks, stack: StackDraft) -> None:
    """Read the region of the provider; a state has it in its ARNs."""
    for provider in blocks.of("provider"):
        if provider.location == ("provider.aws",) and provider.at("region").exists:
            stack.take_region(provider.at("region"))
            return
    for block in blocks.of(*CLUSTERS_OF_TERRAFORM, *GROUPS_OF_TERRAFORM):
        found = _ARN.match(str(block.at("arn").value))
        if found is not None:
            stack.region = found["region"]
            block.at("arn").claim("taken over", "it has `aws:region` of the stack file")
            return
