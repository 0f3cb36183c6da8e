"""The stage of the accelerators within a node: an all-reduce on each node alone, over NVLink."""

from __future__ import annotations

from collections.abc import Sequence

from trainyard.components.catalog.bus_bandwidth import bandwidth_floor
from trainyard.verify.parts import Part, bad_parts, described, smallest_message_bytes
from trainyard.verify.verdict import PlannedNodes, Stage

_NAME = "intra-node"


def judge_intra_node(parts: Sequence[Part], nodes: PlannedNodes) -> Stage:
    """Return the stage that names the nodes whose GPUs are slow or fail.

    Args:
        parts: The tests of nodes alone in a log.
        nodes: The nodes of the test.
    """
    if not parts:
        return Stage(name=_NAME, result="skipped", reason=_skipped(nodes))
    floor = bandwidth_floor(
        nodes.instance_type, nodes=1, message_bytes=smallest_message_bytes(parts)
    )
    least = floor.gb_per_second if floor else 0.0
    bad = bad_parts(parts, least)
    good = [part.gb_per_second for part in parts if part not in bad and part.gb_per_second]
    against = f"at least {least:g} GB/s" if floor else "80 % of the best node"
    if bad:
        others = f"; the others have at least {min(good):g} GB/s" if good else ""
        reason = f"{described(bad)}{others}; wanted is {against}"
        nodes_at_fault = tuple(sorted({node for part in bad for node in part.nodes}))
        return Stage(name=_NAME, result="fail", reason=reason, nodes=nodes_at_fault)
    reason = f"each of {len(parts)} nodes has at least {min(good):g} GB/s; wanted is {against}"
    return Stage(name=_NAME, result="pass", reason=reason)


def _skipped(nodes: PlannedNodes) -> str:
    if nodes.count == 1:
        return "the test of one node is this test: see bandwidth"
    if nodes.accelerators.manufacturer == "neuron":
        return "nccom-tests has no test of each node alone"
    if nodes.accelerators.count == 1:
        return "the nodes have one GPU each"
    return "the log has no test of each node alone"
