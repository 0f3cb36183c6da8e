"""Plan a changed stack of AWS Batch or of a network alone; return its problems and notes."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from components.architectures.plan_stack import plan_stack
from components.batch.compute_environment_plan import ComputeEnvironmentPlan
from components.batch.plan import BatchPlan, JobDefinitionPlan
from components.config.batch_stack import BatchStackConfig
from components.config.load import load_stack_config
from components.config.network_stack import NetworkStackConfig
from components.config.problems import ROOT, ConfigError, Problem
from components.network_stack.plan import NetworkStackPlan

STACK_FILE = "Pulumi.batch-test.yaml"
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def planned(
    raw: object,
    *,
    region: str = "us-west-2",
    now: datetime = NOW,
    subnets_known: bool = False,
    offered_zones: dict[str, tuple[str, ...]] | None = None,
) -> BatchPlan:
    """Return the plan of a stack file of AWS Batch."""
    config = load_stack_config(raw, stack_file=STACK_FILE)
    assert isinstance(config, BatchStackConfig)
    return plan_stack(
        config,
        stack_file=STACK_FILE,
        region=region,
        now=now,
        subnets_known=subnets_known,
        offered_zones=offered_zones,
    )


def planned_network(raw: object) -> NetworkStackPlan:
    """Return the plan of a stack file that is a network alone."""
    config = load_stack_config(raw, stack_file=STACK_FILE)
    assert isinstance(config, NetworkStackConfig)
    return plan_stack(config, stack_file=STACK_FILE, region="us-west-2", now=NOW)


def problems(raw: object, **settings: Any) -> dict[str, Problem]:
    """Return the problems of a stack file, by key; empty if it can be planned."""
    try:
        planned(raw, **settings)
    except ConfigError as error:
        return _by_key(error)
    return {}


def network_problems(raw: object) -> dict[str, Problem]:
    """Return the problems of a network alone, by key; empty if it can be planned."""
    try:
        planned_network(raw)
    except ConfigError as error:
        return _by_key(error)
    return {}


def _by_key(error: ConfigError) -> dict[str, Problem]:
    return {each.path.removeprefix(f"{ROOT}."): each for each in error.problems}


def notes(raw: object, **settings: Any) -> str:
    """Return the notes of a plan, one line each."""
    return "\n".join(planned(raw, **settings).notes)


def environment(raw: object, **settings: Any) -> ComputeEnvironmentPlan:
    """Return the plan of the first compute environment of a stack file."""
    return planned(raw, **settings).compute_environments[0]


def definition(raw: object, name: str, **settings: Any) -> JobDefinitionPlan:
    """Return the plan of a job definition of a stack file."""
    found = planned(raw, **settings).job_definitions
    return next(each for each in found if each.name == name)
