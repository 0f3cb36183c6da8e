"""Plan a changed ParallelCluster stack; return its problems and notes."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from components.architectures.plan_stack import plan_stack
from components.config.load import load_stack_config
from components.config.parallelcluster_stack import ParallelClusterStackConfig
from components.config.problems import ROOT, ConfigError, Problem
from components.parallelcluster.plan import ParallelClusterPlan
from components.parallelcluster.queue_plan import QueuePlan

STACK_FILE = "Pulumi.pc-test.yaml"
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def planned(
    raw: object,
    *,
    region: str = "us-west-2",
    subnets_known: bool = False,
    offered_zones: dict[str, tuple[str, ...]] | None = None,
) -> ParallelClusterPlan:
    """Return the plan of a stack file."""
    config = load_stack_config(raw, stack_file=STACK_FILE)
    assert isinstance(config, ParallelClusterStackConfig)
    return plan_stack(
        config,
        stack_file=STACK_FILE,
        region=region,
        now=NOW,
        subnets_known=subnets_known,
        offered_zones=offered_zones,
    )


def problems(raw: object, **settings: Any) -> dict[str, Problem]:
    """Return the problems of a stack file, by key; empty if it can be planned."""
    try:
        planned(raw, **settings)
    except ConfigError as error:
        return {each.path.removeprefix(f"{ROOT}."): each for each in error.problems}
    return {}


def notes(raw: object, **settings: Any) -> str:
    """Return the notes of a plan, one line each."""
    return "\n".join(planned(raw, **settings).notes)


def first_queue(raw: object, **settings: Any) -> QueuePlan:
    """Return the plan of the first queue of a stack file."""
    return planned(raw, **settings).queues[0]
