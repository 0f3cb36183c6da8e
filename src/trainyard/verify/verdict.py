"""The stages of `verify`: what the log of a test must say about the nodes of a plan."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from trainyard.components.catalog.bus_bandwidth import BandwidthFloor, bandwidth_floor
from trainyard.components.catalog.instance_types import Accelerators
from trainyard.verify.collective_log import CollectiveLog, size_text

Result = Literal["pass", "fail", "skipped"]
_MOST_FAILURES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedNodes:
    """The nodes of a test, as planned."""

    instance_type: str
    accelerators: Accelerators
    count: int
    efa_interfaces: int
    """EFA interfaces of one node; 0 without EFA."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One stage of the verification."""

    name: str
    result: Result
    reason: str
    nodes: tuple[str, ...] = ()
    """The nodes that can be the cause of a failure; empty if that can be any node."""


def judge(
    log: CollectiveLog, nodes: PlannedNodes, *, minimum_gb_per_second: float | None = None
) -> tuple[Stage, ...]:
    """Return all stages, in the order in which a reader looks for the cause.

    Args:
        log: The log of the test.
        nodes: The nodes that it ran on.
        minimum_gb_per_second: Lowest bus bandwidth that the user accepts; None for the published
            one.
    """
    return (
        _ended(log),
        _values(log),
        _took_part(log, nodes),
        _transport(log, nodes),
        _bandwidth(log, nodes, minimum_gb_per_second),
    )


def has_failed(stages: Sequence[Stage]) -> bool:
    """Return whether any stage failed."""
    return any(stage.result == "fail" for stage in stages)


def _ended(log: CollectiveLog) -> Stage:
    if log.average_gb_per_second is not None:
        said = f"{len(log.measurements)} message sizes"
        return Stage(name="test", result="pass", reason=f"ended, with {said}")
    reason = "did not end" if log.measurements else "has no measurements"
    causes = log.failures[:_MOST_FAILURES]
    more = len(log.failures) - len(causes)
    said = [*causes, *([f"and {more} other messages"] if more else [])]
    return Stage(name="test", result="fail", reason="; ".join([f"the test {reason}", *said]))


def _values(log: CollectiveLog) -> Stage:
    if log.wrong_values:
        reason = f"{log.wrong_values} wrong values in the results: a device or its memory is faulty"
        return Stage(name="values", result="fail", reason=reason)
    if not log.measurements:
        return Stage(name="values", result="skipped", reason="there are no results")
    return Stage(name="values", result="pass", reason="no wrong values")


def _took_part(log: CollectiveLog, nodes: PlannedNodes) -> Stage:
    if not log.nodes:
        return Stage(name="nodes", result="skipped", reason="the log does not list the ranks")
    wanted = nodes.count * nodes.accelerators.count
    found = f"{log.ranks} ranks on {len(log.nodes)} nodes"
    if (len(log.nodes), log.ranks) == (nodes.count, wanted):
        return Stage(name="nodes", result="pass", reason=found)
    reason = f"{found}, but the plan has {wanted} GPUs on {nodes.count} nodes"
    return Stage(name="nodes", result="fail", reason=reason)


def _transport(log: CollectiveLog, nodes: PlannedNodes) -> Stage:
    skipped = _no_transport(nodes)
    if skipped:
        return Stage(name="transport", result="skipped", reason=skipped)
    faults = [*_transport_faults(log, nodes.efa_interfaces)]
    if faults:
        return Stage(name="transport", result="fail", reason="; ".join(faults))
    reason = f"NCCL uses Libfabric over {nodes.efa_interfaces} EFA interfaces on each node"
    return Stage(name="transport", result="pass", reason=reason)


def _no_transport(nodes: PlannedNodes) -> str:
    if nodes.count == 1:
        return "one node communicates over NVLink, PCIe or shared memory"
    if not nodes.efa_interfaces:
        return "the nodes have no EFA in the plan"
    if nodes.accelerators.manufacturer == "neuron":
        return "nccom-test does not log its transport; between nodes, it has no other than EFA"
    return ""


def _transport_faults(log: CollectiveLog, planned: int) -> Iterator[str]:
    others = sorted(log.networks - {"Libfabric"})
    if others:
        yield f"NCCL uses {', '.join(others)} instead of EFA"
    elif not log.networks and not log.providers:
        yield "the log has no lines about the network; run the test with NCCL_DEBUG=INFO"
    for provider in sorted(log.providers, key=lambda each: (each.name, each.nics or 0)):
        if provider.name != "efa":
            yield f"the provider is {provider.name} instead of efa"
        elif provider.nics is not None and provider.nics != planned:
            yield f"a node uses {provider.nics} EFA interfaces instead of {planned}"


def _bandwidth(log: CollectiveLog, nodes: PlannedNodes, minimum: float | None) -> Stage:
    largest = log.largest
    if largest is None:
        return Stage(name="bandwidth", result="skipped", reason="there are no measurements")
    floor = minimum if minimum is not None else _published(nodes, largest.size_bytes)
    found = f"{largest.bus_bandwidth_gb_per_second:g} GB/s at {size_text(largest.size_bytes)}"
    if floor is None:
        reason = (
            f"{found}; no threshold is published for {nodes.count} x {nodes.instance_type} at this "
            "size: give one with --minimum-bandwidth"
        )
        return Stage(name="bandwidth", result="skipped", reason=reason)
    passed = largest.bus_bandwidth_gb_per_second >= floor
    sign = "at least" if passed else "less than"
    return Stage(
        name="bandwidth",
        result="pass" if passed else "fail",
        reason=f"{found}, {sign} {floor:g} GB/s",
    )


def _published(nodes: PlannedNodes, size_bytes: int) -> float | None:
    floor: BandwidthFloor | None = bandwidth_floor(
        nodes.instance_type, nodes=nodes.count, message_bytes=size_bytes
    )
    return floor.gb_per_second if floor else None
