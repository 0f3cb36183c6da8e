"""The stages of `verify`: what logs must say about nodes, pairs, versions and accelerators.

A stage passes if the log shows what it asks for, on every node and in every process. That nothing
complains is no reason: a log can end early, lack lines, or have been mixed with another one. A
stage is skipped if these nodes cannot show it at all.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from trainyard.components.catalog.collective_tests import BandwidthFloor, bandwidth_floor
from trainyard.components.catalog.instance_types import Accelerators
from trainyard.components.catalog.nccl import largest_message_bytes
from trainyard.verify.collective_log import CollectiveLog, Measurement, read_log, size_text

_NODE = re.compile(r"^\[node (\S+)\] (\S+)$", re.MULTILINE)
"""Names in the log and in the scheduler, from `trainyard.jobs.mpi`."""
_PART = re.compile(r"^\[(alone|pair) ([^]]+)\] ?(.*)$")
_SHARE = 0.8
"""Lowest share of the bandwidth of the best part: the share of published measurements that is the
floor of `trainyard.components.catalog.collective_tests`."""
_MOST_NAMES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The test of one node or of two."""

    nodes: tuple[str, ...]
    """Names of nodes in the scheduler; those of pods if the log does not have them."""
    log: CollectiveLog
    largest_bytes: int
    """The largest message of the test, which its log must have."""
    checks_values: bool = True
    """Whether the program says that it has compared its results."""

    @property
    def measured(self) -> Measurement | None:
        """The measurement of the largest message; None if the test failed, or lacks results."""
        return None if self.fault else self.log.largest

    @property
    def fault(self) -> str:
        """Why the test has no result; empty if it has one."""
        if self.log.wrong_values:
            return f"{self.log.wrong_values} wrong values"
        missing = _missing_results(self.log, self.largest_bytes)
        if not missing and self.checks_values and not self.log.has_checked_values:
            missing = _UNCHECKED
        if not missing:
            return ""
        causes = [*self.log.failures[:1]]
        if not causes and self.log.average_gb_per_second is None:
            causes = ["no end"]
        return f"failed ({(causes or [missing])[0]})"

    @property
    def gb_per_second(self) -> float | None:
        """Bus bandwidth of the largest message; None if the test failed."""
        return self.measured.bus_bandwidth_gb_per_second if self.measured else None


