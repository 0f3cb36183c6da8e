"""Account checks of planned file systems: lost data, subnet addresses and security groups."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.components.account.facts import AccountFacts
from trainyard.components.checks.file_system_check import STORAGE
from trainyard.components.checks.open_door import described, is_open
from trainyard.components.config.problems import Problem, set_command
from trainyard.components.eks.file_system_changes import made_before, replacement_problems
from trainyard.components.eks.plan import EksPlan
from trainyard.components.storage.fsx_lustre_plan import LUSTRE_PORTS, FsxLustrePlan


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
