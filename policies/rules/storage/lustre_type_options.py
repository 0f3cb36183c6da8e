"""Disks, drive cache and key of a Lustre file system fit its deployment type.

Why:
    Hard disks exist for PERSISTENT_1 only and want to be told of a drive cache, which nothing else
    takes; scratch file systems are encrypted with a key of FSx and take none of yours. FSx refuses
    every other combination when the file system is made.
Fix:
    Change the deployment type, or remove what it does not take.
Source:
    https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html
    https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemLustreConfiguration.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, ResourceValidationPolicy, Severity

from components.config.lustre_rules import is_persistent
from policies.resources.lustre import LUSTRE_MAKERS, Lustre, lustre_systems
from policies.resources.props import Facts, is_set
from policies.rule import Config, on_types


def _check(type_: str, facts: Facts, _config: Config) -> Iterator[str]:
    for system in lustre_systems(type_, facts):
        for fault in _faults(system):
            yield system.where + fault


def _faults(system: Lustre) -> Iterator[str]:
    on_disks = system.storage_type == "HDD"
    if on_disks and system.deployment_type != "PERSISTENT_1":
        yield (
            f"its storage type is HDD, which {system.deployment_type} does not have; set the "
            "storage type to SSD, or the deployment type to PERSISTENT_1"
        )
    if on_disks and not is_set(system.drive_cache):
        yield (
            "it is on HDD but says nothing of a drive cache; set the drive cache type to READ, or "
            "to NONE"
        )
    if not on_disks and is_set(system.drive_cache):
        yield "it has a drive cache, which only HDD storage takes; remove the drive cache type"
    if is_set(system.key) and not is_persistent(system.deployment_type):
        yield (
            f"it has a KMS key, which {system.deployment_type} does not take; remove the KMS key, "
            "or make the file system persistent"
        )


POLICY = ResourceValidationPolicy(
    name="lustre-type-options",
    display_name="Options of Lustre file systems fit their type",
    description="Disks, drive cache and KMS key of a Lustre file system fit its deployment type.",
    enforcement_level=EnforcementLevel.MANDATORY,
    severity=Severity.MEDIUM,
    tags=["storage", "F3"],
    remediation_steps="Change the deployment type, or remove what it does not take.",
    url="https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html",
    validate=on_types(*LUSTRE_MAKERS, check=_check),
)
