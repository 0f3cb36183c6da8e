"""What is known of a stack for its picture, and the reports about it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trainyard.changes.steps import PlannedStep
from trainyard.cli import console, failures
from trainyard.commands.stack_file.cost import cost_lines
from trainyard.components import clock
from trainyard.components.capacity.timeline import block_timelines
from trainyard.components.network.facts import SubnetFacts
from trainyard.cost.stack_cost import Cost
from trainyard.findings.finding import Finding
from trainyard.stack_files.files import write_whole
from trainyard.stack_files.stack_config import config_of, plan_of
from trainyard.stack_files.stack_files import StackFile
from trainyard.topology.box import Box, Parts
from trainyard.topology.changes import deleted_parts, with_changes
from trainyard.topology.drawing import draw
from trainyard.topology.report import StackReport, html_report
from trainyard.topology.timeline_picture import timeline_picture
from trainyard.topology.topology import topology
from trainyard.workspace.target import Target

if TYPE_CHECKING:
    from trainyard.components.any_plan import AnyPlan
    from trainyard.components.config.load import AnyStackConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A stack as its file describes it, or as it will be in the account."""

    config: AnyStackConfig
    plan: AnyPlan
    subnets: Mapping[str, SubnetFacts] = field(default_factory=dict[str, SubnetFacts])
    """Existing subnets by id, if the account was read."""
    findings: Sequence[Finding] = ()
    """Those of `check --live`, if the account was read."""
    gone: Parts = field(default_factory=Parts)
    """What the stack has now, and will not have any more."""

    @property
    def topology(self) -> Box:
        """Its topology."""
        return topology(self.config, self.plan, subnets=self.subnets, gone=self.gone)


@dataclass(frozen=True, slots=True)
class Contents:
    """What a report is about."""

    title: str
    topology: Box
    resources: Sequence[Mapping[str, Any]] = ()
    """Those of `plan`."""
    changes: Sequence[PlannedStep] = ()
    """Those of a preview."""
    cost: Cost | None = None


def seen_in_file(stack_file: StackFile) -> Seen:
    """Return a stack without the account.

    Raises:
        ConfigError: the configuration is invalid; the error lists every problem.
    """
    return Seen(config=config_of(stack_file), plan=plan_of(stack_file))


def seen_in_account(target: Target) -> Seen:
    """Return a stack with what `check --live` reads. What the account refuses is a finding.

    Raises:
        ConfigError: the configuration is invalid; the error lists every problem.
        CommandError: the account cannot be read.
    """
    from trainyard.checks.live_check import live_result

    before = seen_in_file(target.stack_file)
    target.account.start(console.progress)
    result = live_result(target)
    if result.failure:
        raise failures.CommandError(result.failure)
    found = result.preflight
    return Seen(
        config=(found and found.config) or before.config,
        plan=(found and found.plan) or before.plan,
        subnets=found.subnets if found else {},
        findings=result.findings(),
    )


def stack_report(stack: str, seen: Seen, contents: Contents) -> str:
    """Return a report as one HTML page."""
    now = clock.now()
    blocks = block_timelines(seen.config)
    return html_report(
        StackReport(
            title=contents.title,
            about=f"{seen.plan.kind} in {seen.plan.region}, planned {now:%Y-%m-%d %H:%M} UTC.",
            picture=draw(contents.topology, title=stack, linked=True),
            findings=seen.findings,
            timeline=timeline_picture(stack, blocks, now) if blocks else "",
            charges=contents.cost.estimate.items if contents.cost else (),
            cost=[*cost_lines(contents.cost, now)] if contents.cost else (),
            plan=seen.plan,
            resources=contents.resources,
            changes=contents.changes,
        )
    )


def write_preview_report(path: Path, target: Target, steps: Sequence[PlannedStep]) -> None:
    """Write a report with the steps of a preview.

    Raises:
        CommandError: the account cannot be read.
        OSError: the file cannot be written.
    """
    stack = target.stack
    seen = seen_in_account(target)
    gone = deleted_parts(seen.topology, steps, seen.plan)
    root = with_changes(dataclasses.replace(seen, gone=gone).topology, steps)
    title = f"Changes of {stack}"
    write_whole(path, stack_report(stack, seen, Contents(title, topology=root, changes=steps)))
    console.progress(f"the picture of the changes is in {path}")
