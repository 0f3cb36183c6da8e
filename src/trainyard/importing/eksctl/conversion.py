"""An eksctl `ClusterConfig` as a stack file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.components.catalog.instance_types import INSTANCE_TYPES, zones_with
from trainyard.components.catalog.regions import zone_region
from trainyard.components.catalog.versions import DEFAULT_KUBERNETES_VERSION, EKS_VERSIONS
from trainyard.importing.draft import (
    Draft,
    StackDraft,
    claim_market,
    reservation_of,
    take_addon,
    take_repair,
    take_retention,
)
from trainyard.importing.key_table import KeyTable, keys_beside
from trainyard.importing.report import OutcomeTable, Reader, outcomes_beside
from trainyard.importing.source import Document, id_for, is_id, is_placeholder

_PERMISSIONS = (
    "attachPolicyARNs",
    "attachPolicy",
    "serviceAccountRoleARN",
    "wellKnownPolicies",
    "podIdentityAssociations",
    "useDefaultPodIdentityAssociations",
    "permissionsBoundary",
)


def _read_addons(source: Reader, architecture: Draft) -> None:
    """Read the entries of `addons`."""
    for addon in source.items():
        _read(addon, architecture)


def _read(addon: Reader, architecture: Draft) -> None:
    name, version = addon.at("name"), addon.at("version")
    if not take_addon(
        str(name.value), addon, named=name, version=version, architecture=architecture
    ):
        return
    for key in _PERMISSIONS:
        addon.at(key).implied("the stack gives the add-on the role that it needs")
    addon.at("resolveConflicts").implied("the stack overwrites fields that others have changed")


_NAT = {"disable": "none", "single": "single", "highlyavailable": "one-per-zone"}
_PRIVATE_SERVICES = ("ec2", "ecr.api", "ecr.dkr", "eks", "eks-auth", "logs", "sts")
"""Endpoints of a private cluster: those of eksctl (`pkg/apis/eksctl.io/v1alpha5/
endpoint_service.go`), and those of EKS and Pod Identity, which the nodes of a stack need."""
_FAMILIES = (("private", "private_subnet_ids"), ("public", "public_subnet_ids"))


def _read_network(source: Reader, stack: StackDraft) -> None:
    """Read `vpc`, and the zones of a new VPC."""
    cluster = stack.cluster
    vpc = source.at("vpc")
    network = cluster.section("network", vpc)
    if vpc.at("id").exists or any(_subnets(vpc)):
        _read_existing(vpc, network)
        source.at("availabilityZones").dropped("the subnets of the VPC have their zones")
        return
    network.put("kind", "new-vpc")
    _read_zones(source, network, stack.region)
    network.take("cidr", vpc.at("cidr"))
    _read_gateways(source, network)
    if network.values.get("nat_gateways") == "none" and not vpc.at("nat", "gateway").exists:
        # Which images and services nodes reach is a question of the add-ons of the stack.
        stack.own.add((*network.at, "nat_gateways"))
    for family, _ in _FAMILIES:
        vpc.at("subnets", family).unsupported(
            "set `public_subnet_cidrs` and `private_subnet_cidrs`, one for each zone in the order "
            "of `availability_zones`"
        )


def _subnets(vpc: Reader) -> Iterator[Reader]:
    """Yield the ids of existing subnets."""
    for family, _ in _FAMILIES:
        subnets = vpc.at("subnets", family)
        yield from (each for each in subnets.items() if each.exists)
        yield from (entry.at("id") for _, entry in subnets.entries() if entry.at("id").exists)


def _read_existing(vpc: Reader, network: Draft) -> None:
    network.put("kind", "existing-vpc")
    network.take_id("vpc_id", vpc.at("id"), "vpc")
    if not network.has("vpc_id"):
        network.needs("vpc_id", id_for("vpc"))
    for number, (family, key) in enumerate(_FAMILIES):
        subnets = vpc.at("subnets", family)
        listed = [*subnets.items(), *(entry.at("id") for _, entry in subnets.entries())]
        network.take_ids(key, [each for each in listed if each.exists], "subnet")
        for _, entry in subnets.entries():
            entry.at("az").implied("the subnet has its zone")
            entry.at("cidr").implied("the subnet has its addresses")
        if not network.has(key) and family == "public" and not listed:
            network.put(key, [])
        network.needs(key, [id_for("subnet", 2 * number + 1), id_for("subnet", 2 * number + 2)])
    vpc.at("cidr").implied("the VPC has its addresses")
    vpc.at("nat").dropped("an existing VPC has its own NAT gateways")


def _read_zones(source: Reader, network: Draft, region: str) -> None:
    zones = source.at("availabilityZones")
    example = [f"{region or 'us-east-1'}{letter}" for letter in "ab"]
    values = zones.value if isinstance(zones.value, list) else []
    if values and not any(map(is_placeholder, values)):
        network.take("availability_zones", zones)
        return
    zones.claim(
        "not supported",
        "it is a placeholder: set zones of the region",
        ours=(*network.at, "availability_zones"),
    )
    of_nodes = [zone for zone in _zones_of_nodes(source) if not is_placeholder(zone)]
    if of_nodes:
        # At least two for the control plane; eksctl adds another zone by itself.
        others = [zone for zone in example if zone not in of_nodes]
        network.put("availability_zones", [*of_nodes, *others[: max(0, 2 - len(of_nodes))]])
        return
    chosen = _chosen_zones(source, region) if not zones.exists else []
    if chosen:
        network.put("availability_zones", chosen)
        source.report.notes.append(
            "the file names no zones, which eksctl then chooses: the stack has "
            f"{', '.join(chosen)} of its region, where EC2 offers its types; change them before "
            "`up`, not after"
        )
    else:
        network.needs("availability_zones", example)


_ZONES_OF_VPC = 3
"""`RecommendedAvailabilityZones` in eksctl's `pkg/az/az.go`."""


