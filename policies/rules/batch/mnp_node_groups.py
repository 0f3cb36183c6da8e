"""A multi-node parallel job stays within the limits of AWS Batch node groups.

Why:
    A job has at most five node groups and 1,000 nodes, all of the same instance type. Every node
    belongs to a node group, and the main node is one of them. AWS Batch rejects other definitions
    when it registers them or when the job is submitted.
Fix:
    Change `numNodes`, `mainNode`, `targetNodes` and `instanceTypes` in the node properties. If AWS
    has raised your node limit, set `most_nodes` in the configuration of this rule.
Source:
    https://docs.aws.amazon.com/batch/latest/userguide/mnp-node-groups.html
    https://docs.aws.amazon.com/batch/latest/APIReference/API_NodeRangeProperty.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pulumi_policy import (
    EnforcementLevel,
    PolicyConfigSchema,
    Severity,
)

from trainyard.policies.resources.batch import containers, node_properties, node_ranges
from trainyard.policies.resources.props import Facts, number_of, texts
from trainyard.policies.resources.types import BATCH_JOB_DEFINITION
from trainyard.policies.rule import Config, resource_rule

MOST_GROUPS = 5
MOST_NODES = 1000
"""Default quota of instances in an ECS cluster."""
_RANGE = re.compile(r"(\d{0,9})(:?)(\d{0,9})")


def _check(_type: str, facts: Facts, config: Config) -> Iterator[str]:
    properties = node_properties(facts)
    if not properties:
        return
    if "FARGATE" in facts.values("platformCapabilities"):
        yield (
            "it is a multi-node parallel job for Fargate, which does not support them; set "
            "platform_capabilities to EC2"
        )
    ranges = node_ranges(properties)
    if len(ranges) > MOST_GROUPS:
        yield (
            f"it has {len(ranges)} node groups, and the maximum is {MOST_GROUPS}; put nodes with "
            "the same container into one group of nodeRangeProperties"
        )
    types = sorted({name for each in ranges for name in _instance_types(each)})
    if len(types) > 1:
        yield (
            f"its node groups have the instance types {', '.join(types)}, and a multi-node "
            "parallel job has one; set the same instanceTypes in all groups, or remove them and "
            "use those of the compute environment"
        )
    yield from _nodes(properties, ranges, int(config.get("most_nodes") or MOST_NODES))


def _nodes(
    properties: Mapping[str, Any], ranges: list[Mapping[str, Any]], most: int
) -> Iterator[str]:
    number, main = (number_of(properties.get(key)) for key in ("numNodes", "mainNode"))
    if number is None:
        return
    count = int(number)
    if count > most:
        yield (
            f"it has {count} nodes, and a job has at most {most}; lower numNodes, or, if AWS has "
            "raised your limit, set most_nodes in this rule's configuration"
        )
    if main is not None and main >= count:
        yield (
            f"its main node is {main:g}, but its {count} nodes are numbered from 0 to {count - 1}; "
            "set mainNode to one of them"
        )
    covered = [_targets(each.get("targetNodes"), count) for each in ranges]
    if None in covered:
        return
    missing = set(range(min(count, most))).difference(*(nodes or () for nodes in covered))
    if missing:
        yield (
            f"node {min(missing)} of its {count} is in no node group; let targetNodes cover every "
            "node, as `0:` does"
        )


def _targets(text: object, count: int) -> range | None:
    """Return the nodes of `n`, `n:`, `:n` or `n:m`; None for another string."""
    match = _RANGE.fullmatch(str(text or ""))
    if match is None or not match.group(0):
        return None
    first, colon, last = match.groups()
    start = int(first or 0)
    if not colon:
        return range(start, start + 1)
    return range(start, int(last) + 1 if last else count)


def _instance_types(node_range: Mapping[str, Any]) -> Iterator[str]:
    yield from texts(node_range, "instanceTypes")
    for container in containers(node_range):
        if isinstance(name := container.get("instanceType"), str):
            yield name


POLICY = resource_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["G1"],
    config_schema=PolicyConfigSchema(
        {
            "most_nodes": {
                "type": "integer",
                "description": "Most nodes of a job, where AWS has raised the limit of 1,000.",
            }
        }
    ),
    types=(BATCH_JOB_DEFINITION,),
    check=_check,
)
