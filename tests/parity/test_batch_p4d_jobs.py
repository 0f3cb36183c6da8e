"""AWS Batch with p4d against its template, queue, images and jobs: BAT-19 to BAT-23."""

from __future__ import annotations

import pytest

from tests.parity.test_batch_p5 import NCCL_TESTS_IMAGE, ULIMITS, as_devices
from tests.support.parity import better, same

STACK = "batch-p4d"


@pytest.fixture
def p4d(batch):
    return batch(STACK)


@same("BAT-19", "A job queue with the one environment, of priority 1")
def test_the_queue_leads_to_the_environment(p4d):
    queue = p4d.queue
    assert (queue["state"], queue["priority"]) == ("ENABLED", 1)
    (order,) = queue["computeEnvironmentOrders"]
    assert order["order"] == 1
    assert ":compute-environment/" in order["computeEnvironment"]


@better(
    "BAT-20",
    "An ECR repository with nothing set",
    why="scanned, encrypted, its tags never overwritten, old images go, and it outlives the stack",
)
def test_the_repository_is_scanned_encrypted_and_kept(p4d):
    made = p4d.repository
    assert made.inputs["imageScanningConfiguration"] == {"scanOnPush": True}
    assert made.inputs["encryptionConfigurations"] == [{"encryptionType": "AES256"}]
    assert made.inputs["imageTagMutability"] == "IMMUTABLE"
    assert made.protect
    assert made.retain_on_delete
    rules = p4d.inputs("aws:ecr/lifecyclePolicy:LifecyclePolicy")["policy"]
    assert '"countNumber": 14' in rules
    assert '"countNumber": 100' in rules


@better(
    "BAT-21",
    "A job on one node: the repository without a tag, 1 vCPU, 8 GPUs, 16 GiB, 4 EFA devices",
    why=(
        "a pinned public image that is there from the first minute; all vCPUs, and the memory that "
        "ECS leaves; `repository` takes an image of one's own by its tag"
    ),
)
def test_a_job_on_one_node_has_the_whole_node(p4d, changed_batch):
    definition, made = p4d.definition("nccl-tests-single"), p4d.container("nccl-tests-single")
    assert (definition["type"], definition["propagateTags"]) == ("container", True)
    assert made["image"] == NCCL_TESTS_IMAGE
    needs = {each["type"]: int(each["value"]) for each in made["resourceRequirements"]}
    assert (needs["VCPU"], needs["GPU"]) == (96, 8)
    assert 16384 < needs["MEMORY"] < 1179648
    assert made["linuxParameters"]["sharedMemorySize"] >= 8192
    assert made["linuxParameters"]["devices"] == as_devices(4)
    assert {u["name"]: (u["softLimit"], u["hardLimit"]) for u in made["ulimits"]} == ULIMITS
    own = {"compute_environment": "p4d", "image": "repository", "command": ["gpu-nccl-sanity.sh"]}
    own |= {"attempts": 10}
    with_own = changed_batch(STACK, architecture__job_definitions={"own": own})
    image = with_own.container("own")["image"]
    assert image.endswith(f"/{STACK}:own")
    assert with_own.definition("own")["retryStrategy"] == {"attempts": 10}


@better(
    "BAT-22",
    "A job on two nodes: main node 0, range `0:`, p4d.24xlarge, the same container",
    why="the main node collects the other, and one test runs over the GPUs of both",
)
def test_a_job_on_two_nodes_spans_them(p4d):
    nodes = p4d.definition("nccl-tests")["nodeProperties"]
    assert (nodes["mainNode"], nodes["numNodes"]) == (0, 2)
    (every,) = nodes["nodeRangeProperties"]
    assert every["targetNodes"] == "0:"
    container = every["container"]
    assert container.pop("instanceType") == "p4d.24xlarge"
    alone = p4d.container("nccl-tests-single")
    same_keys = ("image", "resourceRequirements", "linuxParameters", "ulimits")
    assert {k: container[k] for k in same_keys} == {k: alone[k] for k in same_keys}
    assert "--hostfile" in container["command"][-1]


@better(
    "BAT-23",
    "Outputs: repository, both job definitions, job queue",
    why="the same by name, with the environment, its sizes and what to know",
)
def test_the_outputs_say_where_to_submit_what(p4d):
    exports = p4d.cloud.exports
    assert exports["repository_url"].endswith(f"/{STACK}")
    assert {name: made["nodes"] for name, made in exports["job_definitions"].items()} == {
        "nccl-tests": 2,
        "nccl-tests-single": 1,
    }
    environment = exports["compute_environments"]["p4d"]
    assert environment["job_queue"] == p4d.queue["name"]
    assert environment["maximum_vcpus"] == 192
