"""The report of a stack: its picture and what belongs to it, as a page that needs no other file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trainyard.changes.steps import PlannedStep
from trainyard.components.compute.interface_plan import InterfacePlan
from trainyard.components.compute.node_pool_plan import NodePoolPlan
from trainyard.components.cost.item import CostItem
from trainyard.findings.finding import Finding
from trainyard.pages.page import details, page, paragraph, section, table, wide
from trainyard.topology.box import Change
from trainyard.topology.drawing import SIGNS
from trainyard.topology.topology import accelerators, anchor_of, count
from trainyard.workspace.urns import type_of

if TYPE_CHECKING:
    from trainyard.components.any_plan import AnyPlan


CHANGES: Mapping[str, Change] = {
    "create": "created",
    "update": "changed",
    "replace": "replaced",
    "delete": "deleted",
}
"""By the operation of a step; `same` is no change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StackReport:
    """What a report shows; empty parts have no section."""

    title: str
    about: str
    """When and from what it was made."""
    picture: str
    """The topology, as SVG with links to the details."""
    findings: Sequence[Finding]
    timeline: str = ""
    """The timeline of the capacity, as SVG."""
    charges: Sequence[CostItem] = ()
    cost: Sequence[str] = ()
    """Sums and origins of the prices, as `cost` prints them."""
    plan: AnyPlan
    resources: Sequence[Mapping[str, Any]] = ()
    """As in the result of `plan`."""
    changes: Sequence[PlannedStep] = ()
    """Steps of a preview."""


def html_report(report: StackReport) -> str:
    """Return the page."""
    return page(
        report.title,
        paragraph(report.about),
        wide(report.picture, label="Topology"),
        section("Changes", _changes(report.changes)),
        section("Findings", _findings(report.findings)),
        section("Capacity", wide(report.timeline, label="Timeline") if report.timeline else ""),
        section("Cost", _cost(report)),
        section("Nodes", _nodes(report.plan)),
        section("Resources", _resources(report.resources)),
    )


def _findings(findings: Sequence[Finding]) -> str:
    if not findings:
        return paragraph("None.")
    rows = [(each.level, each.key, each.message) for each in findings]
    return table(("Level", "Key", "Finding"), rows, results=[each.level for each in findings])


def _changes(steps: Sequence[PlannedStep]) -> str:
    rows = [
        (
            f"{SIGNS[change]}\u00a0{change}",
            type_of(step.urn),
            step.name,
            ", ".join(step.changed_properties) if step.operation in ("update", "replace") else "",
        )
        for step in steps
        if (change := CHANGES.get(step.operation)) is not None
    ]
    if not rows:
        return ""
    return table(
        ("Change", "Type", "Name", "Properties"), rows, results=[row[0][2:] for row in rows]
    )


def _cost(report: StackReport) -> str:
    rows = [
        (each.what, each.resource, f"{each.hourly_usd:,.4f}")
        for each in report.charges
        if each.hourly_usd
    ]
    charges = table(("Charge", "Key", "USD an hour"), rows) if rows else ""
    return charges + "".join(map(paragraph, report.cost))


def _nodes(plan: AnyPlan) -> str:
    return "\n".join(
        details(
            f"{pool.name}: {count(pool)} x {pool.instance_type.name}",
            _facts(pool) + _interfaces(pool.interfaces),
            anchor=anchor_of(pool),
        )
        for pool in plan.node_pools
    )


def _facts(pool: NodePoolPlan) -> str:
    return table(("", ""), [*_rows(pool)])


def _rows(pool: NodePoolPlan) -> Iterator[tuple[str, str]]:
    kind, capacity, volume = pool.instance_type, pool.capacity, pool.root_volume
    yield "Each node", f"{kind.vcpus} vCPUs, {kind.memory_mib / 1024:.0f} GiB of memory"
    if kind.accelerators:
        yield "Accelerators", accelerators(pool)
    if kind.local_nvme_disks:
        yield "Instance store", f"{kind.local_nvme_disks} disks, {kind.local_nvme_gb} GB"
    yield "Purchase option", f"{capacity.purchase_option} ({capacity.kind})"
    yield "Placement", pool.placement.reason
    yield "Subnets", ", ".join(pool.subnets)
    yield "AMI", str(pool.image)
    if volume is not None:
        yield "Root volume", f"{volume.size_gib} GiB {volume.volume_type}"
    yield "Key in the stack file", pool.key


def _interfaces(plan: InterfacePlan | None) -> str:
    if plan is None:
        return ""
    rows = [
        (str(each.network_card_index), str(each.device_index), each.interface_type)
        for each in plan.interfaces
    ]
    return table(("Network card", "Device index", "Interface type"), rows)


def _resources(resources: Sequence[Mapping[str, Any]]) -> str:
    if not resources:
        return ""
    by_type = Counter(each["type"] for each in resources)
    groups = (
        details(
            f"{type_} ({number})",
            table(
                ("Name", "Part of"),
                [
                    (each["name"], (each["parent"] or "").rpartition("::")[2])
                    for each in resources
                    if each["type"] == type_
                ],
            ),
        )
        for type_, number in sorted(by_type.items())
    )
    return "\n".join((paragraph(f"{len(resources)} resources."), *groups))
