"""A control plane starts, serves, and is removed completely."""

from __future__ import annotations

import stat
import subprocess
import threading

import pytest

from tests.support.kubernetes import DEFAULT
from tests.support.processes import processes_below, spawn, until
from trainyard.sandbox.access import NO_ACCOUNT
from trainyard.sandbox.kubernetes.api import ApiError, ApiUnreachableError, KubernetesApi
from trainyard.sandbox.kubernetes.control_planes import (
    KUBERNETES_VERSION,
    PROGRAMS,
    ControlPlane,
    ControlPlaneError,
    ControlPlanes,
    Startup,
)

PROGRAM_COMMANDS = {name: ["false"] for name in PROGRAMS}


@pytest.mark.kubernetes
def test_a_cluster_serves_what_a_new_eks_cluster_has_and_leaves_no_process(make_control_planes):
    planes = make_control_planes()
    plane = planes.create("p5-cb", DEFAULT)
    api = plane.administrator()
    assert api.get("/version")["gitVersion"] == f"v{KUBERNETES_VERSION}"
    assert planes.get("p5-cb") is plane
    assert planes.names() == ["p5-cb"]
    with pytest.raises(ValueError, match="'p5-cb' has a control plane already"):
        planes.create("p5-cb")
    # EKS creates aws-auth only for a managed node group; until then it must not exist.
    with pytest.raises(ApiError) as missing:
        api.get("/api/v1/namespaces/kube-system/configmaps/aws-auth")
    assert missing.value.status == 404
    api.get("/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical")
    assert len(processes_below(plane.directory)) == len(PROGRAMS)

    planes.stop("p5-cb")
    assert processes_below(plane.directory) == []
    assert [path.name for path in plane.directory.iterdir()] == ["logs"]
    planes.delete("p5-cb")
    assert not plane.directory.exists()
    assert planes.get("p5-cb") is None
    with pytest.raises(ApiUnreachableError):
        api.get("/version")
    planes.delete("p5-cb")  # no effect if it does not exist


@pytest.mark.kubernetes
def test_only_the_kubeconfig_holds_the_administrators_token(control_plane):
    assert stat.S_IMODE(control_plane.kubeconfig.stat().st_mode) == 0o600
    assert stat.S_IMODE(control_plane.directory.stat().st_mode) == 0o700
    assert control_plane.admin_token in control_plane.kubeconfig.read_text()
    assert control_plane.admin_token not in " ".join(processes_below(control_plane.directory))
    assert control_plane.admin_token not in repr(control_plane)
    logs = [log.read_text() for log in (control_plane.directory / "logs").iterdir()]
    assert len(logs) == len(PROGRAMS)
    assert not [log for log in logs if control_plane.admin_token in log]


@pytest.mark.kubernetes
def test_kubectl_works_with_the_kubeconfig(control_plane, kubernetes_programs):
    command = [*kubernetes_programs["kubectl"], "--kubeconfig", str(control_plane.kubeconfig)]
    answer = subprocess.run(
        [*command, "get", "namespaces", "-o", "name"], check=True, capture_output=True, text=True
    )
    assert "namespace/kube-system" in answer.stdout


@pytest.mark.kubernetes
def test_a_stranger_is_refused(control_plane):
    stranger = KubernetesApi(
        control_plane.endpoint,
        certificate_authority_data=control_plane.certificate_authority_data,
        token="guessed",
    )
    with pytest.raises(ApiError) as refused:
        stranger.get("/api/v1/namespaces")
    assert refused.value.status == 401


@pytest.mark.kubernetes
def test_a_cluster_that_is_deleted_while_it_starts_never_comes_up(make_control_planes, tmp_path):
    planes = make_control_planes()
    failures: list[str] = []

    def create() -> None:
        try:
            planes.create("short-lived")
        except ControlPlaneError as error:
            failures.append(str(error))

    thread = threading.Thread(target=create)
    thread.start()
    until(lambda: processes_below(tmp_path), "the first process")
    planes.delete("short-lived")
    assert processes_below(tmp_path) == []
    thread.join()
    assert failures == ["it was stopped before it was ready"]
    assert planes.names() == []


@pytest.mark.kubernetes
def test_a_program_that_ends_is_named_with_its_last_words(
    make_control_planes, kubernetes_programs, tmp_path
):
    broken = ["sh", "-c", "echo no such option >&2; exit 3"]
    planes = make_control_planes(programs={**kubernetes_programs, "kube-apiserver": broken})
    with pytest.raises(ControlPlaneError, match=r"(?s)kube-apiserver ended with code 3.*no such"):
        planes.create("broken")
    assert planes.names() == []
    assert processes_below(tmp_path) == []


def test_kwok_that_could_not_be_started_is_started_the_next_time(tmp_path):
    refusals = [BlockingIOError("Resource temporarily unavailable")]

    def spawn_later(argv, **options):
        if refusals:
            raise refusals.pop()
        return spawn(argv, **options)

    programs = {"kwok": ["sh", "-c", "exec sleep 600"]}
    startup = Startup(tmp_path, programs, spawn_later, threading.Event())
    plane = ControlPlane(
        name="p5-cb",
        endpoint="https://127.0.0.1:9",
        certificate_authority_data="",
        admin_token="",
        access_key="SANDBOX00",
        directory=tmp_path,
    )
    (tmp_path / "logs").mkdir()
    try:
        startup.processes["kwok"] = spawn(
            ["sleep", "600"], name="kwok", log_path=tmp_path / "logs" / "kwok.log"
        )
        with pytest.raises(BlockingIOError):
            startup.leave_alone(plane, ["plugin"])
        startup.leave_alone(plane, ["plugin"])
        assert startup.processes["kwok"].poll() is None
    finally:
        startup.end()


def test_of_an_earlier_sandbox_only_the_logs_are_kept(tmp_path):
    for path in ("p5-cb/kubeconfig", "p5-cb/pki/ca.key", "p5-cb/etcd/db", "p5-cb/logs/etcd.log"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("old")
    ControlPlanes(tmp_path, PROGRAM_COMMANDS, NO_ACCOUNT, no)
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["etcd.log"]


def test_refuses_a_name_that_is_a_path(tmp_path):
    planes = ControlPlanes(tmp_path, PROGRAM_COMMANDS, NO_ACCOUNT, no)
    with pytest.raises(ValueError, match="not a name that EKS accepts"):
        planes.create("../elsewhere")


def test_names_the_programs_that_are_missing(tmp_path):
    programs = {name: PROGRAM_COMMANDS[name] for name in PROGRAMS[:4]}
    with pytest.raises(ValueError, match=r"'kwok', 'authenticator'"):
        ControlPlanes(tmp_path, programs, NO_ACCOUNT, no)


def no(*_arguments, **_options):
    raise AssertionError("nothing may be started")
