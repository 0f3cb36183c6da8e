"""The node pools and reservations of a new stack file."""

from __future__ import annotations

from collections.abc import Sequence

from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.init.design import PoolDesign, Reserved, StackDesign
from trainyard.init.examples import (
    POOL_SECTIONS,
    Example,
    ExamplePool,
    examples,
    pool_example,
    section,
)
from trainyard.init.stack_text import Entry

_ENTRY_NAMES = {"capacity-block": "block", "odcr": "training"}
"""Names of the reservations in the shipped stacks."""


def write_pools(cluster: Entry, design: StackDesign, example: Example) -> None:
    """Write `reservations` and the node pools of a design into `trainyard:cluster`."""
    names = _reservation_names(design.pools)
    _write_reservations(cluster, design, example, names)
    pools = section(cluster, *POOL_SECTIONS[design.kind])
    first_comments = pools.children[0].comments
    used: set[str] = set()
    pools.children = []
    for pool, entry_name in zip(design.pools, names, strict=True):
        own, template = pool_example(example, pool)
        entry = section(own.cluster, *POOL_SECTIONS[design.kind], template.name).copy()
        entry.key = _pool_name(entry.key, pool, template, used)
        _write_pool(entry, pool, template, entry_name, design)
        if own is not example:
            entry.comments = []
        pools.children.append(entry)
    if pools.children and not pools.children[0].comments:
        pools.children[0].comments = first_comments
    _write_jobs(cluster, design, example)


def written_pools(cluster: Entry, design: StackDesign) -> Sequence[Entry]:
    """Return the entries of the node pools."""
    return section(cluster, *POOL_SECTIONS[design.kind]).children


def _reservation_names(pools: Sequence[PoolDesign]) -> list[str]:
    """Return the purchase option of each pool: the name of its reservation, or `on-demand`."""
    names: list[str] = []
    for pool in pools:
        base = _ENTRY_NAMES.get(pool.purchase, "on-demand")
        count = sum(name.startswith(base) for name in names)
        reserved = pool.reserved is not None
        names.append(f"{base}-{count + 1}" if reserved and count else base)
    return names


def _write_reservations(
    cluster: Entry, design: StackDesign, example: Example, names: Sequence[str]
) -> None:
    section_comments = cluster.child("reservations")
    comments = section_comments.comments if section_comments is not None else [""]
    cluster.remove("reservations")
    entries = [
        _reservation(name, pool.reserved, example)
        for name, pool in zip(names, design.pools, strict=True)
        if pool.reserved is not None
    ]
    if not entries:
        return
    for entry in entries[1:]:
        entry.comments = []
        entry.remove_comments()
    cluster.insert(
        Entry("reservations", comments=list(comments), children=entries), after="network"
    )


def _reservation(name: str, reserved: Reserved, example: Example) -> Entry:
    entry = _example_reservation(reserved.kind, example)
    if entry.key != name:
        entry.set_comment()
    entry.key = name
    if reserved.reservation_id is not None:
        entry.set("reservation_id", reserved.reservation_id, after="kind")
    if reserved.kind == "odcr":
        entry.set("provenance", "aws-assisted" if reserved.aws_assisted else "own")
        if reserved.placement_group:
            entry.set("placement_group", reserved.placement_group, after="provenance")
    elif reserved.instance_count is not None:
        count = section(entry, "instance_count")
        count.value = str(reserved.instance_count)
    if reserved.zone:
        # Known without the account, so that `check` finds contradictions too.
        entry.set("availability_zone", reserved.zone)
        entry.tail = []
    return entry


def _example_reservation(kind: str, example: Example) -> Entry:
    """Return a reservation of this kind, from the example or from the stack that explains it.

    The comments of another architecture go, because they have other names for node pools.
    """
    stacks = (example.stack, "p5-cb", "eks-p4de-odcr-vpc", *examples())
    found = [
        (examples()[stack].kind == example.kind, entry)
        for stack in stacks
        for entry in _reservations_of(stack)
        if section(entry, "kind").value == kind
    ]
    own = [entry for is_own, entry in found if is_own]
    if own:
        return own[0].copy()
    other = found[0][1].copy()
    other.set_comment()
    other.remove_comments()
    return other


def _reservations_of(stack: str) -> Sequence[Entry]:
    found = examples()[stack].cluster.child("reservations")
    return found.children if found is not None else ()


