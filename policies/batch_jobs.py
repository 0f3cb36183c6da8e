"""Multi-node parallel jobs of AWS Batch, and the compute environments that may run them.

Source: https://docs.aws.amazon.com/batch/latest/userguide/mnp-ce.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pulumi_policy import PolicyResource

from policies.documents import members, objects, parsed_members
from policies.props import UNKNOWN, Facts, is_set
from policies.resource_types import BATCH_COMPUTE_ENVIRONMENT, BATCH_JOB_DEFINITION
from policies.stack import Stack

FARGATE = ("FARGATE", "FARGATE_SPOT")


def node_properties(facts: Facts) -> Mapping[str, Any]:
    """Return the node properties of a job definition; empty for a job of one node.

    They are JSON, so one value in them that is not known yet hides them all.
    """
    return parsed_members(facts.needed("nodeProperties"))


def node_ranges(properties: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the node groups of a multi-node parallel job."""
    return objects(properties, "nodeRangeProperties")


def containers(node_range: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the containers of a node group, in the older form and in that of ECS tasks."""
    if "container" in node_range:
        yield members(node_range, "container")
    for task in objects(members(node_range, "ecsProperties"), "taskProperties"):
        yield from objects(task, "containers")


def multi_node_jobs(stack: Stack) -> list[PolicyResource]:
    """Return the definitions of multi-node parallel jobs in a stack."""
    return [
        job
        for job in stack.of_type(BATCH_JOB_DEFINITION)
        if is_set(stack.facts_of(job.urn).get("nodeProperties"))
    ]


def why_unfit(facts: Facts) -> str | None:
    """Return why a compute environment runs no multi-node parallel job; None if it may."""
    kind = facts.get("computeResources", "type")
    if facts.get("type") == "UNMANAGED":
        return "is unmanaged"
    if kind is not UNKNOWN and kind == "SPOT":
        return "buys Spot Instances"
    if kind is not UNKNOWN and kind in FARGATE:
        return "runs on Fargate"
    return None


def fit_environments(stack: Stack) -> list[PolicyResource]:
    """Return the compute environments of a stack that may run multi-node parallel jobs."""
    return [
        environment
        for environment in stack.of_type(BATCH_COMPUTE_ENVIRONMENT)
        if why_unfit(stack.facts_of(environment.urn)) is None
    ]
