"""`plan`: all resources of a stack as one JSON document."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trainyard.cli import console, options
from trainyard.cost.stack_cost import cost_line
from trainyard.engine.engine_process import PulumiCommand
from trainyard.engine.listening import event_log
from trainyard.engine.preview import plan_of_events
from trainyard.sandboxes.session import project_of
from trainyard.schedulers.registry import scheduler_class, scheduler_of
from trainyard.stack_files.stack_references import with_ids
from trainyard.workspace.project import SandboxProject, sandbox_directory
from trainyard.workspace.session import Purpose, open_workspace
from trainyard.workspace.target import Target


def plan(
    stack: options.Stack,
    sandbox: options.Sandbox = False,
    stack_file: options.StackFilePath = None,
    as_json: options.AsJson = False,
) -> None:
    """Show every resource of a new deployment of the stack. Changes nothing."""
    target = options.target(stack, path=stack_file, sandbox=sandbox)
    result = planned(target)
    if as_json:
        console.answer_json(result)
        return
    show_plan(target, result)


def show_plan(target: Target, result: Mapping[str, Any]) -> None:
    """Print the resources of a plan, what they cost, and what another service creates.

    Args:
        target: The stack and its account.
        result: The result of `planned`.
    """
    for resource in result["resources"]:
        console.answer(f"{resource['type']:55} {resource['name']}")
    console.answer(f"{len(result['resources'])} resources; --json shows their inputs")
    console.answer(f"cost: {cost_line(target)}")
    if scheduler_class(target.stack_file) is not None:
        scheduler_of(target).show_planned(result["outputs"])


def planned(target: Target) -> dict[str, Any]:
    """Return the result of `plan --json`, from a preview on a temporary empty backend."""
    purpose = Purpose(checks_config=True)
    workspace = open_workspace(target, purpose)
    with tempfile.TemporaryDirectory(prefix="trainyard-plan-") as directory, event_log() as log:
        plugins = project_of(sandbox_directory()).plugins if target.is_sandbox else {}
        project = SandboxProject(Path(directory), plugins)
        # The temporary backend has no other stack to read a network from.
        project.write(with_ids(target))
        command = PulumiCommand(
            workspace.command.executable,
            project.directory,
            {**workspace.command.environment, **project.backend_environment()},
        )
        name = ["--stack", target.stack]
        command.output(["stack", "init", target.stack, "--no-select"])
        log.told(command).output(["preview", *name, *log.arguments])
        events = log.text()
    return plan_of_events(events, stack=target.stack)