def _chosen_zones(source: Reader, region: str) -> list[str]:
    """Return zones for a VPC of a file that names none; none without a region that is known."""
    groups = (
        each for key in ("managedNodeGroups", "nodeGroups") for each in source.at(key).items()
    )
    types = {_type_of(each) for each in groups} | {_SYSTEM_TYPE}
    return sorted(zones_with(types, zone_region, region)[:_ZONES_OF_VPC])


_SYSTEM_TYPE = "c5.2xlarge"
"""Type of the system node group of a stack that names none."""


def _zones_of_nodes(source: Reader) -> list[str]:
    groups = (
        each for key in ("managedNodeGroups", "nodeGroups") for each in source.at(key).items()
    )
    zones = (str(zone.value) for each in groups for zone in each.at("availabilityZones").items())
    return list(dict.fromkeys(zones))


def _read_gateways(source: Reader, network: Draft) -> None:
    private = source.at("privateCluster", "enabled")
    gateway = source.at("vpc", "nat", "gateway")
    if private.flag is True:
        network.put("public_subnets", value=False)
        network.put("nat_gateways", "none")
        gateway.dropped("a private cluster has no NAT gateway")
        services = source.at("privateCluster", "additionalEndpointServices")
        network.put("interface_endpoints", list(_PRIVATE_SERVICES))
        for service in services.items():
            listed = network.values["interface_endpoints"]
            if service.value not in listed:
                listed.append(service.value)
            number = listed.index(service.value)
            service.claim("taken over", ours=(*network.at, "interface_endpoints", number))
    network.take("nat_gateways", gateway, change=lambda value: _NAT.get(str(value).lower(), value))


def _subnet_named(vpc: Reader, name: str) -> str | None:
    """Return the id of the subnet that a node group names, by its id or its name in `vpc`."""
    if is_id(name, "subnet"):
        return name
    for family, _ in _FAMILIES:
        known = vpc.at("subnets", family, name, "id").value
        if is_id(known, "subnet"):
            return str(known)
    return None


_ID, _GROUP = "capacityReservationID", "capacityReservationResourceGroupARN"


