"""`plan`: all resources of a stack as one JSON document."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tools.cli import console, options
from tools.cli.sandbox_session import project_of
from tools.cli.session import Purpose, open_workspace
from tools.cli.stack_cost import cost_line
from tools.cli.stack_references import with_ids
from tools.workspace.engine_process import PulumiCommand
from tools.workspace.listening import event_log
from tools.workspace.preview import plan_of_events
from tools.workspace.project import SandboxProject, sandbox_directory
from tools.workspace.stack_files import PARALLELCLUSTER

if TYPE_CHECKING:
    from tools.workspace.stack_files import StackFile


def plan(
    stack: options.Stack,
    sandbox: options.Sandbox = False,
    stack_file: options.StackFilePath = None,
    as_json: options.AsJson = False,
) -> None:
    """Show every resource of a new deployment of the stack. Changes nothing."""
    found = options.stack_file(stack, path=stack_file, sandbox=sandbox)
    result = planned(found, sandbox=sandbox)
    if as_json:
        console.answer_json(result)
        return
    show_plan(found, result, sandbox=sandbox)


def show_plan(stack_file: StackFile, result: Mapping[str, Any], *, sandbox: bool) -> None:
    """Print the resources of a plan, what they cost, and the cluster of ParallelCluster.

    Args:
        stack_file: The stack.
        result: The result of `planned`.
        sandbox: Whether the account is the sandbox's.
    """
    for resource in result["resources"]:
        console.answer(f"{resource['type']:55} {resource['name']}")
    console.answer(f"{len(result['resources'])} resources; --json shows their inputs")
    console.answer(f"cost: {cost_line(stack_file, sandbox=sandbox)}")
    if stack_file.architecture == PARALLELCLUSTER:
        console.answer("\nParallelCluster creates the cluster:")
        facts = [*_cluster(stack_file, result["outputs"])]
        width = max(len(name) for name, _ in facts)
        for name, fact in facts:
            console.answer(f"  {name:{width}}  {fact}")
        more = f"cluster-config --planned{stack_file.options(sandbox=sandbox)}"
        console.answer(f"its configuration:  ./trainyard artifact {stack_file.stack} {more}")


def _cluster(stack_file: StackFile, outputs: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    from tools.cli.parallelcluster_summary import cluster_facts
    from tools.cli.stack_config import plan_of
    from trainyard.components.parallelcluster.plan import ParallelClusterPlan

    plan = plan_of(stack_file)
    assert isinstance(plan, ParallelClusterPlan)  # noqa: S101 - `plan` asks no other kind
    yield "head node", plan.head_node.instance_type
    yield from cluster_facts(outputs)


def planned(stack_file: StackFile, *, sandbox: bool) -> dict[str, Any]:
    """Return the result of `plan --json`, from a preview on a temporary empty backend."""
    purpose = Purpose(checks_config=True)
    workspace = open_workspace(stack_file, purpose, sandbox=sandbox)
    with tempfile.TemporaryDirectory(prefix="trainyard-plan-") as directory, event_log() as log:
        plugins = project_of(sandbox_directory()).plugins if sandbox else {}
        project = SandboxProject(Path(directory), plugins)
        # The temporary backend has no other stack to read a network from.
        project.write(with_ids(stack_file, sandbox=sandbox))
        command = PulumiCommand(
            workspace.command.executable,
            project.directory,
            {**workspace.command.environment, **project.backend_environment()},
        )
        name = ["--stack", stack_file.stack]
        command.output(["stack", "init", stack_file.stack, "--no-select"])
        log.told(command).output(["preview", *name, *log.arguments])
        events = log.text()
    return plan_of_events(events, stack=stack_file.stack)
