"""The nodes of a job, and whether the requests of its pods fit on them."""

import pytest

from tests.support.eks import SCHEDULED, eks_plan, nodes_of
from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.components.config.eks import Taint
from trainyard.components.eks.label_plan import UNVERIFIED
from trainyard.jobs.job_manifest import submitted
from trainyard.jobs.nodes import (
    JobError,
    JobRequest,
    choose_nodes,
    job_name,
    memory_mib,
    placement,
    resources,
)
from trainyard.sandbox.instance_types import instance_type
from trainyard.sandbox.kubernetes.instances import Instance
from trainyard.sandbox.kubernetes.kubelet import NodeConfig, build_node

ACCELERATED = [
    t
    for t in INSTANCE_TYPES.values()
    if t.accelerators and t.vcpus > 2 and t.architecture == "x86_64"
]
DAEMONS_MIB = 2048
DAEMONS_CPUS = 1


def chosen(*groups, manufacturer="nvidia", **request):
    return choose_nodes(eks_plan(*groups), manufacturer, JobRequest(**request))


def test_all_nodes_that_the_group_wants():
    assert chosen(nodes_of("p5.48xlarge")).count == 2


def test_all_nodes_that_it_may_have_where_it_wants_none_yet():
    """A Capacity Block that has not started."""
    assert chosen(nodes_of("p5.48xlarge", schedule=SCHEDULED)).count == 2


@pytest.mark.parametrize("nodes", [1, 3])
def test_as_many_nodes_as_are_asked_for_up_to_the_maximum(nodes):
    assert chosen(nodes_of("p5.48xlarge"), nodes=nodes).count == nodes


def test_the_named_group_of_several():
    groups = nodes_of("p5.48xlarge"), nodes_of("g6.8xlarge")
    assert chosen(*groups, group="g6").group.name == "g6"


def test_the_group_with_the_accelerators_needs_no_name():
    groups = nodes_of("p5.48xlarge"), nodes_of("trn1.32xlarge")
    assert chosen(*groups).group.name == "p5"
    assert chosen(*groups, manufacturer="neuron").group.name == "trn1"


@pytest.mark.parametrize(
    ("groups", "request_", "said"),
    [
        pytest.param([nodes_of("m5.large")], {}, "no node group with NVIDIA GPUs", id="no-gpu"),
        pytest.param(
            [nodes_of("p5.48xlarge"), nodes_of("g6.8xlarge")],
            {},
            "name one with --group: p5, g6",
            id="several",
        ),
        pytest.param([nodes_of("p5.48xlarge")], {"group": "p4"}, "there is: p5", id="unknown"),
        pytest.param([nodes_of("p5.48xlarge")], {"nodes": 4}, "at most 3 nodes", id="too-many"),
    ],
)
def test_refuses_what_would_wait_for_ever(groups, request_, said):
    with pytest.raises(JobError, match=said):
        chosen(*groups, **request_)


QUEUED = {"nvidia": ("p5",), "efa": ("p5",), "kueue": ("p5",)}


def in_queue(**request):
    plan = eks_plan(nodes_of("p5.48xlarge"), self_managed_addons=QUEUED)
    return choose_nodes(plan, "nvidia", JobRequest(**request))


def test_a_stack_with_kueue_starts_jobs_from_its_queue():
    """Kueue wants them suspended; labels of the job stay."""
    job = {"metadata": {"name": "train", "labels": {"a": "b"}}, "spec": {"completions": 2}}
    assert submitted(job, chosen(nodes_of("p5.48xlarge"))) == job
    made = submitted(job, in_queue())
    assert made["metadata"]["labels"] == {"a": "b", "kueue.x-k8s.io/queue-name": "training"}
    assert made["spec"] == {"suspend": True, "completions": 2}


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        pytest.param({"namespace": "vision"}, "use the namespace default", id="no-queue"),
        pytest.param({"nodes": 3}, "a quota for 2 nodes of p5", id="more-than-the-quota"),
    ],
)
def test_refuses_what_the_queue_would_never_start(request_, said):
    with pytest.raises(JobError, match=said):
        in_queue(**request_)


def test_refuses_nodes_that_the_image_of_the_job_does_not_run_on():
    with pytest.raises(JobError, match="for x86_64"):
        chosen(nodes_of("g5g.xlarge"))


