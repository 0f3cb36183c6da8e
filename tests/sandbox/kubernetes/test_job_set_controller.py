"""What `run` submits to a stack with JobSet, under the real controller and API server.

The test is the kubelet of the pods of the job: it says how they end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from kubernetes import client, config
from kubernetes.utils import create_from_dict

from tests.support.eks import P5, SYSTEM, eks_plan
from tests.support.kubernetes import DEFAULT
from tests.support.processes import spawn, until
from tests.support.programs import manifests_of, render_training
from trainyard.components.catalog.kueue import JOBSET_RELEASE
from trainyard.components.eks.addons import jobset
from trainyard.components.eks.addons.addon import AddonTarget
from trainyard.jobs.nodes import JobRequest
from trainyard.jobs.training import TrainingRequest
from trainyard.sandbox.engine import ensure_controller
from trainyard.sandbox.kubernetes.api import STRATEGIC_MERGE_PATCH
from trainyard.sandbox.kubernetes.control_planes import (
    COMPLETION_INDEX,
    MANAGED_LABEL,
    MANAGED_VALUE,
    ControlPlane,
)
from trainyard.sandbox.kubernetes.controllers import Controller
from trainyard.sandbox.kubernetes.pods import ended_status
from trainyard.schedulers.kubernetes.submission import _create
from trainyard.schedulers.kubernetes.workloads import Workload, delete_workload, find_workload

pytestmark = pytest.mark.kubernetes

ADDONS = {"nvidia": ("p5",), "efa": ("p5",), "jobset": ("p5",)}
NODE: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "system", "labels": {MANAGED_LABEL: MANAGED_VALUE}},
    "status": {
        "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
        "allocatable": {"cpu": "8", "memory": "16Gi", "pods": "20"},
        "capacity": {"cpu": "8", "memory": "16Gi", "pods": "20"},
        "conditions": [{"type": "Ready", "status": "True"}],
    },
}


class Jobs:
    """The jobs of a cluster with JobSet."""

    def __init__(self, plane: ControlPlane, api: client.ApiClient) -> None:
        self.api, self._administrator = api, plane.administrator()
        self.core: Any = client.CoreV1Api(api)

    def submit(self, **changes: Any) -> None:
        asked = TrainingRequest(command=("train.py",), image="image", **changes)
        plan = eks_plan(P5, self_managed_addons=ADDONS)
        (manifest,) = manifests_of(render_training(plan, asked, JobRequest(nodes=2)))
        _create(self.api, manifest, "kubectl")

    def workload(self) -> Workload:
        found = find_workload(self.api, "default", "train")
        assert found is not None
        return found

    def pods(self) -> dict[str, dict[str, Any]]:
        """Return the pods of the present attempt, by index."""
        path = "/api/v1/namespaces/default/pods"
        selector = f"batch.kubernetes.io/job-name={self.workload().job_name}"
        listed = self._administrator.get(path, labelSelector=selector)["items"]
        return {
            each["metadata"]["annotations"][COMPLETION_INDEX]: each
            for each in listed
            if "deletionTimestamp" not in each["metadata"]
        }

    def end(self, index: str, **status: Any) -> None:
        """End a pod when both are there."""
        until(lambda: len(self.pods()) == 2, "both pods")
        pod = self.pods()[index]
        path = f"/api/v1/namespaces/default/pods/{pod['metadata']['name']}/status"
        made = {**ended_status(pod, status.pop("exit_code")), **status}
        self._administrator.patch(path, {"status": made}, STRATEGIC_MERGE_PATCH)

    def restarted(self, times: int, before: dict[str, dict[str, Any]]) -> bool:
        """Return whether the job has restarted, and all of its pods are new."""
        old = {each["metadata"]["uid"] for each in before.values()}
        now = {each["metadata"]["uid"] for each in self.pods().values()}
        return self.workload().restarts == times and len(now) == 2 and not now & old

    def close(self) -> None:
        self._administrator.close()


@pytest.fixture
def jobs(make_control_planes: Callable[[], Any]) -> Iterator[Jobs]:
    """A cluster whose controller of JobSet is ready."""
    plane = make_control_planes().create("sets", DEFAULT)
    command = ensure_controller(JOBSET_RELEASE.name, print)
    controller = Controller("jobset", plane, lambda _name: command, spawn)
    target = AddonTarget(
        region="r", kubernetes_version=DEFAULT, instance_types=[], taints=[], groups=(SYSTEM, P5)
    )
    (workload,) = jobset.workloads(target)
    with config.new_client_from_config(str(plane.kubeconfig)) as api:
        for each in (NODE, *workload.objects_before):
            create_from_dict(api, dict(each))
        create_from_dict(api, {"apiVersion": "apps/v1", **workload.controller})
        apps: Any = client.AppsV1Api(api)

        def is_ready() -> bool:
            controller.step()
            name = JOBSET_RELEASE.deployment
            found = apps.read_namespaced_deployment_status(name, JOBSET_RELEASE.namespace)
            return found.status.ready_replicas == 1

        until(is_ready, "the controller is ready")
        made = Jobs(plane, api)
        try:
            yield made
        finally:
            made.close()
            controller.close()


def test_all_pods_start_again_and_a_lost_node_does_not_count(jobs: Jobs) -> None:
    jobs.submit(restarts=1, launcher="none")
    lost = [{"type": "DisruptionTarget", "status": "True", "reason": "DeletionByTaintManager"}]
    for times, conditions in ((1, []), (2, lost)):
        until(lambda: len(jobs.pods()) == 2, "both pods")
        before = jobs.pods()
        jobs.end("1", exit_code=7, conditions=conditions)
        until(lambda t=times, b=before: jobs.restarted(t, b), "all pods are new")
    service = jobs.core.read_namespaced_service("train", "default").spec
    assert (service.cluster_ip, service.publish_not_ready_addresses) == ("None", True)
    assert {each["spec"]["subdomain"] for each in jobs.pods().values()} == {"train"}
    assert {each["spec"]["hostname"] for each in jobs.pods().values()} == {
        "train-nodes-0-0",
        "train-nodes-0-1",
    }
    jobs.end("1", exit_code=7)
    until(lambda: jobs.workload().end, "it ends")
    failure = jobs.workload().failure
    assert failure is not None
    assert failure["reason"] == "ReachedMaxRestarts"
    job = find_workload(jobs.api, "default", "train-nodes-0", "Job")
    assert job is not None
    assert job.failure is not None
    assert "failed with exit code 7" in job.failure["message"]
    delete_workload(jobs.api, jobs.workload())
    until(lambda: find_workload(jobs.api, "default", "train") is None, "it is deleted")


def test_without_restarts_the_first_error_ends_the_job(jobs: Jobs) -> None:
    jobs.submit()
    jobs.end("0", exit_code=1)
    until(lambda: jobs.workload().end, "it ends")
    assert (jobs.workload().failure or {})["reason"] == "FailJobSetFailurePolicyAction"
