"""Lifecycle of control planes: one set of real Kubernetes processes for each EKS cluster."""

from __future__ import annotations

import re
import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from trainyard.sandbox.access import Endpoint
from trainyard.sandbox.kubernetes import commands
from trainyard.sandbox.kubernetes.emulation import (
    KUBERNETES_VERSION,
    UnsupportedVersionError,
    check_version,
)
from trainyard.sandbox.kubernetes.startup import ControlPlane, ControlPlaneError, Startup
from trainyard.sandbox.processes import Spawn
from trainyard.sandbox.removal import remove_tree

__all__ = [
    "KUBERNETES_VERSION",
    "ControlPlane",
    "ControlPlaneError",
    "ControlPlanes",
    "UnsupportedVersionError",
    "check_version",
]

_ATTEMPTS = 3
_CLUSTER_NAME = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{0,99}")
"""Source: https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateCluster.html"""


@dataclass(slots=True)
class _Running:
    control_plane: ControlPlane
    startup: Startup


class ControlPlanes:
    """The control planes of a sandbox, by cluster name; thread-safe."""

    def __init__(
        self,
        directory: Path,
        programs: Mapping[str, Sequence[str]],
        account: Endpoint,
        spawn: Spawn,
    ) -> None:
        """Store all files below `directory`, in one directory per cluster.

        Files of an earlier sandbox are removed, except for logs.

        Raises:
            ValueError: `programs` lacks a program that a control plane requires.
        """
        missing = [name for name in commands.PROGRAMS if name not in programs]
        if missing:
            raise ValueError(f"no command is known for the Kubernetes programs {missing}")
        self._directory = directory
        self._programs = {name: list(prefix) for name, prefix in programs.items()}
        self._account = account
        self._spawn = spawn
        self._lock = threading.Condition()
        self._running: dict[str, _Running] = {}
        self._starting: dict[str, threading.Event] = {}
        """By cluster: set the event to cancel the start."""
        for left in directory.iterdir() if directory.is_dir() else ():
            _keep_logs(left)

    def create(self, name: str, version: str | None = None) -> ControlPlane:
        """Start a control plane and wait until it is ready; takes 3 to 4 seconds.

        Raises:
            UnsupportedVersionError: the sandbox does not support `version`.
            ValueError: `name` is not a valid name of an EKS cluster, or is in use.
            ControlPlaneError: a program ended or did not become ready, or the cluster was stopped
                meanwhile.
        """
        check_version(name, version)
        if not _CLUSTER_NAME.fullmatch(name):
            raise ValueError(f"{name!r} is not a name that EKS accepts for a cluster")
        with self._lock:
            if name in self._running or name in self._starting:
                raise ValueError(f"cluster {name!r} has a control plane already")
            given_up = self._starting[name] = threading.Event()
        running = None
        try:
            running = self._start(name, version, given_up)
            return running.control_plane
        finally:
            with self._lock:
                del self._starting[name]
                if running:
                    self._running[name] = running
                self._lock.notify_all()

    def upgrade(self, name: str, version: str) -> None:
        """Serve another minor version with the same control plane; objects and nodes are kept.

        Raises:
            UnsupportedVersionError: the sandbox does not support `version`.
            ValueError: the cluster has no ready control plane, or is being changed.
            ControlPlaneError: a program ended or did not become ready, or the cluster was stopped
                meanwhile.
        """
        check_version(name, version)
        with self._lock:
            running = self._running.get(name)
            if running is None or name in self._starting:
                raise ValueError(f"cluster {name!r} has no control plane that serves")
            given_up = self._starting[name] = threading.Event()
        try:
            running.startup.upgrade(running.control_plane, version, given_up)
        finally:
            with self._lock:
                del self._starting[name]
                self._lock.notify_all()

    def leave_alone(self, name: str, pods: Collection[str]) -> None:
        """Keep pods with one of these values of the label `name` from running in a cluster.

        Waits for an upgrade in progress, which fails if a program ends.
        """
        with self._lock:
            while name in self._starting:
                self._lock.wait()
            running = self._running.get(name)
            if running is not None:
                running.startup.leave_alone(running.control_plane, pods)

    def get(self, name: str) -> ControlPlane | None:
        """Return a cluster's control plane, or None if it is not ready."""
        with self._lock:
            running = self._running.get(name)
        return running.control_plane if running else None

    def names(self) -> list[str]:
        """Return the names of the clusters that have a control plane, sorted."""
        with self._lock:
            return sorted(self._running)

    def stop(self, name: str) -> None:
        """Stop a control plane and keep only its logs, if it exists.

        A start in progress is canceled.
        """
        with self._lock:
            while name in self._starting:
                self._starting[name].set()
                self._lock.wait()
            running = self._running.pop(name, None)
        if running:
            running.startup.end()
        _keep_logs(self._directory / name)

    def delete(self, name: str) -> None:
        """Stop a control plane and remove its directory, if it exists."""
        self.stop(name)
        remove_tree(self._directory / name)

    def stop_all(self) -> None:
        """Stop all control planes; logs are kept."""
        with self._lock:
            names = [*self._running, *self._starting]
        for name in names:
            self.stop(name)

    def _start(self, name: str, version: str | None, given_up: threading.Event) -> _Running:
        """Start with free ports; retry once if another process has taken one meanwhile."""
        for attempt in range(1, _ATTEMPTS + 1):
            startup = Startup(self._directory / name, self._programs, self._spawn, given_up)
            try:
                return _Running(startup.run(name, self._account, version), startup)
            except BaseException as error:
                startup.end()
                taken = "address already in use" in str(error)
                if not (isinstance(error, ControlPlaneError) and taken and attempt < _ATTEMPTS):
                    raise
        raise AssertionError("unreachable: the last attempt returns or raises")


def _keep_logs(directory: Path) -> None:
    """Remove all files of a control plane except logs: keys, kubeconfig, etcd's data."""
    for path in directory.iterdir() if directory.is_dir() else ():
        if path.is_file():
            path.unlink()
        elif path.name != commands.LOGS:
            remove_tree(path)
