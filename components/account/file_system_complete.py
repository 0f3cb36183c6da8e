"""Fill in values of file systems that the stack file omits."""

from __future__ import annotations

from trainyard.components.account.facts import AccountFacts
from trainyard.components.account.launch_place import in_zone, private_subnets
from trainyard.components.config.fsx_lustre import (
    ExistingFsxLustre,
    NewFsxLustre,
    adopted_or_existing,
)
from trainyard.components.config.stack import StackConfig
from trainyard.components.config.storage import FileSystem, NewFsxOpenZfs


def complete_storage(
    config: StackConfig, facts: AccountFacts, *, places_file_systems: bool
) -> dict[str, FileSystem]:
    """Return the file systems, with subnets of new and names of existing ones, by name.

    Values in the stack file are not changed, and unknown values are not filled in. If the program
    does not place file systems, ParallelCluster reads the names itself and creates Lustre in the
    subnet of its queues.
    """
    completed: dict[str, FileSystem] = {}
    for name, wanted in config.storage.items():
        if isinstance(wanted, ExistingFsxLustre) and places_file_systems:
            completed[name] = _with_names(wanted, facts)
        elif isinstance(wanted, NewFsxOpenZfs) or (
            isinstance(wanted, NewFsxLustre) and places_file_systems
        ):
            completed[name] = _with_subnet(wanted, config, facts)
        else:
            completed[name] = wanted
    return completed


def _with_names(wanted: ExistingFsxLustre, facts: AccountFacts) -> ExistingFsxLustre:
    found = facts.file_systems.get(wanted.file_system_id)
    if found is None:
        return wanted
    return wanted.model_copy(
        update={
            "dns_name": wanted.dns_name or found.dns_name or None,
            "mount_name": wanted.mount_name or found.mount_name or None,
            "storage_capacity_gib": wanted.storage_capacity_gib or found.capacity_gib or None,
        }
    )


def _with_subnet(
    wanted: NewFsxLustre | NewFsxOpenZfs, config: StackConfig, facts: AccountFacts
) -> FileSystem:
    reference = adopted_or_existing(wanted)
    adopted = facts.file_systems.get(reference.file_system_id) if reference else None
    if adopted is not None and wanted.subnet_id is None:
        return wanted.model_copy(update={"subnet_id": adopted.subnet_id, "availability_zone": None})
    zone = wanted.availability_zone
    if zone is None:
        return wanted
    # The first in the order of the stack file, because a choice by free addresses would change.
    subnet = next((s for s in private_subnets(config, facts) if in_zone(s, zone)), None)
    if subnet is None:
        return wanted
    return wanted.model_copy(update={"subnet_id": subnet.subnet_id, "availability_zone": None})
