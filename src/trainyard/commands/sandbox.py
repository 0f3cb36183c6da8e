"""`sandbox`: the account and the clusters on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from trainyard.cli import console, failures, options
from trainyard.sandboxes import faults as sandbox_faults
from trainyard.sandboxes.client import (
    SandboxDirectory,
    chosen_plugins,
    described_version,
    read_plugins,
)
from trainyard.sandboxes.pace import described_pace
from trainyard.sandboxes.session import (
    advance_clock,
    inventory_lines,
    nobody_at_work,
    project_of,
    running_sandbox,
    started_sandbox,
)
from trainyard.stack_files.files import file_text
from trainyard.workspace.project import sandbox_directory


def describe() -> dict[str, Any]:
    """Return the content of `sandbox status`."""
    directory = sandbox_directory()
    status = directory.read_status()
    return {
        "running": status is not None,
        "directory": str(directory.path),
        "aws endpoint": status.aws_endpoint if status else "",
        "account": f"{status.account_id} in {status.region}" if status else "",
        "process": str(status.pid) if status else "",
        "stacks": project_of(directory).stacks() if status else [],
        "clusters": _clusters(directory) if status else [],
        "plugins": _described_plugins(directory) if status else [],
        "latency": described_pace(directory) if status else "",
        "faults": _faults() if status else [],
        "logs": str(directory.logs),
    }


def _described_plugins(directory: SandboxDirectory) -> list[str]:
    """Return each provider plugin with its version and origin."""
    return [plugin.description for plugin in read_plugins(directory.path)]


def _faults() -> list[str]:
    """Return each active fault and how often it has occurred."""
    return sandbox_faults.lines(sandbox_faults.in_force())


def _clusters(directory: SandboxDirectory) -> list[str]:
    """Return each cluster with its Kubernetes version and its API server."""
    return sorted(
        f"{path.parent.name} ({described_version(file_text(path))})"
        for path in directory.clusters.glob("*/version")
    )


app = typer.Typer(
    help="The sandbox on this machine: an emulated AWS account and real Kubernetes.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    add_completion=False,
    rich_markup_mode=None,
)


Port = Annotated[
    int,
    typer.Option(help="Port of the AWS endpoint on the loopback interface. 0 selects a free port."),
]
ScheduleFile = Annotated[
    Path | None,
    typer.Argument(
        metavar="FILE", parser=options.input_file, help="Fault schedule to apply, in YAML."
    ),
]
AddFaults = Annotated[
    bool, typer.Option("--add", help="Put the entries of FILE before the current schedule.")
]
ClearFaults = Annotated[bool, typer.Option("--clear", help="End the current schedule.")]
Latency = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1,
        metavar="SCALE",
        help="Share of AWS's time that every resource takes. 0 removes the delay.",
    ),
]
Hours = Annotated[float, typer.Option(min=0, help="Number of hours.")]


Plugins = Annotated[
    list[str] | None,
    typer.Option(
        "--plugin",
        metavar="PROVIDER=DIRECTORY",
        help="Provider plugin to use for aws, eks or kubernetes. Can be repeated.",
    ),
]


@app.command()
def start(port: Port = 0, latency: Latency = None, plugin: Plugins = None) -> None:
    """Start the sandbox, with an account as described in the fixture."""
    plugins = chosen_plugins(plugin) if plugin else None
    sandbox = started_sandbox(console.progress, port=port, latency=latency, plugins=plugins)
    console.answer(f"the sandbox is running; AWS endpoint {sandbox.aws_endpoint}")


@app.command()
def stop() -> None:
    """Stop the sandbox and delete its account and the state of its stacks."""
    with nobody_at_work("sandbox stop") as directory:
        was_running = directory.stop()
    console.answer("the sandbox is stopped" if was_running else "the sandbox was not running")


@app.command()
def reset() -> None:
    """Stop the sandbox, delete all its files, and start it with a new account."""
    with nobody_at_work("sandbox reset") as directory:
        directory.reset()
    start()


@app.command()
def status(as_json: options.AsJson = False) -> None:
    """Show whether the sandbox is running, and its endpoint, clusters and logs."""
    described = describe()
    if as_json:
        console.answer_json(described)
        return
    for name, value in described.items():
        text = ", ".join(value) if isinstance(value, list) else value
        console.answer(f"{name + ':':15} {text if text != '' else 'none'}")


@app.command()
def environment() -> None:
    """Print the variables with which other AWS clients use the sandbox, with its access key.

    For a shell: eval "$(./trainyard sandbox environment)"
    """
    for line in running_sandbox().status.endpoint.exports():
        console.answer(line)


@app.command()
def advance(hours: Hours) -> None:
    """Move the sandbox's clock forward: Capacity Blocks start and end, scheduled actions run."""
    console.answer(f"it is {advance_clock(hours):%Y-%m-%d %H:%M} UTC in the sandbox")


@app.command()
def faults(
    file: ScheduleFile = None,
    add: AddFaults = False,
    clear: ClearFaults = False,
    as_json: options.AsJson = False,
) -> None:
    """Apply a fault schedule, end it, or show the current one (docs/faults.md)."""
    if file is not None and clear:
        raise failures.WrongUseError("give a FILE or --clear, not both")
    if add and file is None:
        raise failures.WrongUseError("--add needs a FILE with the entries to add")
    if clear:
        sandbox_faults.clear()
    in_force = sandbox_faults.use_schedule(file, add=add) if file else sandbox_faults.in_force()
    if as_json:
        console.answer_json(in_force)
        return
    for line in sandbox_faults.lines(in_force) or ["no fault schedule is active"]:
        console.answer(line)


@app.command()
def inventory(as_json: options.AsJson = False) -> None:
    """Print one line for every object in the account and its clusters, sorted."""
    if sandbox_directory().read_status() is None:
        raise failures.CommandError(
            "the sandbox is not running and has no objects; start it: ./trainyard sandbox start"
        )
    lines = inventory_lines()
    if as_json:
        console.answer_json(lines)
        return
    for line in lines:
        console.answer(line)
