"""The log of `nccl-pairs`: which node is slow or fails."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from components.catalog.bus_bandwidth import bandwidth_floor
from tools.verify.collective_log import CollectiveLog, Measurement, read_log
from tools.verify.verdict import PlannedNodes, Stage, size_text

_PAIR = re.compile(r"^\[pair (\S+) (\S+)\] ?(.*)$")
_NODE = re.compile(r"^\[node (\S+)\] (\S+)$")
_SHARE = 0.8
"""Lowest share of the bandwidth of the best pair: the share of published measurements that is the
floor of `components.catalog.bus_bandwidth`."""
_MOST_NAMES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """The test of two nodes."""

    nodes: tuple[str, str]
    """Names of nodes in the scheduler; those of pods if the log does not have them."""
    log: CollectiveLog

    @property
    def measured(self) -> Measurement | None:
        """The measurement of the largest message; None if the test failed."""
        failed = self.log.average_gb_per_second is None or self.log.wrong_values
        return None if failed else self.log.largest

    @property
    def gb_per_second(self) -> float | None:
        """Bus bandwidth of the largest message; None if the test failed."""
        return self.measured.bus_bandwidth_gb_per_second if self.measured else None


def read_pairs(text: str) -> tuple[Pair, ...]:
    """Return the pairs of a log in the order of their first lines; empty for another log."""
    names: dict[str, str] = {}
    lines: dict[tuple[str, str], list[str]] = {}
    for line in text.splitlines():
        if node := _NODE.match(line):
            names[node[1]] = node[2]
        elif pair := _PAIR.match(line):
            lines.setdefault((pair[1], pair[2]), []).append(pair[3])
    return tuple(
        Pair(
            nodes=(names.get(one, one), names.get(two, two)),
            log=read_log("".join(f"{line}\n" for line in said)),
        )
        for (one, two), said in lines.items()
    )


def judge_pairs(
    pairs: Sequence[Pair], nodes: PlannedNodes, *, minimum_gb_per_second: float | None = None
) -> Stage:
    """Return the stage that names the node that is slow or fails.

    Args:
        pairs: The pairs of a log.
        nodes: The nodes of the test.
        minimum_gb_per_second: Lowest bus bandwidth that the user accepts; None for the published
            one.
    """
    floor = max(_floor(pairs, nodes, minimum_gb_per_second), _relative(pairs))
    bad = [pair for pair in pairs if pair.gb_per_second is None or pair.gb_per_second < floor]
    reason = _reason(bad, pairs, floor)
    return Stage(
        name="pairs",
        result="fail" if bad else "pass",
        reason=reason,
        nodes=tuple(sorted(_suspects(bad, pairs))),
    )


def bad_nodes(bad: Sequence[Pair], pairs: Sequence[Pair]) -> list[str]:
    """Return the nodes of which all pairs are bad, and that are in at least two."""
    of_node = _by_node(pairs)
    return [
        node
        for node, found in _by_node(bad).items()
        if len(found) > 1 and len(found) == len(of_node[node])
    ]


def _suspects(bad: Sequence[Pair], pairs: Sequence[Pair]) -> set[str]:
    """Return the nodes that explain all bad pairs, or that can be the cause of one."""
    causes = set(bad_nodes(bad, pairs))
    unexplained = (pair.nodes for pair in bad if not causes & set(pair.nodes))
    return causes.union(*unexplained)


def _reason(bad: Sequence[Pair], pairs: Sequence[Pair], floor: float) -> str:
    good = [pair.gb_per_second for pair in pairs if pair not in bad and pair.gb_per_second]
    if not bad:
        return f"{len(pairs)} pairs of nodes have at least {min(good):g} GB/s"
    listed = "; ".join(map(_described, bad[:_MOST_NAMES]))
    more = f"; and {len(bad) - _MOST_NAMES} more" if len(bad) > _MOST_NAMES else ""
    if not good:
        return f"no pair of nodes passes: {listed}{more}"
    others = f"the other pairs have at least {min(good):g} GB/s"
    found = bad_nodes(bad, pairs)
    if not found:
        return f"one of the two nodes of a pair, or the link between them: {listed}{more}; {others}"
    return f"the cause is {' and '.join(found)}: {listed}{more}; {others}"


def _described(pair: Pair) -> str:
    what = " and ".join(pair.nodes)
    if pair.measured:
        return f"{what} {pair.gb_per_second:g} GB/s at {size_text(pair.measured.size_bytes)}"
    if pair.log.wrong_values:
        return f"{what} {pair.log.wrong_values} wrong values"
    return f"{what} failed ({pair.log.failures[0] if pair.log.failures else 'no end'})"


def _by_node(pairs: Sequence[Pair]) -> Mapping[str, list[Pair]]:
    found: dict[str, list[Pair]] = {}
    for pair in pairs:
        for node in pair.nodes:
            found.setdefault(node, []).append(pair)
    return found


def _floor(pairs: Sequence[Pair], nodes: PlannedNodes, minimum: float | None) -> float:
    if minimum is not None:
        return minimum
    sizes = [pair.log.largest.size_bytes for pair in pairs if pair.log.largest]
    floor = bandwidth_floor(nodes.instance_type, nodes=2, message_bytes=min(sizes, default=0))
    return floor.gb_per_second if floor else 0.0


def _relative(pairs: Sequence[Pair]) -> float:
    return _SHARE * max((pair.gb_per_second or 0.0 for pair in pairs), default=0.0)
