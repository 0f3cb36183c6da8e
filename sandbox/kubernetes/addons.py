"""The objects of EKS add-ons in the control planes, and the device plugins among them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

from trainyard.sandbox.instance_types import nvidia_types
from trainyard.sandbox.kubernetes.api import NOT_FOUND, ApiError, KubernetesApi, unless_gone
from trainyard.sandbox.kubernetes.control_planes import ControlPlane

# The objects that EKS add-ons install, as far as they affect scheduling and other objects.
#
# The pods of VPC CNI, kube-proxy and CoreDNS are omitted, because simulated nodes need no network.
#
# Sources of names, service accounts, affinities and tolerations are the charts of
#     https://github.com/kubernetes-sigs/aws-ebs-csi-driver (2.64.0),
#     https://github.com/kubernetes-sigs/aws-fsx-csi-driver (1.17.0),
#     https://github.com/aws/eks-node-monitoring-agent (1.7.0),
#     https://github.com/aws/eks-pod-identity-agent (1.2.0) and
#     https://github.com/aws-observability/helm-charts (6.4.0).


Object = dict[str, Any]
Settings = Mapping[str, Any]

NAMESPACE = "kube-system"
_EVERY_TAINT = [{"operator": "Exists"}]
_CRITICAL = [
    {"key": "CriticalAddonsOnly", "operator": "Exists"},
    {"effect": "NoExecute", "operator": "Exists", "tolerationSeconds": 300},
]


def addon_objects(addon: str, settings: Settings) -> list[Object]:
    """Return the objects of an add-on with these settings; empty for an omitted add-on."""
    match addon:
        case "eks-pod-identity-agent":
            return [_daemon_set(addon, compute_types=("fargate", "hybrid", "auto"))]
        case "aws-ebs-csi-driver":
            return _driver("ebs", settings, {"attachRequired": True, "fsGroupPolicy": "File"})
        case "aws-fsx-csi-driver":
            how = {"attachRequired": False, "fsGroupPolicy": "ReadWriteOnceWithFSType"}
            return _driver("fsx", settings, how)
        case "eks-node-monitoring-agent":
            return _monitoring(addon, settings)
        case "amazon-cloudwatch-observability":
            return _observability(addon)
        case _:
            return []


def _driver(name: str, settings: Settings, how: Settings) -> list[Object]:
    """Return the objects of a CSI driver: controllers, node DaemonSet, and registration."""
    accounts = {part: f"{name}-csi-{part}-sa" for part in ("controller", "node")}
    controller = settings.get("controller", {})
    return [
        *(_service_account(account) for account in accounts.values()),
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "CSIDriver",
            "metadata": {"name": f"{name}.csi.aws.com"},
            "spec": dict(how),
        },
        _deployment(f"{name}-csi-controller", accounts["controller"], controller),
        _daemon_set(f"{name}-csi-node", account=accounts["node"], compute_types=("fargate",)),
    ]


def _monitoring(name: str, settings: Settings) -> list[Object]:
    tolerations = settings.get("dcgmAgent", {}).get("tolerations", [])
    return [
        _service_account(name),
        _daemon_set(name, account=name, compute_types=("fargate", "auto", "hybrid")),
        _daemon_set(
            "dcgm-server",
            compute_types=("fargate", "auto", "hybrid"),
            instance_types=list(nvidia_types()),
            tolerations=tolerations,
        ),
    ]


def _observability(name: str) -> list[Object]:
    """Return the operator and what it runs on every node; exporters of devices are omitted."""
    namespace = "amazon-cloudwatch"
    agent, operator = "cloudwatch-agent", f"{name}-controller-manager"
    objects = [
        _service_account(agent),
        _service_account(operator),
        _daemon_set(agent, account=agent, compute_types=("fargate",)),
        _daemon_set("fluent-bit", account=agent, compute_types=("fargate",)),
        _deployment(operator, operator, {"replicaCount": 1, "tolerations": _EVERY_TAINT}),
    ]
    for each in objects:
        each["metadata"]["namespace"] = namespace
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
    return [space, *objects]


def _service_account(name: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": name, "namespace": NAMESPACE},
    }


def _daemon_set(
    name: str,
    *,
    compute_types: tuple[str, ...],
    account: str = "default",
    instance_types: list[str] | None = None,
    tolerations: list[Any] | None = None,
) -> Object:
    expressions: list[Object] = [
        {
            "key": "eks.amazonaws.com/compute-type",
            "operator": "NotIn",
            "values": list(compute_types),
        }
    ]
    if instance_types is not None:
        key = "node.kubernetes.io/instance-type"
        expressions.append({"key": key, "operator": "In", "values": instance_types})
    pod = _pod(name, account, "system-node-critical")
    pod["affinity"] = _node_affinity(expressions)
    pod["tolerations"] = _EVERY_TAINT if tolerations is None else tolerations
    return _workload("DaemonSet", name, pod, {})


def _deployment(name: str, account: str, settings: Settings) -> Object:
    pod = _pod(name, account, "system-cluster-critical")
    pod["tolerations"] = settings.get("tolerations", _CRITICAL)
    pod["affinity"] = settings.get("affinity", {})
    return _workload("Deployment", name, pod, {"replicas": settings.get("replicaCount", 2)})


def _pod(name: str, account: str, priority: str) -> Object:
    return {
        "serviceAccountName": account,
        "priorityClassName": priority,
        "nodeSelector": {"kubernetes.io/os": "linux"},
        "containers": [
            {
                "name": name,
                "image": f"sandbox/{name}",
                "resources": {"requests": {"cpu": "10m", "memory": "40Mi"}},
            }
        ],
    }


def _node_affinity(expressions: list[Object]) -> Object:
    terms = {"nodeSelectorTerms": [{"matchExpressions": expressions}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}


def _workload(kind: str, name: str, pod: Object, more: Object) -> Object:
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": pod}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"selector": {"matchLabels": labels}, "template": template, **more},
    }


_PATHS = {
    "Namespace": "/api/v1/namespaces",
    "ServiceAccount": "/api/v1/namespaces/{}/serviceaccounts",
    "DaemonSet": "/apis/apps/v1/namespaces/{}/daemonsets",
    "Deployment": "/apis/apps/v1/namespaces/{}/deployments",
    "CSIDriver": "/apis/storage.k8s.io/v1/csidrivers",
}
_CONFLICT = 409


def _path(each: Mapping[str, Any]) -> str:
    return _PATHS[each["kind"]].format(each["metadata"].get("namespace"))


class KnownControlPlanes(Protocol):
    """The required part of `ControlPlanes`."""

    def get(self, name: str) -> ControlPlane | None:
        """Return a cluster's control plane, or None."""
        ...


