"""A simulated kubelet: its configuration, the Node that it registers, and its devices."""

from __future__ import annotations

import base64
import binascii
import contextlib
import datetime as dt
import email
import email.policy
import gzip
import logging
import shlex
import time
import zlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import yaml

from trainyard.sandbox.engine.pins import KUBERNETES_VERSION
from trainyard.sandbox.instance_types import InstanceType
from trainyard.sandbox.kubernetes.api import (
    NOT_FOUND,
    STRATEGIC_MERGE_PATCH,
    ApiError,
    ApiUnreachableError,
    KubernetesApi,
)
from trainyard.sandbox.kubernetes.control_planes import MANAGED_LABEL, MANAGED_VALUE, ControlPlane
from trainyard.sandbox.kubernetes.instances import Instance

# Read a nodeadm `NodeConfig` from an instance's user data.
#
# Source: https://awslabs.github.io/amazon-eks-ami/nodeadm/doc/api/ and, for the encodings and the
# merge of several parts, nodeadm/internal of https://github.com/awslabs/amazon-eks-ami.


_MEDIA_TYPE = "application/node.eks.aws"
_API_GROUP = "node.eks.aws"
_GZIP_MAGIC = b"\x1f\x8b"


class NodeConfigError(ValueError):
    """The user data has a NodeConfig that nodeadm would reject."""


@dataclass(frozen=True, slots=True)
class Taint:
    """A taint with which the kubelet registers its Node."""

    key: str
    value: str
    effect: str

    def as_object(self) -> dict[str, str]:
        """Return the taint in the form of a Node's spec."""
        return {"key": self.key, "value": self.value, "effect": self.effect}


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeConfig:
    """Cluster and kubelet configuration of a node; empty values are not set."""

    cluster_name: str = ""
    api_server_endpoint: str = ""
    certificate_authority: str = ""
    """Base64 of PEM."""
    cidr: str = ""
    labels: tuple[tuple[str, str], ...] = ()
    taints: tuple[Taint, ...] = ()
    maximum_pods: int | None = None
    """None for the value from the AMI's table."""
    local_storage: str = ""
    """`RAID0`, `RAID10`, `Mount`, or empty if the instance store is not used."""

    def missing(self) -> list[str]:
        """Return the missing fields that nodeadm requires, in its order."""
        required = {
            "spec.cluster.name": self.cluster_name,
            "spec.cluster.apiServerEndpoint": self.api_server_endpoint,
            "spec.cluster.certificateAuthority": self.certificate_authority,
            "spec.cluster.cidr": self.cidr,
        }
        return [field for field, value in required.items() if not value]


def parse_user_data(user_data: bytes) -> NodeConfig | None:
    """Return the NodeConfig in user data, or None if there is none (not an AL2023 EKS node).

    MIME parts are merged as nodeadm does: later values replace earlier ones, kubelet flags are
    appended.

    Raises:
        NodeConfigError: a part of the type NodeConfig is invalid.
    """
    merged: dict[str, Any] = {}
    found = False
    for part in _parts(_decode(user_data)):
        found = True
        _merge(merged, _document(part))
    return _node_config(merged.get("spec") or {}) if found else None


def _decode(data: bytes) -> bytes:
    """Decode base64, then gzip, if they are used."""
    with contextlib.suppress(binascii.Error):  # it was not base64
        data = base64.b64decode(b"".join(data.split()), validate=True)
    if not data.startswith(_GZIP_MAGIC):
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise NodeConfigError(f"it begins like gzip, but is not: {error}") from error


def _parts(data: bytes) -> Iterator[bytes]:
    """Return the NodeConfig documents: MIME parts of that type, or all of the data."""
    message = email.message_from_bytes(data, policy=email.policy.default)
    if message.is_multipart():
        for part in message.walk():
            if part.get_content_type() == _MEDIA_TYPE:
                content = part.get_payload(decode=True)
                yield _decode(content if isinstance(content, bytes) else b"")
    elif f"{_API_GROUP}/".encode() in data:
        yield data