def _read_purchase_option(group: Reader, nodes: Draft, cluster: Draft) -> None:
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
        claim_market(market, ours=("reservations", nodes.values["purchase_option"], "kind"))
    spot.implied("the node group is not Spot")
    _read_preference(reserved.at("capacityReservationPreference"), nodes)
    _read_distribution(group.at("instancesDistribution"), nodes)


def _read_reservation(
    name: str, target: Reader, nodes: Draft, cluster: Draft, *, is_block: bool
) -> None:
    name = reservation_of(cluster, target.at(_ID), target.at(_GROUP)) or name
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


_ADDON_POLICIES: Mapping[str, str] = {
    "autoScaler": "autoscaler",
    "cloudWatch": "cloudwatch",
    "ebs": "ebs",
    "fsx": "fsx",
}
_REQUIRED = (
    "AmazonEKSWorkerNodePolicy",
    "AmazonEKS_CNI_Policy",
    "AmazonEC2ContainerRegistryReadOnly",
    "AmazonEC2ContainerRegistryPullOnly",
    "AmazonSSMManagedInstanceCore",
)
"""Policies that every node role of a stack has, or a narrower one."""
_AWS_POLICY = re.compile(r"arn:aws[\w-]*:iam::aws:policy/(?P<name>.+)")


def _read_permissions(source: Reader, nodes: Draft) -> None:
    """Read `iam` of a node group."""
    policies = source.at("withAddonPolicies")
    named: list[str] = []
    for key, value in policies.entries():
        if value.flag is False:
            value.implied("nodes do not have the permission")
        elif key in _ADDON_POLICIES:
            named.append(_ADDON_POLICIES[key])
            value.claim("taken over", ours=(*nodes.at, "addon_policies", len(named) - 1))
        else:
            value.unsupported(
                "give the permission to the pods that need it, with an IAM role for pods, or name "
                "a policy in `iam_policies`"
            )
    if named or policies.exists:
        nodes.put("addon_policies", named)
    for arn in source.at("attachPolicyARNs").items():
        match = _AWS_POLICY.fullmatch(str(arn.value))
        name = match["name"] if match else str(arn.value)
        if name in _REQUIRED:
            arn.implied("every node role has the policy, or a narrower one")
        else:
            listed = nodes.values.setdefault("iam_policies", [])
            listed.append(name)
            arn.claim("taken over", ours=(*nodes.at, "iam_policies", len(listed) - 1))


_DEFAULT_COUNT = 2
"""`DefaultNodeCount` in eksctl's `pkg/apis/eksctl.io/v1alpha5/types.go`."""
_DEFAULT_TYPE = "m5.large"
"""`DefaultNodeType` there."""
_NOT_OF_SYSTEM = ("spot", "efaEnabled", "capacityReservation", "taints", "instanceMarketOptions")
_NO_AGENT = "plan/managedNodeGroups.nodeRepairConfig.enabled"
_AL2023 = "AmazonLinux2023"
_AS_SYSTEM = "it becomes the system node group of the stack, under that name"


def _read_node_groups(source: Reader, architecture: Draft, cluster: Draft) -> None:
    """Read `managedNodeGroups` and `nodeGroups`.

    The first managed node group for services, without accelerators, is the system node group.
    """
    vpc = source.at("vpc")
    managed = list(source.at("managedNodeGroups").items())
    system = next((group for group in managed if _is_for_services(group)), None)
    groups = architecture.section("node_groups")
    for group in managed:
        if group is system:
            nodes = architecture.section("system_node_group", group)
            group.at("name").claim("taken over", _AS_SYSTEM, ours=nodes.at)
            _read_sizes(group, nodes, least=1)
        else:
            nodes = _new_group(group, groups, "managed")
            _read_own(group, nodes, cluster, vpc)
            _read_repair(group.at("nodeRepairConfig"), nodes, architecture)
        _read_common(group, nodes)
    for group in source.at("nodeGroups").items():
        nodes = _new_group(group, groups, "self-managed")
        _read_own(group, nodes, cluster, vpc)
        _read_common(group, nodes)
    if system is None:
        source.report.notes.append(
            "no managed node group runs services only: the stack adds a system node group of "
            "c5.2xlarge for CoreDNS; its size is in `architecture.system_node_group`"
        )


