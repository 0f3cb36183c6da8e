"""Storage type, drive cache and KMS key of a Lustre file system fit its deployment type.

Why:
    Only PERSISTENT_1 supports HDD storage, which requires a drive cache type; other storage does
    not accept one. Scratch file systems do not accept a KMS key. FSx rejects every other
    combination when it creates the file system.
Fix:
    Change the deployment type, or remove the option that it does not support.
Source:
    https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html
    https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemLustreConfiguration.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.components.config.fsx_lustre import is_persistent
from trainyard.policies.resources.lustre import LUSTRE_MAKERS, Lustre, lustre_systems
from trainyard.policies.resources.props import Facts, is_set
from trainyard.policies.rule import Config, resource_rule


def _check(type_: str, facts: Facts, _config: Config) -> Iterator[str]:
    for system in lustre_systems(type_, facts):
        for fault in _faults(system):
            yield system.where + fault


def _faults(system: Lustre) -> Iterator[str]:
    on_disks = system.storage_type == "HDD"
    if on_disks and system.deployment_type != "PERSISTENT_1":
        yield (
            f"its storage type is HDD, which {system.deployment_type} does not support; set the "
            "storage type to SSD, or the deployment type to PERSISTENT_1"
        )
    if on_disks and not is_set(system.drive_cache):
        yield (
            "its storage type is HDD but it has no drive cache type; set the drive cache type to "
            "READ, or to NONE"
        )
    if not on_disks and is_set(system.drive_cache):
        yield "it has a drive cache, which only HDD storage supports; remove the drive cache type"
    if is_set(system.key) and not is_persistent(system.deployment_type):
        yield (
            f"it has a KMS key, which {system.deployment_type} does not support; remove the KMS "
            "key, or make the file system persistent"
        )


POLICY = resource_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.MEDIUM,
    tags=["F3"],
    types=LUSTRE_MAKERS,
    check=_check,
)