def _document(content: bytes) -> dict[str, Any]:
    try:
        document = yaml.safe_load(content)
    except yaml.YAMLError as error:
        raise NodeConfigError(f"the NodeConfig is not YAML: {error}") from error
    if not isinstance(document, dict):
        raise NodeConfigError("the NodeConfig is not an object")
    group = str(document.get("apiVersion", "")).partition("/")[0]
    if group != _API_GROUP or document.get("kind") != "NodeConfig":
        raise NodeConfigError(
            f"apiVersion and kind are {document.get('apiVersion')!r} and "
            f"{document.get('kind')!r}, not 'node.eks.aws/v1alpha1' and 'NodeConfig'"
        )
    return document


def _merge(target: dict[str, Any], source: Mapping[str, Any]) -> None:
    for key, value in source.items():
        current = target.get(key)
        if isinstance(current, dict) and isinstance(value, dict):
            _merge(current, value)
        elif key == "flags" and isinstance(current, list) and isinstance(value, list):
            current.extend(value)
        else:
            target[key] = value


def _node_config(spec: Mapping[str, Any]) -> NodeConfig:
    cluster: Mapping[str, Any] = spec.get("cluster") or {}
    kubelet: Mapping[str, Any] = spec.get("kubelet") or {}
    config: Mapping[str, Any] = kubelet.get("config") or {}
    flags = _flags(kubelet.get("flags") or [])
    storage = ((spec.get("instance") or {}).get("localStorage") or {}).get("strategy") or ""
    maximum_pods = flags.get("max-pods", [config.get("maxPods")])[-1]
    return NodeConfig(
        cluster_name=str(cluster.get("name") or ""),
        api_server_endpoint=str(cluster.get("apiServerEndpoint") or ""),
        certificate_authority=str(cluster.get("certificateAuthority") or ""),
        cidr=str(cluster.get("cidr") or ""),
        labels=tuple(_given_labels(flags.get("node-labels", []))),
        taints=_taints(flags, config),
        maximum_pods=None if maximum_pods is None else _integer("maxPods", maximum_pods),
        local_storage=str(storage),
    )


def _flags(arguments: list[Any]) -> dict[str, list[str]]:
    """Return the values of each kubelet flag in order, by its name without dashes."""
    values: dict[str, list[str]] = {}
    words = shlex.split(" ".join(str(argument) for argument in arguments))
    name = ""
    for word in words:
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            values.setdefault(name, []).extend([value] if equals else [])
        elif name:
            values[name].append(word)
        else:
            raise NodeConfigError(f"the kubelet flag {word!r} does not begin with '--'")
    return values


def _given_labels(values: list[str]) -> Iterator[tuple[str, str]]:
    labels: dict[str, str] = {}
    for pair in filter(None, ",".join(values).split(",")):
        key, equals, value = pair.partition("=")
        if not equals:
            raise NodeConfigError(f"--node-labels holds {pair!r}, which is not key=value")
        labels[key] = value
    yield from labels.items()


def _taints(flags: Mapping[str, list[str]], config: Mapping[str, Any]) -> tuple[Taint, ...]:
    if "register-with-taints" not in flags:
        return tuple(
            Taint(str(taint["key"]), str(taint.get("value") or ""), str(taint["effect"]))
            for taint in config.get("registerWithTaints") or []
        )
    taints: list[Taint] = []
    for text in filter(None, ",".join(flags["register-with-taints"]).split(",")):
        name, colon, effect = text.partition(":")
        if not colon:
            raise NodeConfigError(f"--register-with-taints holds {text!r}: no ':effect'")
        key, _, value = name.partition("=")
        taints.append(Taint(key, value, effect))
    return tuple(taints)


def _integer(field: str, value: object) -> int:
    try:
        return int(str(value))
    except ValueError as error:
        raise NodeConfigError(f"{field} is {value!r}, not a number") from error


_MIB = 2**20
_GIB = 2**30
_HUGE_PAGE_MIB, _HUGE_MIB_OF_ENDPOINT, _ENDPOINTS_PER_CPU = 2, 110, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ManagedGroup:
    """Properties that a managed node group adds to its nodes."""

    name: str
    capacity_type: str
    """`ON_DEMAND`, `SPOT` or `CAPACITY_BLOCK`."""
    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    role_arn: str


