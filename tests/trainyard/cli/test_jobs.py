"""`job`: the manifests for the user, and refusals."""

from __future__ import annotations

import copy

import pytest
import yaml

from tests.support.eks import p5
from tests.support.stacks import EKS_STACKS
from tests.trainyard.cli.conftest import COMPLETE
from tests.trainyard.cli.support.stack_jobs import job_of, pools_with_efa


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
        "hugepages-2Mi": "5120Mi",
        "memory": "1048576Mi",
    }
    requests = container["resources"]["requests"]
    assert requests == {"cpu": 96, **container["resources"]["limits"]}


def test_the_image_is_pinned(job) -> None:
    (container,) = job(COMPLETE)["spec"]["template"]["spec"]["containers"]
    tag = container["image"].rpartition(":")[2]
    assert tag
    assert tag != "latest"


def test_traffic_may_only_leave_through_efa(job) -> None:
    (container,) = job(COMPLETE)["spec"]["template"]["spec"]["containers"]
    environment = {entry["name"]: entry["value"] for entry in container["env"]}
    assert environment["NCCL_P2P_DISABLE"] == environment["NCCL_SHM_DISABLE"] == "1"
    assert environment["NCCL_NET"] == "AWS Libfabric"


def test_pods_go_to_the_nodes_with_the_devices_past_their_taints(job) -> None:
    taint = {"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"}
    pod = job(p5(taints=[taint], labels={"team": "vision"}))["spec"]["template"]["spec"]
    assert pod["nodeSelector"] == {
        "node.kubernetes.io/instance-type": "p5.48xlarge",
        "team": "vision",
    }
    assert pod["tolerations"] == [{"operator": "Equal", **taint}]


def test_refuses_a_stack_without_efa(trainyard, stack_file) -> None:
    cluster = copy.deepcopy(COMPLETE)
    cluster["architecture"]["node_groups"]["p5"]["efa_enabled"] = False
    result = trainyard("job", "p5-cb", "efa-smoke", "--stack-file", stack_file(cluster))
    assert result.exit_code == 2
    assert "efa_enabled: true" in result.stderr


def test_refuses_an_unknown_job_and_names_those_there_are(trainyard) -> None:
    result = trainyard("job", "p5-cb", "mpi")
    assert result.exit_code == 2
    assert "nccl-tests, nccl-pairs, nccom-tests, nccom-pairs, efa-smoke" in result.stderr


def test_options_choose_group_number_and_namespace(trainyard, stack_file) -> None:
    path = stack_file(p5(desired=2))
    options = ("--group", "p5", "--nodes", "1", "--namespace", "vision", "--stack-file", path)
    result = trainyard("job", "p5-cb", "nccl-tests", *options)
    assert result.exit_code == 0, result.output
    *others, made = yaml.safe_load_all(result.stdout)
    assert made["spec"]["completions"] == 1
    assert {document["metadata"]["namespace"] for document in (*others, made)} == {"vision"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(("nccl-tests", "--nodes", "3"), "at most 2 nodes", id="too-many-nodes"),
        pytest.param(("nccl-tests", "--group", "gpu"), "there is: p5", id="no-such-group"),
        pytest.param(("nccom-tests",), "no node group with Neuron", id="no-neuron"),
    ],
)
def test_refuses_what_the_stack_has_no_nodes_for(trainyard, stack_file, arguments, said) -> None:
    result = trainyard("job", "p5-cb", *arguments, "--stack-file", stack_file(COMPLETE))
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize(("stack", "pool"), pools_with_efa(EKS_STACKS).items())
def test_every_stack_file_has_the_job_for_its_accelerators(trainyard, stack, pool) -> None:
    """As many pods as the desired size of its node group, each of which requests devices."""
    result = trainyard("job", stack, job_of(pool), "--sandbox")
    assert result.exit_code == 0, result.output
    *_, made = yaml.safe_load_all(result.stdout)
    assert made["kind"] == "Job"
    assert made["spec"]["completions"] >= 1
    (container,) = made["spec"]["template"]["spec"]["containers"]
    assert container["resources"]["limits"]["vpc.amazonaws.com/efa"] >= 1