def _note_public(source: Reader) -> None:
    """Say which nodes eksctl launches in public subnets, which it does without a key."""
    names = [
        str(group.at("name").value)
        for key in ("managedNodeGroups", "nodeGroups")
        for group in source.at(key).items()
        if not group.at("privateNetworking").exists
    ]
    if names and source.at("privateCluster", "enabled").flag is not True:
        source.report.notes.append(
            f"without `privateNetworking`, eksctl launches the nodes of {', '.join(names)} in "
            "public subnets, with public addresses; those of the stack are in private subnets, and "
            "reach the internet through a NAT gateway"
        )


def _is_for_services(group: Reader) -> bool:
    if any(group.at(key).value for key in _NOT_OF_SYSTEM):
        return False
    found = INSTANCE_TYPES.get(_type_of(group))
    return found is not None and found.accelerators is None


def _type_of(group: Reader) -> str:
    several = [*group.at("instanceTypes").items(), *_distributed(group)]
    first = several[0].value if several else _DEFAULT_TYPE
    given = group.at("instanceType")
    return str(given.value if given.exists and given.value != "mixed" else first)


def _distributed(group: Reader) -> list[Reader]:
    return list(group.at("instancesDistribution", "instanceTypes").items())


def _new_group(group: Reader, groups: Draft, management: str) -> Draft:
    nodes = groups.section(str(group.at("name").value), group)
    group.at("name").claim("taken over", ours=nodes.at)
    nodes.put("management", management)
    _read_sizes(group, nodes, least=0)
    return nodes


def _read_sizes(group: Reader, nodes: Draft, *, least: int) -> None:
    """Read the sizes with the defaults of `ValidateManagedNodeGroup` in eksctl's validation.go."""
    sizes: Mapping[str, str] = {
        "minSize": "minimum",
        "desiredCapacity": "desired",
        "maxSize": "maximum",
    }
    given = {theirs: group.at(theirs).value for theirs in sizes}
    desired = given["desiredCapacity"]
    minimum = _first(given["minSize"], desired, _DEFAULT_COUNT)
    maximum = _first(given["maxSize"], desired, minimum)
    filled = {"minSize": minimum, "desiredCapacity": _first(desired, minimum), "maxSize": maximum}
    for theirs, ours in sizes.items():
        value, floor = filled[theirs], max(least, 1 if ours == "maximum" else 0)
        if isinstance(value, int) and value < floor:
            nodes.put(ours, floor)
            group.at(theirs).claim(
                "taken over better", f"it is at least {floor}", ours=(*nodes.at, ours)
            )
        elif not nodes.take(ours, group.at(theirs)):
            nodes.put(ours, value)


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)


def _read_common(group: Reader, nodes: Draft) -> None:
    """Read what system and other node groups have."""
    _read_type(group, nodes)
    _read_volume(group, nodes)
    for key, value in group.at("labels").entries():
        nodes.section("labels").take(key, value)
    _read_permissions(group.at("iam"), nodes)
    _read_metadata(group.at("disablePodIMDS"), nodes)
    group.at("privateNetworking").claim(
        "implied" if group.at("privateNetworking").flag else "taken over better",
        "nodes launch in private subnets",
    )
    family = group.at("amiFamily")
    if family.value == _AL2023:
        family.implied("nodes run Amazon Linux 2023")
    elif family.value == "AmazonLinux2":
        family.claim(
            "taken over better",
            "nodes run Amazon Linux 2023: EKS publishes no Amazon Linux 2 AMI for Kubernetes 1.33 "
            "and later",
        )
    for key in ("disableIMDSv1", "ebsOptimized", "propagateASGTags"):
        if group.at(key).flag is True:
            group.at(key).implied("the stack does this for all nodes")
    if "strategy: RAID0" in str(group.at("overrideBootstrapCommand").value):
        group.at("overrideBootstrapCommand").implied(
            "the stack writes the NodeConfig; `local_nvme` is `raid0` without a key"
        )
    repair = group.at("nodeRepairConfig", "enabled")
    if repair.flag is False:
        repair.implied("EKS repairs no nodes without `auto_repair`")


