"""The tests of parts of the nodes in a log: nodes alone and pairs, from `jobs/part_tests.py`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from trainyard.verify.collective_log import CollectiveLog, Measurement, read_log, size_text

_NODE = re.compile(r"^\[node (\S+)\] (\S+)$", re.MULTILINE)
"""Names in the log and in the scheduler, from `trainyard.jobs.mpi`."""
_PART = re.compile(r"^\[(alone|pair) ([^]]+)\] ?(.*)$")
_SHARE = 0.8
"""Lowest share of the bandwidth of the best part: the share of published measurements that is the
floor of `trainyard.components.catalog.bus_bandwidth`."""
_MOST_NAMES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The test of one node or of two."""

    nodes: tuple[str, ...]
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


def read_parts(text: str, kind: Literal["alone", "pair"]) -> tuple[Part, ...]:
    """Return the parts of a log in the order of their first lines; empty for another log."""
    names, lines = dict(_NODE.findall(text)), dict[str, list[str]]()
    for line in text.splitlines():
        found = _PART.match(line)
        if found and found[1] == kind:
            lines.setdefault(found[2], []).append(found[3])
    return tuple(
        Part(
            nodes=tuple(names.get(host, host) for host in hosts.split()),
            log=read_log("".join(f"{line}\n" for line in said)),
        )
        for hosts, said in lines.items()
    )


def smallest_message_bytes(parts: Sequence[Part]) -> int:
    """Return the smallest of the largest messages of the parts; 0 if all failed."""
    return min((part.log.largest.size_bytes for part in parts if part.log.largest), default=0)


def bad_parts(parts: Sequence[Part], floor_gb_per_second: float) -> list[Part]:
    """Return the parts that failed or are slower than the floor or 80 % of the best part."""
    best = max((part.gb_per_second or 0.0 for part in parts), default=0.0)
    floor = max(floor_gb_per_second, _SHARE * best)
    return [part for part in parts if part.gb_per_second is None or part.gb_per_second < floor]


def described(parts: Sequence[Part]) -> str:
    """Return the nodes of parts and what is wrong with each, at most five."""
    more = f"; and {len(parts) - _MOST_NAMES} more" if len(parts) > _MOST_NAMES else ""
    return "; ".join(map(_described, parts[:_MOST_NAMES])) + more


def _described(part: Part) -> str:
    what = " and ".join(part.nodes)
    if part.measured:
        return f"{what} {part.gb_per_second:g} GB/s at {size_text(part.measured.size_bytes)}"
    if part.log.wrong_values:
        return f"{what} {part.log.wrong_values} wrong values"
    return f"{what} failed ({part.log.failures[0] if part.log.failures else 'no end'})"
