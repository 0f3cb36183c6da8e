"""A real control plane admits and schedules the jobs that `./trainyard job` prints.

The simulated nodes complete pods of Jobs at once. Whether two pods share a node is therefore tested
with pods of the same template that no Job owns.
"""

from __future__ import annotations

import copy
import threading
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
import yaml
from kubernetes import client

from tests.sandbox.kubernetes.support.joined_cluster import JoinedCluster, SandboxAccountDouble
from tests.support.eks import eks_plan, nodes_of
from tests.support.kubernetes import device_plugin
from tests.support.processes import spawn, until
from tests.support.programs import render_training
from trainyard.components.config.eks import Taint
from trainyard.components.eks.label_plan import UNVERIFIED
from trainyard.components.eks.node_group_plan import NodeGroupPlan
from trainyard.jobs.nccl import render_nccl_tests
from trainyard.jobs.nccom import render_nccom_tests
from trainyard.jobs.nodes import JobRequest
from trainyard.jobs.training import TrainingRequest
from trainyard.sandbox.kubernetes.control_planes import ControlPlanes
from trainyard.sandbox.kubernetes.instances import Instance
from trainyard.sandbox.kubernetes.nodes import NodeSimulator
from trainyard.schedulers.kubernetes.cluster_client import cluster_client
from trainyard.schedulers.kubernetes.job_plan import Renderer
from trainyard.verify.node_marks import (
    Mark,
    NodeResults,
    is_closed,
    mark_node,
    marks_of,
    verification_of,
)

pytestmark = pytest.mark.kubernetes

ROLE = "arn:aws:iam::123456789012:role/nodes"
PODS = "/api/v1/namespaces/default/pods"
JOBS = "/apis/batch/v1/namespaces/default/jobs"
RESOURCES = {
    "ServiceAccount": "/api/v1/namespaces/default/serviceaccounts",
    "ConfigMap": "/api/v1/namespaces/default/configmaps",
    "Service": "/api/v1/namespaces/default/services",
    "Role": "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles",
    "RoleBinding": "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings",
    "Job": JOBS,
}


@pytest.fixture(scope="module")
def cluster(kubernetes_programs, tmp_path_factory):
    """A cluster with every device plugin, which nodes of one role may join."""
    stop = threading.Event()
    with SandboxAccountDouble() as account:
        directory = tmp_path_factory.mktemp("clusters")
        planes = ControlPlanes(directory, kubernetes_programs, account.endpoint, spawn)
        plane = planes.create("p5-cb")
        simulator = NodeSimulator(account, planes)
        thread = threading.Thread(target=simulator.run, args=(stop,))
        thread.start()
        try:
            joined = JoinedCluster(account, plane)
            joined.allow(ROLE)
            for kind in ("nvidia", "efa", "neuron"):
                path = "/apis/apps/v1/namespaces/kube-system/daemonsets"
                joined.api.post(path, device_plugin(kind))
            yield joined
        finally:
            stop.set()
            thread.join()
            planes.stop_all()


@dataclass(frozen=True)
class Case:
    """A node group, its job, and the device whose presence shows that its nodes are complete."""

    group: NodeGroupPlan
    render: Renderer
    device: str

    @property
    def devices(self) -> str:
        accelerators = self.group.instance_type.accelerators
        assert accelerators is not None
        return str(accelerators.count)


GPU_TAINT = Taint(key="nvidia.com/gpu", value="true", effect="NoSchedule")
NEURON_TAINT = Taint(key="aws.amazon.com/neuron", value="true", effect="NoExecute")
CASES = [
    pytest.param(
        Case(nodes_of("g4dn.8xlarge"), render_nccl_tests, "nvidia.com/gpu"), 10, id="g4dn"
    ),
    pytest.param(
        Case(nodes_of("p5.48xlarge", taints=(GPU_TAINT,)), render_nccl_tests, "nvidia.com/gpu"),
        20,
        id="p5-tainted",
    ),
    pytest.param(
        Case(
            nodes_of("trn1.32xlarge", taints=(NEURON_TAINT,)),
            render_nccom_tests,
            "aws.amazon.com/neuron",
        ),
        30,
        id="trn1-tainted",
    ),
]