def _read_metadata(without_pods: Reader, nodes: Draft) -> None:
    """Read `disablePodIMDS`, without which eksctl sets a hop limit of 2.

    `pkg/cfn/builder/nodegroup.go` of eksctl, `makeMetadataOptions`.
    """
    if isinstance(without_pods.flag, bool):
        hops = 1 if without_pods.flag else 2
        nodes.take("metadata_hop_limit", without_pods, change=lambda _: hops)


def _read_type(group: Reader, nodes: Draft) -> None:
    types = [*group.at("instanceTypes").items(), *_distributed(group)]
    single = group.at("instanceType")
    if single.value == "mixed":
        single.dropped("`instancesDistribution` names the types")
    elif single.exists:
        types.insert(0, single)
    if not types:
        nodes.put("instance_type", _DEFAULT_TYPE)
        return
    first, *others = types
    nodes.take("instance_type", first)
    for other in others:
        other.unsupported(
            "a node group has one instance type: add another node group for it",
            rule="A8" if group.at("efaEnabled").flag else "",
        )


def _read_volume(group: Reader, nodes: Draft) -> None:
    size = group.at("volumeSize")
    volume = nodes.section("root_volume")
    if isinstance(size.value, int) and size.value < 20:
        volume.better("size_gib", size, 20, "the AMI needs more", rule="E16")
    elif not volume.take("size_gib", size):
        volume.put("size_gib", 80)  # `DefaultNodeVolumeSize` of eksctl
    volume.take("iops", group.at("volumeIOPS"))
    volume.take("throughput_mibps", group.at("volumeThroughput"))
    kind, encrypted = group.at("volumeType"), group.at("volumeEncrypted")
    if kind.value != "gp3":
        kind.claim("taken over better", "root volumes are gp3: faster and cheaper than others")
    kind.implied("root volumes are gp3")
    if encrypted.flag is False:
        encrypted.claim("taken over better", "root volumes are encrypted", rule="E16")
    encrypted.implied("root volumes are encrypted")


def _read_own(group: Reader, nodes: Draft, cluster: Draft, vpc: Reader) -> None:
    """Read what the system node group does not have."""
    _read_purchase_option(group, nodes, cluster)
    _read_efa(group, nodes)
    _read_place(group, nodes, vpc)
    _read_taints(group.at("taints"), nodes)
    name = group.at("placement", "groupName")
    if name.exists:
        placement = nodes.section("placement", group.at("placement"))
        placement.put("group", "existing")
        placement.take("name", name)
    ssh = group.at("ssh")
    nodes.take("ssh_key_name", ssh.at("publicKeyName"))
    if ssh.at("publicKeyName").exists or ssh.at("allow").flag is False:
        ssh.at("allow").implied("nodes have the key of `ssh_key_name`, if there is one")
    if ssh.at("enableSsm").flag is not False:
        ssh.at("enableSsm").implied("every node is open to Session Manager")


def _read_repair(source: Reader, nodes: Draft, architecture: Draft) -> None:
    enabled = source.at("enabled")
    if enabled.flag is not True:
        return
    take_repair(enabled, nodes, architecture, rule=_NO_AGENT)
    nodes.take("maximum_parallel_repairs", source.at("maxParallelNodesRepairedCount"))


def _read_efa(group: Reader, nodes: Draft) -> None:
    """Read `efaEnabled`, with which eksctl creates a placement group for self-managed nodes.

    It does so also for nodes of a reservation, unless `placement` names a group
    (`pkg/cfn/builder/nodegroup.go`); for managed nodes of a reservation, it does not.
    """
    efa = group.at("efaEnabled")
    reserved = group.at("capacityReservation", "capacityReservationTarget").exists
    own_group = nodes.values["management"] == "self-managed" and not group.at("placement").exists
    if efa.flag is True and reserved and own_group:
        is_block = group.at("instanceMarketOptions", "marketType").value == "capacity-block"
        why = (
            "eksctl launches these nodes into a new placement group, in which the reservation has "
            "no instances; the stack uses the group of the reservation, if it has one"
        )
        nodes.better("efa_enabled", efa, value=True, why=why, rule="B7" if is_block else "B9")
    else:
        nodes.take_flag("efa_enabled", efa)


