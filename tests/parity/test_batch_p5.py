"""AWS Batch with p5 in a Capacity Block against its template: BAT5-01 to BAT5-12."""

from __future__ import annotations

import pytest

from tests.support.parity import better, same
from tests.support.stacks import stack_plan
from trainyard.components.catalog.versions import NCCL_TESTS_IMAGE
from trainyard.components.config.problems import ConfigError

STACK = "batch-p5"
ULIMITS = {
    "memlock": (-1, -1),
    "stack": (67108864, 67108864),
    "nofile": (1024000, 1024000),
}
"""Soft and hard limits of both templates."""


def as_devices(count):
    """Return the device mappings of a container for this number of EFA devices."""
    paths = [f"/dev/infiniband/uverbs{number}" for number in range(count)]
    allowed = ["READ", "WRITE", "MKNOD"]
    return [{"hostPath": p, "containerPath": p, "permissions": allowed} for p in paths]


@pytest.fixture
def p5(batch):
    return batch(STACK)


@better(
    "BAT5-01",
    "`VPCStackParameter`, and `CapacityBlockId`, which the text calls `CapacityReservationId`",
    why="`reservation_id`, whatever the kind of the reservation; another key is refused by name",
)
def test_the_block_is_given_like_every_reservation(p5):
    assert p5.plan.compute_environments[0].capacity.reservation_id == "cr-0123456789abcdef0"
    with pytest.raises(ConfigError, match="capacity_block_id"):
        stack_plan(STACK, reservations__block__capacity_block_id="cr-0123456789abcdef0")


@same("BAT5-02", "Market type `capacity-block`, and the block as the target; no image")
def test_nodes_launch_into_the_block(p5):
    template = p5.template
    assert template["instanceMarketOptions"] == {"marketType": "capacity-block"}
    target = template["capacityReservationSpecification"]["capacityReservationTarget"]
    assert target == {"capacityReservationId": "cr-0123456789abcdef0"}
    assert "imageId" not in template


@better(
    "BAT5-03",
    "32 EFA interfaces, on cards 0 to 31, with an address each",
    why="the same 32 cards; only the first takes an address of the subnet",
)
def test_every_card_has_an_efa_interface(p5):
    assert p5.efa_cards == list(range(32))
    interfaces = p5.template["networkInterfaces"]
    assert {each["deviceIndex"] for each in interfaces} == {0}
    assert [each["interfaceType"] for each in interfaces] == ["efa", *["efa-only"] * 31]


@same("BAT5-04", "No placement group")
def test_the_block_places_its_instances_itself(p5):
    assert p5.cloud.of_type("aws:ec2/placementGroup:PlacementGroup") == []
    assert "placement" not in p5.template
    named = {"architecture__compute_environments__p5__placement": {"group": "create"}}
    with pytest.raises(ConfigError, match="placement"):
        stack_plan(STACK, **named)


@better(
    "BAT5-05",
    "Roles and instance profile as for p4d",
    why="no service role of ours, and a role of its own for each job",
)
def test_roles_are_as_for_p4d(p5):
    assert "serviceRole" not in p5.environment
    assert p5.policies(f"{STACK}-p5-role") == [
        "AmazonEC2ContainerServiceforEC2Role",
        "AmazonSSMManagedInstanceCore",
    ]
    assert p5.policies(f"{STACK}-nccl-tests-role") == []


@better(
    "BAT5-06",
    "BEST_FIT, no vCPU to 100,000, p5.48xlarge, Batch's image, no key pair",
    why="updated in place; no more nodes than the block holds, and more are refused",
)
def test_the_environment_fits_into_the_block(p5):
    made = p5.resources
    assert made["allocationStrategy"] == "BEST_FIT_PROGRESSIVE"
    assert (made["minVcpus"], made["maxVcpus"]) == (0, 2 * 192)
    assert made["instanceTypes"] == ["p5.48xlarge"]
    assert made["ec2Configurations"] == [{"imageType": "ECS_AL2023_NVIDIA"}]
    assert "keyName" not in p5.template
    with pytest.raises(ConfigError, match="3 of 2"):
        stack_plan(STACK, architecture__compute_environments__p5__maximum=3)