@pytest.fixture
def nodes(cluster):
    """Return a function that launches two complete nodes of a group for the time of the test."""
    launched: list[Instance] = []

    def bring(case: Case, number: int) -> list[Instance]:
        made = [cluster.launch_group(case.group, number + offset, ROLE) for offset in range(2)]
        launched.extend(made)
        efa = str(case.group.interfaces.efa_interfaces) if case.group.interfaces else None
        for instance in made:
            until(
                lambda one=instance: (
                    cluster.allocatable(one, case.device) == case.devices
                    and cluster.allocatable(one, "vpc.amazonaws.com/efa") == efa
                ),
                f"the devices of {instance.private_dns_name}",
            )
            until(lambda one=instance: only_the_groups_taints(cluster, one, case), "a ready node")
        return made

    yield bring
    for instance in launched:
        cluster.terminate(instance)
    until(lambda: not any(map(cluster.node, launched)), "the nodes going")


def only_the_groups_taints(cluster: JoinedCluster, instance: Instance, case: Case) -> bool:
    node = cluster.node(instance)
    if node is None:
        return False
    found = {(t["key"], t["effect"]) for t in node["spec"].get("taints", [])}
    return found == {(taint.key, taint.effect) for taint in case.group.first_taints}


def manifest(case: Case, *, tests: bool = False) -> list[dict]:
    text = case.render(eks_plan(case.group), JobRequest(tests=tests)).text
    return [document for document in yaml.safe_load_all(text) if document]


def apply(cluster: JoinedCluster, documents: list[dict]) -> None:
    """Apply objects on the server, as `kubectl apply --server-side` does."""
    for document in documents:
        path = f"{RESOURCES[document['kind']]}/{document['metadata']['name']}?fieldManager=test"
        cluster.api.patch(path, document, "application/apply-patch+yaml")


@pytest.mark.parametrize(("case", "number"), CASES)
def test_a_job_is_admitted_and_runs_to_its_end(cluster, nodes, case, number):
    """A18, A20: a pod that does not fit on the nodes or tolerate their taints would be pending."""
    nodes(case, number)
    documents = manifest(case)
    apply(cluster, documents)
    name = documents[-1]["metadata"]["name"]

    def completed() -> bool:
        conditions = cluster.api.get(f"{JOBS}/{name}")["status"].get("conditions", [])
        return any(c["type"] == "Complete" and c["status"] == "True" for c in conditions)

    until(completed, "the job completing")
    cluster.api.delete(f"{JOBS}/{name}?propagationPolicy=Background")


@pytest.mark.parametrize(("case", "number"), CASES)
def test_each_node_takes_one_pod(cluster, nodes, case, number):
    made = nodes(case, number + 40)
    *others, job = manifest(case)
    apply(cluster, others)
    template = job["spec"]["template"]
    names = [f"{job['metadata']['name']}-alone-{index}" for index in range(3)]
    for name in names:
        pod = copy.deepcopy(template)
        pod["metadata"]["name"] = name
        cluster.api.post(PODS, {"apiVersion": "v1", "kind": "Pod", **pod})

    def placed() -> list[str]:
        pods = [cluster.api.get(f"{PODS}/{name}") for name in names]
        return sorted(pod["spec"]["nodeName"] for pod in pods if "nodeName" in pod["spec"])

    wanted = sorted(instance.private_dns_name for instance in made)
    until(lambda: placed() == wanted, "one pod on each node")

    def waits() -> bool:
        pods = [cluster.api.get(f"{PODS}/{name}") for name in names]
        (waiting,) = [pod for pod in pods if "nodeName" not in pod["spec"]]
        conditions = waiting["status"].get("conditions", [])
        return any(f"Insufficient {case.device}" in c.get("message", "") for c in conditions)

    until(waits, "the third pod waiting for devices")
    for name in names:
        cluster.api.delete(f"{PODS}/{name}?gracePeriodSeconds=0")


