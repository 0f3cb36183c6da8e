"""The text of a new stack file: a shipped example with the choices of the user."""

from __future__ import annotations

from collections.abc import Sequence

from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.components.config.provider_settings import PROFILE_KEY, REGION_KEY
from trainyard.components.eks.cluster_review import NEW_RETENTION_DAYS
from trainyard.init.api_access import PAGE, audit_log_price
from trainyard.init.design import (
    EVERYBODY,
    KINDS,
    LUSTRE_THROUGHPUT,
    PRIVATE,
    PoolDesign,
    ReservedNodes,
    StackDesign,
)
from trainyard.init.examples import (
    Example,
    ExamplePool,
    examples,
    manufacturer,
    pool_example,
    section,
)
from trainyard.init.stack_text import STEP, TextEntry, entry_of, rendered
from trainyard.stack_files.installation import INSTALLATION
from trainyard.stack_files.stack_files import CLUSTER_KEY

_ENTRY_NAMES = {"capacity-block": "block", "odcr": "training"}
"""Names of the reservations in the shipped stacks."""


def write_pools(cluster: TextEntry, design: StackDesign, example: Example) -> None:
    """Write `reservations` and the node pools of a design into `trainyard:cluster`."""
    names = _reservation_names(design.pools)
    _write_reservations(cluster, design, example, names)
    pools = section(cluster, *KINDS[design.kind].pools)
    first_comments = pools.children[0].comments
    used: set[str] = set()
    pools.children = []
    for pool, entry_name in zip(design.pools, names, strict=True):
        own, template = pool_example(example, pool)
        entry = section(own.cluster, *KINDS[design.kind].pools, template.name).copy()
        entry.key = _pool_name(entry.key, pool, template, used)
        _write_pool(entry, pool, template, entry_name, design)
        if own is not example:
            entry.comments = []
            _take_scripts(cluster, own)
        pools.children.append(entry)
    if pools.children and not pools.children[0].comments:
        pools.children[0].comments = first_comments
    _write_jobs(cluster, design, example)


def _take_scripts(cluster: TextEntry, other: Example) -> None:
    """Give the head node the scripts of the example of a queue: Pyxis works only on both."""
    path = ("architecture", "head_node", "custom_actions")
    theirs = other.cluster.at(*path, "on_node_configured")
    if theirs is None:
        return
    own = cluster.at(*path, "on_node_configured")
    if own is None:
        section(cluster, *path[:-1]).children.append(section(other.cluster, *path).copy())
    else:
        scripts = [each for each in theirs.items if each.lstrip().startswith("- ")]
        own.items += [each for each in scripts if each not in own.items]


def written_pools(cluster: TextEntry, design: StackDesign) -> Sequence[TextEntry]:
    """Return the entries of the node pools."""
    return section(cluster, *KINDS[design.kind].pools).children


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
    cluster: TextEntry, design: StackDesign, example: Example, names: Sequence[str]
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
        TextEntry("reservations", comments=list(comments), children=entries), after="network"
    )


def _reservation(name: str, reserved: ReservedNodes, example: Example) -> TextEntry:
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


def _example_reservation(kind: str, example: Example) -> TextEntry:
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


def _reservations_of(stack: str) -> Sequence[TextEntry]:
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
    entry: TextEntry, pool: PoolDesign, template: ExamplePool, option: str, design: StackDesign
) -> None:
    nodes = entry
    if KINDS[design.kind].has_compute_resources:
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


def _write_zone(entry: TextEntry, pool: PoolDesign) -> None:
    if pool.reserved is not None or pool.zone is None:
        entry.remove("availability_zone")  # the zone of the reservation, or not known
    else:
        entry.set("availability_zone", pool.zone, after="purchase_option")


def _write_sizes(
    nodes: TextEntry, pool: PoolDesign, template: ExamplePool, design: StackDesign
) -> None:
    if nodes.child("desired") is not None:
        nodes.set("desired", pool.nodes)
        nodes.set("maximum", pool.nodes)
        return
    same = pool.nodes == template.nodes and pool.purchase == template.purchase
    always_there = section(nodes, "minimum").value == section(nodes, "maximum").value
    in_block = pool.purchase == "capacity-block"
    static = always_there or (KINDS[design.kind].is_static_in_blocks and in_block)
    if not same:
        section(nodes, "minimum").set_comment()
    nodes.set("minimum", pool.nodes if static else 0)
    nodes.set("maximum", pool.nodes)


