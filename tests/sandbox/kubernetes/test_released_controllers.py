"""A released controller as a process: its start, its readiness, and its end."""

from __future__ import annotations

import base64
from copy import deepcopy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from trainyard.sandbox.kubernetes import controllers
from trainyard.sandbox.kubernetes.control_planes import CONTROLLERS
from trainyard.sandbox.kubernetes.controllers import Controller, NoControllerError

POD: dict[str, Any] = {
    "metadata": {"name": "pod-x", "namespace": "theirs", "uid": "u-1"},
    "spec": {
        "nodeName": "ip-10-0-0-1",
        "serviceAccountName": "account",
        "containers": [
            {
                "name": "manager",
                "image": "i",
                "args": ["--config=/etc/manager.yaml", "--zap-log-level=2"],
                "volumeMounts": [
                    {"name": "cert", "mountPath": "/certs", "readOnly": True},
                    {"name": "config", "mountPath": "/etc/manager.yaml", "subPath": "c.yaml"},
                ],
            }
        ],
        "volumes": [
            {"name": "cert", "secret": {"secretName": "certificate"}},
            {"name": "config", "configMap": {"name": "configuration"}},
        ],
    },
}
"""A pod of a controller: none of these names is known to the sandbox."""
SPACE = "/api/v1/namespaces/theirs"
WEBHOOKS = "/apis/admissionregistration.k8s.io/v1"
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

    def __init__(self, directory: Path, program: str) -> None:
        self.directory, self.program = directory, program
        self.service_ports: dict[tuple[str, int], int] = {}
        self.pod: dict[str, Any] | None = deepcopy(POD)
        self.status: dict[str, Any] = {}
        self.trusted: dict[str, Any] = {}
        self.started: list[Process] = []

    def administrator(self) -> Cluster:
        return self

    def get(self, path: str, **query: str) -> dict[str, Any]:
        match path.removeprefix(f"{SPACE}/"):
            case "/api/v1/pods":
                assert query["labelSelector"] == f"name={CONTROLLERS[self.program]}"
                return {"items": [self.pod] if self.pod else []}
            case "/api/v1/nodes/ip-10-0-0-1":
                return {"status": {"addresses": [{"type": "InternalIP", "address": "10.0.0.1"}]}}
            case "configmaps/configuration":
                return {"data": {"c.yaml": RELEASED}}
            case "secrets/certificate":
                return {"data": {"tls.crt": base64.b64encode(b"PEM").decode()}}
            case "services/hooks":
                return {"spec": {"clusterIP": "10.100.0.9", "ports": [{"port": 443}]}}
            case other:
                kind = other.removeprefix(f"{WEBHOOKS}/").removesuffix("webhookconfigurations")
                assert kind in {"mutating", "validating"}
                return {"items": [webhooks(f"of-others-{kind}", "others"), webhooks(kind)]}

    def post(self, path: str, _body: dict[str, Any]) -> dict[str, Any]:
        assert path == f"{SPACE}/serviceaccounts/account/token"
        return {"status": {"token": "of-the-pod"}}

    def patch(self, path: str, body: dict[str, Any], _kind: str) -> None:
        if path.startswith(f"{WEBHOOKS}/"):
            self.trusted |= {each["name"]: each["clientConfig"] for each in body["webhooks"]}
            return
        assert path == f"{SPACE}/pods/pod-x/status"
        self.status = body["status"]

    def delete(self, path: str) -> None:
        assert path == f"{SPACE}/pods/pod-x?gracePeriodSeconds=0"
        self.pod = None

    def close(self) -> None:
        """Nothing is open."""

    def spawn(self, argv: list[str], *, env: dict[str, str], **_: Any) -> Any:
        assert "of-the-pod" in Path(env["KUBECONFIG"]).read_text(encoding="utf-8")
        self.started.append(Process(argv))
        return self.started[-1]


def webhooks(name: str, namespace: str = "theirs") -> dict[str, Any]:
    """A configuration with one webhook, which leads to a Service."""
    service = {"name": "hooks", "namespace": namespace, "path": f"/{name}"}
    hooks = [{"name": name, "clientConfig": {"service": service}}]
    return {"metadata": {"name": name}, "webhooks": hooks}


@pytest.fixture(params=CONTROLLERS)
def cluster(tmp_path: Path, request: pytest.FixtureRequest) -> Any:
    return Cluster(tmp_path, request.param)


@pytest.fixture
def ready(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Whether the probe of the controller succeeds, and which webhooks do not answer."""
    found = SimpleNamespace(now=True, silent=set())

    def answers(_port: int, host: str, client: dict[str, Any]) -> bool:
        assert host == "hooks.theirs.svc"
        return client["service"]["path"] not in found.silent

    monkeypatch.setattr(controllers, "is_ready", lambda _port: found.now)
    monkeypatch.setattr(controllers, "answers", answers)
    return found


@pytest.fixture
def controller(cluster: Any) -> Controller:
    return Controller(cluster.program, cluster, lambda name: [f"/cache/{name}"], cluster.spawn)


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
    assert (process.argv[0], process.argv[2]) == (f"/cache/{cluster.program}", "--zap-log-level=2")
    config = yaml.safe_load(Path(process.argv[1].removeprefix("--config=")).read_text())
    assert config["integrations"] == {"frameworks": ["batch/job"]}
    assert cluster.service_ports == {("10.100.0.9", 443): config["webhook"]["port"]}
    certificate = (Path(config["webhook"]["certDir"]) / "tls.crt").read_bytes()
    if cluster.program == "kueue":
        assert certificate == b"PEM"
        assert cluster.trusted == {}
        return
    assert certificate.startswith(b"-----BEGIN CERTIFICATE-----")
    assert config["internalCertManagement"] == {"enable": False}
    assert cluster.trusted.keys() == {"mutating", "validating"}
    for each in cluster.trusted.values():
        assert base64.b64decode(each["caBundle"]).startswith(b"-----BEGIN CERTIFICATE-----")


def test_a_pod_is_not_ready_before_each_webhook_answers(
    cluster: Any, controller: Controller, ready: SimpleNamespace
) -> None:
    ready.silent = {"/validating"}
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
    controller = Controller(cluster.program, cluster, lambda _name: None, cluster.spawn)
    with pytest.raises(NoControllerError, match="run `up` with --sandbox"):
        controller.step()
