"""Instances join a real API server as Nodes, and leave it, like EC2 instances of EKS."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

import pytest
import yaml

from tests.sandbox.kubernetes.support.joined_cluster import JoinedCluster, SandboxAccountDouble
from tests.support.kubernetes import device_plugin, training_pod
from tests.support.processes import spawn, until
from trainyard.sandbox.kubernetes.api import ApiError
from trainyard.sandbox.kubernetes.control_planes import ControlPlanes
from trainyard.sandbox.kubernetes.device_plugins import EFA, NVIDIA_GPU
from trainyard.sandbox.kubernetes.nodes import NodeSimulator

pytestmark = pytest.mark.kubernetes


@pytest.fixture(scope="module")
def cluster(kubernetes_programs, tmp_path_factory):
    stop = threading.Event()
    with SandboxAccountDouble() as account:
        directory = tmp_path_factory.mktemp("clusters")
        planes = ControlPlanes(directory, kubernetes_programs, account.endpoint, spawn)
        plane = planes.create("p5-cb")
        simulator = NodeSimulator(account, planes)
        thread = threading.Thread(target=simulator.run, args=(stop,))
        thread.start()
        try:
            yield JoinedCluster(account, plane)
        finally:
            stop.set()
            thread.join()
            planes.stop_all()


def role(name: str, path: str = "/") -> str:
    return f"arn:aws:iam::123456789012:role{path}{name}"


def refused(action: Callable[[], object]) -> int:
    with pytest.raises(ApiError) as error:
        action()
    return error.value.status


def test_a_node_waits_outside_until_aws_auth_names_its_role(cluster, caplog):
    """PR-25: a node whose role is not in aws-auth gets 401 and joins once the entry is there."""
    cluster.allow(role("another"))
    instance = cluster.launch(11, role("waits"))
    until(lambda: "cannot join" in caplog.text, "a line about the refusal")
    assert "401 Unauthorized" in caplog.text
    assert f"{role('waits')} has no access entry and is not in aws-auth" in caplog.text
    assert cluster.node(instance) is None

    cluster.allow(role("another"), role("waits"))
    until(lambda: cluster.is_ready(instance), "the node being ready")
    labels = cluster.node(instance)["metadata"]["labels"]
    assert labels["trainyard/number"] == "11"
    assert labels["node.kubernetes.io/instance-type"] == "p5.48xlarge"
    assert caplog.text.count("cannot join") == 1

    cluster.terminate(instance)
    until(lambda: cluster.node(instance) is None, "the node going")


def test_nodes_lose_their_cluster_with_their_roles_entry_and_come_back_with_it(cluster, caplog):
    """G10: overwriting aws-auth, instead of merging it, takes the nodes out of service."""
    cluster.allow(role("lost"))
    instance = cluster.launch(15, role("lost"))
    until(lambda: cluster.is_ready(instance), "the node being ready")
    cluster.allow(role("somebody-else"))
    until(lambda: not cluster.is_ready(instance), "the node being lost")
    refusal = f"{role('lost')} has no access entry and is not in aws-auth"
    until(lambda: refusal in caplog.text, "the reason in the log")
    until(lambda: "unreachable" in str(cluster.node(instance)["spec"].get("taints")), "its taint")
    cluster.allow(role("somebody-else"), role("lost"))
    until(lambda: cluster.is_ready(instance), "the node being ready again")
    cluster.terminate(instance)


def test_a_role_with_a_path_must_be_named_without_it(cluster):
    """PR-25: STS drops the path, so an aws-auth entry with the path never matches."""
    with_path = role("eks-node", "/trainyard/nodes/")
    instance = cluster.launch(21, with_path)
    cluster.allow(with_path)
    api = cluster.as_instance(instance)
    assert refused(lambda: api.get("/api/v1/nodes")) == 401
    cluster.allow(role("eks-node"))
    until(lambda: cluster.is_ready(instance), "the node being ready")
    cluster.terminate(instance)


def test_an_access_entry_lets_a_node_in_and_comes_before_aws_auth(cluster):
    entry = {"username": "system:node:{{EC2PrivateDNSName}}", "kubernetes_groups": ["system:nodes"]}
    cluster.account.access_entries[role("entry")] = entry
    instance = cluster.launch(31, role("entry"))
    until(lambda: cluster.is_ready(instance), "the node being ready")

    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    cluster.allow(role("entry"))
    api = cluster.as_instance(instance)
    answer = api.post("/apis/authentication.k8s.io/v1/selfsubjectreviews", review)
    user = answer["status"]["userInfo"]
    assert user["username"] == f"system:node:{instance.private_dns_name}"
    assert user["groups"] == ["system:nodes", "system:authenticated"]  # not the ConfigMap's
    cluster.terminate(instance)


def test_a_node_may_only_touch_itself(cluster):
    cluster.allow(role("honest"))
    instance = cluster.launch(41, role("honest"))
    until(lambda: cluster.is_ready(instance), "the node being ready")
    api = cluster.as_instance(instance)
    other = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "ip-10-0-9-9.internal"}}
    assert refused(lambda: api.post("/api/v1/nodes", other)) == 403
    assert refused(lambda: api.get("/api/v1/namespaces/kube-system/secrets")) == 403
    label = {"metadata": {"labels": {"node-restriction.kubernetes.io/trusted": "true"}}}
    path = f"/api/v1/nodes/{instance.private_dns_name}"
    assert refused(lambda: api.patch(path, label)) == 403
    cluster.terminate(instance)


def test_devices_come_and_go_with_their_plugins(cluster):
    """PR-28, G14: nvidia.com/gpu 8 and vpc.amazonaws.com/efa 32 on a p5, from the DaemonSets."""
    cluster.allow(role("devices"))
    p5 = cluster.launch(51, role("devices"))
    cpu = cluster.launch(52, role("devices"), "c5.2xlarge")
    until(lambda: cluster.is_ready(p5) and cluster.is_ready(cpu), "both nodes being ready")
    assert cluster.allocatable(p5, NVIDIA_GPU) is None

    daemon_sets = "/apis/apps/v1/namespaces/kube-system/daemonsets"
    for kind in ("nvidia", "efa"):
        cluster.api.post(daemon_sets, device_plugin(kind))
    until(lambda: cluster.allocatable(p5, NVIDIA_GPU) == "8", "8 GPUs")
    until(lambda: cluster.allocatable(p5, EFA) == "32", "32 EFA devices")
    assert cluster.allocatable(cpu, NVIDIA_GPU) is None

    pods = "/api/v1/namespaces/default/pods"
    for pod in (training_pod("fits", gpus=8, efa=32), training_pod("too-big", gpus=9)):
        cluster.api.post(pods, pod)
    until(
        lambda: cluster.api.get(f"{pods}/fits")["status"]["phase"] == "Running", "the pod running"
    )
    until(lambda: "conditions" in cluster.api.get(f"{pods}/too-big")["status"], "the verdict")
    pending = cluster.api.get(f"{pods}/too-big")["status"]
    assert pending["phase"] == "Pending"
    assert "Insufficient nvidia.com/gpu" in pending["conditions"][0]["message"]

    cluster.api.delete(f"{daemon_sets}/{device_plugin('efa')['metadata']['name']}")
    until(lambda: cluster.allocatable(p5, EFA) == "0", "no EFA device")
    assert cluster.allocatable(p5, NVIDIA_GPU) == "8"

    cluster.terminate(p5)
    until(lambda: cluster.node(p5) is None, "the node going")
    # The pod of the node is deleted with it; the one that never ran remains.
    until(
        lambda: [p["metadata"]["name"] for p in cluster.api.get(pods)["items"]] == ["too-big"],
        "the pod of the node going",
    )
    cluster.api.delete(f"{pods}/too-big")
    cluster.terminate(cpu)


def test_an_address_that_is_used_again_is_another_node(cluster):
    cluster.allow(role("reused"))
    first = cluster.launch(61, role("reused"))
    until(lambda: cluster.is_ready(first), "the node being ready")
    second = replace(first, instance_id=f"i-{0x62:017x}")
    cluster.account.running = {
        **{k: v for k, v in cluster.account.running.items() if k != first.instance_id},
        second.instance_id: second,
    }
    until(
        lambda: (
            (node := cluster.node(second)) is not None
            and node["spec"]["providerID"] == second.provider_id
        ),
        "the second instance's node",
    )
    cluster.terminate(second)


@pytest.fixture
def managed(cluster):
    """Return a function that launches a node of the managed group `system`."""
    launched = []

    def launch(number, **group):
        cluster.account.node_groups["p5-cb/system"] = {"nodegroupName": "system", **group}
        plain = cluster.launch(number, role("unused"), "c5.2xlarge")
        tags = {"eks:cluster-name": "p5-cb", "eks:nodegroup-name": "system"}
        cluster.terminate(plain)
        instance = replace(plain, instance_id=f"i-{number + 1:017x}", user_data=b"", tags=tags)
        cluster.account.running[instance.instance_id] = instance
        launched.append(instance)
        return instance

    yield launch
    for instance in launched:
        cluster.terminate(instance)


def test_a_managed_node_joins_with_the_labels_of_its_group(cluster, managed):
    cluster.account.access_entries[role("system-node")] = {
        "username": "system:node:{{EC2PrivateDNSName}}",
        "kubernetes_groups": ["system:nodes"],
    }
    node_role, labels = role("system-node"), {"role": "system"}
    instance = managed(71, nodeRole=node_role, capacityType="ON_DEMAND", labels=labels)
    until(lambda: cluster.is_ready(instance), "the node being ready")
    labels = cluster.node(instance)["metadata"]["labels"]
    assert labels["eks.amazonaws.com/nodegroup"] == "system"
    assert labels["role"] == "system"


def test_without_access_entries_eks_maps_the_role_of_a_managed_group(cluster, managed):
    """PR-25: in the mode CONFIG_MAP, EKS adds an entry to aws-auth and keeps the others."""
    cluster.allow(role("kept"))
    cluster.account.authentication_mode = "CONFIG_MAP"
    try:
        instance = managed(81, nodeRole=role("group-node", "/eks/"))
        until(lambda: cluster.is_ready(instance), "the node being ready")
    finally:
        cluster.account.authentication_mode = "API_AND_CONFIG_MAP"
    mapped = yaml.safe_load(cluster.aws_auth()["mapRoles"])
    assert [entry["rolearn"] for entry in mapped] == [role("kept"), role("group-node")]
