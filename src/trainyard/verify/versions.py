"""The stage of the versions that must agree on all nodes.

Nodes of one group that run different kernels, drivers or plugins have different speeds, and fail in
different ways: they are from different AMIs, or were changed by hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from trainyard.verify.collective_log import CollectiveLog
from trainyard.verify.verdict import Stage

Versions = Mapping[str, Mapping[str, str]]
"""Versions by component, such as `kernel`, and by node."""
_NAME = "versions"
_VERSION = re.compile(r"^\[version (\S+)\] ([^:]+): (.+)$", re.MULTILINE)
_MOST_NODES = 3


def read_versions(text: str) -> Versions:
    """Return the versions in a log, from `trainyard.jobs.node_versions`; empty for another log."""
    found: dict[str, dict[str, str]] = {}
    for node, component, version in _VERSION.findall(text):
        found.setdefault(component, {})[node] = version.strip()
    return found


def judge_versions(sources: Sequence[Versions], log: CollectiveLog) -> Stage:
    """Return the stage that names the components whose versions differ, and their nodes.

    Args:
        sources: What the nodes have. All nodes of a source have the same components.
        log: The log of the test, with the versions that the ranks used.
    """
    faults = [fault for source in sources for fault in _differences(source)]
    faults += _of_ranks(log)
    if faults:
        return Stage(name=_NAME, result="fail", reason="; ".join(faults))
    everything = {component: found for source in sources for component, found in source.items()}
    if not everything:
        return Stage(name=_NAME, result="skipped", reason="the log has no versions of the nodes")
    count = max(len(found) for found in everything.values())
    where = "1 node" if count == 1 else f"all {count} nodes"
    reason = f"equal on {where}: {', '.join(everything)}"
    return Stage(name=_NAME, result="pass", reason=reason)


def _differences(versions: Versions) -> Iterator[str]:
    nodes = sorted({node for found in versions.values() for node in found})
    for component, found in versions.items():
        by_version: dict[str, list[str]] = {}
        for node in nodes:
            by_version.setdefault(found.get(node, "none"), []).append(node)
        if len(by_version) > 1:
            rarest_last = sorted(by_version.items(), key=lambda each: -len(each[1]))
            said = [f"{version} on {_listed(on)}" for version, on in rarest_last]
            yield f"{component} differs: {', '.join(said)}"


def _of_ranks(log: CollectiveLog) -> Iterator[str]:
    for component, found in (("NCCL", log.nccl_versions), ("aws-ofi-nccl", log.plugin_versions)):
        if len(found) > 1:
            yield f"{component} differs between ranks: {', '.join(sorted(found))}"


def _listed(nodes: list[str]) -> str:
    more = len(nodes) - _MOST_NODES
    return " and ".join(nodes) if more <= 0 else f"{len(nodes)} nodes"
