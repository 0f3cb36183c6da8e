"""The nodes of a compute resource in Slurm, compared with the plan.

Source:
    https://slurm.schedmd.com/scontrol.html (`show nodes`) and
    https://slurm.schedmd.com/sinfo.html#SECTION_NODE-STATE-CODES
    https://github.com/aws/aws-parallelcluster-node/pull/350: states of nodes that are off, start
        or do not respond
    https://github.com/aws/aws-parallelcluster-cookbook, `config_renderer.py` of the Slurm cookbook:
        features of a node are `static` or `dynamic` and the name of its compute resource; GPUs are
        GRES, EFA and Neuron devices are not
"""

from __future__ import annotations

import base64
import gzip
import re
from collections.abc import Iterator, Mapping

from trainyard.jobs.slurm.nodes import SlurmNodes
from trainyard.verify.inventory import Inventory, judge_inventory

SHOW_NODES = "set -o pipefail\nscontrol --oneliner show nodes | gzip --stdout | base64 --wrap=0\n"
"""A script for the head node. Its output is compressed, because Systems Manager returns the first
24,000 characters only: those of 30 nodes."""
_FIELD = re.compile(r"(\w+)=(\S*)")
_REASON = re.compile(r"\bReason=(.*?) \[[^]@]+@")
_GPUS = re.compile(r"\bgpu(?::[^:,(]+)?:(\d+)")
_UNUSABLE = frozenset(
    {
        *("DOWN", "DRAIN", "ERROR", "FAIL", "FAILING", "FUTURE", "INVALID_REG", "MAINT"),
        *("NOT_RESPONDING", "UNKNOWN"),
    }
)
_OFF = frozenset({"POWERED_DOWN", "POWERING_DOWN", "POWER_DOWN"})


def slurm_inventory(nodes: SlurmNodes, shown: str) -> Inventory:
    """Compare the nodes of a compute resource with the plan.

    Args:
        nodes: Nodes of the test.
        shown: What `SHOW_NODES` prints.
    """
    lines = gzip.decompress(base64.b64decode(shown)).decode().splitlines()
    gpus = nodes.accelerators.count if nodes.accelerators.manufacturer == "nvidia" else 0
    faults = {
        fields["NodeName"]: [*_faults(fields, gpus)]
        for fields in map(_fields, lines)
        if _is_in(fields, nodes)
    }
    has = f"{gpus} GPUs in GRES" if gpus else "a usable state"
    return Inventory(stage=judge_inventory(faults, wanted=nodes.count, has=has))


def _fields(line: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in _FIELD.findall(line):
        found.setdefault(name, value)
    if reason := _REASON.search(line):
        found["Reason"] = reason[1]
    return found


def _is_in(fields: Mapping[str, str], nodes: SlurmNodes) -> bool:
    return nodes.queue.name in fields.get("Partitions", "").split(",") and (
        nodes.resource.name in fields.get("AvailableFeatures", "").split(",")
    )


def _faults(fields: Mapping[str, str], gpus: int) -> Iterator[str]:
    states = fields.get("State", "UNKNOWN").split("+")
    unusable = set(_UNUSABLE.intersection(states))
    if "POWERING_UP" in states:
        unusable.discard("NOT_RESPONDING")
    static = "static" in fields.get("AvailableFeatures", "").split(",")
    if unusable or (static and _OFF.intersection(states)):
        reason = fields.get("Reason")
        yield f"is {fields.get('State')}" + (f" ({reason})" if reason else "")
    found = sum(int(count) for count in _GPUS.findall(fields.get("Gres", "")))
    if found != gpus:
        yield f"has {found} GPUs in GRES instead of {gpus}"
