"""The compute resource of a Slurm job, its number of nodes, and their shared directory."""

from dataclasses import replace

import pytest

from tests.support.parallelcluster import (
    APPS,
    FSX,
    compute_resource,
    p4de_plan,
    plan,
    queue,
    trn1_plan,
)
from tests.support.slurm_jobs import mixed_plan, two_resources_plan
from trainyard.components.catalog.instance_types import instance_type
from trainyard.jobs.nodes import JobError
from trainyard.jobs.slurm.nodes import SlurmRequest, choose_slurm_nodes, shared_directory

EFS = replace(FSX, name="efs", type="Efs", mount_directory="/efs")
ZFS = replace(FSX, name="zfs", type="FsxOpenZfs", mount_directory="/zfs")


def chosen(of, manufacturer="nvidia", **request):
    return choose_slurm_nodes(of, manufacturer, SlurmRequest(**request))


def test_as_many_nodes_as_the_compute_resource_may_have():
    nodes = chosen(trn1_plan(), "neuron")
    assert nodes.count == 16
    assert nodes.description == "16 x trn1.32xlarge (compute1/queue1-i1)"


def test_as_many_nodes_as_are_asked_for():
    assert chosen(trn1_plan(), "neuron", nodes=3).count == 3


def test_a_partition_is_the_queue_and_needs_no_constraint_where_it_has_one_kind_of_nodes():
    assert chosen(p4de_plan()).placement == "#SBATCH --partition=compute-gpu"


def test_a_constraint_names_the_compute_resource_where_a_queue_has_several():
    """PR-60: two compute resources of eight nodes in one queue, from which jobs choose."""
    nodes = chosen(two_resources_plan(), "neuron", compute_resource="queue-1")
    assert nodes.placement == "#SBATCH --partition=compute1\n#SBATCH --constraint=queue-1"
    assert nodes.count == 8


def test_a_queue_is_enough_where_it_has_one_compute_resource():
    assert chosen(mixed_plan(), queue="inference-gpu").resource.name == "inference-g5"


@pytest.mark.parametrize(
    ("of", "manufacturer", "request_", "said"),
    [
        pytest.param(trn1_plan(), "nvidia", {}, "no compute resource with NVIDIA GPUs", id="gpu"),
        pytest.param(plan(), "neuron", {}, "no compute resource with Neuron devices", id="neuron"),
        pytest.param(
            mixed_plan(),
            "nvidia",
            {},
            "--queue and --compute-resource: compute-gpu/distributed-ml, inference-gpu/inference",
            id="several-queues",
        ),
        pytest.param(
            two_resources_plan(),
            "neuron",
            {"queue": "compute1"},
            "name one with --queue and --compute-resource: compute1/queue-0, compute1/queue-1",
            id="several-resources",
        ),
        pytest.param(
            two_resources_plan(),
            "neuron",
            {"compute_resource": "queue-2"},
            "no compute resource '*/queue-2' with Neuron devices; there is: compute1/queue-0",
            id="no-such-resource",
        ),
        pytest.param(p4de_plan(), "nvidia", {"nodes": 5}, "at most 4 nodes", id="too-many"),
    ],
)
def test_refuses_what_the_stack_has_no_nodes_for(of, manufacturer, request_, said):
    with pytest.raises(JobError) as refused:
        chosen(of, manufacturer, **request_)
    assert said in str(refused.value)


def test_refuses_several_neuron_nodes_that_cannot_reach_one_another():
    alone = compute_resource("trn1", instance_type=instance_type("trn1.32xlarge"), maximum=2)
    of = trn1_plan(queues=(queue("compute1", alone),))
    with pytest.raises(JobError, match="efa_enabled: true"):
        chosen(of, "neuron")
    assert chosen(of, "neuron", nodes=1).efa_interfaces == 0


@pytest.mark.parametrize(
    ("storage", "directory"),
    [
        pytest.param((), "/home", id="none"),
        pytest.param((APPS,), "/apps", id="ebs"),
        pytest.param((APPS, EFS), "/efs", id="efs"),
        pytest.param((EFS, ZFS, APPS), "/zfs", id="openzfs"),
        pytest.param((APPS, EFS, FSX, ZFS), "/fsx", id="lustre"),
        pytest.param((FSX, replace(FSX, mount_directory="/data")), "/fsx", id="first-of-a-kind"),
        pytest.param((replace(FSX, mount_directory="fsx/"),), "/fsx", id="without-a-slash"),
    ],
)
def test_files_lie_on_the_fastest_storage_that_all_nodes_share(storage, directory):
    assert shared_directory(plan(shared_storage=storage)) == directory