def build_node(
    instance: Instance,
    instance_type: InstanceType,
    config: NodeConfig,
    group: ManagedGroup | None,
) -> dict[str, Any]:
    """Return the Node as the kubelet of `instance` creates it, before any device plugin runs."""
    taints = (group.taints if group else ()) + config.taints
    capacity = _capacity(instance, instance_type, config)
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": instance.private_dns_name,
            "labels": _labels(instance, instance_type, config, group),
            # kubectl and controllers use it for volumes and pods, as on real nodes.
            "annotations": {"volumes.kubernetes.io/controller-managed-attach-detach": "true"},
        },
        "spec": {
            "providerID": instance.provider_id,
            "taints": [taint.as_object() for taint in taints],
        },
        "status": {
            "addresses": [
                {"type": "InternalIP", "address": instance.private_ip_address},
                {"type": "InternalDNS", "address": instance.private_dns_name},
                {"type": "Hostname", "address": instance.private_dns_name},
            ],
            "capacity": _quantities(capacity),
            "allocatable": _quantities(_allocatable(capacity, instance_type)),
            "nodeInfo": _node_info(instance, instance_type),
        },
    }


def classic_maximum_pods(instance_type: InstanceType) -> int:
    """Return the AMI's default: interfaces of card 0 x (addresses - 1) + 2.

    The VPC CNI assigns pod addresses on network card 0 only, and eni-max-pods.txt is based on that:
    100 for p5.48xlarge with two interfaces on that card.
    Source: nodeadm/internal/kubelet/maxpods of https://github.com/awslabs/amazon-eks-ami
    """
    interfaces = instance_type.interfaces_of_first_card
    return interfaces * (instance_type.addresses_per_interface - 1) + 2


def reserved_millicores(vcpus: int) -> int:
    """Return EKS's CPU reservation for the kubelet: 6 % of the first CPU, 1 %, 0.5 % x 2, 0.25 %.

    Source: nodeadm/internal/kubelet of https://github.com/awslabs/amazon-eks-ami
    """
    tenths = [600, 100, 50, 50]
    return (sum(tenths[:vcpus]) + max(0, vcpus - len(tenths)) * 25) // 10


def _capacity(
    instance: Instance, instance_type: InstanceType, config: NodeConfig
) -> dict[str, int]:
    """Return the capacity of the machine: CPU in millicores, the rest in bytes and counts.

    Memory is that of the instance type; a real node reports some percent less.
    """
    if config.local_storage.startswith("RAID") and instance_type.local_nvme_gb:
        storage = instance_type.local_nvme_gb * 10**9
    else:
        storage = instance.root_volume_gib * _GIB
    return {
        "cpu": instance_type.vcpus * 1000,
        "memory": instance_type.memory_mib * _MIB,
        "ephemeral-storage": storage,
        "hugepages-2Mi": _huge_pages(instance, instance_type) * _HUGE_PAGE_MIB * _MIB,
        "pods": config.maximum_pods or classic_maximum_pods(instance_type),
    }


def _huge_pages(instance: Instance, instance_type: InstanceType) -> int:
    """Return how many huge pages are reserved when an instance boots: some if it has EFA.

    `efa-hugepages-reserve` of the EFA installer, which the accelerated AMIs contain, reserves 110
    MiB for each of two endpoints of libfabric for every CPU, and one page more.
    Source: https://github.com/awslabs/libfabric-ci-scripts/blob/main/efa-check.sh, which computes
    the same; https://github.com/bottlerocket-os/bottlerocket-core-kit/pull/141
    """
    if not instance.efa_interfaces:
        return 0
    memory_mib = instance_type.vcpus * _ENDPOINTS_PER_CPU * _HUGE_MIB_OF_ENDPOINT
    return memory_mib // _HUGE_PAGE_MIB + 1


