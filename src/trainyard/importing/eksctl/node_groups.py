"""The node groups of an eksctl `ClusterConfig`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.importing.draft import Draft
from trainyard.importing.eks_addons import take_repair
from trainyard.importing.eksctl.capacity import read_purchase_option
from trainyard.importing.eksctl.network import subnet_named
from trainyard.importing.eksctl.node_permissions import read_permissions
from trainyard.importing.placeholders import id_for, is_placeholder
from trainyard.importing.reader import Reader

DEFAULT_COUNT = 2
"""`DefaultNodeCount` in eksctl's `pkg/apis/eksctl.io/v1alpha5/types.go`."""
DEFAULT_TYPE = "m5.large"
"""`DefaultNodeType` there."""
_NOT_OF_SYSTEM = ("spot", "efaEnabled", "capacityReservation", "taints", "instanceMarketOptions")
_NO_AGENT = "plan/managedNodeGroups.nodeRepairConfig.enabled"
_AL2023 = "AmazonLinux2023"


def read_node_groups(source: Reader, architecture: Draft, cluster: Draft) -> None:
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
            group.at("name").claim("taken over", ours=nodes.at)
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


def _is_for_services(group: Reader) -> bool:
    if any(group.at(key).value for key in _NOT_OF_SYSTEM):
        return False
    found = INSTANCE_TYPES.get(_type_of(group))
    return found is not None and found.accelerators is None


def _type_of(group: Reader) -> str:
    several = [*group.at("instanceTypes").items(), *_distributed(group)]
    first = several[0].value if several else DEFAULT_TYPE
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
    minimum = _first(given["minSize"], desired, DEFAULT_COUNT)
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
    read_permissions(group.at("iam"), nodes)
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
    if without_pods.flag is True:
        nodes.take("metadata_hop_limit", without_pods, change=lambda _: 1)


def _read_type(group: Reader, nodes: Draft) -> None:
    types = [*group.at("instanceTypes").items(), *_distributed(group)]
    single = group.at("instanceType")
    if single.value == "mixed":
        single.dropped("`instancesDistribution` names the types")
    elif single.exists:
        types.insert(0, single)
    if not types:
        nodes.put("instance_type", DEFAULT_TYPE)
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
    read_purchase_option(group, nodes, cluster)
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
        value = subnet_named(vpc, str(each.value)) if vpc else str(each.value)
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
