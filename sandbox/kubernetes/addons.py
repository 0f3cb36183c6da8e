"""Install and remove the objects of EKS add-ons in the control planes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

from trainyard.sandbox.kubernetes.addon_objects import addon_objects
from trainyard.sandbox.kubernetes.api import NOT_FOUND, ApiError, KubernetesApi, unless_gone
from trainyard.sandbox.kubernetes.startup import ControlPlane

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