@pytest.mark.parametrize(("launcher", "restarts"), [("torchrun", 0), ("torchrun", 2), ("mpi", 0)])
@pytest.mark.parametrize("count", [1, 2])
def test_the_api_server_accepts_a_program(cluster, launcher, restarts: int, count: int):
    """It refuses a rule of a pod failure policy that does not fit the limits of the job."""
    least = 1 if restarts and count > 1 else None
    request = TrainingRequest(
        command=("train.py",),
        image="pytorch/pytorch:2.11.0",
        launcher=launcher,
        restarts=restarts,
        minimum_nodes=least,
        time_limit_minutes=90,
        files={"train.py": "print(1)"},
    )
    text = render_training(eks_plan(nodes_of("p5.48xlarge")), request, JobRequest(nodes=count))
    for document in yaml.safe_load_all(text):
        path = f"{RESOURCES[document['kind']]}?dryRun=All"
        made = cluster.api.post(path, document)
        assert made["metadata"]["uid"]
    rules = [each["spec"]["podFailurePolicy"]["rules"] for each in (made, document)]
    assert [rule["action"] for rule in rules[0]] == [rule["action"] for rule in rules[1]]


def test_only_tests_run_on_a_node_until_it_passes(cluster, nodes):
    """A node that fails is closed again."""
    case = Case(
        nodes_of("g4dn.8xlarge", startup_taints=(UNVERIFIED,)), render_nccl_tests, "nvidia.com/gpu"
    )
    first, second = (made.private_dns_name for made in nodes(case, 100))
    templates = {
        f"alone-{kind}": manifest(case, tests=kind == "test")[-1]["spec"]["template"]
        for kind in ("test", "job")
    }
    apply(cluster, manifest(case)[:-1])
    for name, template in templates.items():
        template["metadata"]["name"] = name
        cluster.api.post(PODS, {"apiVersion": "v1", "kind": "Pod", **template})
    until(lambda: "nodeName" in cluster.api.get(f"{PODS}/alone-test")["spec"], "the test")

    def waits() -> bool:
        conditions = cluster.api.get(f"{PODS}/alone-job")["status"].get("conditions", [])
        return any("untolerated taint" in c.get("message", "") for c in conditions)

    until(waits, "the job waiting")
    cluster.api.delete(f"{PODS}/alone-test?gracePeriodSeconds=0")
    with cluster_client(cluster.kubeconfig()) as api:
        results = NodeResults(passed=(first,), failed=(second,), causes=(), failures=("pairs",))
        for mark in marks_of(results):
            assert mark_node(api, mark, at=datetime(2026, 11, 25, tzinfo=UTC), required=True)
        until(lambda: "nodeName" in cluster.api.get(f"{PODS}/alone-job")["spec"], "the job")
        assert cluster.api.get(f"{PODS}/alone-job")["spec"]["nodeName"] == first
        again = Mark(node=first, passed=False, failures=("values",))
        assert mark_node(api, again, at=datetime(2026, 11, 26, tzinfo=UTC), required=True)
        core = client.CoreV1Api(api)
        found = [core.read_node(name) for name in (first, second)]
    assert all(is_closed(node.spec.taints) for node in found)
    assert [verification_of(node.metadata.labels) for node in found] == [
        "verify failed (values) at 20261126T000000Z",
        "verify failed (pairs) at 20261125T000000Z",
    ]
    cluster.api.delete(f"{PODS}/alone-job?gracePeriodSeconds=0")


def test_the_neuron_scheduler_of_the_sandbox_places_pods(cluster):
    """The extension's own pod names its scheduler."""
    number = 90
    group = nodes_of("c5.2xlarge")
    instance = cluster.launch_group(group, number, ROLE)
    until(lambda: cluster.is_ready(instance), "the node being ready")
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "extension"},
        "spec": {
            "schedulerName": "my-scheduler",
            "containers": [{"name": "extension", "image": "neuron-scheduler"}],
        },
    }
    cluster.api.post(PODS, pod)
    until(
        lambda: cluster.api.get(f"{PODS}/extension")["status"]["phase"] == "Running", "it running"
    )
    cluster.api.delete(f"{PODS}/extension?gracePeriodSeconds=0")
    cluster.terminate(instance)
