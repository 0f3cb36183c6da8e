"""EBS volumes are encrypted.

Why:
    Snapshots and detached volumes of a node hold checkpoints, datasets and cached credentials.
    Encryption costs nothing in speed, and cannot be turned on for a volume that exists.
Fix:
    Set `encrypted` in the block device mapping, on the volume, or on the instance's disks.
Source:
    https://docs.aws.amazon.com/ebs/latest/userguide/ebs-encryption.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, ResourceValidationPolicy, Severity

from policies.resources.props import UNKNOWN, Facts, is_true
from policies.resources.types import EBS_VOLUME, INSTANCE, LAUNCH_TEMPLATE
from policies.rule import Config, on_types


def _check(resource_type: str, facts: Facts, _config: Config) -> Iterator[str]:
    for place, name in _volumes(resource_type, facts):
        encrypted = facts.needed(*place, "encrypted")
        if encrypted is not UNKNOWN and not is_true(encrypted):
            yield f"{name} is not encrypted, nor will its snapshots be; set encrypted to true"


def _volumes(resource_type: str, facts: Facts) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield each volume that the resource describes, and how a message calls it."""
    if resource_type == EBS_VOLUME:
        yield (), "the volume"
    if facts.get("rootBlockDevice") is not None:
        yield ("rootBlockDevice",), "its root volume"
    for index in range(facts.count("ebsBlockDevices")):
        device = facts.get("ebsBlockDevices", index, "deviceName")
        yield ("ebsBlockDevices", index), f"its volume {device}"
    for index in range(facts.count("blockDeviceMappings")):
        place = ("blockDeviceMappings", index, "ebs")
        if facts.get(*place) is not None:  # an instance store disk, or a mapping that is taken out
            device = facts.get("blockDeviceMappings", index, "deviceName")
            yield place, f"its volume {device}"


POLICY = ResourceValidationPolicy(
    name="ebs-encrypted",
    display_name="EBS volumes are encrypted",
    description="Volumes, and the volumes that launch templates and instances make, are encrypted.",
    enforcement_level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["security", "storage", "baseline"],
    remediation_steps="Set encrypted to true.",
    url="https://docs.aws.amazon.com/ebs/latest/userguide/ebs-encryption.html",
    validate=on_types(LAUNCH_TEMPLATE, INSTANCE, EBS_VOLUME, check=_check),
)