def read_parts(text: str, kind: Literal["alone", "pair"], nodes: PlannedNodes) -> tuple[Part, ...]:
    """Return the parts of a log in the order of their first lines; empty for another log.

    Args:
        text: The log.
        kind: Which tests of it.
        nodes: The nodes of the job.
    """
    names, lines = dict(_NODE.findall(text)), dict[str, list[str]]()
    for line in text.splitlines():
        found = _PART.match(line)
        if found and found[1] == kind:
            lines.setdefault(found[2], []).append(found[3])
    return tuple(
        Part(
            nodes=tuple(names.get(host, host) for host in hosts.split()),
            log=read_log("".join(f"{line}\n" for line in said)),
            largest_bytes=_largest_bytes(nodes),
            checks_values=nodes.accelerators.manufacturer == "nvidia",
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
    return f"{what} {part.fault}"


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
        _ended(log, nodes),
        _values(log, nodes),
        _took_part(log, nodes),
        _transport(log, nodes),
        _bandwidth(log, nodes, minimum_gb_per_second),
    )


def has_failed(stages: Sequence[Stage]) -> bool:
    """Return whether any stage failed."""
    return any(stage.result == "fail" for stage in stages)


_NEURON_BYTES = 1 << 30
"""The smallest message with a threshold for Neuron devices: nccom-test does not log what it will
send."""
_UNCHECKED = "the log does not say that the results were compared and are right"


def _largest_bytes(nodes: PlannedNodes) -> int:
    """Return the largest message of the jobs for these nodes."""
    if nodes.accelerators.manufacturer == "neuron":
        return _NEURON_BYTES
    return largest_message_bytes(nodes.accelerators)


def _missing_results(log: CollectiveLog, largest_bytes: int) -> str:
    """Return what a log lacks of the results; empty if it has the largest message and the end.

    Args:
        log: The log.
        largest_bytes: The largest message, if the log itself does not announce another one.
    """
    wanted = log.announced_bytes or largest_bytes
    if log.average_gb_per_second is None:
        return "the test did not end" if log.measurements else "the test has no measurements"
    if log.largest is None:
        return "the test ended, but no row of its results can be read"
    if log.largest.size_bytes < wanted:
        found = size_text(log.largest.size_bytes)
        return f"the results end at {found}, and those up to {size_text(wanted)} are missing"
    return ""


def _ended(log: CollectiveLog, nodes: PlannedNodes) -> Stage:
    missing = _missing_results(log, _largest_bytes(nodes))
    if not missing:
        said = f"{len(log.measurements)} message sizes"
        return Stage(name="test", result="pass", reason=f"ended, with {said}")
    causes = log.failures[:_MOST_FAILURES]
    more = len(log.failures) - len(causes)
    said = [*causes, *([f"and {more} other messages"] if more else [])]
    return Stage(name="test", result="fail", reason="; ".join([missing, *said]))


def _values(log: CollectiveLog, nodes: PlannedNodes) -> Stage:
    if log.wrong_values:
        reason = f"{log.wrong_values} wrong values in the results: a device or its memory is faulty"
        return Stage(name="values", result="fail", reason=reason)
    if not log.measurements:
        return Stage(name="values", result="skipped", reason="there are no results")
    if nodes.accelerators.manufacturer == "neuron":
        return Stage(name="values", result="skipped", reason="nccom-test does not count them")
    if not log.has_checked_values:
        reason = f"{_UNCHECKED}; run the test with -c 1"
        return Stage(name="values", result="fail", reason=reason)
    return Stage(name="values", result="pass", reason="no wrong values")


def _took_part(log: CollectiveLog, nodes: PlannedNodes) -> Stage:
    if nodes.accelerators.manufacturer == "neuron":
        return Stage(name="nodes", result="skipped", reason="nccom-test does not list its ranks")
    if not log.ranks:
        return Stage(name="nodes", result="fail", reason="the log does not list the ranks")
    wanted = nodes.count * nodes.accelerators.count
    found = f"{len(log.ranks)} ranks on {len(log.nodes)} nodes"
    numbers = sorted(number for number, _ in log.ranks)
    if len(log.nodes) == nodes.count and numbers == [*range(wanted)]:
        return Stage(name="nodes", result="pass", reason=found)
    reason = f"{found}, but the plan has {wanted} GPUs on {nodes.count} nodes"
    if (len(log.nodes), len(log.ranks)) == (nodes.count, wanted):
        reason = f"{found}, but some have the same number: they are several tests, not one"
    return Stage(name="nodes", result="fail", reason=reason)


def _transport(log: CollectiveLog, nodes: PlannedNodes) -> Stage:
    skipped = _no_transport(nodes)
    if skipped:
        return Stage(name="transport", result="skipped", reason=skipped)
    faults = [*_transport_faults(log, nodes)]
    if faults:
        return Stage(name="transport", result="fail", reason="; ".join(faults))
    (provider,) = log.providers
    reason = f"NCCL uses Libfabric over {provider.nics} EFA interfaces on each node"
    return Stage(name="transport", result="pass", reason=reason)


def _no_transport(nodes: PlannedNodes) -> str:
    if nodes.count == 1:
        return "one node communicates over NVLink, PCIe or shared memory"
    if not nodes.efa_interfaces:
        return "the nodes have no EFA in the plan"
    if nodes.accelerators.manufacturer == "neuron":
        return "nccom-test does not log its transport; between nodes, it has no other than EFA"
    return ""


def _transport_faults(log: CollectiveLog, nodes: PlannedNodes) -> Iterator[str]:
    """Yield what contradicts EFA, and what the log does not show of it in every process.

    A process selects the provider first, and can fail afterwards. Only "Using network" says that it
    has succeeded, and only the provider says what is used, and over how many interfaces.
    """
    if log.network_failures:
        listed = "; ".join(log.network_failures[:_MOST_FAILURES])
        yield f"the EFA plugin failed in at least one process: {listed}"
    others = sorted(log.networks - {"Libfabric", "OFI"})
    if others:
        yield f"NCCL uses {', '.join(others)} instead of EFA"
    yield from _other_providers(log, nodes.efa_interfaces)
    if not (log.networks or log.providers or log.network_failures):
        yield "the log has no lines about the network; run the test with NCCL_DEBUG=INFO"
        return
    yield from _missing_witnesses(log, nodes)


def _other_providers(log: CollectiveLog, planned: int) -> Iterator[str]:
    for provider in sorted(log.providers, key=lambda each: (each.name, each.nics or 0)):
        if provider.name != "efa":
            yield f"the provider is {provider.name} instead of efa"
        elif provider.nics is not None and provider.nics != planned:
            yield f"a node uses {provider.nics} EFA interfaces instead of {planned}"


def _missing_witnesses(log: CollectiveLog, nodes: PlannedNodes) -> Iterator[str]:
    planned = len(log.processes) or nodes.count * nodes.accelerators.count
    # A process whose rank is missing may say half of it.
    processes = max(planned, len(log.on_libfabric), len(log.providers_of))
    counted = {who for who, said in log.providers_of.items() if all(each.nics for each in said)}
    for witnesses, said in (
        (log.on_libfabric, "that they use Libfabric"),
        (counted, "which provider they use, and over how many interfaces"),
    ):
        if len(witnesses) < processes:
            yield f"{len(witnesses)} of {processes} processes say {said}"


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


_INTRA_NODE = "intra-node"


def judge_intra_node(
    parts: Sequence[Part], nodes: PlannedNodes, *, is_required: bool = True
) -> Stage:
    """Return the stage that names the nodes whose GPUs are slow or fail.

    Args:
        parts: The tests of nodes alone in a log.
        nodes: The nodes of the test.
        is_required: Whether the log must have such tests. Those of the jobs have them, other logs
            of nccl-tests do not.
    """
    skipped = _skipped(nodes)
    if skipped:
        return Stage(name=_INTRA_NODE, result="skipped", reason=skipped)
    if not parts:
        result = "fail" if is_required else "skipped"
        return Stage(name=_INTRA_NODE, result=result, reason=_NOT_ALONE)
    floor = bandwidth_floor(
        nodes.instance_type, nodes=1, message_bytes=smallest_message_bytes(parts)
    )
    least = floor.gb_per_second if floor else 0.0
    bad = bad_parts(parts, least)
    good = [part.gb_per_second for part in parts if part not in bad and part.gb_per_second]
    against = f"at least {least:g} GB/s" if floor else "80 % of the best node"
    tested = {node for part in parts for node in part.nodes}
    missing = f"{len(tested)} of {nodes.count} nodes were tested alone"
    if bad:
        others = f"; the others have at least {min(good):g} GB/s" if good else ""
        reason = f"{described(bad)}{others}; wanted is {against}"
        nodes_at_fault = tuple(sorted({node for part in bad for node in part.nodes}))
        if len(tested) < nodes.count:
            reason, nodes_at_fault = f"{reason}; {missing}", ()
        return Stage(name=_INTRA_NODE, result="fail", reason=reason, nodes=nodes_at_fault)
    if len(tested) < nodes.count:
        return Stage(name=_INTRA_NODE, result="fail", reason=missing)
    reason = f"each of {len(parts)} nodes has at least {min(good):g} GB/s; wanted is {against}"
    return Stage(name=_INTRA_NODE, result="pass", reason=reason)


_NOT_ALONE = "the log has no test of each node alone"


def _skipped(nodes: PlannedNodes) -> str:
    if nodes.count == 1:
        return "the test of one node is this test: see bandwidth"
    if nodes.accelerators.manufacturer == "neuron":
        return "nccom-tests has no test of each node alone"
    if nodes.accelerators.count == 1:
        return "the nodes have one GPU each"
    return ""


def read_pairs(text: str, nodes: PlannedNodes) -> tuple[Part, ...]:
    """Return the pairs of a log in the order of their first lines; empty for another log."""
    return read_parts(text, "pair", nodes)


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
    # The nodes form a ring: `trainyard.jobs.node_job`.
    wanted = nodes.count if nodes.count > 2 else 1
    if len({frozenset(pair.nodes) for pair in pairs}) < wanted:
        found = f"the log has {len(pairs)} of {wanted} pairs"
        # A node of a pair that is missing can be the cause too.
        reason = f"{found}; {_reason(bad, pairs)}" if bad else found
        return Stage(name="pairs", result="fail", reason=reason)
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


# The stage of the versions that must agree on all nodes.
#
# Nodes of one group that run different kernels, drivers or plugins have different speeds, and fail
# in different ways: they are from different AMIs, or were changed by hand.


Versions = Mapping[str, Mapping[str, str]]
"""Versions by component, such as `kernel`, and by node."""
_VERSIONS = "versions"
_VERSION = re.compile(r"^\[version (\S+)\] ([^:]+): (.+)$", re.MULTILINE)
_ALWAYS_PRINTED = frozenset({"kernel", "locked memory limit"})
"""The components that `trainyard.jobs.node_versions` prints on every node."""
_MOST_NODES = 3


def read_versions(text: str) -> Versions:
    """Return the versions in a log, from `trainyard.jobs.node_versions`; empty for another log."""
    found: dict[str, dict[str, str]] = {}
    for node, component, version in _VERSION.findall(text):
        found.setdefault(component, {})[node] = version.strip()
    return found


def judge_versions(
    sources: Sequence[Versions], log: CollectiveLog, *, nodes_with_versions: int = 0
) -> Stage:
    """Return the stage that names the components whose versions differ, and their nodes.

    Args:
        sources: What the nodes have. All nodes of a source have the same components.
        log: The log of the test, with the versions that the ranks used.
        nodes_with_versions: Number of nodes that must have printed their versions into the log,
            which is the last of the sources; 0 for a log without them.
    """
    faults = [fault for source in sources for fault in _differences(source)]
    faults += _of_ranks(log)
    printed = {node for found in sources[-1].values() for node in found} if sources else set()
    if len(printed) < nodes_with_versions:
        faults.append(f"{len(printed)} of {nodes_with_versions} nodes have printed their versions")
    elif nodes_with_versions and _ALWAYS_PRINTED - {*sources[-1]}:
        missing = " and ".join(sorted(_ALWAYS_PRINTED - {*sources[-1]}))
        faults.append(f"the log does not say the {missing} of the nodes")
    if faults:
        return Stage(name=_VERSIONS, result="fail", reason="; ".join(faults))
    everything = {component: found for source in sources for component, found in source.items()}
    if not everything:
        return Stage(
            name=_VERSIONS, result="skipped", reason="the log has no versions of the nodes"
        )
    count = max(len(found) for found in everything.values())
    where = "1 node" if count == 1 else f"all {count} nodes"
    reason = f"equal on {where}: {', '.join(everything)}"
    return Stage(name=_VERSIONS, result="pass", reason=reason)


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
    if 0 < len(log.plugins) < len(log.processes):
        known = f"{len(log.plugins)} of {len(log.processes)} processes"
        yield f"{known} say the version of aws-ofi-nccl"


def _listed(nodes: list[str]) -> str:
    more = len(nodes) - _MOST_NODES
    return " and ".join(nodes) if more <= 0 else f"{len(nodes)} nodes"


# The results of NVIDIA's diagnostics of GPUs, from `trainyard.jobs.dcgm_diag`.
#
# The JSON has no published schema. DCGM 3 has `DCGM GPU Diagnostic`, with the result of each GPU as
# `gpu_id`; DCGM 4 has `DCGM Diagnostic`, with `entity_group` and `entity_id`, and a warning has the
# status `Fail` there.
#
# Source:
#     https://github.com/NVIDIA/DCGM/blob/v4.6.0/dcgmi/Diag.cpp (`HelperJsonBuildOutput`,
#         `HelperDisplayFailureMessage`), nvvs/include/NvvsJsonStrings.h and
#         testing/python3/dcgm_diag_schema.json
#     https://docs.nvidia.com/datacenter/dcgm/latest/reference/diagnostics/errors.html (severities)
#     https://github.com/facebookresearch/gcm/pull/38 (the difference between 3 and 4)


_DCGM = "dcgm"
_LINE = re.compile(r"^\[dcgm (\S+)\] (.*)$")
_ROOTS = ("DCGM Diagnostic", "DCGM GPU Diagnostic")
_MONITOR = 1
"""Severity `DCGM_ERROR_MONITOR`: the GPU can perform its workload."""
_MOST_FAULTS = 5
_LONGEST = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """The result of a node."""

    node: str
    tests: int
    """Tests that ran and were not skipped."""
    faults: tuple[str, ...]
    """What failed, or why there is no result."""


def read_diagnoses(text: str) -> tuple[Diagnosis, ...]:
    """Return the results in a log; empty for another log."""
    said: dict[str, str] = {}
    for line in text.splitlines():
        if found := _LINE.match(line):
            said[found[1]] = said.get(found[1], "") + found[2]
    return tuple(_diagnosis(node, output) for node, output in said.items())


def judge_dcgm(diagnoses: Sequence[Diagnosis], nodes: PlannedNodes) -> Stage:
    """Return the stage that names the nodes with faults."""
    bad = [f"{each.node}: {fault}" for each in diagnoses for fault in each.faults]
    faulty = tuple(sorted(each.node for each in diagnoses if each.faults))
    if len(diagnoses) < nodes.count:
        faulty = ()  # any node can be one without a result
        bad.append(f"{len(diagnoses)} of {nodes.count} nodes have a result")
    if bad:
        more = f"; and {len(bad) - _MOST_FAULTS} more" if len(bad) > _MOST_FAULTS else ""
        reason = "; ".join(bad[:_MOST_FAULTS]) + more
        return Stage(name=_DCGM, result="fail", reason=reason, nodes=faulty)
    tests = min(each.tests for each in diagnoses)
    reason = f"{tests} tests passed on each of {len(diagnoses)} nodes"
    return Stage(name=_DCGM, result="pass", reason=reason)


def _diagnosis(node: str, output: str) -> Diagnosis:
    try:
        found: Any = json.loads(output[output.index("{") : output.rindex("}") + 1])
        roots = [found[name] for name in _ROOTS if name in found]
        root: Any = roots[0]
    except (ValueError, IndexError, TypeError):
        said = output.strip()[:_LONGEST] or "nothing"
        return Diagnosis(node=node, tests=0, faults=(f"no result of dcgmi, which said: {said}",))
    if error := root.get("runtime_error"):
        return Diagnosis(node=node, tests=0, faults=(str(error)[:_LONGEST],))
    tests = [test for each in root.get("test_categories", ()) for test in each.get("tests", ())]
    ran = [test for test in tests if any(each != "Skip" for each in _statuses(test))]
    faults = [fault for test in ran for fault in _faults(test)]
    if not ran:
        faults.append("all tests were skipped")
    return Diagnosis(node=node, tests=len(ran), faults=tuple(dict.fromkeys(faults)))


def _statuses(test: Mapping[str, Any]) -> Iterator[str]:
    for each in (*test.get("results", ()), test.get("test_summary", {})):
        if "status" in each:
            yield each["status"]


def _faults(test: Mapping[str, Any]) -> Iterator[str]:
    """Return the faults of the results, or that of the summary if it alone has failed.

    A result without a status is one of which nothing is known.
    """
    if any("status" not in each for each in test.get("results", ())):
        yield f"{test.get('name')} has a result without a status"
    failed = [each for each in test.get("results", ()) if each.get("status") == "Fail"]
    summary = test.get("test_summary", {})
    if not failed and summary.get("status") == "Fail":
        failed = [summary]
    for each in failed:
        warnings = each.get("warnings", ())
        # DCGM 3.0 has one text, later versions a list.
        listed = [{"warning": warnings}] if isinstance(warnings, str) else list(warnings)
        severe = [one for one in listed if one.get("error_severity") != _MONITOR]
        if severe or not listed:
            said = "; ".join(str(one.get("warning", "")) for one in severe)[:_LONGEST]
            yield f"{test.get('name')} failed{_of(each)}" + (f" ({said})" if said else "")


def _of(result: Mapping[str, Any]) -> str:
    if "gpu_id" in result:
        return f" on GPU {result['gpu_id']}"
    if "entity_id" in result:
        return f" on {result.get('entity_group', 'GPU')} {result['entity_id']}"
    return ""
