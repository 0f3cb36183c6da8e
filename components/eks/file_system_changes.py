"""Changes that would replace a file system and lose its data.

Source: https://github.com/hashicorp/terraform-provider-aws,
`internal/service/fsx/lustre_file_system.go`: `ForceNew` and `CustomizeDiff`, as in pulumi-aws.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.components.account.facts import AccountFacts, FileSystemFacts
from trainyard.components.config.problems import ROOT, Problem
from trainyard.components.storage.fsx_lustre_plan import STORAGE_TAG, FsxLustrePlan, LustreSettings
from trainyard.components.tagging import CLUSTER_TAG

Change = tuple[str, object, object]
"""Key in the stack file, its value, and the value of the file system."""


def made_before(system: FsxLustrePlan, facts: AccountFacts) -> FileSystemFacts | None:
    """Return the file system that the entry adopts, or that an earlier `up` created for it."""
    if system.file_system_id is not None:
        return facts.file_systems.get(system.file_system_id)
    identity = {key: system.tags[key] for key in (CLUSTER_TAG, STORAGE_TAG)}
    for found in facts.file_systems.values():
        ours = all(found.tags.get(key) == value for key, value in identity.items())
        if ours and found.lifecycle != "DELETING":
            return found
    return None


def replacement_problems(system: FsxLustrePlan, made: FileSystemFacts) -> Iterator[Problem]:
    """Yield the changes that protection refuses, each with the way to allow it."""
    settings = system.settings
    # Without protection, the user accepts the loss of the data.
    if settings is None or not system.deletion_protection:
        return
    changes = (*_changed_settings(settings, made), *_changed_place_and_size(system, made))
    for key, wanted, found in changes:
        yield Problem(
            path=f"{ROOT}.storage.{system.name}.{key}",
            found=wanted,
            problem=(
                f"would replace {made.file_system_id} and lose what is in it; the file system is "
                "protected from that"
            ),
            allowed=str(found),
            remedy=(
                f"set it back, or create a second file system and copy the data of {system.name}; "
                f"to discard the data, set storage.{system.name}.deletion_protection to false and "
                "run `up` before this change"
            ),
        )


def _changed_settings(settings: LustreSettings, made: FileSystemFacts) -> Iterator[Change]:
    cache = settings.drive_cache_type
    wanted: dict[str, object] = {
        "deployment_type": settings.deployment_type,
        "storage_type": settings.storage_type,
        "drive_cache": None if cache == "NONE" else cache,
        "efa_enabled": settings.efa_enabled,
        "import_path": settings.import_path,
    }
    # FSx defaults for keys that the stack file omits are not changes.
    chosen = {"kms_key_arn": settings.kms_key_arn, "export_path": settings.export_path}
    wanted |= {key: value for key, value in chosen.items() if value is not None}
    for key, value in wanted.items():
        found = made.settings.get(key)
        if value != found:
            yield key, value or "none", found or "none"


def _changed_place_and_size(system: FsxLustrePlan, made: FileSystemFacts) -> Iterator[Change]:
    (*_, subnet) = system.subnets or ("",)
    # Subnets of a new VPC have no id in the plan.
    if len(system.subnets) == 1 and subnet.startswith("subnet-") and subnet != made.subnet_id:
        yield "subnet_id", subnet, made.subnet_id
    if system.capacity_gib is not None and system.capacity_gib < made.capacity_gib:
        yield "storage_capacity_gib", system.capacity_gib, f"at least {made.capacity_gib}"
    wanted = system.settings.metadata_iops if system.settings else None
    found = made.settings.get("metadata_iops")
    if wanted is not None and isinstance(found, int) and wanted < found:
        yield "metadata_iops", wanted, f"at least {found}"