def _write_devices(nodes: TextEntry, entry: TextEntry, pool: PoolDesign) -> None:
    found = INSTANCE_TYPES.get(pool.instance_type)
    if found is None:
        return
    if not found.efa_supported:
        nodes.remove("efa_enabled")
    elif not pool.example_pool:
        nodes.set("efa_enabled", value=True, after="maximum")
    if not found.local_nvme_disks:
        entry.remove("local_nvme")


def _write_jobs(cluster: TextEntry, design: StackDesign, example: Example) -> None:
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
    environment = section(cluster, *KINDS[design.kind].pools).children[0].key
    for job in jobs.children:
        section(job, "compute_environment").value = environment
        nodes = job.child("nodes")
        if nodes is not None and int(nodes.value) > first.nodes:
            nodes.value = str(first.nodes)
        if changed:
            job.set_comment()


# The text of a new stack file: a shipped example with the choices of the user.
#
# Comments of the example stay where they still apply. A comment that describes a value goes when
# the value changes, and those of a node pool go when its instance type or purchase option changes.


_WIDTH = 100
_REPLACEABLE = ("fsx-lustre", "efs")
"""Kinds of file systems of the examples that a chosen file system takes the place of."""


def stack_file_text(design: StackDesign, *, command: str) -> str:
    """Return the text of the stack file.

    Args:
        design: The choices.
        command: The command that makes the same file without a question.
    """
    example = examples()[design.example]
    root = example.root.copy()
    config = section(root, "config")
    config.comments = []
    config.set(REGION_KEY, design.region)
    if design.profile:
        config.set(PROFILE_KEY, design.profile, after=REGION_KEY)
    cluster = section(config, CLUSTER_KEY)
    cluster.set("name", design.name, comment=_name_comment(example))
    _write_network(cluster, design, example)
    kind = KINDS[design.kind]
    if kind.pools:
        write_pools(cluster, design, example)
        _write_storage(cluster, design)
        _write_key_pair(cluster, design)
    if kind.has_api:
        _write_api_access(cluster, design)
    if kind.has_head_node:
        _write_head_node(cluster, design)
    _rename_in_commands(root, example.stack, design.name)
    header = "\n".join(_header(design, command))
    return f"{header}\n{rendered(root)}"


def _name_comment(example: Example) -> str:
    """Return the comment of the name, which applies to every name."""
    lines = section(example.cluster, "name").comments
    return "\n".join(line.removeprefix("# ") for line in lines)


def _header(design: StackDesign, command: str) -> list[str]:
    kind = KINDS[design.kind]
    pools = "; ".join(_described(design)) or "no nodes"
    with_pools = f", with {pools}" if kind.pools else ""
    sentence = f"{design.name}: {kind.explanation}{with_pools}."
    schema = INSTALLATION.documents / "schema" / "stack.schema.json"
    return [
        f"# yaml-language-server: $schema={schema}",
        "#",
        *_wrapped(sentence),
        "#",
        f"# Based on the stack {design.example}. Made by:",
        "#",
        f"#   {command}",
        "#",
        *_wrapped(f"Every key is explained in {INSTALLATION.documents / 'config.md'}."),
    ]


def _described(design: StackDesign) -> list[str]:
    names = {"capacity-block": "Capacity Block", "odcr": "On-Demand Capacity Reservation"}
    bought: list[str] = []
    for pool in design.pools:
        reserved, how = pool.reserved, "on demand"
        if reserved is not None:
            name, known = names[reserved.kind], reserved.reservation_id
            article = "an" if reserved.kind == "odcr" else "a"
            how = f"of the {name} {known}" if known else f"of {article} {name}"
        bought.append(f"{pool.nodes} {pool.instance_type} {how}")
    return bought


def _wrapped(text: str, width: int = _WIDTH) -> list[str]:
    lines, line = [], "#"
    for word in text.split():
        if len(line) + 1 + len(word) > width and line != "#":
            lines.append(line)
            line = "#"
        line += f" {word}"
    return [*lines, line]


