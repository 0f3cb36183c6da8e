"""The log of `nccl-pairs`: which node is slow or fails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trainyard.components.catalog.bus_bandwidth import bandwidth_floor
from trainyard.verify.parts import Part, bad_parts, described, read_parts, smallest_message_bytes
from trainyard.verify.verdict import PlannedNodes, Stage


def read_pairs(text: str) -> tuple[Part, ...]:
    """Return the pairs of a log in the order of their first lines; empty for another log."""
    return read_parts(text, "pair")


def judge_pairs(
    pairs: Sequence[Part], nodes: PlannedNodes, *, minimum_gb_per_second: float | None = None
) -> Stage:
    """Return the stage that names the node that is slow or fails.

    Args:
        pairs: The pairs of a log.
        nodes: The nodes of the test.
        minimum_gb_per_second: Lowest bus bandwidth that the user accepts; None for the published
            one.
    """
    bad = bad_parts(pairs, _floor(pairs, nodes, minimum_gb_per_second))
    return Stage(
        name="pairs",
        result="fail" if bad else "pass",
        reason=_reason(bad, pairs),
        nodes=tuple(sorted(_suspects(bad, pairs))),
    )


def bad_nodes(bad: Sequence[Part], pairs: Sequence[Part]) -> list[str]:
    """Return the nodes of which all pairs are bad, and that are in at least two."""
    of_node = _by_node(pairs)
    return [
        node
        for node, found in _by_node(bad).items()
        if len(found) > 1 and len(found) == len(of_node[node])
    ]


def _suspects(bad: Sequence[Part], pairs: Sequence[Part]) -> set[str]:
    """Return the nodes that explain all bad pairs, or that can be the cause of one."""
    causes = set(bad_nodes(bad, pairs))
    unexplained = (pair.nodes for pair in bad if not causes & set(pair.nodes))
    return causes.union(*unexplained)


def _reason(bad: Sequence[Part], pairs: Sequence[Part]) -> str:
    good = [pair.gb_per_second for pair in pairs if pair not in bad and pair.gb_per_second]
    if not bad:
        return f"{len(pairs)} pairs of nodes have at least {min(good):g} GB/s"
    if not good:
        return f"no pair of nodes passes: {described(bad)}"
    others = f"the other pairs have at least {min(good):g} GB/s"
    found = bad_nodes(bad, pairs)
    if not found:
        return (
            f"one of the two nodes of a pair, or the link between them: {described(bad)}; {others}"
        )
    return f"the cause is {' and '.join(found)}: {described(bad)}; {others}"


def _by_node(pairs: Sequence[Part]) -> Mapping[str, list[Part]]:
    found: dict[str, list[Part]] = {}
    for pair in pairs:
        for node in pair.nodes:
            found.setdefault(node, []).append(pair)
    return found


def _floor(pairs: Sequence[Part], nodes: PlannedNodes, minimum: float | None) -> float:
    if minimum is not None:
        return minimum
    size = smallest_message_bytes(pairs)
    floor = bandwidth_floor(nodes.instance_type, nodes=2, message_bytes=size)
    return floor.gb_per_second if floor else 0.0
