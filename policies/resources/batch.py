"""AWS Batch: multi-node parallel jobs, and the compute environments that can run them.

Source: https://docs.aws.amazon.com/batch/latest/userguide/mnp-ce.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pulumi_policy import PolicyResource

from trainyard.policies.resources.props import (
    UNKNOWN,
    Facts,
    is_set,
    members,
    objects,
    parsed_members,
)
from trainyard.policies.resources.stack import Stack
from trainyard.policies.resources.types import BATCH_COMPUTE_ENVIRONMENT, BATCH_JOB_DEFINITION

FARGATE = ("FARGATE", "FARGATE_SPOT")


def node_properties(facts: Facts) -> Mapping[str, Any]:
    """Return the node properties of a job definition; empty for a single-node job.

    They are one JSON string, so a single unknown value makes all of them unknown.
    """
    return parsed_members(facts.needed("nodeProperties"))


def node_ranges(properties: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the node groups of a multi-node parallel job."""
    return objects(properties, "nodeRangeProperties")


def containers(node_range: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the containers of a node group, from `container` and from `ecsProperties`."""
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
    """Return why a compute environment cannot run multi-node parallel jobs; None if it can."""
    kind = facts.get("computeResources", "type")
    if facts.get("type") == "UNMANAGED":
        return "is unmanaged"
    if kind is not UNKNOWN and kind == "SPOT":
        return "buys Spot Instances"
    if kind is not UNKNOWN and kind in FARGATE:
        return "runs on Fargate"
    return None


def fit_environments(stack: Stack) -> list[PolicyResource]:
    """Return the compute environments of a stack that can run multi-node parallel jobs."""
    return [
        environment
        for environment in stack.of_type(BATCH_COMPUTE_ENVIRONMENT)
        if why_unfit(stack.facts_of(environment.urn)) is None
    ]
