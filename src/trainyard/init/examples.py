"""The shipped stack files as examples for new ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.components.package_data import data_text
from trainyard.init.design import KINDS, Kind, PoolDesign, Purchase
from trainyard.init.stack_text import TextEntry, parsed
from trainyard.stack_files.installation import INSTALLATION
from trainyard.stack_files.stack_files import CLUSTER_KEY, StackFile, find_stack_file, names_in

_KIND_OF: Mapping[str, Kind] = {
    facts.architecture: cast("Kind", kind) for kind, facts in KINDS.items()
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamplePool:
    """A node group, queue or compute environment of an example."""

    name: str
    instance_type: str
    purchase: Purchase
    nodes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A shipped stack file."""

    stack: str
    kind: Kind
    network: str
    """`existing-vpc` or `new-vpc`."""
    zones: tuple[str, ...]
    """Zones of its new VPC."""
    region: str
    pools: tuple[ExamplePool, ...]
    root: TextEntry
    """The tree of its text; a copy has to be made before it is changed."""

    @property
    def cluster(self) -> TextEntry:
        """The section `trainyard:cluster`."""
        return section(self.root, "config", CLUSTER_KEY)


def section(entry: TextEntry, *path: str) -> TextEntry:
    """Return the entry at a path, which every example has.

    Raises:
        LookupError: the entry does not exist.
    """
    found = entry.at(*path)
    if found is None:
        raise LookupError(f"the example has no {'.'.join(path)}")
    return found


@cache
def examples() -> Mapping[str, Example]:
    """Return the shipped stack files that describe a stack, by stack name."""
    # A stack of the user's can have the name of an example.
    shipped = INSTALLATION.examples
    paths = {stack: shipped / f"Pulumi.{stack}.yaml" for stack in names_in(shipped)}
    files = (find_stack_file(stack, path=path) for stack, path in paths.items())
    return {file.stack: _example(file) for file in files}


def _example(file: StackFile) -> Example:
    cluster: Any = file.cluster
    return Example(
        stack=file.stack,
        kind=_KIND_OF[cluster["architecture"]["kind"]],
        network=cluster["network"]["kind"],
        zones=tuple(cluster["network"].get("availability_zones", ())),
        region=file.region,
        pools=tuple(_pools(cluster)),
        root=parsed(data_text(file.path)),
    )


def _pools(cluster: Mapping[str, Any]) -> Iterator[ExamplePool]:
    architecture = cluster["architecture"]
    reservations = cluster.get("reservations", {})
    for path in filter(None, (facts.pools for facts in KINDS.values())):
        for name, pool in architecture.get(path[-1], {}).items():
            nodes = next(iter(pool.get("compute_resources", {}).values()), pool)
            option = pool.get("purchase_option", "on-demand")
            bought = reservations[option]["kind"] if option in reservations else "on-demand"
            yield ExamplePool(
                name=name,
                instance_type=nodes["instance_type"],
                purchase=cast("Purchase", bought),
                nodes=nodes.get("desired", nodes["maximum"]),
            )


def manufacturer(instance_type: str) -> str:
    """Return the manufacturer of the accelerators of a type; `nvidia` without accelerators."""
    found = INSTANCE_TYPES.get(instance_type)
    return found.accelerators.manufacturer if found and found.accelerators else "nvidia"


def fitting_example(kind: Kind, pools: Sequence[PoolDesign], *, network: str) -> Example:
    """Return the example that is nearest to a stack of this kind.

    The manufacturer of the accelerators counts most, because drivers and jobs depend on it; then
    whether it needs an image of the user's, the purchase option, scripts, the instance type, the
    network, and how few pools it has.
    """
    candidates = [each for each in examples().values() if each.kind == kind]
    if not pools:
        return max(candidates, key=lambda each: (each.network == network, len(each.zones)))
    return max(candidates, key=lambda each: _likeness(each, pools[0], network))


def _likeness(example: Example, pool: PoolDesign, network: str) -> tuple[int, ...]:
    first, entries = example.pools[0], [*example.root.walk()]
    return (
        manufacturer(first.instance_type) == manufacturer(pool.instance_type),
        not any((each.key, each.value) == ("image", "custom") for each in entries),
        first.purchase == pool.purchase,
        -sum(each.key == "custom_actions" for each in entries),
        first.instance_type == pool.instance_type,
        example.network == network,
        -len(example.pools),
    )


def pool_example(example: Example, pool: PoolDesign) -> tuple[Example, ExamplePool]:
    """Return the pool after which a pool is written, and its example.

    A pool of the stack's own example is preferred if it is bought in the same way.
    """
    for each in example.pools:
        if each.name == pool.example_pool:
            return example, each
    for each in example.pools:
        if each.purchase == pool.purchase and manufacturer(each.instance_type) == manufacturer(
            pool.instance_type
        ):
            return example, each
    other = fitting_example(example.kind, [pool], network=example.network)
    return other, other.pools[0]
