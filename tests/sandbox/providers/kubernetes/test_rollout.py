"""When an object counts as ready."""

from __future__ import annotations

from typing import Any, cast

import pytest

from trainyard.sandbox.providers.kubernetes.cluster import Cluster
from trainyard.sandbox.providers.kubernetes.kinds import Kind
from trainyard.sandbox.providers.kubernetes.objects import (
    NotReadyError,
    check_read,
    wait_until_rolled_out,
)


class Controller:
    """Returns one status after another and repeats the last one."""

    def __init__(self, *statuses: dict[str, Any] | None) -> None:
        self.statuses = list(statuses)
        self.reads = 0

    def read(self, kind: Kind, metadata: dict[str, Any]) -> dict[str, Any] | None:
        self.reads += 1
        status = self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]
        return None if status is None else {"metadata": metadata, "status": status}

    def pause(self) -> None:
        """Skip all waits."""


def wait(
    kind: str, controller: Controller, seconds: float = 5, **annotations: str
) -> dict[str, Any]:
    metadata = {"name": "x", "generation": 2, "annotations": annotations}
    return wait_until_rolled_out(
        cast("Cluster", controller),
        Kind("apps/v1", kind, False),
        {"metadata": metadata},
        deadline_seconds=seconds,
    )


def daemon_set(seen: int, wanted: int, updated: int, available: int) -> dict[str, Any]:
    return {
        "observedGeneration": seen,
        "desiredNumberScheduled": wanted,
        "currentNumberScheduled": wanted,
        "updatedNumberScheduled": updated,
        "numberAvailable": available,
        "numberReady": available,
    }


def test_a_daemon_set_is_done_when_every_pod_is_new_and_available() -> None:
    controller = Controller(
        daemon_set(1, 2, 2, 2),
        daemon_set(2, 2, 1, 2),
        daemon_set(2, 2, 2, 1),
        daemon_set(2, 2, 2, 2),
    )
    assert wait("DaemonSet", controller)["status"] == daemon_set(2, 2, 2, 2)
    assert controller.reads == 4


def test_a_daemon_set_that_no_node_fits_is_done() -> None:
    assert wait("DaemonSet", Controller({"observedGeneration": 2}))


def test_a_daemon_set_that_never_gets_there_stays_as_it_was_last_seen() -> None:
    with pytest.raises(NotReadyError, match=r"^timed out waiting for the condition$") as error:
        wait("DaemonSet", Controller(daemon_set(2, 2, 2, 1)), 1e-9)
    assert error.value.found["status"] == daemon_set(2, 2, 2, 1)


def deployment(available: str, progress: str) -> dict[str, Any]:
    conditions = [
        {"type": "Available", "status": available, "reason": "R", "message": "too few"},
        {"type": "Progressing", "status": "True", "reason": progress},
    ]
    return {"observedGeneration": 2, "conditions": conditions}


def test_a_deployment_waits_until_its_new_pods_are_available() -> None:
    controller = Controller(
        deployment("True", "ReplicaSetUpdated"), deployment("True", "NewReplicaSetAvailable")
    )
    wait("Deployment", controller)
    assert controller.reads == 2


def test_a_deployment_that_never_gets_there_says_what_is_missing() -> None:
    with pytest.raises(NotReadyError, match=r"^'x' timed out waiting to be Ready$") as error:
        wait("Deployment", Controller(deployment("False", "ReplicaSetUpdated")), 1e-9)
    assert error.value.reasons == [
        "[R] too few",
        "Minimum number of live Pods was not attained",
    ]


@pytest.mark.parametrize(
    ("kind", "phases"),
    [
        ("PersistentVolume", ["Pending", "Available"]),
        ("PersistentVolumeClaim", ["Pending", "Bound"]),
    ],
)
def test_a_volume_waits_for_its_phase(kind: str, phases: list[str]) -> None:
    controller = Controller(*({"phase": phase} for phase in phases))
    wait(kind, controller)
    assert controller.reads == 2


def test_a_claim_that_is_never_bound_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAINYARD_WAIT_SECONDS", "1e-9")
    with pytest.raises(NotReadyError, match=r"^Timeout occurred polling for 'x'$"):
        wait("PersistentVolumeClaim", Controller({"phase": "Pending"}))


def test_an_object_that_goes_while_it_is_waited_for_is_waited_for_in_vain() -> None:
    with pytest.raises(NotReadyError):
        wait("DaemonSet", Controller(None), 1e-9)


def test_a_refresh_does_not_wait() -> None:
    found = {"metadata": {"name": "x", "generation": 2}, "status": daemon_set(2, 2, 2, 1)}
    with pytest.raises(NotReadyError, match="'x' was created but failed to initialize"):
        check_read(Kind("apps/v1", "DaemonSet", False), found, {"metadata": {}})
    check_read(Kind("v1", "ConfigMap", False), found, {"metadata": {}})


@pytest.mark.parametrize("kind", ["ConfigMap", "DaemonSet"])
def test_nothing_is_waited_for_where_it_is_not_asked_for(kind: str) -> None:
    controller = Controller(daemon_set(0, 1, 0, 0))
    wait(kind, controller, **{"pulumi.com/skipAwait": "true"})
    assert controller.reads == 0