class AddonObjects:
    """The add-ons' objects in the clusters of one sandbox."""

    def __init__(self, control_planes: KnownControlPlanes) -> None:
        """Store the control planes of the clusters."""
        self._control_planes = control_planes

    def install(self, cluster: str, addon: str, settings: Mapping[str, Any]) -> None:
        """Create an add-on's objects, or update them to new settings.

        Raises:
            ApiError, ApiUnreachableError: the API server rejects a request, or does not respond.
        """
        with self._administrator(cluster) as api:
            for each in addon_objects(addon, settings):
                path, name = _path(each), each["metadata"]["name"]
                try:
                    api.post(path, each)
                except ApiError as error:
                    if error.status != _CONFLICT:
                        raise
                    api.patch(f"{path}/{name}", each)

    def remove(self, cluster: str, addon: str) -> None:
        """Remove an add-on's objects, but not its namespace; missing objects are ignored.

        Raises:
            ApiError, ApiUnreachableError: the API server rejects a request, or does not respond.
        """
        with self._administrator(cluster) as api:
            for each in reversed(addon_objects(addon, {})):
                if each["kind"] == "Namespace":
                    continue
                with unless_gone():
                    api.delete(
                        f"{_path(each)}/{each['metadata']['name']}",
                        {"propagationPolicy": "Background"},
                    )

    def trouble(self, cluster: str, addon: str) -> str | None:
        """Return EKS's message if parts of an add-on do not run, or None.

        EKS checks Deployments; it does not check DaemonSets without matching nodes.

        Raises:
            ApiUnreachableError: the API server does not respond.
        """
        with self._administrator(cluster) as api:
            for each in addon_objects(addon, {}):
                if each["kind"] != "Deployment":
                    continue
                name = each["metadata"]["name"]
                try:
                    found = api.get(f"{_path(each)}/{name}")
                except ApiError as error:
                    return f"{name}: {error}"
                wanted = found["spec"]["replicas"]
                available = found.get("status", {}).get("availableReplicas", 0)
                if available < wanted:
                    return (
                        "The add-on is unhealthy because it doesn't have the desired number of "
                        f"replicas: {available} of {wanted} pods of {name} are available."
                    )
        return None

    @contextmanager
    def _administrator(self, cluster: str) -> Iterator[KubernetesApi]:
        control_plane = self._control_planes.get(cluster)
        if control_plane is None:
            raise ApiError(NOT_FOUND, f"no control plane serves {cluster}")
        api = control_plane.administrator()
        try:
            yield api
        finally:
            api.close()
