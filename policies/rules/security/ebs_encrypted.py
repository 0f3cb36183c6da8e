"""EBS volumes, and those that launch templates and instances create, are encrypted.

Why:
    Snapshots and detached volumes of a node hold checkpoints, datasets and cached credentials.
    Encryption does not reduce performance, and you cannot enable it on an existing volume.
Fix:
    Set `encrypted` to true in the block device mapping, on the volume, or on the disks of the
    instance.
Source:
    https://docs.aws.amazon.com/ebs/latest/userguide/ebs-encryption.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.props import UNKNOWN, Facts, is_true
from trainyard.policies.resources.types import EBS_VOLUME, INSTANCE, LAUNCH_TEMPLATE
from trainyard.policies.rule import Config, resource_rule


def _check(resource_type: str, facts: Facts, _config: Config) -> Iterator[str]:
    for place, name in _volumes(resource_type, facts):
        encrypted = facts.needed(*place, "encrypted")
        if encrypted is not UNKNOWN and not is_true(encrypted):
            yield f"{name} is not encrypted, and neither are its snapshots; set encrypted to true"


def _volumes(resource_type: str, facts: Facts) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield each volume of the resource, and its name in messages."""
    if resource_type == EBS_VOLUME:
        yield (), "the volume"
    if facts.get("rootBlockDevice") is not None:
        yield ("rootBlockDevice",), "its root volume"
    for index in range(facts.count("ebsBlockDevices")):
        device = facts.get("ebsBlockDevices", index, "deviceName")
        yield ("ebsBlockDevices", index), f"its volume {device}"
    for index in range(facts.count("blockDeviceMappings")):
        place = ("blockDeviceMappings", index, "ebs")
        if facts.get(*place) is not None:  # an instance store volume, or a removed mapping
            device = facts.get("blockDeviceMappings", index, "deviceName")
            yield place, f"its volume {device}"


POLICY = resource_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["storage", "baseline"],
    types=(LAUNCH_TEMPLATE, INSTANCE, EBS_VOLUME),
    check=_check,
)