def _read_place(group: Reader, nodes: Draft, vpc: Reader) -> None:
    with_efa = bool(group.at("efaEnabled").flag)
    zones, subnets = group.at("availabilityZones"), group.at("subnets")
    if with_efa and not zones.exists and not subnets.exists:
        # eksctl chooses one subnet: `AssignSubnets` in its `pkg/cfn/builder`.
        nodes.needs("availability_zone", "use1-az4")
    _read_one(zones, nodes, "availability_zone", None, example="use1-az4", with_efa=with_efa)
    _read_one(subnets, nodes, "subnet_id", vpc, example=id_for("subnet", 1), with_efa=with_efa)


def _read_one(
    source: Reader, nodes: Draft, key: str, vpc: Reader | None, *, example: str, with_efa: bool
) -> None:
    listed = list(source.items())
    if len(listed) > 1:
        if with_efa:
            nodes.needs(key, example)
            why = "all nodes with EFA launch in one zone: name only that of the capacity"
        else:
            why = "nodes launch in all zones of the network; for one zone, name only it"
        source.unsupported(why, rule="A6" if with_efa else "")
        return
    for each in listed:
        value = _subnet_named(vpc, str(each.value)) if vpc else str(each.value)
        if value is None or is_placeholder(value):
            nodes.needs(key, example)
            each.claim(
                "not supported",
                f"it is a placeholder: set `{key}` of the node group",
                ours=(*nodes.at, key),
            )
        else:
            nodes.take(key, each, change=lambda _, found=value: found)


def _read_taints(source: Reader, nodes: Draft) -> None:
    """Read taints as a list, or as a mapping of keys to `value:effect`."""
    taints: list[dict[str, Any]] = []
    for each in source.items():
        taint = Draft({}, (*nodes.at, "taints", len(taints)), nodes.unknown)
        for key in ("key", "value", "effect"):
            taint.take(key, each.at(key))
        taints.append(taint.values)
    for key, each in source.entries():
        value, _, effect = str(each.value).rpartition(":")
        each.claim("taken over", ours=(*nodes.at, "taints", len(taints)))
        taints.append({"key": key, "value": value, "effect": effect})
    if taints:
        nodes.put("taints", taints)


KEYS = KeyTable(keys_beside(__file__))
OUTCOMES = OutcomeTable(outcomes_beside(__file__))
WORDS = {
    "instance_type": "instanceType",
    "efa_enabled": "efaEnabled",
    "availability_zone": "availabilityZones",
    "availability_zones": "availabilityZones",
    "subnet_id": "subnets",
    "purchase_option": "capacityReservation",
    "reservation_id": "capacityReservationID",
    "group_arn": "capacityReservationResourceGroupARN",
    "placement": "placement.groupName",
    "minimum": "minSize",
    "desired": "desiredCapacity",
    "maximum": "maxSize",
    "size_gib": "volumeSize",
    "iops": "volumeIOPS",
    "throughput_mibps": "volumeThroughput",
    "kubernetes_version": "metadata.version",
    "log_retention_days": "cloudWatch.clusterLogging.logRetentionInDays",
    "auto_repair": "nodeRepairConfig.enabled",
    "node_monitoring_agent": "eks-node-monitoring-agent",
    "authentication_mode": "authenticationMode",
    "private_subnet_ids": "vpc.subnets.private",
    "public_subnet_ids": "vpc.subnets.public",
    "nat_gateways": "vpc.nat.gateway",
    "node_groups": "managedNodeGroups",
    "system_node_group": "managedNodeGroups",
    "interface_endpoints": "privateCluster.additionalEndpointServices",
}
_LOG_TYPES = ("api", "audit", "authenticator", "controllerManager", "scheduler")


def name_of(document: Document) -> str:
    """Return the name of the cluster."""
    return str(document.at("metadata", "name") or "")


