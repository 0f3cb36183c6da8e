"""Starts and stops the control plane of a cluster, asynchronously to the calls.

CreateCluster and DeleteCluster return at once, as in EKS. The cluster is CREATING or DELETING until
the control plane is running or removed.
"""

from __future__ import annotations

import base64
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from moto.logs.models import LogsBackend, logs_backends
from moto.moto_api._internal import mock_random

from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.aws.eks.store import Cluster, EksStore, Update, invalid_parameter
from trainyard.sandbox.aws.transitions import TRANSITIONS

LOG = logging.getLogger("sandbox.eks")

CLUSTER_TYPE = "aws:eks/cluster:Cluster"


class ControlPlane(Protocol):
    """Properties of a running control plane."""

    @property
    def endpoint(self) -> str:
        """URL of the API server."""
        ...

    @property
    def certificate_authority_data(self) -> str:
        """Certificate of its authority, PEM in base64."""
        ...


class ControlPlaneStarter(Protocol):
    """Starts and stops control planes; `ControlPlanes` in the daemon."""

    def create(self, name: str, version: str) -> ControlPlane:
        """Start the control plane of a cluster and return when it responds."""
        ...

    def upgrade(self, name: str, version: str) -> None:
        """Serve another Kubernetes version; return when the API server responds again."""
        ...

    def delete(self, name: str) -> None:
        """Stop it and remove its data."""
        ...


CheckVersion = Callable[[str, str], None]
"""Raises ValueError for an unsupported version: (cluster name, version)."""


@dataclass
class _Wiring:
    control_planes: ControlPlaneStarter | None = None
    check_version: CheckVersion | None = None
    lock: threading.RLock = field(default_factory=threading.RLock)
    workers: dict[str, threading.Thread] = field(default_factory=dict)
    """The latest task of each cluster, by name."""


_WIRING = _Wiring()


def use_control_planes(
    control_planes: ControlPlaneStarter | None,
    lock: threading.RLock,
    check_version: CheckVersion | None = None,
) -> None:
    """Set what starts control planes; None makes clusters ACTIVE at once, without a control plane.

    Args:
        control_planes: The starter.
        lock: Guards moto's objects; acquired when a control plane is ready, not while it starts.
        check_version: Rejects versions that EKS supports and the control planes do not.
    """
    _WIRING.control_planes = control_planes
    _WIRING.check_version = check_version
    _WIRING.lock = lock


def check_runnable(cluster_name: str, version: str) -> None:
    """Reject a version that the control planes do not support.

    Raises:
        InvalidParameterException: With the reason of the control planes.
    """
    if _WIRING.check_version is None:
        return
    try:
        _WIRING.check_version(cluster_name, version)
    except ValueError as error:
        invalid_parameter(str(error), clusterName=cluster_name)


def bring_up(store: EksStore, cluster: Cluster) -> None:
    """Make a CREATING cluster ACTIVE, or FAILED, when its control plane has started or failed.

    The start time of the control plane counts towards the time that AWS takes.
    """
    starter, began = _WIRING.control_planes, CLOCK.now()

    def answers(endpoint: str, certificate_authority: str) -> None:
        TRANSITIONS.begin(
            CLUSTER_TYPE,
            "create",
            lambda: _activate(cluster, endpoint, certificate_authority),
            since=began,
        )

    if starter is None:
        answers(f"https://{_identifier()}.gr7.{store.region_name}.eks.amazonaws.com", "")
        return

    def work() -> None:
        try:
            control_plane = starter.create(cluster.name, cluster.fields["version"])
        except Exception as error:
            LOG.exception("the control plane of %s did not start", cluster.name)
            with _WIRING.lock:
                _fail(cluster, str(error))
            return
        with _WIRING.lock:
            answers(control_plane.endpoint, control_plane.certificate_authority_data)

    _in_background(cluster.name, work)


