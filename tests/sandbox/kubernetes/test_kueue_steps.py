"""The controller of Kueue as a process: its start, its readiness, and its end."""

from __future__ import annotations

import base64
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from sandbox.kubernetes import kueue
from sandbox.kubernetes.kueue import KueueController, NoKueueError

RELEASED = "apiVersion: config.kueue.x-k8s.io/v1beta2\nintegrations: {frameworks: [batch/job]}\n"
PODS = "/api/v1/namespaces/kueue-system/pods"


class Process:
    """A process of the test."""

    def __init__(self, argv: list[str]) -> None:
        self.argv = argv
        self.code: int | None = None

    def poll(self) -> int | None:
        return self.code

    def kill(self) -> None:
        self.code = -9

    def wait(self) -> None:
        assert self.code is not None


class Cluster:
    """A cluster with at most one pod of the controller; records what happens to the pod."""

    name, endpoint, certificate_authority_data = "p5-cb", "https://127.0.0.1:6443", "YQ=="

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.service_ports: dict[tuple[str, int], int] = {}
        self.pod: dict[str, Any] | None = {
            "metadata": {"name": "kueue-x", "uid": "u-1"},
            "spec": {"nodeName": "ip-10-0-0-1", "containers": [{"name": "c", "image": "i"}]},
        }
        self.status: dict[str, Any] = {}
        self.started: list[Process] = []

    def administrator(self) -> Cluster:
        return self

    def get(self, path: str, **_query: str) -> dict[str, Any]:
        match path.rpartition("/")[2]:
            case "pods":
                return {"items": [self.pod] if self.pod else []}
            case "ip-10-0-0-1":
                return {"status": {"addresses": [{"type": "InternalIP", "address": "10.0.0.1"}]}}
            case "kueue-manager-config":
                return {"data": {"controller_manager_config.yaml": RELEASED}}
            case "kueue-webhook-server-cert":
                return {"data": {"tls.crt": base64.b64encode(b"PEM").decode()}}
            case _:
                return {"spec": {"clusterIP": "10.100.0.9", "ports": [{"port": 443}]}}

    def post(self, path: str, _body: dict[str, Any]) -> dict[str, Any]:
        assert path.endswith("/serviceaccounts/kueue-controller-manager/token")
        return {"status": {"token": "of-the-pod"}}

    def patch(self, path: str, body: dict[str, Any], _kind: str) -> None:
        assert path == f"{PODS}/kueue-x/status"
        self.status = body["status"]

    def delete(self, path: str) -> None:
        assert path == f"{PODS}/kueue-x?gracePeriodSeconds=0"
        self.pod = None

    def close(self) -> None:
        """Nothing is open."""

    def spawn(self, argv: list[str], *, env: dict[str, str], **_: Any) -> Any:
        assert "of-the-pod" in Path(env["KUBECONFIG"]).read_text(encoding="utf-8")
        self.started.append(Process(argv))
        return self.started[-1]


@pytest.fixture
def cluster(tmp_path: Path) -> Any:
    return Cluster(tmp_path)


@pytest.fixture
def ready(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Whether the probe of the controller succeeds."""
    found = SimpleNamespace(now=True)
    monkeypatch.setattr(kueue, "_is_ready", lambda _port: found.now)
    return found


@pytest.fixture
def controller(cluster: Any) -> KueueController:
    return KueueController(cluster, lambda: ["/cache/kueue"], cluster.spawn)


def test_a_pod_is_ready_when_the_controller_is_and_its_service_leads_there(
    cluster: Any, controller: KueueController, ready: SimpleNamespace
) -> None:
    ready.now = False
    for _ in range(3):
        controller.step()
    assert cluster.status == {}
    ready.now = True
    controller.step()
    conditions = {each["type"]: each["status"] for each in cluster.status["conditions"]}
    assert (conditions["Ready"], cluster.status["hostIP"]) == ("True", "10.0.0.1")
    (process,) = cluster.started
    config = yaml.safe_load(Path(process.argv[1].removeprefix("--config=")).read_text())
    assert config["integrations"] == {"frameworks": ["batch/job"]}
    assert cluster.service_ports == {("10.100.0.9", 443): config["webhook"]["port"]}
    assert (Path(config["webhook"]["certDir"]) / "tls.crt").read_bytes() == b"PEM"


@pytest.mark.usefixtures("ready")
def test_a_controller_that_ends_starts_again(cluster: Any, controller: KueueController) -> None:
    for _ in range(2):
        controller.step()
    cluster.started[0].code = 1
    controller.step()
    assert len(cluster.started) == 2


@pytest.mark.usefixtures("ready")
def test_it_ends_with_its_pod(cluster: Any, controller: KueueController) -> None:
    controller.step()
    cluster.pod["metadata"]["deletionTimestamp"] = "2026-11-25T00:00:00Z"
    controller.step()
    assert cluster.pod is None
    assert cluster.started[0].code == -9
    controller.step()
    assert len(cluster.started) == 1


@pytest.mark.usefixtures("ready")
def test_a_pod_without_a_node_is_not_started(cluster: Any, controller: KueueController) -> None:
    del cluster.pod["spec"]["nodeName"]
    controller.step()
    assert cluster.started == []


def test_a_sandbox_without_the_program_says_what_to_do(cluster: Any) -> None:
    controller = KueueController(cluster, lambda: None, cluster.spawn)
    with pytest.raises(NoKueueError, match="run `up` with --sandbox"):
        controller.step()
