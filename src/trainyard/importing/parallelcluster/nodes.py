"""What head node and queues have in common: root volume, permissions, scripts."""

from __future__ import annotations

import re
from typing import Any

from trainyard.importing.draft import Draft
from trainyard.importing.reader import Reader

_AWS_POLICY = re.compile(r"arn:aws[\w-]*:iam::aws:policy/(?P<name>.+)")


def read_root_volume(source: Reader, nodes: Draft) -> None:
    """Read `RootVolume`; root volumes of stacks are gp3 and encrypted."""
    if not source.exists:
        return
    volume = nodes.section("root_volume")
    size = source.at("Size")
    if isinstance(size.value, int) and size.value < 20:
        volume.better("size_gib", size, 20, "the AMIs of ParallelCluster need more", rule="E16")
    else:
        volume.take("size_gib", size)
    kind = source.at("VolumeType")
    if kind.value == "gp3":
        kind.implied("root volumes are gp3")
    else:
        kind.claim("taken over better", "root volumes are gp3: faster and cheaper than others")
    is_gp3 = kind.value in (None, "gp3")
    _read_performance(source.at("Iops"), "iops", 3000, volume, is_gp3=is_gp3)
    _read_performance(source.at("Throughput"), "throughput_mibps", 125, volume, is_gp3=is_gp3)
    encrypted = source.at("Encrypted")
    if encrypted.flag is False:
        encrypted.claim("taken over better", "root volumes are encrypted", rule="E16")
    encrypted.implied("root volumes are encrypted")
    deleted = source.at("DeleteOnTermination")
    if deleted.flag is False:
        deleted.unsupported("keep data in `storage`: the root volume is deleted with the node")
    deleted.implied("the root volume is deleted with the node")
    if not volume.values:
        del nodes.values["root_volume"]


def _read_performance(source: Reader, key: str, least: int, volume: Draft, *, is_gp3: bool) -> None:
    if is_gp3 or (isinstance(source.value, int) and source.value >= least):
        volume.take(key, source)
    else:
        source.claim("taken over better", f"a gp3 volume has at least {least} without a key")


def read_permissions(source: Reader, nodes: Draft) -> None:
    """Read the policies and buckets of `Iam`."""
    policies = list(source.at("AdditionalIamPolicies").items())
    for policy in policies:
        named = nodes.values.setdefault("iam_policies", [])
        arn = policy.at("Policy")
        named.append(_policy_name(str(arn.value)))
        arn.claim("taken over", ours=(*nodes.at, "iam_policies", len(named) - 1))
    buckets: list[dict[str, Any]] = []
    for index, bucket in enumerate(source.at("S3Access").items()):
        entry = Draft({}, (*nodes.at, "s3_access", index), nodes.unknown)
        entry.take("bucket", bucket.at("BucketName"))
        entry.take("key", bucket.at("KeyName"), change=lambda key: str(key).removeprefix("/"))
        entry.take_flag("write", bucket.at("EnableWriteAccess"))
        buckets.append(entry.values)
    if buckets:
        nodes.put("s3_access", buckets)


def _policy_name(arn: str) -> str:
    match = _AWS_POLICY.fullmatch(arn)
    return match["name"] if match else arn


def read_scripts(source: Reader, nodes: Draft) -> None:
    """Read `CustomActions`, whose events have one script or a sequence of them."""
    events = {"OnNodeStart": "on_node_start", "OnNodeConfigured": "on_node_configured"}
    for theirs, ours in events.items():
        event = source.at(theirs)
        single = [event] if event.at("Script").exists else []
        scripts = [*single, *event.at("Sequence").items()]
        if not scripts:
            continue
        actions = nodes.section("custom_actions")
        entries: list[dict[str, Any]] = []
        for index, script in enumerate(scripts):
            entry = Draft({}, (*actions.at, ours, index), nodes.unknown)
            entry.take("script", script.at("Script"))
            entry.take("arguments", script.at("Args"))
            entries.append(entry.values)
        actions.put(ours, entries)