def _allocatable(capacity: Mapping[str, int], instance_type: InstanceType) -> dict[str, int]:
    """Return the capacity minus the reservations in EKS's kubelet configuration.

    Memory: 255 MiB + 11 MiB per pod of the AMI's default maximum, 100 MiB before eviction, and huge
    pages, which are a separate resource.
    Storage: 1 GiB, and 10 % before eviction.
    Source: nodeadm/internal/kubelet/config.go of https://github.com/awslabs/amazon-eks-ami
    """
    reserved = (255 + 11 * classic_maximum_pods(instance_type) + 100) * _MIB
    reserved += capacity["hugepages-2Mi"]
    return {
        "cpu": capacity["cpu"] - reserved_millicores(instance_type.vcpus),
        "memory": capacity["memory"] - reserved,
        "ephemeral-storage": max(0, capacity["ephemeral-storage"] * 9 // 10 - _GIB),
        "hugepages-2Mi": capacity["hugepages-2Mi"],
        "pods": capacity["pods"],
    }


def _quantities(amounts: Mapping[str, int]) -> dict[str, str]:
    millicores = amounts["cpu"]
    cpu = f"{millicores}m" if millicores % 1000 else str(millicores // 1000)
    return {
        "cpu": cpu,
        "memory": f"{amounts['memory'] // 1024}Ki",
        "ephemeral-storage": f"{amounts['ephemeral-storage'] // 1024}Ki",
        "hugepages-2Mi": f"{amounts['hugepages-2Mi'] // _MIB}Mi",
        "pods": str(amounts["pods"]),
    }


def _labels(
    instance: Instance,
    instance_type: InstanceType,
    config: NodeConfig,
    group: ManagedGroup | None,
) -> dict[str, str]:
    """Return the labels of kubelet, cloud controller, node group, and kubelet flags.

    Source: https://kubernetes.io/docs/reference/labels-annotations-taints/ and
    https://docs.aws.amazon.com/eks/latest/userguide/managed-node-groups.html
    """
    labels = {
        "kubernetes.io/arch": _architecture(instance_type),
        "kubernetes.io/os": "linux",
        "kubernetes.io/hostname": instance.private_dns_name,
        "node.kubernetes.io/instance-type": instance.instance_type,
        "topology.kubernetes.io/region": instance.region,
        "topology.kubernetes.io/zone": instance.availability_zone,
        "topology.k8s.aws/zone-id": instance.zone_id,
        # For older selectors, such as those in the EFA plugin's chart.
        "beta.kubernetes.io/arch": _architecture(instance_type),
        "beta.kubernetes.io/os": "linux",
        "beta.kubernetes.io/instance-type": instance.instance_type,
    }
    if group:
        labels |= {
            "eks.amazonaws.com/nodegroup": group.name,
            "eks.amazonaws.com/nodegroup-image": instance.image_id,
            "eks.amazonaws.com/capacityType": group.capacity_type,
            **group.labels,
        }
    return labels | dict(config.labels)


def _architecture(instance_type: InstanceType) -> str:
    return "arm64" if instance_type.architecture == "arm64" else "amd64"


def _node_info(instance: Instance, instance_type: InstanceType) -> dict[str, str]:
    return {
        "architecture": _architecture(instance_type),
        "bootID": "",
        "containerRuntimeVersion": "simulated",
        "kernelVersion": "simulated",
        "kubeProxyVersion": "",
        "kubeletVersion": f"v{instance.kubelet_version or KUBERNETES_VERSION}",
        "machineID": "",
        "operatingSystem": "linux",
        "osImage": "Amazon Linux 2023 (simulated)",
        "systemUUID": "",
    }


_LOG = logging.getLogger(__name__)

_FIRST_RETRY_SECONDS = 0.3
_LAST_RETRY_SECONDS = 2.0
_HEARTBEAT_SECONDS = 2.0
_NO_ACCESS = (401, 403)
"""Answers to a node whose role is nobody, or a user that may not report it: not of the group
`system:nodes`, or with another name. Either way its lease is not renewed.
https://kubernetes.io/docs/reference/access-authn-authz/node/"""


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
            if error.status in _NO_ACCESS:
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
        wanted = {"capacity": _counts(counts), "allocatable": _counts(healthy)}
        if wanted == self._offered or not counts:
            return
        try:
            self._api.patch(f"{self.path}/status", {"status": wanted})
        except ApiError as error:
            if error.status not in _NO_ACCESS:
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


def _counts(counts: Mapping[str, int]) -> dict[str, str]:
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