def _write_network(cluster: TextEntry, design: StackDesign, example: Example) -> None:
    network = design.network
    if example.network != network.kind:
        other = _with_network(design, example)
        copy = section(other.cluster, "network").copy()
        if _manufacturer(other) != _manufacturer(example):
            copy.remove_comments()  # it tells what the nodes download
        cluster.replace(copy)
    entry = section(cluster, "network")
    if network.kind == "new-vpc":
        _write_zones(entry, network.zones, design)
        return
    if network.vpc_id is not None:
        entry.set("vpc_id", network.vpc_id)
    if network.public_subnet_ids is not None:
        entry.set("public_subnet_ids", list(network.public_subnet_ids))
    if network.private_subnet_ids is not None:
        entry.set("private_subnet_ids", list(network.private_subnet_ids))


def _with_network(design: StackDesign, example: Example) -> Example:
    """Return an example with a network of the kind, of the same architecture if there is one."""
    found = [each for each in examples().values() if each.network == design.network.kind]
    return max(found, key=lambda each: (each.kind == design.kind, each.stack == example.stack))


def _manufacturer(example: Example) -> str:
    return manufacturer(example.pools[0].instance_type) if example.pools else ""


def _write_zones(entry: TextEntry, zones: Sequence[str] | None, design: StackDesign) -> None:
    if zones is None:
        entry.remove("availability_zones")
        return
    listed = section(entry, "availability_zones")
    flow = f"[{', '.join(zones)}]"
    in_last = all(pool.zone == zones[-1] for pool in design.pools if pool.reserved is None)
    if listed.value != flow or not in_last:
        listed.set_comment()  # it tells where the nodes of the example are
    listed.value = flow
    layout = entry.child("addresses")
    if layout is not None and layout.value == "vpc-one-az" and len(zones) > 1:
        entry.set("addresses", "vpc-multi-az")


def _write_storage(cluster: TextEntry, design: StackDesign) -> None:
    wanted, storage = design.storage, cluster.child("storage")
    if storage is not None:
        _end_with_the_vpc(storage, design)
    if wanted is None:
        return
    if storage is None:
        storage = TextEntry("storage", comments=[""])
        cluster.insert(
            storage, after="reservations" if cluster.child("reservations") else "network"
        )
    old = next((each for each in storage.children if _kind(each) in _REPLACEABLE), None)
    keeps = old is not None and _kind(old) == wanted.kind
    entry = old.copy() if old is not None and keeps else _new_entry(design)
    if old is not None:
        entry.key = old.key
    if wanted.capacity_gib is not None:
        _resize(entry, wanted.capacity_gib)
    is_placed = wanted.kind == "fsx-lustre" and KINDS[design.kind].places_file_systems
    if wanted.zone is not None and is_placed:
        entry.set("availability_zone", wanted.zone)
    storage.replace(entry)
    _end_with_the_vpc(storage, design)


def _kind(entry: TextEntry) -> str:
    kind = entry.child("kind")
    return kind.value if kind is not None else ""


def _new_entry(design: StackDesign) -> TextEntry:
    wanted = design.storage
    assert wanted is not None  # noqa: S101 - the caller has one
    values: dict[str, object] = {"kind": wanted.kind}
    if directory := KINDS[design.kind].file_systems[wanted.kind]:
        values["mount_directory"] = directory
    if wanted.kind == "fsx-lustre":
        values |= {
            "deployment_type": "PERSISTENT_2",
            "storage_capacity_gib": wanted.capacity_gib,
            "per_unit_storage_throughput": LUSTRE_THROUGHPUT,
        }
    else:
        values["file_system_id"] = wanted.file_system_id
    entry = entry_of("shared" if wanted.kind == "existing-efs" else "fsx", values)
    comments = _throughput_comments() if wanted.kind == "fsx-lustre" else []
    throughput = entry.child("per_unit_storage_throughput")
    if throughput is not None:
        throughput.comments = comments
    return entry


def _throughput_comments() -> list[str]:
    """Return the comment of the throughput, from the stack that explains it."""
    fsx = section(examples()["pc-gpu"].cluster, "storage", "fsx")
    return list(section(fsx, "per_unit_storage_throughput").comments)


