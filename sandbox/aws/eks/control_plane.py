"""Brings up and takes down the control plane behind a cluster, beside the calls.

CreateCluster and DeleteCluster answer at once, as in EKS; the cluster is CREATING or DELETING until
the control plane is there or gone.
"""

from __future__ import annotations

import base64
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from moto.moto_api._internal import mock_random

from sandbox.aws.clock import CLOCK
from sandbox.aws.eks.errors import invalid_parameter
from sandbox.aws.eks.store import Cluster, EksStore, Update
from sandbox.aws.transitions import TRANSITIONS

LOG = logging.getLogger("sandbox.eks")

CLUSTER_TYPE = "aws:eks/cluster:Cluster"


class ControlPlane(Protocol):
    """What a running control plane tells of itself."""

    @property
    def endpoint(self) -> str:
        """URL of the API server."""
        ...

    @property
    def certificate_authority_data(self) -> str:
        """Its authority's certificate, PEM in base64."""
        ...


class ControlPlaneStarter(Protocol):
    """Starts and stops control planes; `sandbox.kubernetes.control_planes.ControlPlanes` does."""

    def create(self, name: str, version: str) -> ControlPlane:
        """Start the control plane of a cluster and return when it answers."""
        ...

    def upgrade(self, name: str, version: str) -> None:
        """Serve another Kubernetes version with it; return when it answers again."""
        ...

    def delete(self, name: str) -> None:
        """Stop it and remove its data."""
        ...


CheckVersion = Callable[[str, str], None]
"""Raises ValueError where the control planes cannot run a version: (cluster name, version)."""


@dataclass
class _Wiring:
    control_planes: ControlPlaneStarter | None = None
    check_version: CheckVersion | None = None
    lock: threading.RLock = field(default_factory=threading.RLock)
    workers: dict[str, threading.Thread] = field(default_factory=dict)
    """The last work on each cluster, by name."""


_WIRING = _Wiring()


def use_control_planes(
    control_planes: ControlPlaneStarter | None,
    lock: threading.RLock,
    check_version: CheckVersion | None = None,
) -> None:
    """Say what starts control planes; None: clusters are ACTIVE at once, with nothing behind them.

    Args:
        control_planes: The starter.
        lock: Guards moto's objects; taken when a control plane is there, not while it starts.
        check_version: Refuses versions that EKS has and the control planes have not.
    """
    _WIRING.control_planes = control_planes
    _WIRING.check_version = check_version
    _WIRING.lock = lock


def check_runnable(cluster_name: str, version: str) -> None:
    """Refuse a version that the control planes cannot run.

    Raises:
        InvalidParameterException: With the reason that the control planes give.
    """
    if _WIRING.check_version is None:
        return
    try:
        _WIRING.check_version(cluster_name, version)
    except ValueError as error:
        invalid_parameter(str(error), clusterName=cluster_name)


def bring_up(store: EksStore, cluster: Cluster) -> None:
    """Make a CREATING cluster ACTIVE, or FAILED, when its control plane is there.

    What the control plane takes to start counts towards the time that AWS takes.
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
    """Let an ACTIVE cluster serve another version; it is UPDATING until it does.

    As in EKS a cluster whose update fails stays what it was.
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
    if cluster.fields["status"] == "UPDATING":  # not deleted meanwhile
        cluster.fields["status"] = "ACTIVE"


def take_down(cluster: Cluster, then: Callable[[], None]) -> None:
    """Stop the control plane of a DELETING cluster.

    Args:
        cluster: The cluster.
        then: Called with the lock held when the control plane is gone.
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
    """Do the work on a cluster in a thread, after what is still being done on it.

    So a cluster that is deleted while it is CREATING leaves no control plane behind.
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
