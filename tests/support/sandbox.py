"""A sandbox of the tests, used through the command line like by a user."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml
from kubernetes import client, config

from tests.support.kept_logs import without_kept_logs
from tests.support.modules import PYTHONPATH
from tests.support.stack_files import with_values
from tests.support.tracked import ROOT
from tests.support.warm_python import warm
from tools.pictures.terminal import Recording, record
from trainyard.sandbox.inventory import clients_of, lines
from trainyard.sandbox.state import SandboxDirectory
from trainyard.stack_files.stack_files import CLUSTER_KEY, find_stack_file

TIMEOUT_SECONDS = 420


@dataclass(frozen=True, slots=True)
class Done:
    """The result of a command."""

    arguments: tuple[str, ...]
    exit_code: int
    stdout: str
    stderr: str

    @property
    def said(self) -> str:
        """Standard output and standard error."""
        return f"{self.stdout}\n{self.stderr}"


@dataclass(frozen=True, slots=True)
class Sandbox:
    """One sandbox directory."""

    directory: Path
    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    """Environment variables of its user."""
    module: str = "trainyard"
    """The module that runs as `./trainyard`."""
    is_warm: bool = False
    """Whether its processes are forks of a process that has imported all packages."""

    def warm(self) -> Sandbox:
        """Return it with warm commands, programs, packs and plugins."""
        return replace(self, module="tests.support.warm_python.command_line", is_warm=True)

    def plain(self) -> Sandbox:
        """Return it with the plain commands and processes of a user."""
        return replace(self, module="trainyard", is_warm=False)

    def without_preview(self) -> Sandbox:
        """Return it with warm commands that skip the preview."""
        return replace(self, module="tests.support.without_preview", is_warm=True)

    def environment(self) -> dict[str, str]:
        """Return the environment of a user whose accounts must not be touched."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("AWS_", "PULUMI_"))}
        environment = {
            **kept,
            "TRAINYARD_SANDBOX": str(self.directory),
            "PYTHONPATH": PYTHONPATH,
            **self.settings,
        }
        return warm(environment) if self.is_warm else environment

    def start_command(self, *arguments: str | Path) -> subprocess.Popen[str]:
        """Start `./trainyard <arguments>`, without the check of its environment."""
        return subprocess.Popen(
            [sys.executable, "-m", self.module, *map(str, arguments)],
            cwd=ROOT,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str | Path) -> Done:
        """Run `./trainyard <arguments>` to its end, whether or not it succeeds."""
        with self.start_command(*arguments) as process:
            try:
                stdout, stderr = process.communicate(timeout=TIMEOUT_SECONDS)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGINT)
                stdout, stderr = process.communicate()
        return Done(tuple(map(str, arguments)), process.returncode, stdout, stderr)

    def must(self, *arguments: str | Path) -> Done:
        """Run a command that must succeed."""
        done = self.run(*arguments)
        assert done.exit_code == 0, f"{' '.join(done.arguments)} failed:\n{done.said}"
        return done

    def typed(self, *arguments: str | Path, answers: Sequence[str], exit_code: int = 0) -> str:
        """Run a command in a terminal, answer its prompts, and return what the terminal shows."""
        wanted = Recording(
            arguments=[sys.executable, "-m", self.module, *map(str, arguments)],
            columns=120,
            answers=answers,
            exit_code=exit_code,
        )
        done = record(wanted, directory=ROOT, environment=self.environment())
        return "\n".join(line.plain for line in done.end)

    def inventory(self) -> list[str]:
        """Return a line for each object of the account and its clusters.

        The lines are those of `sandbox inventory`, without the time to start a command, and without
        the log groups that ParallelCluster keeps.
        """
        return without_kept_logs(lines(SandboxDirectory(self.directory)))

    def aws(self, service: str) -> Any:
        """Return the boto3 client of a service of the account, which faults do not affect."""
        status = SandboxDirectory(self.directory).read_status()
        assert status is not None
        return clients_of(status.endpoint, status.region).client(service)

    def kubeconfig(self, stack: str) -> Path:
        """Return the path of the kubeconfig that `up` wrote."""
        return self.directory / f"{stack}.kubeconfig"

    @contextlib.contextmanager
    def kubernetes(self, stack: str) -> Iterator[client.ApiClient]:
        """Yield a client of the stack's cluster, with the user's kubeconfig."""
        with config.new_client_from_config(str(self.kubeconfig(stack))) as api:
            yield api

    def resource_changes(self, stack: str) -> dict[str, int]:
        """Return the result of the last update of a stack, from the engine's history."""
        history = self.directory / "pulumi" / "state" / ".pulumi" / "history" / "trainyard" / stack
        newest = max(history.glob("*.history.json"))
        return json.loads(newest.read_text(encoding="utf-8"))["resourceChanges"]


@contextlib.contextmanager
def running(directory: Path) -> Iterator[Sandbox]:
    """Start a sandbox in a directory, and stop it after the block."""
    sandbox = Sandbox(directory)
    sandbox.must("sandbox", "start")
    try:
        yield sandbox
    finally:
        sandbox.must("sandbox", "stop")


def copied_stack_file(target: Path, change: dict[str, Any], stack: str = "p5-cb") -> Path:
    """Write a copy of a tracked stack file with other values, and return its path.

    `change` maps paths below `trainyard:cluster` to values, such as `network.vpc_id`; None removes.
    """
    content = json.loads(json.dumps(dict(find_stack_file(stack).content)))
    config = content["config"]
    config[CLUSTER_KEY] = with_values(config[CLUSTER_KEY], change)
    target.write_text(yaml.safe_dump(content), encoding="utf-8")
    return target
