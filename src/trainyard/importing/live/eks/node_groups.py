"""The node groups of an EKS cluster, managed and self-managed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trainyard.components.tagging import tag_map
from trainyard.importing.draft import Draft
from trainyard.importing.live.eks.launch_template import complete_nodes, read_template, template_of
from trainyard.importing.live.eks.permissions import read_role, role_of_profile
from trainyard.importing.reader import Reader
from trainyard.importing.rewritten import Rewritten
from trainyard.importing.source import Location
from trainyard.importing.user_data import MARKS_OF_LABELS

Completion = Callable[[Draft], None]
"""Adds what eksctl has no key for to the stack file."""

_NOT_IN_NAMES = re.compile(r"[^0-9A-Za-z_-]+")
_ZONES = "nodes launch in every private subnet of the network"
_SIZES = {
    "MinSize": "minSize",
    "DesiredCapacity": "desiredCapacity",
    "MaxSize": "maxSize",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    """The answers about one node group."""

    source: Reader
    """The group itself."""
    at: Location
    """Its place in the eksctl configuration."""
    name: str
    template: Reader | None
    role: str
    """Name of the role of its nodes; empty if it is not known."""


def read_node_groups(source: Reader, config: Rewritten) -> Completion:
    """Read all node groups, the one for services first."""
    taken: set[str] = set()
    managed = _groups(source, "DescribeNodegroup", "managedNodeGroups", taken)
    own = _groups(source, "DescribeAutoScalingGroups", "nodeGroups", taken)
    for group in managed:
        _read_managed(group, source, config)
    for group in own:
        _read_self_managed(group, source, config)

    def complete(cluster: Draft) -> None:
        architecture = cluster.section("architecture")
        named = architecture.values.get("node_groups", {})
        for group in (*managed, *own):
            if group.template and group.name in named:
                complete_nodes(source, group.template, group.name, cluster)
        if any(_has_entry(source, group.role) for group in own):
            architecture.put("node_authorization", "access-entry")

    return complete


def _groups(source: Reader, call: str, kind: str, taken: set[str]) -> Sequence[_Group]:
    cluster = str(source.at("DescribeCluster", "name").value)
    found = [(each, _template(source, each)) for each in source.at(call).items()]
    names = [_name_of(each, template, cluster) for each, template in found]
    both = zip(found, names, strict=True)
    groups: list[_Group] = []
    # The eksctl conversion takes the first managed group that can run services for the system.
    for (group, template), name in sorted(both, key=lambda each: each[1] != "system"):
        role = str(group.at("nodeRole").value or "").rpartition("/")[2]
        unique = name if name not in taken else _own_name(group)
        taken.add(unique)
        groups.append(
            _Group(
                source=group,
                at=(kind, len(groups)),
                name=unique,
                template=template,
                role=role or role_of_profile(source, template),
            )
        )
    return groups


def _template(source: Reader, group: Reader) -> Reader | None:
    wanted = template_of(group.value)
    if wanted is None:
        return None
    identity, version = wanted
    of_id = [
        each
        for each in source.at("DescribeLaunchTemplateVersions").items()
        if each.at("LaunchTemplateId").value == identity
    ]
    exact = [each for each in of_id if str(each.at("VersionNumber").value) == version]
    return next(iter([*exact, *of_id]), None)


def _name_of(group: Reader, template: Reader | None, cluster: str) -> str:
    """Return the name of a group: that of eksctl or of the nodes, without that of the cluster.

    The nodes of eksctl and of stacks are called `CLUSTER-GROUP-Node`.
    """
    tags = _tags(group, template)
    given = tags.get("alpha.eksctl.io/nodegroup-name", "")
    of_nodes = re.fullmatch(rf"{re.escape(cluster)}-(.+)-Node", tags.get("Name", ""))
    return given or (_as_name(of_nodes[1]) if of_nodes else _own_name(group))


def _own_name(group: Reader) -> str:
    own = group.at("nodegroupName").value or group.at("AutoScalingGroupName").value
    return _as_name(str(own))


def _as_name(text: str) -> str:
    return _NOT_IN_NAMES.sub("-", text).strip("-_")[:40]


def _tags(group: Reader, template: Reader | None) -> Mapping[str, str]:
    """Return the tags of a group and those with which its nodes launch."""
    found = dict(group.at("tags").value or {})
    found.update(tag_map(group.at("Tags").value))
    if template:
        for each in template.at("LaunchTemplateData", "TagSpecifications").items():
            if each.at("ResourceType").value == "instance":
                found.update(tag_map(each.at("Tags").value))
    return found


def _read_managed(group: _Group, source: Reader, config: Rewritten) -> None:
    given, at = group.source, group.at
    config.take((*at, "name"), given.at("nodegroupName"), lambda _: group.name)
    sizes = {"minSize": "minSize", "desiredSize": "desiredCapacity", "maxSize": "maxSize"}
    for theirs, ours in sizes.items():
        config.take((*at, ours), given.at("scalingConfig", theirs))
    for index, each in enumerate(given.at("instanceTypes").items()):
        config.take((*at, "instanceTypes", index), each)
    config.take((*at, "volumeSize"), given.at("diskSize"))
    _read_image(given.at("amiType"), at, config)
    kind = given.at("capacityType")
    if kind.value == "SPOT":
        config.take((*at, "spot"), kind, lambda _: True)
    elif kind.value == "CAPACITY_BLOCK":
        kind.implied("the launch template and the reservation say so")
    _read_labels(given.at("labels"), at, config)
    for index, taint in enumerate(given.at("taints").items()):
        for key in ("key", "value"):
            config.take((*at, "taints", index, key), taint.at(key))
        config.take((*at, "taints", index, "effect"), taint.at("effect"), _effect)
    config.take((*at, "ssh", "publicKeyName"), given.at("remoteAccess", "ec2SshKey"))
    repair = given.at("nodeRepairConfig")
    for key in ("enabled", "maxParallelNodesRepairedCount"):
        config.take((*at, "nodeRepairConfig", key), repair.at(key))
    _read_rest(group, [*given.at("subnets").items()], source, config)


def _read_self_managed(group: _Group, source: Reader, config: Rewritten) -> None:
    given, at = group.source, group.at
    config.take((*at, "name"), given.at("AutoScalingGroupName"), lambda _: group.name)
    for theirs, ours in _SIZES.items():
        config.take((*at, ours), given.at(theirs))
    mixed = given.at("MixedInstancesPolicy")
    for index, each in enumerate(mixed.at("LaunchTemplate", "Overrides").items()):
        config.take((*at, "instancesDistribution", "instanceTypes", index), each.at("InstanceType"))
    for key in ("OnDemandBaseCapacity", "OnDemandPercentageAboveBaseCapacity"):
        ours = f"{key[0].lower()}{key[1:]}"
        config.take((*at, "instancesDistribution", ours), mixed.at("InstancesDistribution", key))
    if group.template:
        said = group.template.at("LaunchTemplateData", "UserData")
        _read_labels(said.at("labels"), at, config)
        for index, taint in enumerate(said.at("taints").items()):
            for key in ("key", "value", "effect"):
                config.take((*at, "taints", index, key), taint.at(key))
    zones = given.at("VPCZoneIdentifier")
    _read_rest(group, [zones] if zones.exists else [], source, config)


def _effect(effect: str) -> str:
    """Return an effect of the EKS API (`NO_SCHEDULE`) as Kubernetes spells it."""
    return "".join(part.capitalize() for part in str(effect).split("_"))


def _read_image(source: Reader, at: Location, config: Rewritten) -> None:
    kind = str(source.value)
    family = "AmazonLinux2023" if kind.startswith("AL2023") else ""
    if kind.startswith("AL2_"):
        family = "AmazonLinux2"
    if family:
        config.take((*at, "amiFamily"), source, lambda _: family)


def _read_labels(source: Reader, at: Location, config: Rewritten) -> None:
    for key, value in source.entries():
        if key.startswith(MARKS_OF_LABELS):
            value.dropped("EKS, eksctl or the kubelet sets it")
        else:
            config.take((*at, "labels", key), value)


def _read_rest(group: _Group, subnets: Sequence[Reader], source: Reader, config: Rewritten) -> None:
    """Read launch template, subnets and role."""
    is_reserved = False
    if group.template:
        is_reserved = read_template(source, group.template, group.at, group.name, config)
    _read_subnets(group, subnets, source, config, is_reserved=is_reserved)
    read_role(source, group.role, group.at, config)


def _read_subnets(
    group: _Group,
    sources: Sequence[Reader],
    source: Reader,
    config: Rewritten,
    *,
    is_reserved: bool,
) -> None:
    """Read the subnets, each with its own answer, or all as one text with commas."""
    named = [(each, part) for each in sources for part in str(each.value).split(",")]
    routes = {
        each.at("SubnetId").value: each.at("DefaultRoute").value
        for each in source.at("DescribeSubnets").items()
    }
    private = {subnet for subnet, route in routes.items() if route != "internet-gateway"}
    ids = {subnet for _, subnet in named}
    if ids and not ids & private:
        _claim_all(sources, "taken over better", "nodes launch in private subnets")
    elif len(ids) > 1 and (is_reserved or ids == private):
        _claim_all(
            sources, "implied", "nodes launch in the zone of the reservation" if is_reserved else
            _ZONES
        )  # fmt: skip
    else:
        for index, (each, subnet) in enumerate(named):
            config.take((*group.at, "subnets", index), each, lambda _, found=subnet: found)


def _claim_all(sources: Sequence[Reader], fate: Any, why: str) -> None:
    for each in sources:
        each.claim(fate, why)


def _has_entry(source: Reader, role: str) -> bool:
    """Return whether an access entry lets the nodes of a role join."""
    return any(
        entry.at("type").value == "EC2_LINUX"
        and str(entry.at("principalArn").value).rpartition("/")[2] == role
        for entry in source.at("DescribeAccessEntry").items()
    )
