"""The nodes of the sandbox: EC2 instances of the account that join and leave their clusters."""

from __future__ import annotations

import datetime as dt
import ipaddress
import logging
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Protocol

from botocore.exceptions import BotoCoreError, ClientError

from trainyard.sandbox.faults.kinds import (
    broken_plugins,
    count_crash,
    never_joins,
    unhealthy_devices,
)
from trainyard.sandbox.faults.schedule import FAULTS
from trainyard.sandbox.instance_types import UnknownInstanceTypeError, instance_type
from trainyard.sandbox.kubernetes.api import (
    STRATEGIC_MERGE_PATCH,
    ApiError,
    ApiUnreachableError,
    Pace,
    unless_gone,
)
from trainyard.sandbox.kubernetes.control_planes import ControlPlane
from trainyard.sandbox.kubernetes.credentials import AwsAuthError, map_node_role
from trainyard.sandbox.kubernetes.device_plugins import (
    BrokenPlugins,
    PodRunners,
    device_counts,
    ended_without_devices,
    plugin_resources,
)
from trainyard.sandbox.kubernetes.instances import Instance
from trainyard.sandbox.kubernetes.kubelet import (
    Kubelet,
    ManagedGroup,
    NodeConfig,
    NodeConfigError,
    Taint,
    build_node,
    parse_user_data,
)
from trainyard.sandbox.kubernetes.pods import (
    JobDeadlines,
    JobPods,
    OverlookedPods,
    reminder,
    reported_again,
)

_CLUSTER_TAG = "eks:cluster-name"
_NODE_GROUP_TAG = "eks:nodegroup-name"
_HTTPS = 443
_TAINT_EFFECTS = {
    "NO_SCHEDULE": "NoSchedule",
    "NO_EXECUTE": "NoExecute",
    "PREFER_NO_SCHEDULE": "PreferNoSchedule",
}
"""Taint effects: EKS's spelling and that of Kubernetes.

Source: https://docs.aws.amazon.com/eks/latest/APIReference/API_Taint.html
"""


class CannotJoinError(Exception):
    """An instance of a cluster cannot join it; the message says why."""


class MembershipAccount(Protocol):
    """The required calls to the account; `SandboxAccount` in the daemon."""

    def role_arn(self, instance_profile: str) -> str | None:
        """Return the role of an instance profile."""
        ...

    def node_group(self, cluster: str, name: str) -> dict[str, Any]:
        """Return EKS's description of a managed node group."""
        ...

    def cluster(self, name: str) -> dict[str, Any]:
        """Return EKS's description of a cluster."""
        ...

    def ingress_rules(self, security_group_id: str) -> list[dict[str, Any]]:
        """Return the ingress rules of a security group, as EC2's `IpPermissions`."""
        ...


class MembershipControlPlanes(Protocol):
    """The required part of `ControlPlanes`."""

    def get(self, name: str) -> ControlPlane | None:
        """Return a cluster's control plane, or None."""
        ...


def kubelet_of(
    instance: Instance, account: MembershipAccount, control_planes: MembershipControlPlanes
) -> Kubelet | None:
    """Return the kubelet of an instance; None if it is not an EKS node.

    Raises:
        CannotJoinError: it belongs to a cluster but lacks something that it needs to join.
    """
    config = _config(instance)
    group_name = instance.tags.get(_NODE_GROUP_TAG)
    cluster = instance.tags.get(_CLUSTER_TAG) if group_name else config and config.cluster_name
    if config is None and not group_name:
        return None
    config = config or NodeConfig()
    if not group_name and (missing := config.missing()):
        raise CannotJoinError(f"its NodeConfig lacks {', '.join(missing)}: nodeadm does not start")
    control_plane = control_planes.get(cluster or "")
    if control_plane is None:
        raise CannotJoinError(f"no cluster {cluster!r} has an API server")
    description = account.cluster(control_plane.name)
    group = None
    if group_name:
        group = _managed_group(account.node_group(control_plane.name, group_name))
        config = _completed(config, control_plane)
        _let_in(group, description, control_plane)
    _check_reachable(instance, account, description["resourcesVpcConfig"])
    return _kubelet(instance, account, control_plane, config, group)


