"""When a DaemonSet and a Deployment count as rolled out (kstatus)."""

from __future__ import annotations

from typing import Any, cast

import pytest

from sandbox.providers._protocol.servicer import ProviderError
from sandbox.providers.kubernetes.cluster import Cluster
from sandbox.providers.kubernetes.kinds import Kind
from sandbox.providers.kubernetes.rollout import wait_until_rolled_out


class Controller:
    """Shows one status after another and keeps the last one."""

    def __init__(
        self, *statuses: dict[str, Any] | None, spec: dict[str, Any] | None = None
    ) -> None:
        self.statuses = list(statuses)
        self.spec = spec or {}
        self.reads = 0

    def read(self, kind: Kind, metadata: dict[str, Any]) -> dict[str, Any] | None:
        self.reads += 1
        status = self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]
        return (
            None if status is None else {"metadata": metadata, "spec": self.spec, "status": status}
        )

    def pause(self) -> None:
        """Let no time pass."""


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
        "updatedNumberScheduled": updated,
        "numberAvailable": available,
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


def test_a_daemon_set_that_never_gets_there_says_what_is_missing() -> None:
    with pytest.raises(ProviderError, match="not rolled out after 0 s: 1 of 2 pods are available"):
        wait("DaemonSet", Controller(daemon_set(2, 2, 2, 1)), 1e-9)


def test_a_deployment_waits_for_the_old_pods_to_go() -> None:
    new = {"observedGeneration": 2, "updatedReplicas": 1, "availableReplicas": 1}
    controller = Controller({**new, "replicas": 2}, {**new, "replicas": 1})
    wait("Deployment", controller)
    assert controller.reads == 2


def test_a_deployment_whose_deadline_passed_fails_with_its_reason() -> None:
    condition = {"reason": "ProgressDeadlineExceeded", "message": "no progress"}
    with pytest.raises(ProviderError, match="no progress"):
        wait("Deployment", Controller({"observedGeneration": 2, "conditions": [condition]}))


def test_an_object_that_goes_while_it_is_waited_for_is_an_error() -> None:
    with pytest.raises(ProviderError, match="somebody deleted it"):
        wait("DaemonSet", Controller(None))


@pytest.mark.parametrize("kind", ["ConfigMap", "DaemonSet"])
def test_nothing_is_waited_for_where_it_is_not_asked_for(kind: str) -> None:
    controller = Controller(daemon_set(0, 1, 0, 0))
    wait(kind, controller, **{"pulumi.com/skipAwait": "true"})
    assert controller.reads == 0
