"""The nodes of the sandbox: EC2 instances of the account that join and leave their clusters.

kwok keeps the Nodes alive and runs their pods. This module decides whether an instance becomes a
Node, and which. The daemon runs `NodeSimulator.run` in a thread.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterable
from typing import Protocol

from botocore.exceptions import BotoCoreError, ClientError

from trainyard.sandbox.faults.clusters import (
    broken_plugins,
    count_crash,
    never_joins,
    unhealthy_devices,
)
from trainyard.sandbox.faults.in_force import FAULTS
from trainyard.sandbox.kubernetes import membership
from trainyard.sandbox.kubernetes.api import ApiError, ApiUnreachableError
from trainyard.sandbox.kubernetes.broken_plugins import BrokenPlugins, PodRunners
from trainyard.sandbox.kubernetes.cluster_nodes import ClusterNodes
from trainyard.sandbox.kubernetes.instances import Instance
from trainyard.sandbox.kubernetes.kubelet import Kubelet
from trainyard.sandbox.kubernetes.membership import CannotJoinError, kubelet_of
from trainyard.sandbox.kubernetes.pace import Pace

_LOG = logging.getLogger(__name__)

_INTERVAL_SECONDS = 0.3
_RETRY_SECONDS = 2.0
"""Interval between checks of an instance that cannot join because of the account's state."""
_GROUP_TAGS = ("eks:nodegroup-name", "aws:autoscaling:groupName")
"""Tags with the node group of an instance."""
_ACCOUNT_ERRORS = (BotoCoreError, ClientError)
_API_ERRORS = (ApiError, ApiUnreachableError)


class Account(membership.Account, Protocol):
    """The required calls to the account; `SandboxAccount` in the daemon."""

    def running_instance_ids(self) -> set[str]:
        """Return the ids of all running instances."""
        ...

    def instances(self, instance_ids: Iterable[str]) -> list[Instance]:
        """Return instances with all properties that affect their kubelets."""
        ...

    def terminate(self, instance_id: str) -> None:
        """Terminate an instance."""
        ...


class KnownControlPlanes(membership.KnownControlPlanes, PodRunners, Protocol):
    """The required part of `ControlPlanes`."""

    def names(self) -> list[str]:
        """Return the names of clusters with a control plane."""
        ...