def _config(instance: Instance) -> NodeConfig | None:
    try:
        return parse_user_data(instance.user_data)
    except NodeConfigError as error:
        raise CannotJoinError(f"nodeadm refuses its user data: {error}") from error


def _kubelet(
    instance: Instance,
    account: MembershipAccount,
    control_plane: ControlPlane,
    config: NodeConfig,
    group: ManagedGroup | None,
) -> Kubelet:
    try:
        machine = instance_type(instance.instance_type)
        return Kubelet(
            instance_id=instance.instance_id,
            control_plane=control_plane,
            node=build_node(instance, machine, config, group),
            devices=device_counts(machine, instance.efa_interfaces),
            role_arn=group.role_arn if group else _role_arn(instance, account),
            endpoint=config.api_server_endpoint,
            certificate_authority=config.certificate_authority,
        )
    except (UnknownInstanceTypeError, ValueError) as error:
        raise CannotJoinError(str(error)) from error


def _completed(config: NodeConfig, control_plane: ControlPlane) -> NodeConfig:
    """Return the NodeConfig that EKS prepends to that of a managed group."""
    return replace(
        config,
        cluster_name=control_plane.name,
        api_server_endpoint=control_plane.endpoint,
        certificate_authority=control_plane.certificate_authority_data,
    )


def _let_in(group: ManagedGroup, cluster: Mapping[str, Any], control_plane: ControlPlane) -> None:
    """Map the group's role as EKS does, in the only mode in which it writes into aws-auth."""
    if (cluster.get("accessConfig") or {}).get("authenticationMode") != "CONFIG_MAP":
        return
    administrator = control_plane.administrator()
    try:
        map_node_role(administrator, group.role_arn)
    except (ApiError, ApiUnreachableError, AwsAuthError) as error:
        raise CannotJoinError(f"EKS cannot map {group.role_arn}: {error}") from error
    finally:
        administrator.close()


def _managed_group(description: Mapping[str, Any]) -> ManagedGroup:
    return ManagedGroup(
        name=description["nodegroupName"],
        capacity_type=description.get("capacityType") or "ON_DEMAND",
        labels=description.get("labels") or {},
        taints=tuple(
            Taint(taint["key"], taint.get("value") or "", _TAINT_EFFECTS[taint["effect"]])
            for taint in description.get("taints") or []
        ),
        role_arn=description["nodeRole"],
    )


def _role_arn(instance: Instance, account: MembershipAccount) -> str:
    if not instance.instance_profile:
        raise CannotJoinError("it has no IAM instance profile, so its kubelet has no credentials")
    role_arn = account.role_arn(instance.instance_profile)
    if role_arn is None:
        raise CannotJoinError(f"the instance profile {instance.instance_profile} holds no role")
    return role_arn


def _check_reachable(
    instance: Instance, account: MembershipAccount, access: Mapping[str, Any]
) -> None:
    """Raise unless the cluster's security group admits the node.

    A node in the VPC connects to an API server with private access through EKS's network
    interfaces, which have the cluster security group. Launch templates that specify security groups
    do not get that group automatically, and their nodes never join.
    Source: https://docs.aws.amazon.com/eks/latest/userguide/sec-group-reqs.html
    """
    group = access.get("clusterSecurityGroupId")
    if not access.get("endpointPrivateAccess") or not group:
        return
    if group in instance.security_group_ids:
        return
    if not admits(account.ingress_rules(group), instance):
        raise CannotJoinError(
            f"it cannot reach the API server: none of its interfaces with an address carries "
            f"the cluster security group {group}, and no rule of that group admits "
            f"{', '.join(instance.security_group_ids) or 'it'} or {instance.private_ip_address} "
            f"on port {_HTTPS}"
        )


