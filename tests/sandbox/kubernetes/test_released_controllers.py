"""A released controller as a process: its start, its readiness, and its end."""

from __future__ import annotations

import base64
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from trainyard.components.catalog.controller_releases import CONTROLLER_RELEASES, ControllerRelease
from trainyard.sandbox.kubernetes import released_controllers
from trainyard.sandbox.kubernetes.released_controllers import Controller, NoControllerError

RELEASED = "apiVersion: config.kueue.x-k8s.io/v1beta2\nintegrations: {frameworks: [batch/job]}\n"


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
    """A cluster with at most one pod of a controller; records what happens to the pod."""

    name, endpoint, certificate_authority_data = "p5-cb", "https://127.0.0.1:6443", "YQ=="

    def __init__(self, directory: Path, release: ControllerRelease) -> None:
        self.directory, self.release = directory, release
        self.space = f"/api/v1/namespaces/{release.name}-system"
        self.service_ports: dict[tuple[str, int], int] = {}
        self.pod: dict[str, Any] | None = {
            "metadata": {"name": "pod-x", "uid": "u-1"},
            "spec": {"nodeName": "ip-10-0-0-1", "containers": [{"name": "c", "image": "i"}]},
        }
        self.status: dict[str, Any] = {}
        self.trusted: dict[str, Any] = {}
        self.started: list[Process] = []

    def administrator(self) -> Cluster:
        return self

    def get(self, path: str, **_query: str) -> dict[str, Any]:
        match path.rpartition("/")[2].removeprefix(f"{self.release.name}-"):
            case "pods":
                return {"items": [self.pod] if self.pod else []}
            case "ip-10-0-0-1":
                return {"status": {"addresses": [{"type": "InternalIP", "address": "10.0.0.1"}]}}
            case "manager-config":
                return {"data": {"controller_manager_config.yaml": RELEASED}}
            case "webhook-server-cert":
                return {"data": {"tls.crt": base64.b64encode(b"PEM").decode()}}
            case "mutating-webhook-configuration" | "validating-webhook-configuration":
                name = path.rpartition("/")[2]
                service = {"path": f"/{name}"}
                return {"webhooks": [{"name": name, "clientConfig": {"service": service}}]}
            case _:
                return {"spec": {"clusterIP": "10.100.0.9", "ports": [{"port": 443}]}}

    def post(self, path: str, _body: dict[str, Any]) -> dict[str, Any]:
        name = f"{self.release.name}-controller-manager"
        assert path == f"{self.space}/serviceaccounts/{name}/token"
        return {"status": {"token": "of-the-pod"}}

    def patch(self, path: str, body: dict[str, Any], _kind: str) -> None:
        if path.startswith("/apis/admissionregistration.k8s.io/v1/"):
            self.trusted |= {each["name"]: each["clientConfig"] for each in body["webhooks"]}
            return
        assert path == f"{self.space}/pods/pod-x/status"
        self.status = body["status"]

    def delete(self, path: str) -> None:
        assert path == f"{self.space}/pods/pod-x?gracePeriodSeconds=0"
        self.pod = None

    def close(self) -> None:
        """Nothing is open."""

    def spawn(self, argv: list[str], *, env: dict[str, str], **_: Any) -> Any:
        assert "of-the-pod" in Path(env["KUBECONFIG"]).read_text(encoding="utf-8")
        self.started.append(Process(argv))
        return self.started[-1]


@pytest.fixture(params=CONTROLLER_RELEASES.values(), ids=lambda each: each.name)
def cluster(tmp_path: Path, request: pytest.FixtureRequest) -> Any:
    return Cluster(tmp_path, request.param)


@pytest.fixture
def ready(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Whether the probe of the controller succeeds, and which webhooks do not answer."""
    found = SimpleNamespace(now=True, silent=set())

    def answers(_port: int, host: str, client: dict[str, Any]) -> bool:
        assert host.endswith("-system.svc")
        return client["service"]["path"] not in found.silent

    monkeypatch.setattr(released_controllers, "is_ready", lambda _port: found.now)
    monkeypatch.setattr(released_controllers, "answers", answers)
    return found


@pytest.fixture
def controller(cluster: Any) -> Controller:
    return Controller(cluster.release, cluster, lambda name: [f"/cache/{name}"], cluster.spawn)


def test_a_pod_is_ready_when_the_controller_is_and_its_service_leads_there(
    cluster: Any, controller: Controller, ready: SimpleNamespace
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
    assert process.argv[0] == f"/cache/{cluster.release.name}"
    config = yaml.safe_load(Path(process.argv[1].removeprefix("--config=")).read_text())
    assert config["integrations"] == {"frameworks": ["batch/job"]}
    assert cluster.service_ports == {("10.100.0.9", 443): config["webhook"]["port"]}
    certificate = (Path(config["webhook"]["certDir"]) / "tls.crt").read_bytes()
    if cluster.release.name == "kueue":
        assert certificate == b"PEM"
        assert cluster.trusted == {}
        return
    assert certificate.startswith(b"-----BEGIN CERTIFICATE-----")
    assert config["internalCertManagement"] == {"enable": False}
    names = {f"jobset-{kind}-webhook-configuration" for kind in ("mutating", "validating")}
    assert cluster.trusted.keys() == names
    for each in cluster.trusted.values():
        assert base64.b64decode(each["caBundle"]).startswith(b"-----BEGIN CERTIFICATE-----")


def test_a_pod_is_not_ready_before_each_webhook_answers(
    cluster: Any, controller: Controller, ready: SimpleNamespace
) -> None:
    ready.silent = {f"/{cluster.release.name}-validating-webhook-configuration"}
    for _ in range(3):
        controller.step()
    assert cluster.status == {}
    ready.silent.clear()
    controller.step()
    assert cluster.status["conditions"]


@pytest.mark.usefixtures("ready")
def test_a_controller_that_ends_starts_again(cluster: Any, controller: Controller) -> None:
    for _ in range(2):
        controller.step()
    cluster.started[0].code = 1
    controller.step()
    assert len(cluster.started) == 2


@pytest.mark.usefixtures("ready")
def test_it_ends_with_its_pod(cluster: Any, controller: Controller) -> None:
    controller.step()
    cluster.pod["metadata"]["deletionTimestamp"] = "2026-11-25T00:00:00Z"
    controller.step()
    assert cluster.pod is None
    assert cluster.started[0].code == -9
    controller.step()
    assert len(cluster.started) == 1


@pytest.mark.usefixtures("ready")
def test_a_pod_without_a_node_is_not_started(cluster: Any, controller: Controller) -> None:
    del cluster.pod["spec"]["nodeName"]
    controller.step()
    assert cluster.started == []


def test_a_sandbox_without_the_program_says_what_to_do(cluster: Any) -> None:
    controller = Controller(cluster.release, cluster, lambda _name: None, cluster.spawn)
    with pytest.raises(NoControllerError, match="run `up` with --sandbox"):
        controller.step()