@same("BAT5-07", "A job queue with the one environment, of priority 1")
def test_the_queue_leads_to_the_environment(p5):
    assert p5.queue["priority"] == 1
    assert len(p5.queue["computeEnvironmentOrders"]) == 1


@better(
    "BAT5-08",
    "An ECR repository that the job does not use",
    why="none; `repository: {}` makes one",
)
def test_a_repository_is_made_where_it_is_wanted(p5, changed_batch):
    assert p5.cloud.of_type("aws:ecr/repository:Repository") == []
    assert p5.cloud.exports["repository_url"] is None
    made = changed_batch(STACK, architecture__repository={})
    assert made.repository.inputs["name"] == STACK


@better(
    "BAT5-09",
    "A job on two nodes: `nccl-tests:latest`, 192 vCPUs, 8 GPUs, 48 GiB of shared memory",
    why="the same image by its version, and all memory that ECS leaves",
)
def test_the_job_has_both_whole_nodes(p5):
    definition, made = p5.definition("nccl-tests"), p5.container("nccl-tests")
    assert definition["nodeProperties"]["numNodes"] == 2
    assert definition["retryStrategy"] == {"attempts": 1}
    assert made["image"] == NCCL_TESTS_IMAGE
    assert NCCL_TESTS_IMAGE.startswith("public.ecr.aws/hpc-cloud/nccl-tests:")
    assert not NCCL_TESTS_IMAGE.endswith(":latest")
    needs = {each["type"]: int(each["value"]) for each in made["resourceRequirements"]}
    assert (needs["VCPU"], needs["GPU"]) == (192, 8)
    assert 1049000 < needs["MEMORY"] < 2097152
    assert made["linuxParameters"]["sharedMemorySize"] == 49152
    assert made["linuxParameters"]["devices"] == as_devices(32)
    assert {u["name"]: (u["softLimit"], u["hardLimit"]) for u in made["ulimits"]} == ULIMITS


@better(
    "BAT5-10",
    "`mpirun -np 8` without a list of hosts: each node tests itself",
    why="one `mpirun` over the GPUs of all nodes, which fails where it did not reach them all",
)
def test_one_test_runs_over_all_nodes(p5):
    *_, test = p5.container("nccl-tests")["command"]
    assert "ranks=$((NODES * 8))" in test
    assert '-np "$ranks" --hostfile' in test
    assert "--mca pml ^cm,ucx --mca btl tcp,self" in test
    assert "all_reduce_perf -b 8 -e 16G -f 2 -g 1 -c 1 -n 100" in test
    assert 'if [ "$seen" -ne "$ranks" ]' in test


@better(
    "BAT5-11",
    "`PATH` and `LD_LIBRARY_PATH` with `$PATH` in them, which Batch does not replace",
    why="those of the image stay, and are handed to every node",
)
def test_the_paths_of_the_image_stay(p5):
    made = p5.container("nccl-tests")
    names = {each["name"] for each in made["environment"]}
    assert {"NCCL_DEBUG", "NCCL_BUFFSIZE", "NCCL_P2P_NET_CHUNKSIZE"} <= names
    assert not names & {"PATH", "LD_LIBRARY_PATH"}
    assert "-x PATH -x LD_LIBRARY_PATH" in made["command"][-1]


@better(
    "BAT5-12",
    "Outputs: repository, job definition, job queue",
    why="the same by name, and what jobs and nodes are",
)
def test_the_outputs_say_where_to_submit_what(p5):
    job = p5.cloud.exports["job_definitions"]["nccl-tests"]
    assert job["job_queue"] == p5.queue["name"]
    assert (job["nodes"], job["image"]) == (2, NCCL_TESTS_IMAGE)