def admits(rules: Iterable[Mapping[str, Any]], instance: Instance) -> bool:
    """Return whether an ingress rule admits an instance to port 443."""
    return any(_covers_https(rule) and _names(rule, instance) for rule in rules)


def _covers_https(rule: Mapping[str, Any]) -> bool:
    if rule["IpProtocol"] == "-1":
        return True
    return rule["IpProtocol"] == "tcp" and rule["FromPort"] <= _HTTPS <= rule["ToPort"]


def _names(rule: Mapping[str, Any], instance: Instance) -> bool:
    groups = {pair.get("GroupId") for pair in rule.get("UserIdGroupPairs") or []}
    address = ipaddress.ip_address(instance.private_ip_address)
    return bool(groups & set(instance.security_group_ids)) or any(
        address in ipaddress.ip_network(block["CidrIp"]) for block in rule.get("IpRanges") or []
    )


_LOG = logging.getLogger(__name__)


class ClusterNodes:
    """The instances that are, will be, or were nodes of a cluster."""

    def __init__(self, control_plane: ControlPlane, terminate: Callable[[str], None]) -> None:
        """Start without nodes; `terminate` terminates the instance with an id."""
        self.control_plane = control_plane
        self._terminate = terminate
        self._administrator = control_plane.administrator()
        self._kubelets: dict[str, Kubelet] = {}
        self._leaving: dict[str, Kubelet] = {}
        self._overlooked = OverlookedPods()
        self._job_pods = JobPods(control_plane, self._lose)
        self._deadlines = JobDeadlines(self._administrator)
        self.seen: object = None
        """What the last step found: another value than before if anything changes."""

    @property
    def kubelets(self) -> Mapping[str, Kubelet]:
        """The kubelets of running instances, by instance id."""
        return MappingProxyType(self._kubelets)

    def add(self, kubelet: Kubelet) -> None:
        """Add a kubelet that tries to join from now on."""
        self._kubelets[kubelet.instance_id] = kubelet

    def remove(self, instance_id: str) -> None:
        """Remove the Node of an instance that has ended; ignores instances of other clusters."""
        kubelet = self._kubelets.pop(instance_id, None)
        if kubelet is None:
            return
        kubelet.close()
        if kubelet.registered:
            self._leaving[instance_id] = kubelet

    def step(self) -> None:
        """Perform due actions: remove Nodes, join, detect lost access, report devices, run pods.

        Raises:
            ApiError, ApiUnreachableError: the step is incomplete for at least one node; the others
                are processed, and the next step retries.
        """
        for instance_id, kubelet in list(self._leaving.items()):
            self._remove_node(kubelet)
            del self._leaving[instance_id]
        for kubelet in self._kubelets.values():
            kubelet.try_to_join()
        joined = [kubelet for kubelet in self._kubelets.values() if kubelet.joined]
        self.seen = (frozenset(self._kubelets), len(joined))
        if not joined:
            return
        self._deadlines.step()
        # From the API server's cache, because this runs several times per second.
        pods = self._administrator.get("/api/v1/pods", resourceVersion="0")["items"]
        self.seen = (*self.seen, [each["metadata"]["resourceVersion"] for each in pods])
        devices = {each.node_name: each.devices for each in joined}
        for pod, status in ended_without_devices(pods, devices):
            self._report(pod, {"status": status}, "ends, because its node has no such device")
        running = plugin_resources(pods)
        refused: list[ApiError] = []
        for kubelet in joined:
            try:
                kubelet.offer_devices(running.get(kubelet.node_name, set()))
                kubelet.heartbeat()
            except ApiError as error:
                refused.append(error)
        self._attend_to(pods, {each.node_name for each in joined})
        self._job_pods.step(pods, {each.node_name: each for each in joined})
        if refused:
            raise refused[0]

    def close(self) -> None:
        """Close all connections."""
        self._administrator.close()
        self._job_pods.close()
        for kubelet in self._kubelets.values():
            kubelet.close()

    def _lose(self, kubelet: Kubelet) -> None:
        """Let a node fail: it becomes NotReady, and its group replaces the instance."""
        kubelet.go_silent()
        self._terminate(kubelet.instance_id)

    def _attend_to(self, pods: Iterable[Mapping[str, Any]], nodes: Collection[str]) -> None:
        """Notify kwok of missed pods, and report pods again that were marked as not ready."""
        for pod, attempt in self._overlooked.due(pods, nodes):
            self._remind(pod, attempt)
        for pod in pods:
            status = reported_again(pod) if pod["spec"].get("nodeName") in nodes else None
            if status is not None:
                self._report(pod, status, "is ready again")

    def _remind(self, pod: Mapping[str, Any], attempt: int) -> None:
        namespace, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
        _LOG.info("%s: kwok is reminded of pod %s/%s", self.control_plane.name, namespace, name)
        with unless_gone():
            self._administrator.patch(
                f"/api/v1/namespaces/{namespace}/pods/{name}", reminder(attempt)
            )

    def _report(self, pod: Mapping[str, Any], status: dict[str, Any], what: str) -> None:
        namespace, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
        _LOG.info("%s: pod %s/%s %s", self.control_plane.name, namespace, name, what)
        path = f"/api/v1/namespaces/{namespace}/pods/{name}/status"
        with unless_gone():
            self._administrator.patch(path, status, STRATEGIC_MERGE_PATCH)

    def _remove_node(self, kubelet: Kubelet) -> None:
        """Delete the Node as the cloud controller does, then its pods, which no longer run.

        The pod garbage collector would do the same to the pods, but 40 s later.
        https://github.com/kubernetes/kubernetes/blob/v1.36.4/pkg/controller/podgc/gc_controller.go
        """
        self._delete(kubelet.path)
        selector = f"spec.nodeName={kubelet.node_name}"
        for pod in self._administrator.get("/api/v1/pods", fieldSelector=selector)["items"]:
            namespace, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
            path = f"/api/v1/namespaces/{namespace}/pods/{name}"
            if pod["status"].get("phase") not in ("Succeeded", "Failed"):
                with unless_gone():
                    self._administrator.patch(
                        f"{path}/status", {"status": _orphaned()}, STRATEGIC_MERGE_PATCH
                    )
            self._delete(f"{path}?gracePeriodSeconds=0")
        _LOG.info(
            "%s left %s: node %s is removed",
            kubelet.instance_id,
            self.control_plane.name,
            kubelet.node_name,
        )

    def _delete(self, path: str) -> None:
        with unless_gone():
            self._administrator.delete(path)


def _orphaned() -> dict[str, Any]:
    """Return the status that the pod garbage collector gives to a pod without a node."""
    condition = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "DeletionByPodGC",
        "message": "PodGC: node no longer exists",
        "lastTransitionTime": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
    }
    return {"phase": "Failed", "conditions": [condition]}


# The nodes of the sandbox: EC2 instances of the account that join and leave their clusters.
#
# kwok keeps the Nodes alive and runs their pods. This module decides whether an instance becomes a
# Node, and which. The daemon runs `NodeSimulator.run` in a thread.


_INTERVAL_SECONDS = 0.3
_RETRY_SECONDS = 2.0
"""Interval between checks of an instance that cannot join because of the account's state."""
_GROUP_TAGS = ("eks:nodegroup-name", "aws:autoscaling:groupName")
"""Tags with the node group of an instance."""
_ACCOUNT_ERRORS = (BotoCoreError, ClientError)
_API_ERRORS = (ApiError, ApiUnreachableError)


class Account(MembershipAccount, Protocol):
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


class KnownControlPlanes(MembershipControlPlanes, PodRunners, Protocol):
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
