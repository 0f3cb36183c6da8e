"""`job efa-smoke` uses every GPU and every EFA interface of the nodes that the stack plans."""

from __future__ import annotations

import copy

import pytest
import yaml

from tests.tools.cli.conftest import COMPLETE
from tools.cli.efa_smoke_job import HUGE_PAGES


@pytest.fixture
def job(trainyard, stack_file):
    def render(cluster: object) -> dict:
        result = trainyard("job", "p5-cb", "efa-smoke", "--stack-file", stack_file(cluster))
        assert result.exit_code == 0, result.output
        return yaml.safe_load(result.stdout)

    return render


def test_one_pod_a_node_takes_every_device(job) -> None:
    spec = job(COMPLETE)["spec"]
    (container,) = spec["template"]["spec"]["containers"]
    assert (spec["completions"], spec["parallelism"]) == (2, 2)
    assert container["resources"]["limits"] == {
        "nvidia.com/gpu": 8,
        "vpc.amazonaws.com/efa": 32,
        "hugepages-2Mi": HUGE_PAGES,
        "memory": "32000Mi",
    }
    assert container["resources"]["requests"] == container["resources"]["limits"]


def test_the_image_is_pinned(job) -> None:
    (container,) = job(COMPLETE)["spec"]["template"]["spec"]["containers"]
    tag = container["image"].rpartition(":")[2]
    assert tag
    assert tag != "latest"


def test_traffic_may_only_leave_through_efa(job) -> None:
    (container,) = job(COMPLETE)["spec"]["template"]["spec"]["containers"]
    environment = {entry["name"]: entry["value"] for entry in container["env"]}
    assert environment["NCCL_P2P_DISABLE"] == environment["NCCL_SHM_DISABLE"] == "1"
    assert environment["NCCL_NET"] == "Libfabric"


def test_pods_go_to_the_nodes_with_the_devices_whatever_their_taints(job) -> None:
    pod = job(COMPLETE)["spec"]["template"]["spec"]
    assert pod["nodeSelector"] == {"node.kubernetes.io/instance-type": "p5.48xlarge"}
    assert pod["tolerations"] == [{"operator": "Exists"}]


def test_refuses_a_stack_without_efa(trainyard, stack_file) -> None:
    cluster = copy.deepcopy(COMPLETE)
    cluster["architecture"]["node_groups"]["p5"]["efa_enabled"] = False
    result = trainyard("job", "p5-cb", "efa-smoke", "--stack-file", stack_file(cluster))
    assert result.exit_code == 2
    assert "efa_enabled: true" in result.stderr


def test_refuses_an_unknown_job_and_names_those_there_are(trainyard) -> None:
    result = trainyard("job", "p5-cb", "mpi")
    assert result.exit_code == 2
    assert "efa-smoke" in result.stderr
