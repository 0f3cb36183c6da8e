"""The pods of indexed Jobs run, fail, hang and end as the schedule of faults says."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from trainyard.jobs.start import limit_environment, limit_of_mpi, start_command
from trainyard.jobs.training import TrainingRequest
from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.faults.schedule import FAULTS, parse_schedule
from trainyard.sandbox.kubernetes.api import ApiError, ApiUnreachableError
from trainyard.sandbox.kubernetes.container_logs import ContainerLogs
from trainyard.sandbox.kubernetes.pods import JobPods

NODE = "ip-10-0-1-2.us-west-2.compute.internal"


class Cluster:
    """An API server with pods of one job, and the node that they are on.

    Attributes:
        lost: The nodes that have failed.
        silent: Whether the API server gives no answer.
    """

    name, node_name, address = "p5-cb", NODE, "10.0.1.2"

    def __init__(self) -> None:
        self.logs, self.lost, self.silent = ContainerLogs(), list[str](), False
        self.pods = dict[str, dict[str, Any]]()
        self.secrets = dict[str, dict[str, str]]()
        self.job_pods = JobPods(self, lambda kubelet: self.lost.append(kubelet.node_name))  # pyright: ignore[reportArgumentType]

    def administrator(self) -> Cluster:
        return self

    def create(self, name: str = "train-0-x", index: int = 0, **spec: Any) -> None:
        self.pods[name] = {
            "metadata": {
                "name": name,
                "namespace": "default",
                "uid": f"uid-of-{name}",
                "labels": {"batch.kubernetes.io/job-name": "train"},
                "annotations": {"batch.kubernetes.io/job-completion-index": str(index)},
            },
            "spec": {"nodeName": NODE, "containers": [{"name": "c", "image": "i"}], **spec},
            "status": {"phase": "Pending"},
        }

    def step(self, seconds: float = 0) -> None:
        """Take two steps, after some time by the sandbox's clock: one starts, one ends."""
        CLOCK.advance(timedelta(seconds=seconds))
        for _ in range(2):
            nodes: Any = {} if self.lost else {NODE: self}
            self.job_pods.step([*self.pods.values()], nodes)

    def phase(self, name: str = "train-0-x") -> str:
        return self.pods[name]["status"]["phase"]

    def exit_code(self, name: str = "train-0-x") -> int:
        (container,) = self.pods[name]["status"]["containerStatuses"]
        return container["state"]["terminated"]["exitCode"]

    def log(self, name: str = "train-0-x") -> list[str]:
        return [line.text for line in self.logs.read("default", name)]

    def terminate(self, name: str = "train-0-x", *, grace_seconds: int = 30) -> None:
        self.pods[name]["metadata"] |= {
            "deletionTimestamp": "now",
            "deletionGracePeriodSeconds": grace_seconds,
        }

    def get(self, path: str) -> dict[str, Any]:
        name = path.removeprefix("/api/v1/namespaces/default/secrets/")
        if name not in self.secrets:
            raise ApiError(404, f'secrets "{name}" not found')
        return {"data": self.secrets[name]}

    def patch(self, path: str, body: dict[str, Any], _kind: str) -> None:
        if self.silent:
            raise ApiUnreachableError("no answer")
        pod = self.pods[path.split("/")[-2]]
        pod["status"] = {**pod["status"], **body["status"]}

    def delete(self, path: str) -> None:
        assert path.endswith("?gracePeriodSeconds=0")
        del self.pods[path.partition("?")[0].rpartition("/")[2]]


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """A cluster; the schedule and the clock are as before after the test."""
    (tmp_path / "run.log").write_text("step 1\nstep 2\n", encoding="utf-8")
    (tmp_path / "stop.log").write_text("checkpoint\n", encoding="utf-8")
    yield Cluster()
    FAULTS.use([])
    CLOCK.reset()


@pytest.fixture
def use(tmp_path: Path):
    """Put a schedule in force."""
    return lambda *entries: FAULTS.use(
        parse_schedule([{"job": "train", **each} for each in entries], tmp_path)
    )


def test_without_a_schedule_a_pod_completes_at_once_and_has_an_empty_log(cluster: Cluster) -> None:
    cluster.create()
    cluster.step()
    assert (cluster.phase(), cluster.exit_code(), cluster.log()) == ("Succeeded", 0, [])


def test_a_pod_waits_for_a_secret_as_with_a_kubelet(cluster: Cluster) -> None:
    """The messages of `makeEnvironmentVariables`, pkg/kubelet/kubelet_pods.go."""
    reference = {"secretKeyRef": {"name": "hf", "key": "token"}}
    env = [{"name": "HF_TOKEN", "valueFrom": reference}]
    cluster.create()
    cluster.pods["train-0-x"]["spec"]["containers"][0]["env"] = env
    missing: list[tuple[dict[str, dict[str, str]], str]] = [
        ({}, 'secret "hf" not found'),
        ({"hf": {"other": "eA=="}}, "couldn't find key token in Secret default/hf"),
    ]
    for secrets, message in missing:
        cluster.secrets = secrets
        cluster.step()
        (container,) = cluster.pods["train-0-x"]["status"]["containerStatuses"]
        waiting = {"reason": "CreateContainerConfigError", "message": message}
        assert (cluster.phase(), container["state"]["waiting"]) == ("Pending", waiting)
    cluster.secrets = {"hf": {"token": "cGxhbnRlZA=="}}
    cluster.step()
    assert (cluster.phase(), cluster.exit_code()) == ("Succeeded", 0)
    assert "planted" not in str(cluster.pods)
    assert "cGxhbnRlZA" not in str(cluster.pods)