def _pool_name(name: str, pool: PoolDesign, template: ExamplePool, used: set[str]) -> str:
    family = pool.instance_type.partition(".")[0]
    if family != template.instance_type.partition(".")[0]:
        name = family if "-" not in name else f"{name.partition('-')[0]}-{family}"
        name = family if name.startswith(template.instance_type.partition(".")[0]) else name
    free, number = name, 1
    while free in used:
        number += 1
        free = f"{name}-{number}"
    used.add(free)
    return free


def _write_pool(
    entry: Entry, pool: PoolDesign, template: ExamplePool, option: str, design: StackDesign
) -> None:
    nodes = entry
    if design.kind == "slurm":
        nodes = section(entry, "compute_resources").children[0]
        section(entry, "compute_resources").children = [nodes]
    if (pool.instance_type, pool.purchase) != (template.instance_type, template.purchase):
        entry.set_comment()
        entry.remove_comments()
    of_type = nodes.set("instance_type", pool.instance_type)
    if not of_type.comments:
        of_type.set_comment(_devices(pool.instance_type))
    section(entry, "purchase_option").value = option
    _write_zone(entry, pool)
    _write_sizes(nodes, pool, template, design)
    _write_devices(nodes, entry, pool)


def _devices(instance_type: str) -> str:
    """Return what a node of this type has, for its comment."""
    found = INSTANCE_TYPES.get(instance_type)
    if found is None:
        return ""
    parts: list[str] = []
    if found.accelerators is not None:
        noun = "GPUs" if found.accelerators.manufacturer == "nvidia" else "devices"
        noun = noun if found.accelerators.count > 1 else noun.removesuffix("s")
        parts.append(f"{found.accelerators.count} {found.accelerators.model} {noun}")
    if found.efa_supported:
        parts.append(f"{found.efa_interfaces} EFA interface{'s' * (found.efa_interfaces > 1)}")
    return f"Each node has {' and '.join(parts)}." if parts else ""


def _write_zone(entry: Entry, pool: PoolDesign) -> None:
    if pool.reserved is not None or pool.zone is None:
        entry.remove("availability_zone")  # the zone of the reservation, or not known
    else:
        entry.set("availability_zone", pool.zone, after="purchase_option")


def _write_sizes(
    nodes: Entry, pool: PoolDesign, template: ExamplePool, design: StackDesign
) -> None:
    if nodes.child("desired") is not None:
        nodes.set("desired", pool.nodes)
        nodes.set("maximum", pool.nodes)
        return
    same = pool.nodes == template.nodes and pool.purchase == template.purchase
    always_there = section(nodes, "minimum").value == section(nodes, "maximum").value
    # A Capacity Block is static capacity in ParallelCluster: minimum and maximum are the same.
    static = always_there or (design.kind == "slurm" and pool.purchase == "capacity-block")
    if not same:
        section(nodes, "minimum").set_comment()
    nodes.set("minimum", pool.nodes if static else 0)
    nodes.set("maximum", pool.nodes)


def _write_devices(nodes: Entry, entry: Entry, pool: PoolDesign) -> None:
    found = INSTANCE_TYPES.get(pool.instance_type)
    if found is None:
        return
    if not found.efa_supported:
        nodes.remove("efa_enabled")
    elif not pool.example_pool:
        nodes.set("efa_enabled", value=True, after="maximum")
    if not found.local_nvme_disks:
        entry.remove("local_nvme")


def _write_jobs(cluster: Entry, design: StackDesign, example: Example) -> None:
    """Let the job definitions of Batch use the first compute environment, or remove them."""
    jobs = cluster.at("architecture", "job_definitions")
    if jobs is None:
        return
    first, old = design.pools[0], example.pools[0]
    found = INSTANCE_TYPES.get(first.instance_type)
    if found is None or not found.efa_supported or found.accelerators is None:
        section(cluster, "architecture").remove("job_definitions")
        return
    changed = (first.instance_type, first.nodes) != (old.instance_type, old.nodes)
    environment = section(cluster, *POOL_SECTIONS["batch"]).children[0].key
    for job in jobs.children:
        section(job, "compute_environment").value = environment
        nodes = job.child("nodes")
        if nodes is not None and int(nodes.value) > first.nodes:
            nodes.value = str(first.nodes)
        if changed:
            job.set_comment()
