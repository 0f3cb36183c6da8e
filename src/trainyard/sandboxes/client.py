"""The sandbox as the command line uses it: no other module of it imports `trainyard.sandbox`.

The files of the sandbox are in every installation, and the packages that its account needs are in
those with the extra `sandbox`. Functions import what the commands without a sandbox do not need.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from trainyard.sandbox.access import Endpoint
from trainyard.sandbox.plain_environment import plain_environment
from trainyard.sandbox.private_files import PRIVATE_UMASK
from trainyard.sandbox.state import (
    PARALLELCLUSTER_PYTHON,
    SLURM_PROGRAMS,
    SandboxDirectory,
    SandboxStatus,
)

if TYPE_CHECKING:
    from trainyard.sandbox.engine.plugins import Plugin
    from trainyard.sandbox.latency.model import LatencyModel

__all__ = [
    "PARALLELCLUSTER_PYTHON",
    "PRIVATE_UMASK",
    "SLURM_PROGRAMS",
    "Endpoint",
    "SandboxDirectory",
    "SandboxStatus",
    "plain_environment",
]

_ERRORS = {
    "trainyard.sandbox.engine.errors": "EngineError",
    "trainyard.sandbox.state": "SandboxError",
}
Report = Callable[[str], None]
Operation = Literal["create", "update", "delete"]


def user_errors() -> tuple[type[Exception], ...]:
    """Return the errors of the sandbox that a user can correct, of the modules that are loaded.

    No module is imported for that, because the error of one that is not cannot have been raised.
    """
    loaded = ((sys.modules.get(module), name) for module, name in _ERRORS.items())
    return tuple(getattr(module, name) for module, name in loaded if module is not None)


def program_cache() -> Path | None:
    """Return the directory of downloaded and built programs; None without a home directory."""
    from trainyard.sandbox.engine.cache import cache_directory
    from trainyard.sandbox.engine.errors import EngineError

    try:
        return cache_directory()
    except EngineError:
        return None


def install_pulumi(report: Report) -> tuple[Path, Literal["download", "build"]]:
    """Return the directory of the engine of the pinned version, and where it comes from.

    Raises:
        EngineError: it can neither be downloaded nor built; the message says what was tried.
    """
    from trainyard.sandbox.engine.pulumi_engine import install_pulumi

    installed = install_pulumi(report)
    return installed.directory, installed.origin


def ensure_plugins(
    report: Report, pulumi: Path, chosen: Mapping[str, Path] | None
) -> tuple[Plugin, ...]:
    """Return the provider plugins of a sandbox; get missing ones.

    Args:
        report: Receives progress messages.
        pulumi: The engine's command, which downloads official plugins.
        chosen: Directories with the user's own plugins, by provider.

    Raises:
        EngineError: a plugin can neither be downloaded nor built, or a chosen one does not exist.
    """
    from trainyard.sandbox.engine.plugins import ensure_plugins

    return ensure_plugins(report, pulumi, chosen)


def chosen_plugins(choices: Iterable[str]) -> dict[str, Path]:
    """Return directories by provider from texts such as `aws=/opt/plugins/aws`.

    Raises:
        EngineError: a text has another form or names another provider.
    """
    from trainyard.sandbox.engine.plugins import parse_choices

    return parse_choices(choices)


def read_plugins(directory: Path) -> tuple[Plugin, ...]:
    """Return the recorded plugins of a sandbox; empty without a record."""
    from trainyard.sandbox.engine.plugins import read_plugins

    return read_plugins(directory)


def write_plugins(directory: Path, plugins: tuple[Plugin, ...]) -> None:
    """Record the plugins of a sandbox in its directory."""
    from trainyard.sandbox.engine.plugins import write_plugins

    write_plugins(directory, plugins)


def ensure_kubernetes(report: Report) -> dict[str, list[str]]:
    """Return the commands of the Kubernetes programs, by name; get missing ones.

    Raises:
        EngineError: one can neither be downloaded nor built.
    """
    from trainyard.sandbox.engine.kubernetes_programs import ensure_kubernetes

    return ensure_kubernetes(report)


def ensure_controller(name: str, report: Report) -> list[str]:
    """Return the command of a controller, such as `kueue`; build it if it is missing.

    Raises:
        EngineError: it cannot be built.
    """
    from trainyard.sandbox.engine.controllers import ensure_controller

    return ensure_controller(name, report)


def ensure_parallelcluster(report: Report) -> list[str]:
    """Return the command of the Python with aws-parallelcluster and ministack.

    Raises:
        EngineError: its environment does not exist and cannot be created.
    """
    from trainyard.sandbox.engine.parallelcluster_environment import parallelcluster_python

    return [str(parallelcluster_python(report))]


def ensure_slurm(report: Report) -> list[str]:
    """Return the directory of Slurm, as a command has it; download it if it is missing.

    Raises:
        EngineError: it can neither be found nor downloaded.
    """
    from trainyard.sandbox.engine.slurm import ensure_slurm

    return [str(ensure_slurm(report))]


def slurm_is_packaged() -> bool:
    """Return whether this machine has the tools that get Slurm."""
    from trainyard.sandbox.engine.slurm import slurm_is_packaged

    return slurm_is_packaged()


def wait_divisor(divisor: int) -> dict[str, str]:
    """Return the variable with which the AWS plugin divides the times between its polls."""
    from trainyard.sandbox.engine.aws_plugin_source import WAIT_DIVISOR

    return {WAIT_DIVISOR: str(divisor)}


def latency_model() -> LatencyModel:
    """Return the model of how long AWS takes, by resource type and operation."""
    from trainyard.sandbox.latency.model import latency_model

    return latency_model()


def pace_environment(scale: str) -> dict[str, str]:
    """Return the variable with the share of AWS's time that resources of a sandbox take."""
    from trainyard.sandbox.latency.pace import VARIABLE

    return {VARIABLE: scale}


def described_version(version: str) -> str:
    """Return the text for the Kubernetes version of a cluster in the sandbox."""
    from trainyard.sandbox.kubernetes.emulation import described_version

    return described_version(version)


def completion(cluster: Any, example: Any = None) -> dict[str, Any]:
    """Return what the sandbox's account knows of a `trainyard:cluster`.

    `example` is the one of the shipped stack file that it is a copy of, if there is one.
    """
    from trainyard.sandbox.account.stacks import completion

    return completion(cluster, example)


def accounts() -> tuple[str, ...]:
    """Return the ids of the emulated accounts."""
    from trainyard.sandbox.account.stacks import accounts

    return accounts()


def account_ids() -> frozenset[str]:
    """Return every id and name of the sandbox's account."""
    from trainyard.sandbox.account.stacks import account_ids

    return account_ids()


def missing_reservations(cluster: Mapping[str, Any]) -> list[str]:
    """Return the reservations of a `trainyard:cluster` that the account cannot give."""
    from trainyard.sandbox.account.stacks import missing_reservations

    return missing_reservations(cluster)


def inventory_lines(directory: SandboxDirectory) -> list[str]:
    """Return a line for each object of a running sandbox, sorted; the environment is its own."""
    from trainyard.sandbox.inventory import lines

    return lines(directory)


def has_recorded_log(entries: Iterable[Mapping[str, Any]], job: str) -> bool:
    """Return whether a schedule of faults gives a log to a job.

    An entry that only loses a node of the job has no log.
    """
    from trainyard.sandbox.faults.kinds import NODE_LOST, matches_job

    return any(
        "job" in each and each["happens"] != NODE_LOST.name and matches_job(each["job"], job)
        for each in entries
    )