def convert(source: Reader, stack: StackDraft) -> None:
    """Read a cluster configuration into a stack file."""
    cluster = stack.cluster
    cluster.put("name", stack.name)
    source.at("kind").implied("the stack is an EKS cluster")
    source.at("apiVersion").implied("the stack is an EKS cluster")
    metadata = source.at("metadata")
    stack.claim_name(metadata.at("name"))
    stack.take_region(metadata.at("region"))
    for key, value in metadata.at("tags").entries():
        stack.take_tag(key, value.value, value)
    _read_network(source, stack)
    architecture = cluster.section("architecture")
    architecture.put("kind", "eks")
    _read_version(metadata.at("version"), architecture)
    mode = source.at("accessConfig", "authenticationMode")
    architecture.take("authentication_mode", mode)
    if mode.value == "API":
        architecture.put("node_authorization", "access-entry")
    _read_endpoint(source, architecture)
    logs = source.at("cloudWatch", "clusterLogging")
    _read_logs(logs.at("enableTypes"), architecture)
    take_retention(architecture, logs.at("logRetentionInDays"))
    architecture.take("secrets_key_arn", source.at("secretsEncryption", "keyARN"))
    _read_addons(source.at("addons"), architecture)
    _read_node_groups(source, architecture, cluster)
    if source.node is not None and source.node.line:  # a cluster of the account has no file
        _note_public(source)
    if source.at("privateCluster", "enabled").flag is True and source.at("nodeGroups").value:
        # Its image is in a public registry, which the nodes of a private cluster do not reach.
        architecture.section("addons").put("node_termination_handler", value=False)
    _imply_defaults(source)


def _read_version(source: Reader, architecture: Draft) -> None:
    if not source.exists:
        return
    if str(source.value) in EKS_VERSIONS:
        architecture.take("kubernetes_version", source, change=str)
        return
    architecture.better(
        "kubernetes_version",
        source,
        DEFAULT_KUBERNETES_VERSION,
        f"Kubernetes {source.value} is not in standard support, or no AMI of it is pinned; stacks "
        f"have {', '.join(EKS_VERSIONS)}",
        rule="H5",
    )


def _read_endpoint(source: Reader, architecture: Draft) -> None:
    endpoint = architecture.section("endpoint")
    given = source.at("vpc", "clusterEndpoints")
    endpoint.take_flag("public_access", given.at("publicAccess"))
    endpoint.take_flag("private_access", given.at("privateAccess"))
    if source.at("privateCluster", "enabled").flag is True:
        endpoint.take(
            "public_access", source.at("privateCluster", "enabled"), change=lambda _: False
        )
    endpoint.take("public_access_cidrs", source.at("vpc", "publicAccessCIDRs"))
    if not endpoint.values:
        del architecture.values["endpoint"]


def _read_logs(source: Reader, architecture: Draft) -> None:
    values = source.value if isinstance(source.value, list) else []
    if {"*", "all"} & set(map(str, values)):
        architecture.take("log_types", source, change=lambda _: list(_LOG_TYPES))
    else:
        architecture.take("log_types", source)


def _imply_defaults(source: Reader) -> None:
    """Record settings that every stack has."""
    oidc = source.at("iam", "withOIDC")
    if oidc.flag is False:
        oidc.claim("taken over better", "every cluster has an OIDC provider, so that pods can "
                   "have roles")  # fmt: skip
    oidc.implied("every cluster has an OIDC provider")
    if source.at("addonsConfig", "disableDefaultAddons").flag is False:
        source.at("addonsConfig", "disableDefaultAddons").implied("it is the default")
    creator = source.at("accessConfig", "bootstrapClusterCreatorAdminPermissions")
    if creator.flag is not False:
        creator.implied("the principal that creates the cluster administers it")
    for keys in (("autoModeConfig", "enabled"), ("privateCluster", "enabled")):
        if source.at(*keys).flag is False:
            source.at(*keys).implied("the stack has none")
    family = source.at("kubernetesNetworkConfig", "ipFamily")
    if str(family.value).lower() == "ipv4":
        family.implied("pods have IPv4 addresses")
