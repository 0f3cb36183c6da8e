"""A simulated kubelet: joins its cluster with its instance's role, and advertises devices."""

from __future__ import annotations

import datetime as dt
import logging
import time
from collections.abc import Collection, Mapping
from typing import Any
from urllib.parse import quote

from trainyard.sandbox.kubernetes.api import (
    NOT_FOUND,
    STRATEGIC_MERGE_PATCH,
    ApiError,
    ApiUnreachableError,
    KubernetesApi,
)
from trainyard.sandbox.kubernetes.commands import MANAGED_LABEL, MANAGED_VALUE
from trainyard.sandbox.kubernetes.startup import ControlPlane

_LOG = logging.getLogger(__name__)

_FIRST_RETRY_SECONDS = 0.3
_LAST_RETRY_SECONDS = 2.0
_HEARTBEAT_SECONDS = 2.0


class Kubelet:
    """The kubelet of an instance.

    It never uses the administrator's token for its Node: registration and status updates pass the
    authenticator, the Node authorizer and NodeRestriction, like the requests of a real node.
    """

    def __init__(
        self,
        *,
        instance_id: str,
        control_plane: ControlPlane,
        node: Mapping[str, Any],
        devices: Mapping[str, int],
        role_arn: str,
        endpoint: str,
        certificate_authority: str,
    ) -> None:
        """Prepare to join; sends no request.

        Args:
            instance_id: Session name of the role, as EC2 sets it.
            control_plane: The cluster that the node belongs to.
            node: The Node object to register.
            devices: Number of devices by extended resource, advertised once their plugin runs.
            role_arn: IAM role of the instance.
            endpoint: API server endpoint in the node's configuration, correct or not.
            certificate_authority: Certificate authority in the node's configuration, base64 of PEM.

        Raises:
            ValueError: endpoint or certificate authority cannot be used.
        """
        self.instance_id = instance_id
        self.control_plane = control_plane
        self.node_name: str = node["metadata"]["name"]
        self.joined = False
        """Whether the API server accepts the node's requests."""
        self.registered = False
        """Whether a Node must be removed when the instance ends."""
        self.unhealthy: Mapping[str, int] = {}
        """Number of unhealthy devices by extended resource; the plugins report them."""
        self._node = node
        self._heartbeat_at = 0.0
        self._devices = devices
        self._role_arn = role_arn
        self._offered: dict[str, dict[str, str]] = {}
        self._next_attempt = 0.0
        self._wait_seconds = _FIRST_RETRY_SECONDS
        self._reason = ""
        self._token = session_token(control_plane.access_key, role_arn, instance_id)
        self._api = KubernetesApi(
            endpoint, certificate_authority_data=certificate_authority, token=self._token
        )

    @property
    def path(self) -> str:
        """API path of the Node."""
        return f"/api/v1/nodes/{quote(self.node_name)}"

    @property
    def address(self) -> str:
        """Address of the Node in the VPC."""
        return self._node["status"]["addresses"][0]["address"]

    @property
    def devices(self) -> Mapping[str, int]:
        """Number of devices by extended resource."""
        return self._devices

    def try_to_join(self) -> None:
        """Register the Node, unless the last attempt failed recently; log failures once."""
        if self.joined or time.monotonic() < self._next_attempt:
            return
        try:
            self._register()
        except ApiError as error:
            self._refused(self._explain(error))
        except ApiUnreachableError as error:
            self._refused(str(error))
        else:
            self.joined = True
            self._reason = ""
            self._wait_seconds = _FIRST_RETRY_SECONDS
            _LOG.info("%s joined %s as node %s", *self._names, self.node_name)

    def heartbeat(self) -> None:
        """Detect that the role has lost access, and stop responding as a real kubelet would.

        The API server caches a token for 10 s, so the detection takes that long.

        Raises:
            ApiError, ApiUnreachableError: the API server rejected the request for another reason.
        """
        if not self.joined or time.monotonic() < self._heartbeat_at:
            return
        self._heartbeat_at = time.monotonic() + _HEARTBEAT_SECONDS
        try:
            self._api.get(self.path)
        except ApiError as error:
            if error.status == 401:
                self.go_silent()
                self._refused(self._explain(error))
            elif error.status != NOT_FOUND:  # as in a real cluster, a deleted Node does not return
                raise

    def offer_devices(self, running: Collection[str]) -> None:
        """Report the devices of running plugins to the API server, and 0 for stopped ones.

        Unhealthy devices stay in the capacity, and cannot be allocated.

        Raises:
            ApiError, ApiUnreachableError: the status could not be changed; the call can be
                repeated.
        """
        known = self._offered.get("capacity", {})
        counts = {
            resource: count if resource in running else 0
            for resource, count in self._devices.items()
            if count and (resource in running or resource in known)
        }
        healthy = {
            resource: max(0, count - self.unhealthy.get(resource, 0))
            for resource, count in counts.items()
        }
        wanted = {"capacity": _quantities(counts), "allocatable": _quantities(healthy)}
        if wanted == self._offered or not counts:
            return
        try:
            self._api.patch(f"{self.path}/status", {"status": wanted})
        except ApiError as error:
            if error.status != 401:
                raise
            self._heartbeat_at = 0.0  # the next heartbeat finds the reason
            return
        self._offered = wanted
        _LOG.info("%s in %s offers %s", *self._names, wanted["allocatable"])

    def close(self) -> None:
        """Close the connections after the instance has ended."""
        self._api.close()

    @property
    def _names(self) -> tuple[str, str]:
        return self.instance_id, self.control_plane.name

    def _register(self) -> None:
        try:
            self._api.post("/api/v1/nodes", dict(self._node))
        except ApiError as error:
            if error.status != 409 or not self._is_ours():
                raise
        self.registered = True
        # Last step: from now on kwok makes the Node Ready.
        self._api.patch(self.path, {"metadata": {"labels": {MANAGED_LABEL: MANAGED_VALUE}}})

    def go_silent(self) -> None:
        """Stop kwok's heartbeat for the Node, and report that before its lease expires."""
        self.joined = False
        unknown = {
            "type": "Ready",
            "status": "Unknown",
            "reason": "NodeStatusUnknown",
            "message": "Kubelet stopped posting node status.",
            "lastTransitionTime": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        }
        administrator = self.control_plane.administrator()
        try:
            administrator.patch(self.path, {"metadata": {"labels": {MANAGED_LABEL: None}}})
            administrator.patch(
                f"{self.path}/status",
                {"status": {"conditions": [unknown]}},
                STRATEGIC_MERGE_PATCH,
            )
        finally:
            administrator.close()

    def _is_ours(self) -> bool:
        """Whether the existing Node belongs to this instance, from an earlier registration."""
        known = self._api.get(self.path)
        return known["spec"].get("providerID") == self._node["spec"]["providerID"]

    def _refused(self, reason: str) -> None:
        if reason != self._reason:
            _LOG.warning("%s cannot join %s: %s", *self._names, reason)
            self._reason = reason
        self._next_attempt = time.monotonic() + self._wait_seconds
        self._wait_seconds = min(self._wait_seconds * 1.5, _LAST_RETRY_SECONDS)

    def _explain(self, error: ApiError) -> str:
        """Return the reason; the API server tells only the administrator the reason for a 401."""
        if error.status != 401:
            return f"{self._role_arn} is let in, but may not register the node: {error}"
        review = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenReview",
            "spec": {"token": self._token},
        }
        administrator = self.control_plane.administrator()
        try:
            answer = administrator.post("/apis/authentication.k8s.io/v1/tokenreviews", review)
        except (ApiError, ApiUnreachableError):
            return str(error)
        finally:
            administrator.close()
        return f"401 Unauthorized: {answer['status'].get('error', 'no reason given')}"


def _quantities(counts: Mapping[str, int]) -> dict[str, str]:
    return {resource: str(count) for resource, count in counts.items()}


def session_token(access_key: str, role_arn: str, session: str) -> str:
    """Return the token of a role's session for the authenticator (`authenticator/bearer.go`)."""
    return f"{access_key}@{session_arn(role_arn, session)}"


def session_arn(role_arn: str, session: str) -> str:
    """Return the STS identity of a role's session, which never contains the role's path.

    Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html
    """
    partition, account, resource = (role_arn.split(":", 5)[i] for i in (1, 4, 5))
    return f"arn:{partition}:sts::{account}:assumed-role/{resource.rpartition('/')[2]}/{session}"