def test_pods_of_other_controllers_and_on_other_nodes_are_left_to_others(cluster: Cluster) -> None:
    cluster.create()
    del cluster.pods["train-0-x"]["metadata"]["annotations"]
    cluster.create("elsewhere", nodeName="another")
    cluster.step()
    assert [cluster.phase(name) for name in ("train-0-x", "elsewhere")] == ["Pending", "Pending"]


def test_a_pod_prints_and_fails_after_its_time_by_the_clock_of_the_sandbox(
    cluster: Cluster, use: Any
) -> None:
    use({"happens": "container-fails", "log": "run.log", "exit_code": 7, "after_seconds": 600})
    cluster.create()
    cluster.step()
    assert (cluster.phase(), cluster.log()) == ("Running", ["step 1", "step 2"])
    cluster.step(600)
    assert (cluster.phase(), cluster.exit_code()) == ("Failed", 7)
    cluster.create("train-0-y")  # the Job's next attempt
    cluster.step()
    assert (cluster.phase("train-0-y"), cluster.log("train-0-y")) == ("Succeeded", [])


def test_a_pod_that_hangs_writes_its_last_lines_when_it_is_stopped(
    cluster: Cluster, use: Any
) -> None:
    use({"happens": "container-hangs", "stop_log": "stop.log", "stop_seconds": 20})
    cluster.create()
    cluster.step(10**6)
    assert cluster.phase() == "Running"
    cluster.terminate()
    cluster.step()
    assert (cluster.phase(), cluster.log()) == ("Running", ["checkpoint"])
    CLOCK.advance(timedelta(seconds=20))
    cluster.job_pods.step([*cluster.pods.values()], {NODE: cluster})  # pyright: ignore[reportArgumentType]
    assert (cluster.phase(), cluster.exit_code()) == ("Failed", 143)
    cluster.step()
    assert cluster.pods == {}
    assert cluster.log() == []


def test_a_program_that_needs_more_than_its_grace_period_is_killed(
    cluster: Cluster, use: Any
) -> None:
    use({"happens": "container-hangs", "stop_seconds": 60})
    cluster.create()
    cluster.step()
    cluster.terminate(grace_seconds=0)
    cluster.job_pods.step([*cluster.pods.values()], {NODE: cluster})  # pyright: ignore[reportArgumentType]
    assert cluster.exit_code() == 137


def limited(minutes: int, left: timedelta) -> TrainingRequest:
    stops_at = CLOCK.now() + left
    return TrainingRequest(
        command=("train.py",), image="i", time_limit_minutes=minutes, stops_at=stops_at
    )


def commands_of(request: TrainingRequest) -> dict[str, list[str]]:
    """The commands with which `run` starts a program, by launcher."""
    limit, prefix = limit_of_mpi(request)
    return {
        "torchrun": start_command(request),
        "mpi": ["bash", "-c", f"{limit}{prefix}mpirun train.py"],
    }


LATER = timedelta(days=10)


@pytest.mark.parametrize("limits", [(10, LATER), (14400, timedelta(minutes=10))])
@pytest.mark.parametrize("launcher", ["torchrun", "mpi"])
def test_a_program_of_run_ends_at_the_earlier_of_its_limits(
    cluster: Cluster, use: Any, limits: tuple[int, timedelta], launcher: str
) -> None:
    """The script that starts a program has one from its start, and one by the clock."""
    use({"happens": "container-hangs", "stop_log": "stop.log", "stop_seconds": 20})
    request = limited(*limits)
    env = [{"name": name, "value": value} for name, value in limit_environment(request).items()]
    container = {
        "name": "c",
        "image": "i",
        "command": commands_of(request)[launcher],
        "env": env,
    }
    cluster.create(containers=[container], terminationGracePeriodSeconds=300)
    cluster.step()
    cluster.step(590)
    assert (cluster.phase(), cluster.log()) == ("Running", [])
    cluster.step(10)
    assert (cluster.phase(), cluster.log()) == ("Running", ["checkpoint"])
    cluster.step(20)
    assert (cluster.phase(), cluster.exit_code()) == ("Failed", 124)


def test_limits_that_no_script_reads_do_nothing(cluster: Cluster, use: Any) -> None:
    use({"happens": "container-hangs"})
    env = [
        {"name": name, "value": value}
        for name, value in limit_environment(limited(10, LATER)).items()
    ]
    cluster.create(containers=[{"name": "c", "image": "i", "env": env, "command": ["train.py"]}])
    cluster.step()
    cluster.step(3600)
    assert cluster.phase() == "Running"


def test_a_pod_that_is_deleted_before_it_starts_is_gone(cluster: Cluster) -> None:
    cluster.create()
    cluster.terminate()
    cluster.step()
    assert cluster.pods == {}


def test_a_node_is_lost_once_and_its_pod_reports_nothing_more(cluster: Cluster, use: Any) -> None:
    use({"happens": "node-lost", "after_seconds": 5})
    cluster.create()
    cluster.step()
    assert cluster.lost == []
    cluster.step(5)
    cluster.step(100)
    assert (cluster.lost, cluster.phase()) == ([NODE], "Running")


def test_a_start_that_the_api_server_did_not_take_is_repeated_and_counts_once(
    cluster: Cluster, use: Any
) -> None:
    use({"happens": "container-fails", "log": "run.log", "times": 1})
    cluster.create()
    cluster.silent = True
    with pytest.raises(ApiUnreachableError):
        cluster.step()
    cluster.silent = False
    cluster.step()
    assert (cluster.phase(), cluster.log()) == ("Failed", ["step 1", "step 2"])
