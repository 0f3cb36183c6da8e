"""Fill in values of file systems that the stack file omits."""

from __future__ import annotations

from typing import TypeVar

from components.account.facts import AccountFacts
from components.account.launch_place import in_zone, private_subnets
from components.config.stack import StackConfig
from components.config.stack_models import is_eks
from components.config.storage import (
    ExistingFsxLustre,
    FileSystem,
    NewFsxLustre,
    NewFsxOpenZfs,
)

Config = TypeVar("Config", bound=StackConfig)


def complete_storage(config: Config, facts: AccountFacts) -> Config:
    """Return the configuration with subnets of new and names of existing file systems.

    Values in the stack file are not changed, and unknown values are not filled in.
    """
    if not config.storage:
        return config
    storage = {name: _completed(each, config, facts) for name, each in config.storage.items()}
    return config.model_copy(update={"storage": storage})


def _completed(wanted: FileSystem, config: StackConfig, facts: AccountFacts) -> FileSystem:
    # ParallelCluster reads the names itself and creates Lustre in the subnet of its queues.
    eks = is_eks(config)
    if isinstance(wanted, ExistingFsxLustre) and eks:
        return _with_names(wanted, facts)
    if isinstance(wanted, NewFsxOpenZfs) or (isinstance(wanted, NewFsxLustre) and eks):
        return _with_subnet(wanted, config, facts)
    return wanted


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
    zone = wanted.availability_zone
    if zone is None:
        return wanted
    # The first in the order of the stack file, because a choice by free addresses would change.
    subnet = next((s for s in private_subnets(config, facts) if in_zone(s, zone)), None)
    if subnet is None:
        return wanted
    return wanted.model_copy(update={"subnet_id": subnet.subnet_id, "availability_zone": None})