def bring_to_version(cluster: Cluster, version: str, update: Update) -> None:
    """Update an ACTIVE cluster to another version; it is UPDATING meanwhile.

    As in EKS, a cluster whose update fails is unchanged.
    """
    starter, began = _WIRING.control_planes, CLOCK.now()
    cluster.fields["status"], update.status = "UPDATING", "InProgress"

    def end() -> None:
        cluster.fields["version"], update.status = version, "Successful"
        _return_to_active(cluster)

    if starter is None:
        TRANSITIONS.begin(CLUSTER_TYPE, "update", end, since=began)
        return

    def work() -> None:
        try:
            starter.upgrade(cluster.name, version)
        except Exception as error:
            LOG.exception("the control plane of %s was not upgraded", cluster.name)
            failed = {"errorCode": "InternalFailure", "errorMessage": str(error)}
            with _WIRING.lock:
                update.status, update.errors = "Failed", [{**failed, "resourceIds": []}]
                _return_to_active(cluster)
            return
        with _WIRING.lock:
            TRANSITIONS.begin(CLUSTER_TYPE, "update", end, since=began)

    _in_background(cluster.name, work)


def _return_to_active(cluster: Cluster) -> None:
    if cluster.fields["status"] == "UPDATING":  # unless deleted meanwhile
        cluster.fields["status"] = "ACTIVE"


def take_down(cluster: Cluster, then: Callable[[], None]) -> None:
    """Stop the control plane of a DELETING cluster.

    Args:
        cluster: The cluster.
        then: Called with the lock held when the control plane has stopped.
    """
    starter, began = _WIRING.control_planes, CLOCK.now()
    if starter is None:
        TRANSITIONS.begin(CLUSTER_TYPE, "delete", then, since=began)
        return

    def work() -> None:
        try:
            starter.delete(cluster.name)
        except Exception:
            LOG.exception("the control plane of %s did not stop", cluster.name)
        with _WIRING.lock:
            TRANSITIONS.begin(CLUSTER_TYPE, "delete", then, since=began)

    _in_background(cluster.name, work)


def _in_background(cluster_name: str, work: Callable[[], None]) -> None:
    """Run a task for a cluster in a thread, after its previous tasks.

    A cluster that is deleted while CREATING therefore leaves no control plane behind.
    """
    before = _WIRING.workers.get(cluster_name)

    def in_turn() -> None:
        if before is not None:
            before.join()
        work()

    worker = threading.Thread(target=in_turn, name=f"cluster-{cluster_name}", daemon=True)
    _WIRING.workers[cluster_name] = worker
    worker.start()


def _activate(cluster: Cluster, endpoint: str, certificate_authority: str) -> None:
    if cluster.fields["status"] != "CREATING":  # deleted meanwhile
        return
    data = certificate_authority or base64.b64encode(b"no control plane runs").decode()
    cluster.fields.update(endpoint=endpoint, certificateAuthority={"data": data}, status="ACTIVE")


def _fail(cluster: Cluster, message: str) -> None:
    cluster.fields["status"] = "FAILED"
    issue: dict[str, Any] = {"code": "InternalFailure", "message": message, "resourceIds": []}
    cluster.fields["health"] = {"issues": [issue]}


def _identifier() -> str:
    return mock_random.get_random_hex(32).upper()


# The log group of a control plane, which EKS creates if it is missing.
#
# The role `AWSServiceRoleForAmazonEKS` may create groups below `/aws/eks/`, and writes events until
# the cluster is gone: a group that is deleted before the cluster exists again, without a retention
# time and without tags. The events themselves are not emulated.
#
# Sources:
#     https://docs.aws.amazon.com/eks/latest/userguide/control-plane-logs.html
#     https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonEKSServiceRolePolicy.html
#     https://github.com/terraform-aws-modules/terraform-aws-eks/issues/2763


def ensure_log_group(cluster: Cluster, account_id: str, region: str) -> None:
    """Create the log group of a cluster that sends logs, if it does not exist."""
    logs: LogsBackend = logs_backends[account_id][region]
    # One entry has the enabled types, which can be none, and one the others.
    given = cluster.fields["logging"]["clusterLogging"]
    if any(each.get("enabled") and each.get("types") for each in given):
        logs.ensure_log_group(f"/aws/eks/{cluster.name}/cluster")