def _resize(entry: TextEntry, capacity_gib: int) -> None:
    old = entry.child("storage_capacity_gib")
    if old is not None and old.value == str(capacity_gib):
        return
    entry.set("storage_capacity_gib", capacity_gib)
    entry.set_comment()  # it tells the capacity


def _end_with_the_vpc(storage: TextEntry, design: StackDesign) -> None:
    """Let new file systems in a VPC of the stack end with it, and keep those in other VPCs.

    `destroy` cannot delete a subnet with a file system that it keeps.
    """
    is_new = design.network.kind == "new-vpc"
    for entry in storage.children:
        if _kind(entry) not in ("fsx-lustre", "efs", "fsx-openzfs"):
            continue
        if is_new and entry.child("deletion_protection") is None:
            comment = "It is in the stack's own VPC: `destroy` deletes it with its data."
            entry.set("deletion_protection", value=False, comment=comment)
        elif not is_new:
            entry.remove("deletion_protection")
    if is_new:
        storage.tail = []  # it tells that they outlive the cluster


def _write_key_pair(cluster: TextEntry, design: StackDesign) -> None:
    if not design.key_pair:
        return
    if KINDS[design.kind].has_head_node:
        head = section(cluster, "architecture", "head_node")
        if head.child("ssh") is None:
            head.insert(TextEntry("ssh"), after="root_volume")
        section(head, "ssh").set("key_name", design.key_pair)
        return
    for pool in written_pools(cluster, design):
        pool.set("ssh_key_name", design.key_pair, after="instance_type")
        pool.tail = [line for line in pool.tail if "ssh_key_name" not in line]


def _write_api_access(cluster: TextEntry, design: StackDesign) -> None:
    """Write the endpoint and the audit log, with which the rules of the example are satisfied."""
    architecture = section(cluster, "architecture")
    keys = ("node_authorization", "authentication_mode", "kubernetes_version")
    above = next(key for key in keys if architecture.child(key) is not None)
    architecture.insert(_endpoint(design), after=above)
    log_types = entry_of("log_types", ["audit"])
    log_types.comments = _comment(
        "The audit log records the requests to the Kubernetes API. "
        f"{audit_log_price(design.region)}, which ends after {NEW_RETENTION_DAYS} days; "
        "log_retention_days changes that."
    )
    architecture.insert(log_types, after="endpoint")
    cluster.remove("policies")
    if EVERYBODY in design.api_networks:
        rule = entry_of("eks-public-endpoint-restricted", {"enforcement_level": "advisory"})
        rule.comments = _comment(
            "Every network can reach the API. Delete this when public_access_cidrs has your "
            "networks; until then every preview warns."
        )
        cluster.insert(TextEntry("policies", comments=[""], children=[rule]))


def _endpoint(design: StackDesign) -> TextEntry:
    if PRIVATE in design.api_networks:
        private = entry_of("endpoint", {"public_access": False, "private_access": True})
        private.comments = _comment(
            "Only the VPC and networks that are connected to it reach the Kubernetes API: "
            f"`./trainyard` and `kubectl` run there ({INSTALLATION.documents / PAGE})."
        )
        return private
    public = entry_of("endpoint", {"public_access_cidrs": list(design.api_networks)})
    public.comments = _comment(
        "Networks that can reach the Kubernetes API. IAM decides who may use it. The nodes use "
        "the private endpoint."
    )
    return public


def _comment(text: str) -> list[str]:
    """Return the lines of a comment of a key at the third level."""
    return _wrapped(text, _WIDTH - 3 * STEP)


def _write_head_node(cluster: TextEntry, design: StackDesign) -> None:
    """Place the head node in a private subnet of a VPC without public subnets."""
    if design.network.kind == "existing-vpc" and design.network.public_subnet_ids == ():
        section(cluster, "architecture", "head_node").set(
            "network", "private", after="instance_type"
        )


def _rename_in_commands(root: TextEntry, old: str, new: str) -> None:
    """Let the commands in comments name the new stack."""
    for entry in root.walk():
        for lines in (entry.comments, entry.tail):
            lines[:] = [
                line.replace(f" {old} ", f" {new} ") if "./trainyard" in line else line
                for line in lines
            ]