def test_refuses_to_ask_a_plugin_for_efa_that_is_not_there():
    """A21: the DRA driver allocates claims, not extended resources."""
    plan = eks_plan(nodes_of("p5.48xlarge"), self_managed_addons={"nvidia": ("p5",)})
    with pytest.raises(JobError, match="resource claim"):
        choose_nodes(plan, "nvidia", JobRequest())


def allocatable(found, efa):
    instance = Instance(
        instance_id="i-0123456789abcdef0",
        instance_type=found.name,
        image_id="ami-0123456789abcdef0",
        region="us-west-2",
        availability_zone="us-west-2b",
        zone_id="usw2-az2",
        private_dns_name="ip-10-0-0-1.us-west-2.compute.internal",
        private_ip_address="10.0.0.1",
        efa_interfaces=efa,
        security_group_ids=(),
        instance_profile="node",
        root_volume_gib=500,
        user_data=b"",
        tags={},
    )
    machine = instance_type(found.name)
    offered = build_node(instance, machine, NodeConfig(), None)["status"]["allocatable"]
    cpu = offered["cpu"]
    cpus = int(cpu[:-1]) / 1000 if cpu.endswith("m") else int(cpu)
    return cpus, int(offered["memory"][:-2]) // 1024, int(offered["hugepages-2Mi"][:-2])


@pytest.mark.parametrize("found", ACCELERATED, ids=lambda t: t.name)
@pytest.mark.parametrize("efa", [True, False], ids=["efa", "no-efa"])
def test_a_pod_fits_on_a_node_of_every_type_beside_its_daemons(found, efa):
    """A18: p5.4xlarge has fewer huge pages than are recommended."""
    group = nodes_of(found.name, efa=efa)
    nodes = chosen(group, manufacturer=found.accelerators.manufacturer)
    cpus, memory, huge_pages = allocatable(found, nodes.efa_interfaces)
    asked = resources(nodes)["requests"]
    assert 1 <= asked["cpu"] <= cpus - DAEMONS_CPUS
    assert memory_mib(nodes) <= memory - DAEMONS_MIB
    assert int(asked.get("hugepages-2Mi", "0Mi")[:-2]) <= huge_pages


@pytest.mark.parametrize("found", ACCELERATED, ids=lambda t: t.name)
def test_a_pod_takes_every_device_so_that_no_second_one_fits(found):
    nodes = chosen(nodes_of(found.name), manufacturer=found.accelerators.manufacturer)
    limits = resources(nodes)["limits"]
    device = {"nvidia": "nvidia.com/gpu", "neuron": "aws.amazon.com/neuron"}
    assert limits[device[found.accelerators.manufacturer]] == found.accelerators.count
    assert limits.get("vpc.amazonaws.com/efa", 0) == found.efa_interfaces


def test_pods_go_to_nodes_of_the_group_and_tolerate_its_taints():
    """A20, G8."""
    taint = Taint(key="nvidia.com/gpu", value="true", effect="NoSchedule")
    nodes = chosen(nodes_of("p5.48xlarge", labels={"team": "vision"}, taints=(taint,)))
    assert placement(nodes) == {
        "nodeSelector": {"node.kubernetes.io/instance-type": "p5.48xlarge", "team": "vision"},
        "tolerations": [
            {"key": "nvidia.com/gpu", "operator": "Equal", "value": "true", "effect": "NoSchedule"}
        ],
    }


@pytest.mark.parametrize(
    ("group", "name"),
    [
        pytest.param("P5_odcr", "nccl-tests-p5-odcr", id="spelling"),
        pytest.param("a" * 63, "nccl-tests-" + "a" * 46, id="length"),
    ],
)
def test_a_jobs_name_and_its_pods_are_dns_labels(group, name):
    assert job_name("nccl-tests", chosen(nodes_of("p5.48xlarge", name=group))) == name


def test_only_tests_tolerate_the_taint_of_nodes_that_have_not_passed():
    group = nodes_of("p5.48xlarge", startup_taints=(UNVERIFIED,))
    assert placement(chosen(group))["tolerations"] == []
    (found,) = placement(chosen(group, tests=True))["tolerations"]
    assert (found["key"], found["effect"]) == (UNVERIFIED.key, UNVERIFIED.effect)
