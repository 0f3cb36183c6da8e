"""The sandbox for commands: its directory, its start, and its content."""

from __future__ import annotations

import contextlib
import os
import shlex
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trainyard.cli import failures
from trainyard.components import clock
from trainyard.engine.engine_process import PulumiCommand
from trainyard.engine.environment import process_environment, sandbox_environment
from trainyard.engine.pulumi_engine import ensure_pulumi
from trainyard.sandboxes import client
from trainyard.sandboxes.client import (
    PARALLELCLUSTER_PYTHON,
    PRIVATE_UMASK,
    SLURM_PROGRAMS,
    SandboxDirectory,
    SandboxStatus,
    read_plugins,
    write_plugins,
)
from trainyard.sandboxes.pace import pace_of, set_pace
from trainyard.stack_files.files import write_whole
from trainyard.workspace.locks import every_lock
from trainyard.workspace.project import SandboxProject, sandbox_directory
from trainyard.workspace.recovery.leftovers import marked
from trainyard.workspace.target import Target
from trainyard.workspace.workspace import SandboxWorkspace

if TYPE_CHECKING:
    from trainyard.sandboxes.client import Plugin

Report = Callable[[str], None]


class SandboxPrograms:
    """Gets the programs of a sandbox: from the cache, a download or a build."""

    def plugins(self, report: Report, chosen: Mapping[str, Path] | None) -> tuple[Plugin, ...]:
        """Return the provider plugins."""
        return client.ensure_plugins(report, ensure_pulumi(report).executable, chosen)

    def kubernetes(self, report: Report) -> dict[str, list[str]]:
        """Return the commands of the Kubernetes programs, by name."""
        return client.ensure_kubernetes(report)

    def controller(self, name: str, report: Report) -> list[str]:
        """Return the command of a controller, such as `kueue`."""
        return client.ensure_controller(name, report)

    def parallelcluster(self, report: Report) -> list[str]:
        """Return the Python with aws-parallelcluster and ministack."""
        return client.ensure_parallelcluster(report)

    def slurm(self, report: Report) -> list[str]:
        """Return the directory of Slurm."""
        return client.ensure_slurm(report)


PROGRAMS = SandboxPrograms()
"""Those of this machine."""


@dataclass(frozen=True, slots=True)
class RunningSandbox:
    """A sandbox that is running."""

    directory: SandboxDirectory
    status: SandboxStatus

    @property
    def aws_endpoint(self) -> str:
        """Endpoint of all AWS calls in the sandbox."""
        return self.status.aws_endpoint

    def workspace(self, target: Target, report: Report) -> SandboxWorkspace:
        """Return the workspace of a stack; install the engine if necessary.

        Raises:
            WrongUseError: the stack is in another region than the sandbox.
        """
        stack_file = target.stack_file
        if stack_file.region != self.status.region:
            raise failures.WrongUseError(
                f"{stack_file.name}: aws:region is {stack_file.region}, but the sandbox's account "
                f"is in {self.status.region}; set aws:region: {self.status.region} in a copy and "
                "use it with --stack-file"
            )
        project, command = project_of(self.directory), self.pulumi(report)
        mark = marked({}, directory=project.directory, stack=stack_file.stack)
        return SandboxWorkspace(
            target=target, command=command.with_variables(mark), project=project
        )

    def pulumi(self, report: Report) -> PulumiCommand:
        """Return the engine in the sandbox's project; install it if necessary."""
        project = project_of(self.directory)
        engine = ensure_pulumi(report)
        environment = self.environment(engine.directory, project)
        return PulumiCommand(engine.executable, project.directory, environment, umask=PRIVATE_UMASK)

    def environment(self, engine: Path, project: SandboxProject) -> dict[str, str]:
        """Return the environment of all processes that work in this sandbox."""
        environment = sandbox_environment(
            os.environ,
            engine=engine,
            programs=self.directory.bin,
            home=project.home,
            backend=project.backend,
            passphrase=project.passphrase,
            region=self.status.region,
            account=self.status.endpoint,
        )
        ahead = self.status.endpoint.ask("GET", "clock")["ahead_seconds"]
        own = {**self.status.https_environment, clock.VARIABLE: f"{ahead:.0f}"}
        return {**environment, **pace_of(self.directory), **own}

    def aws_environment(self) -> dict[str, str]:
        """Return the environment in which boto3 of this process uses the sandbox's account."""
        return self.environment(Path(os.defpath.split(os.pathsep)[0]), project_of(self.directory))


def started_sandbox(
    report: Report,
    *,
    port: int = 0,
    with_parallelcluster: bool = False,
    controllers: Collection[str] = (),
    latency: float | None = None,
    plugins: Mapping[str, Path] | None = None,
    programs: SandboxPrograms = PROGRAMS,
) -> RunningSandbox:
    """Return the running sandbox; install its programs and start it if it is not running.

    Args:
        report: Receives progress messages.
        port: Port of the AWS endpoint of a new sandbox; 0 selects a free port.
        with_parallelcluster: Whether CloudFormation must support clusters. A running sandbox
            without that support is extended, and keeps its account.
        controllers: Names of the controllers that clusters must run, such as `kueue`; the same.
        latency: Share of AWS's time that every resource takes from now on, 0 for none. By default,
            a running sandbox keeps its value, and a new one has no delay.
        plugins: Provider plugin directories that the user chooses, by provider; by default those of
            `$TRAINYARD_PLUGINS`.
        programs: Gets the programs that it needs.

    Raises:
        EngineError: the programs can neither be downloaded nor built.
        SandboxError: the sandbox does not start.
        CommandError: the running sandbox uses other plugins.
    """
    directory = sandbox_directory()
    status = directory.read_status()
    if status is None:
        chosen = programs.plugins(report, plugins)
        kubernetes = programs.kubernetes(report)
        report("starting the sandbox (usually 3 s)")
        write_plugins(directory.path, chosen)
        status = directory.start(kubernetes, port=port)
        _take(directory, latency or 0, status)
        _write_kubectl_wrapper(directory, kubernetes["kubectl"])
    else:
        _check_version(directory, status)
        _check_plugins(directory, plugins)
        if latency is not None:
            _take(directory, latency, status)
    if with_parallelcluster:
        _give(directory, PARALLELCLUSTER_PYTHON, programs.parallelcluster(report))
    for name in controllers:
        _give(directory, name, programs.controller(name, report))
    return RunningSandbox(directory, status)


