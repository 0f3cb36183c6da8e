"""Settings that system and other node groups have: volumes, labels, taints, permissions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from trainyard.importing.cloudformation.values import whole
from trainyard.importing.draft import Draft
from trainyard.importing.eks_addons import take_repair
from trainyard.importing.reader import Reader
from trainyard.importing.terraform.blocks import Blocks
from trainyard.importing.terraform.source_keys import Source, take, take_number
from trainyard.importing.terraform.user_data import read_user_data

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


def read_common(source: Source, nodes: Draft, blocks: Blocks, *, is_system: bool) -> None:
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
    read_user_data(source, nodes, is_system=is_system)
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


def read_repair(source: Source, nodes: Draft, architecture: Draft, management: str) -> None:
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
