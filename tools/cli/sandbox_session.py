"""The sandbox as the commands use it: where it is, how it is started, what it holds."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from sandbox.state import PARALLELCLUSTER_PYTHON, SandboxDirectory, SandboxStatus
from tools.cli import failures
from tools.cli.sandbox_pace import described_pace, pace_of, set_pace
from tools.engine import ensure_kubernetes, ensure_pulumi
from tools.workspace.engine_process import PulumiCommand
from tools.workspace.environment import process_environment, sandbox_environment
from tools.workspace.files import write_whole
from tools.workspace.project import SandboxProject
from tools.workspace.recovery.leftovers import marked
from tools.workspace.stack_files import OWN_FILES, ROOT, StackFile
from tools.workspace.workspace import SandboxWorkspace

Report = Callable[[str], None]
PROVIDERS = ROOT / "sandbox" / "providers"


@dataclass(frozen=True, slots=True)
class RunningSandbox:
    """A sandbox that answers."""

    directory: SandboxDirectory
    status: SandboxStatus

    @property
    def aws_endpoint(self) -> str:
        """Where every AWS call of the sandbox goes."""
        return self.status.aws_endpoint

    def workspace(self, stack_file: StackFile, report: Report) -> SandboxWorkspace:
        """Return the workspace of one stack; gets the engine where there is none.

        Raises:
            WrongUseError: the stack is of another region than the sandbox.
        """
        if stack_file.region != self.status.region:
            raise failures.WrongUseError(
                f"{stack_file.name}: aws:region is {stack_file.region}, and the sandbox's account "
                f"is in {self.status.region}; set aws:region: {self.status.region} in a copy and "
                "give it with --stack-file"
            )
        project = project_of(self.directory)
        engine = ensure_pulumi(report)
        environment = marked(
            self.environment(engine.directory, project),
            directory=project.directory,
            stack=stack_file.stack,
        )
        command = PulumiCommand(engine.executable, project.directory, environment)
        return SandboxWorkspace(stack_file=stack_file, command=command, project=project)

    def environment(self, engine: Path, project: SandboxProject) -> dict[str, str]:
        """Return the environment of everything that works in this sandbox."""
        environment = sandbox_environment(
            os.environ,
            engine=engine,
            programs=self.directory.bin,
            home=project.home,
            backend=project.backend,
            passphrase=project.passphrase,
            region=self.status.region,
            aws_endpoint=self.aws_endpoint,
        )
        return {**pace_of(self.directory), **environment, **self.status.https_environment}

    def aws_environment(self) -> dict[str, str]:
        """Return the environment in which boto3 of this process reaches the sandbox's account."""
        return self.environment(Path(os.defpath.split(os.pathsep)[0]), project_of(self.directory))


def sandbox_directory() -> SandboxDirectory:
    """Return the directory of the sandbox: `$TRAINYARD_SANDBOX`, or one in the checkout."""
    configured = os.environ.get("TRAINYARD_SANDBOX")
    path = Path(configured).expanduser() if configured else OWN_FILES / "sandbox"
    return SandboxDirectory(path.resolve())


def started_sandbox(
    report: Report,
    *,
    port: int = 0,
    with_parallelcluster: bool = False,
    latency: float | None = None,
) -> RunningSandbox:
    """Return the running sandbox; gets its programs and starts it where it does not run.

    Args:
        report: Told what is done.
        port: Port of the AWS endpoint of a sandbox that is started; 0 takes a free one.
        with_parallelcluster: Whether CloudFormation must be able to make a cluster; a sandbox
            that runs without that is given what it needs, and keeps its account.
        latency: Share of AWS's time that every resource takes from now on, 0 for none; where it is
            not given a running sandbox keeps its own, and a new one has none.

    Raises:
        EngineError: the programs can neither be downloaded nor built.
        SandboxError: it does not start.
    """
    directory = sandbox_directory()
    status = directory.read_status()
    if status is None:
        programs = ensure_kubernetes(report)
        report("starting the sandbox (usually 3 s)")
        set_pace(directory, latency or 0)
        status = directory.start(programs, port=port)
        _write_kubectl_wrapper(directory, programs["kubectl"])
    elif latency is not None:
        set_pace(directory, latency)
    if with_parallelcluster:
        _give_parallelcluster(directory, report)
    return RunningSandbox(directory, status)


