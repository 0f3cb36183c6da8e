"""`status`: the panel of `up`, at any time, without the engine's program."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from trainyard.cli import failures, options
from trainyard.cli.closing_panel import read_summary
from trainyard.components import clock
from trainyard.components.config.problems import ConfigError
from trainyard.cost.stack_cost import cost_line
from trainyard.deployment import network_summary
from trainyard.deployment.stack_outputs import opened_to_read
from trainyard.engine.engine_process import EngineFailedError
from trainyard.schedulers.registry import scheduler_class, scheduler_of
from trainyard.workspace.session import refuse_occupied
from trainyard.workspace.target import Target
from trainyard.workspace.workspace import history


def status(
    stack: options.Stack,
    sandbox: options.Sandbox = False,
    stack_file: options.StackFilePath = None,
) -> None:
    """Show what a deployed stack has: nodes, file systems, jobs. Changes nothing."""
    target = options.target(stack, path=stack_file, sandbox=sandbox)
    workspace = opened_to_read(target)
    try:
        summary = read_summary(workspace, None)
        last = history(workspace, updates=1)
    except EngineFailedError:
        # It may have read a state that another command was writing.
        refuse_occupied(target)
        raise
    facts = tuple(last_update(last))
    if not summary.outputs:
        raise failures.CommandError(
            f"{stack} is not deployed{''.join(f' ({name}: {fact})' for name, fact in facts)}; "
            f"deploy it: {target.command('up')}"
        )
    watched = tuple(_watched(summary.outputs, target))
    costs = tuple(_costs(target))
    summary = dataclasses.replace(summary, facts=(*watched, *costs, *facts))
    if scheduler_class(target.stack_file) is None:
        network_summary.print_summary(summary)
    else:
        scheduler_of(target).show_status(summary)


def last_update(updates: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield the last update of a stack as a fact, from the engine's history.

    https://github.com/pulumi/pulumi/blob/v3.260.0/pkg/cmd/pulumi/stack/stack_history.go
    """
    for update in updates[:1]:
        ended, began = update.get("endTime"), update.get("startTime")
        when = _minute(ended) if ended else f"began {_minute(began)}"
        yield "last update", f"{update.get('kind')} {update.get('result')}, {when}"


def _minute(time: object) -> str:
    """Return a time of the history as all output has it; the history has it in UTC."""
    return f"{datetime.fromisoformat(str(time)):%Y-%m-%d %H:%M} UTC"


def _costs(target: Target) -> Iterator[tuple[str, str]]:
    """Yield what the stack file costs; nothing if it has become invalid since the last update."""
    with contextlib.suppress(ConfigError):
        yield "cost", cost_line(target)


def _watched(outputs: Mapping[str, Any], target: Target) -> Iterator[tuple[str, str]]:
    """Yield the newest figures and the alarms of a stack with `monitoring`."""
    if "monitoring" not in outputs:
        return
    from trainyard.monitoring.figures import monitored

    try:
        with target.access():
            client = target.client("cloudwatch")
            yield from monitored(outputs["monitoring"], client, clock.now())
    except failures.WrongUseError as error:
        yield "monitoring", f"cannot be read: {error}"