def add_slurm(report: Report, programs: SandboxPrograms = PROGRAMS) -> None:
    """Let the running sandbox run the Slurm of its clusters; install it if necessary.

    Raises:
        CommandError: no sandbox is running.
        EngineError: Slurm can neither be found nor downloaded.
    """
    _give(running_sandbox().directory, SLURM_PROGRAMS, programs.slurm(report))


def _take(directory: SandboxDirectory, latency: float, status: SandboxStatus) -> None:
    """Set the share of AWS's time that account and clusters take from now on."""
    set_pace(directory, latency)
    status.endpoint.ask("POST", f"latency?scale={latency:g}")


def _check_version(directory: SandboxDirectory, status: SandboxStatus) -> None:
    """Ensure that the running sandbox has an access key, which one of an earlier version has not.

    Raises:
        CommandError: it has none.
    """
    if not status.access_key:
        raise failures.CommandError(
            f"the sandbox in {directory.path} was started by an earlier version of trainyard, and "
            "answers everybody on this machine. Delete that account and start a new one: "
            "./trainyard sandbox reset"
        )


def _check_plugins(directory: SandboxDirectory, chosen: Mapping[str, Path] | None) -> None:
    """Ensure that the plugins that created the account's resources remain in use.

    Raises:
        CommandError: they cannot be used, or the user requests others.
    """
    running = {plugin.name: Path(plugin.directory) for plugin in read_plugins(directory.path)}
    others = [name for name, path in (chosen or {}).items() if running.get(name) != path]
    if others:
        raise failures.CommandError(
            f"the running sandbox uses another plugin for {', '.join(sorted(others))}, and only "
            "the plugin that wrote a state can use it. Stop the sandbox first: ./trainyard "
            "sandbox stop"
        )


def _give(directory: SandboxDirectory, name: str, command: list[str]) -> None:
    """Let the sandbox use a program, unless it does already."""
    if directory.program(name) != command:
        directory.give(name, command)


def running_sandbox() -> RunningSandbox:
    """Return the running sandbox.

    Raises:
        CommandError: no sandbox is running, or one of an earlier version.
    """
    directory = sandbox_directory()
    status = directory.read_status()
    if status is None:
        raise failures.CommandError(
            "the sandbox is not running; start it: ./trainyard sandbox start"
        )
    _check_version(directory, status)
    return RunningSandbox(directory, status)


def holds_stack(stack: str) -> bool:
    """Return whether the sandbox is running and has resources of the stack."""
    directory = sandbox_directory()
    running = directory.read_status() is not None
    return running and project_of(directory).holds(stack)


def require_stack(target: Target) -> None:
    """Raise an error if the sandbox has no resources of a stack of it.

    Raises:
        NotDeployedError: the sandbox is not running, or does not have the stack.
    """
    if not holds_stack(target.stack):
        raise not_deployed(target)


def not_deployed(target: Target) -> failures.NotDeployedError:
    """Return the error that the sandbox has no resources of a stack of it."""
    return failures.NotDeployedError(
        f"the sandbox has no stack {target.stack}; deploy it: {target.command('up')}"
    )


def kubectl_wrapper() -> Path:
    """Return the sandbox's `kubectl`, for machines without one."""
    return sandbox_directory().bin / "kubectl"


def project_of(directory: SandboxDirectory) -> SandboxProject:
    """Return the Pulumi project of a sandbox."""
    plugins = read_plugins(directory.path)
    directories = {plugin.name: Path(plugin.directory) for plugin in plugins}
    return SandboxProject(directory.pulumi_state.parent, directories)


@contextlib.contextmanager
def nobody_at_work(command: str) -> Iterator[SandboxDirectory]:
    """Yield the sandbox for its shutdown, while no command changes a stack in it.

    Raises:
        StackLockedError: a command does; the message names it and says what to do.
    """
    directory = sandbox_directory()
    with every_lock(project_of(directory).command_locks, command=command):
        yield directory


def _write_kubectl_wrapper(directory: SandboxDirectory, command: list[str]) -> None:
    path = directory.bin / "kubectl"
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_whole(path, f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n', mode=0o700)


def advance_clock(hours: float) -> datetime:
    """Advance the clock of the running sandbox and return its time.

    Raises:
        CommandError: no sandbox is running.
    """
    answer = ask("POST", f"clock?advance_seconds={hours * 3600:.0f}")
    return datetime.fromisoformat(answer["now"])


def ask(method: str, path: str, body: bytes | None = None) -> Any:
    """Call the sandbox's internal API and return its JSON response.

    Raises:
        CommandError: no sandbox is running.
        urllib.error.HTTPError: the sandbox rejects the request.
    """
    return running_sandbox().status.endpoint.ask(method, path, body)


def inventory_lines() -> list[str]:
    """Return a line for each object of the running sandbox, sorted."""
    sandbox = running_sandbox()
    with process_environment(sandbox.aws_environment()):
        return client.inventory_lines(sandbox.directory)