def _give_parallelcluster(directory: SandboxDirectory, report: Report) -> None:
    """Let the sandbox use ParallelCluster's Python; makes its environment where there is none."""
    from tools.parallelcluster.environment import parallelcluster_python

    command = [str(parallelcluster_python(report))]
    if directory.program(PARALLELCLUSTER_PYTHON) != command:
        directory.give(PARALLELCLUSTER_PYTHON, command)


def running_sandbox() -> RunningSandbox:
    """Return the running sandbox.

    Raises:
        CommandError: it does not run.
    """
    directory = sandbox_directory()
    status = directory.read_status()
    if status is None:
        raise failures.CommandError("the sandbox does not run; start it: ./trainyard sandbox start")
    return RunningSandbox(directory, status)


def holds_stack(stack: str) -> bool:
    """Return whether the sandbox runs and something of the stack is in it."""
    directory = sandbox_directory()
    running = directory.read_status() is not None
    return running and project_of(directory).holds(stack)


def require_stack(stack_file: StackFile) -> None:
    """Stop where the sandbox has nothing of the stack.

    Raises:
        CommandError: it does not run, or holds no such stack.
    """
    stack = stack_file.stack
    if not holds_stack(stack):
        raise failures.CommandError(
            f"the sandbox holds no stack {stack}; bring it up: "
            + stack_file.command("up", sandbox=True)
        )


def kubectl_wrapper() -> Path:
    """Return the `kubectl` of the sandbox, for machines that have none."""
    return sandbox_directory().bin / "kubectl"


def project_of(directory: SandboxDirectory) -> SandboxProject:
    """Return the Pulumi project of a sandbox."""
    return SandboxProject(directory.pulumi_state.parent, PROVIDERS)


@contextlib.contextmanager
def nobody_at_work(command: str) -> Iterator[SandboxDirectory]:
    """Give the sandbox to end it, while nobody changes a stack in it.

    Raises:
        StackLockedError: somebody does; the message says who, and what to do.
    """
    from tools.workspace.turns import every_turn

    directory = sandbox_directory()
    with every_turn(project_of(directory).turns, command=command):
        yield directory


def _write_kubectl_wrapper(directory: SandboxDirectory, command: list[str]) -> None:
    path = directory.bin / "kubectl"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n', mode=0o755)


def advance_clock(hours: float) -> datetime:
    """Move the clock of the running sandbox forward and return its time.

    Raises:
        CommandError: no sandbox runs.
    """
    answer = ask("POST", f"clock?advance_seconds={hours * 3600:.0f}")
    return datetime.fromisoformat(answer["now"])


def ask(method: str, path: str, body: bytes | None = None) -> Any:
    """Return what the running sandbox answers beside AWS's own calls, read as JSON.

    Raises:
        CommandError: no sandbox runs.
        urllib.error.HTTPError: it refuses.
    """
    url = f"{running_sandbox().aws_endpoint}/_trainyard/{path}"
    # The address is the sandbox's own, on the loopback: no proxy, no other scheme.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    request = urllib.request.Request(url, data=body, method=method)  # noqa: S310 - see above
    with opener.open(request) as answer:
        return json.load(answer)


def describe() -> dict[str, Any]:
    """Return what `sandbox status` shows."""
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
        "latency": described_pace(directory) if status else "",
        "faults": _faults() if status else [],
        "logs": str(directory.logs),
    }


def _faults() -> list[str]:
    """Return each fault in force, with how often it has happened."""
    from tools.cli import sandbox_faults

    return sandbox_faults.lines(sandbox_faults.in_force())


def _clusters(directory: SandboxDirectory) -> list[str]:
    """Return each cluster with the Kubernetes version that it serves, and what serves it."""
    from sandbox.kubernetes.emulation import described_version

    return sorted(
        f"{path.parent.name} ({described_version(path.read_text(encoding='utf-8'))})"
        for path in directory.clusters.glob("*/version")
    )


def inventory_lines() -> list[str]:
    """Return one line for each object of the running sandbox, sorted."""
    from sandbox.inventory import lines

    sandbox = running_sandbox()
    with process_environment(sandbox.aws_environment()):
        return lines(sandbox.directory)
