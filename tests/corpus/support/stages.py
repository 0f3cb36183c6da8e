"""Run a case through the stages, in order, until one refuses it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from pulumi.runtime.proto import analyzer_pb2

from tests.support.corpus.case import Case, Stage
from tests.support.policy import Declared
from tests.support.policy_pack import Pack
from trainyard.components.architectures.plan_stack import plan_stack
from trainyard.components.architectures.preflight import run_preflight
from trainyard.components.config.load import load_stack_config
from trainyard.components.config.problems import ROOT, ConfigError, Problem

if TYPE_CHECKING:
    from trainyard.components.any_plan import AnyPlan

REGION = "us-west-2"
_MANDATORY = analyzer_pb2.MANDATORY


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a case: the first stage that refused it, and its messages."""

    stage: Stage | None = None
    said: Mapping[str, str] = field(default_factory=dict[str, str])
    """All messages, by key or rule."""
    plan: AnyPlan | None = None
    """The plan of a stack file that passed."""


def offline(case: Case) -> Outcome:
    """Check a stack file against schema and plan, as `./trainyard check` does."""
    try:
        config = load_stack_config(case.raw, stack_file=case.stack_file)
    except ConfigError as error:
        return _refused("schema", error.problems)
    try:
        plan = plan_stack(config, stack_file=case.stack_file, region=REGION, now=datetime.now(UTC))
    except ConfigError as error:
        return _refused("plan", error.problems)
    return Outcome(plan=plan)


def live(case: Case) -> Outcome:
    """Run all checks that precede the first registration, as `check --live` does.

    The account is the default one of AWS clients.
    """
    outcome = offline(case)
    if outcome.stage:
        return outcome
    found = run_preflight(
        load_stack_config(case.raw, stack_file=case.stack_file),
        stack_file=case.stack_file,
        region=REGION,
        now=datetime.now(UTC),
    )
    if found.problems:
        return _refused("preflight", found.problems)
    return Outcome(plan=found.plan)


@dataclass(frozen=True, slots=True)
class Judged:
    """The messages of the policy pack about a program, by rule."""

    refused: Mapping[str, str]
    """By mandatory rules: the preview fails."""
    advised: Mapping[str, str]
    """By advisory rules: the preview shows it."""


def judged(
    pack: Pack, program: Sequence[Declared], rules: Mapping[str, Mapping[str, Any]]
) -> Judged:
    """Return the messages of the pack, in its own process, about a program during a preview."""
    pack.configure(rules)
    refused: dict[str, str] = {}
    advised: dict[str, str] = {}
    for diagnostic in pack.analyze(program):
        of_level = refused if diagnostic.enforcementLevel == _MANDATORY else advised
        earlier = of_level.get(diagnostic.policyName, "")
        of_level[diagnostic.policyName] = f"{earlier}{diagnostic.message}\n"
    return Judged(refused, advised)


def _refused(stage: Stage, problems: Iterable[Problem]) -> Outcome:
    said: dict[str, str] = {}
    for problem in problems:
        key = problem.path.removeprefix(f"{ROOT}.")
        words = (problem.problem, problem.found, problem.allowed, problem.remedy)
        said[key] = f"{said.get(key, '')}{key}: {' | '.join(str(word) for word in words)}\n"
    return Outcome(stage, said)
