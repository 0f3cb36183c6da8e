"""The results of NVIDIA's diagnostics of GPUs, from `trainyard.jobs.dcgm_diag`.

The JSON has no published schema. DCGM 3 has `DCGM GPU Diagnostic`, with the result of each GPU as
`gpu_id`; DCGM 4 has `DCGM Diagnostic`, with `entity_group` and `entity_id`, and a warning has the
status `Fail` there.

Source:
    https://github.com/NVIDIA/DCGM/blob/v4.6.0/dcgmi/Diag.cpp (`HelperJsonBuildOutput`,
        `HelperDisplayFailureMessage`), nvvs/include/NvvsJsonStrings.h and
        testing/python3/dcgm_diag_schema.json
    https://docs.nvidia.com/datacenter/dcgm/latest/reference/diagnostics/errors.html (severities)
    https://github.com/facebookresearch/gcm/pull/38 (the difference between 3 and 4)
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trainyard.verify.verdict import PlannedNodes, Stage

_NAME = "dcgm"
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
        return Stage(name=_NAME, result="fail", reason=reason, nodes=faulty)
    tests = min(each.tests for each in diagnoses)
    reason = f"{tests} tests passed on each of {len(diagnoses)} nodes"
    return Stage(name=_NAME, result="pass", reason=reason)


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
    """Return the faults of the results, or that of the summary if it alone has failed."""
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