class NodeSimulator:
    """Creates Nodes for instances, as kubelets and the EKS cloud controller would."""

    def __init__(self, account: Account, control_planes: KnownControlPlanes) -> None:
        """Prepare; sends no request before the first step.

        Args:
            account: The account of the instances.
            control_planes: The clusters that instances may join.
        """
        self._account = account
        self._control_planes = control_planes
        self._instances: dict[str, Instance] = {}
        """Running instances by id."""
        self._no_nodes: set[str] = set()
        """Ids of instances that do not belong to any cluster."""
        self._retry_at: dict[str, float] = {}
        self._clusters: dict[str, ClusterNodes] = {}
        self._plugins: dict[str, BrokenPlugins] = {}
        self._reported: dict[str, str] = {}

    def run(self, stop_event: threading.Event) -> None:
        """Run steps until `stop_event` is set; errors are logged once and retried."""
        pace = Pace(_INTERVAL_SECONDS)
        while not stop_event.wait(pace.interval(self._seen())):
            try:
                self.step()
            except Exception as error:  # the thread must not end, or no more nodes would join
                self._report("simulator", f"{type(error).__name__}: {error}", error)
            else:
                self._reported.pop("simulator", None)
        for cluster in (*self._clusters.values(), *self._plugins.values()):
            cluster.close()

    def _seen(self) -> object:
        return frozenset(self._instances), [each.seen for each in self._clusters.values()]

    def step(self) -> None:
        """Read account and clusters once, and perform due actions."""
        self._look_for_clusters()
        if not self._clusters:
            return  # without clusters, do not query instances
        try:
            self._look_for_instances()
            self._start_kubelets()
        except _ACCOUNT_ERRORS as error:
            self._report("account", f"the account does not answer: {error}")
        else:
            self._reported.pop("account", None)
        for name, cluster in self._clusters.items():
            try:
                for plugin in self._plugins[name].step(broken_plugins(FAULTS)):
                    count_crash(FAULTS, plugin)
                self._find_unhealthy_devices(cluster)
                cluster.step()
            except (*_API_ERRORS, *_ACCOUNT_ERRORS) as error:
                self._report(name, f"cluster {name}: {error}")
            else:
                self._reported.pop(name, None)

    def _find_unhealthy_devices(self, cluster: ClusterNodes) -> None:
        for instance_id, kubelet in cluster.kubelets.items():
            groups = _groups(self._instances[instance_id])
            kubelet.unhealthy = unhealthy_devices(FAULTS, instance_id, groups, kubelet.devices)

    def _look_for_clusters(self) -> None:
        current = {name: self._control_planes.get(name) for name in self._control_planes.names()}
        for name, cluster in list(self._clusters.items()):
            if current.get(name) is not cluster.control_plane:
                cluster.close()  # deleted, perhaps created again: its instances start over
                self._plugins.pop(name).close()
                del self._clusters[name]
        for name, control_plane in current.items():
            if control_plane is not None and name not in self._clusters:
                self._clusters[name] = ClusterNodes(control_plane, self._account.terminate)
                self._plugins[name] = BrokenPlugins(control_plane, self._control_planes)

    def _look_for_instances(self) -> None:
        running = self._account.running_instance_ids()
        for instance_id in self._instances.keys() - running:
            self._forget(instance_id)
        new = running - self._instances.keys()
        if new:
            self._instances |= {i.instance_id: i for i in self._account.instances(new)}

    def _forget(self, instance_id: str) -> None:
        del self._instances[instance_id]
        self._no_nodes.discard(instance_id)
        self._retry_at.pop(instance_id, None)
        self._reported.pop(instance_id, None)
        for cluster in self._clusters.values():
            cluster.remove(instance_id)

    def _start_kubelets(self) -> None:
        started = {instance_id for c in self._clusters.values() for instance_id in c.kubelets}
        now = time.monotonic()
        for instance_id in self._instances.keys() - started - self._no_nodes:
            if now < self._retry_at.get(instance_id, 0):
                continue
            try:
                _refuse_scheduled(self._instances[instance_id])
                kubelet = kubelet_of(
                    self._instances[instance_id], self._account, self._control_planes
                )
            except (CannotJoinError, *_ACCOUNT_ERRORS) as error:
                self._report(instance_id, f"{instance_id} cannot join: {error}")
                self._retry_at[instance_id] = now + _RETRY_SECONDS
                continue
            self._reported.pop(instance_id, None)
            self._add(instance_id, kubelet)

    def _add(self, instance_id: str, kubelet: Kubelet | None) -> None:
        if kubelet is None:
            self._no_nodes.add(instance_id)
            return
        cluster = self._clusters.get(kubelet.control_plane.name)
        if cluster is None or cluster.control_plane is not kubelet.control_plane:
            kubelet.close()  # the cluster came or went; the next step handles it
        else:
            cluster.add(kubelet)

    def _report(self, subject: str, problem: str, error: BaseException | None = None) -> None:
        """Log a problem unless it is the same as the subject's last one."""
        if self._reported.get(subject) != problem:
            _LOG.warning("%s", problem, exc_info=error)
            self._reported[subject] = problem


def _groups(instance: Instance) -> list[str]:
    """Return the names of the node group of an instance."""
    return [instance.tags[tag] for tag in _GROUP_TAGS if instance.tags.get(tag)]


def _refuse_scheduled(instance: Instance) -> None:
    """Keep an instance from joining if the fault schedule says so.

    Raises:
        CannotJoinError: the schedule says so.
    """
    if never_joins(FAULTS, *_groups(instance)):
        raise CannotJoinError("the schedule of faults says so")
