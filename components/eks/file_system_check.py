"""Account checks of planned file systems, and of changes that would lose their data."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.components.account.facts import AccountFacts
from trainyard.components.config.problems import ROOT, Problem, set_command
from trainyard.components.eks.plan import EksPlan
from trainyard.components.storage.checks import STORAGE, described, is_open
from trainyard.components.storage.facts import FileSystemFacts
from trainyard.components.storage.storage_plan import (
    LUSTRE_PORTS,
    STORAGE_TAG,
    FsxLustrePlan,
    LustreSettings,
)
from trainyard.components.tagging import CLUSTER_TAG

# Changes that would replace a file system and lose its data.
#
# Source: https://github.com/hashicorp/terraform-provider-aws,
# `internal/service/fsx/lustre_file_system.go`: `ForceNew` and `CustomizeDiff`, as in pulumi-aws.


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


def file_system_plan_problems(
    plan: EksPlan, facts: AccountFacts, *, stack_file: str
) -> Iterator[Problem]:
    """Yield changes that would lose data, full subnets, and closed security groups."""
    for system in plan.file_systems:
        if system.file_system_id is not None:
            yield from _door_problems(system, plan, facts, stack_file)
        if system.settings is None:
            continue
        made = made_before(system, facts)
        if made is not None:
            yield from replacement_problems(system, made)
        elif facts.could_read("fsx:DescribeFileSystems"):
            yield from _address_problems(system, facts)


def file_system_warnings(plan: EksPlan, facts: AccountFacts) -> Iterator[str]:
    """Yield settings that work but have unexpected costs."""
    zones = {
        facts.subnets[group.subnets[0]].availability_zone
        for group in plan.node_groups
        if group.interfaces and len(group.subnets) == 1 and group.subnets[0] in facts.subnets
    }
    for system in plan.file_systems:
        zone = _zone(system, facts)
        if zone and zones and zone not in zones:
            yield (
                f"storage {system.name} lies in {zone}, the nodes with EFA in "
                f"{', '.join(sorted(zones))}: reads are slower, and traffic between zones is billed"
            )


def _zone(system: FsxLustrePlan, facts: AccountFacts) -> str:
    if system.file_system_id is not None:
        found = facts.file_systems.get(system.file_system_id)
        return found.availability_zone if found else ""
    subnet = facts.subnets.get(system.subnets[0]) if len(system.subnets) == 1 else None
    return subnet.availability_zone if subnet else ""


def _address_problems(system: FsxLustrePlan, facts: AccountFacts) -> Iterator[Problem]:
    subnet = facts.subnets.get(system.subnets[0]) if len(system.subnets) == 1 else None
    if subnet is not None and subnet.free_addresses < system.addresses:
        yield Problem(
            path=f"{STORAGE}.{system.name}.subnet_id",
            found=f"{subnet.subnet_id} ({subnet.cidr}), {subnet.free_addresses} free addresses",
            problem=f"the servers of the file system take {system.addresses} addresses or more",
            allowed=f"a subnet with {system.addresses} free addresses",
            remedy="give a larger subnet of the same zone, or less capacity",
        )


def _door_problems(
    system: FsxLustrePlan, plan: EksPlan, facts: AccountFacts, stack_file: str
) -> Iterator[Problem]:
    found = facts.file_systems.get(system.file_system_id or "")
    readable = facts.could_read("ec2:DescribeNetworkInterfaces") and facts.could_read(
        "ec2:DescribeSecurityGroupRules"
    )
    if found is None or not found.security_group_ids or not readable:
        return
    if system.security_group_id is not None:
        return  # the stack adds the rules
    networks = [
        facts.subnets[name].cidr
        for name in dict.fromkeys(s for group in plan.node_groups for s in group.subnets)
        if name in facts.subnets
    ]
    closed = [
        ports
        for ports in LUSTRE_PORTS
        if not all(is_open(found.lets_in, ports, net) for net in networks)
    ]
    if closed:
        groups = sorted(found.security_group_ids)
        key = f"{STORAGE}.{system.name}.{'adopt.' if system.settings else ''}security_group_id"
        yield Problem(
            path=key,
            found=", ".join(groups),
            problem=(
                "the file system does not let the nodes in on TCP "
                + " and ".join(described(ports) for ports in closed)
                + "; mounts would hang"
            ),
            allowed="988 and 1018-1023 from the nodes",
            remedy="let the stack put the rules there: "
            + set_command(key, groups[0], stack_file=stack_file),
        )
