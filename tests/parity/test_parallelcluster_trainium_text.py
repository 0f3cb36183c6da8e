"""Rows that are only in the texts on Trainium: PR-40 to PR-46, PR-60 to PR-64."""

from __future__ import annotations

import pytest
import yaml

from tests.support.parallelcluster import rendered, scripts
from tests.support.parity import better, same
from tests.support.stacks import stack_plan
from trainyard.components.config.problems import ConfigError
from trainyard.jobs.slurm.bert_pretraining import render_bert_directory
from trainyard.jobs.slurm.nodes import SlurmRequest


@pytest.fixture
def trn1(slurm):
    return slurm("pc-trn1")


@pytest.fixture
def ultracluster(slurm):
    return slurm("pc-trn1-ultracluster")


@better(
    "PR-40",
    "The name of a Trainium zone, looked up by its id",
    why="the id stands in the stack file and goes to EC2 as it is",
)
def test_the_zone_is_given_by_its_id(trn1, ultracluster):
    for made in (trn1, ultracluster):
        subnets = made.cloud.of_type("aws:ec2/subnet:Subnet")
        assert {subnet.inputs.get("availabilityZoneId") for subnet in subnets} == {"usw2-az4"}


@better(
    "PR-41",
    "A public subnet with a NAT gateway for the head node, a private one for the nodes, by hand",
    why="the stack makes both, in the zone of the nodes",
)
def test_the_network_of_the_tutorial_is_made(trn1):
    public, private = trn1.plan.network.public_subnets, trn1.plan.network.private_subnets
    assert (len(public), len(private)) == (1, 1)
    gateways = trn1.cloud.of_type("aws:ec2/natGateway:NatGateway")
    assert [made.inputs["subnetId"] for made in gateways] == [trn1.head["Networking"]["SubnetId"]]
    routes = trn1.cloud.of_type("aws:ec2/route:Route")
    ways = sorted("nat" if "natGatewayId" in made.inputs else "internet" for made in routes)
    assert ways == ["internet", "nat"]


@same("PR-42", "`--suppress-validators type:ComputeResourceLaunchTemplateValidator`")
def test_validators_can_be_left_out(trn1, registered):
    assert "SuppressValidators" not in trn1.custom_resource
    validator = "type:ComputeResourceLaunchTemplateValidator"
    cloud = registered("pc-trn1", architecture__deployment__suppress_validators=[validator])
    (stack,) = cloud.of_type("aws:cloudformation/stack:Stack")
    properties = yaml.safe_load(stack.inputs["templateBody"])["Resources"]["PclusterCluster"]
    assert properties["Properties"]["SuppressValidators"] == [validator]


@better(
    "PR-43",
    "`MinCount` must be 0, because ParallelCluster 3.2.0 does not know Trainium",
    why="0 because idle nodes cost; any other number works as well",
)
def test_nodes_with_trainium_may_stay(trn1):
    assert trn1.nodes["MinCount"] == 0
    nodes = "architecture__queues__compute1__compute_resources__queue-0__minimum"
    made = rendered(stack_plan("pc-trn1", **{nodes: 2}))
    assert made["Scheduling"]["SlurmQueues"][0]["ComputeResources"][0]["MinCount"] == 2


@better(
    "PR-44",
    "`Invalid NCCL_COMM_ID`: a job that edits /etc/hosts of every node",
    why="jobs meet at an address, so that no name must be resolved and no file edited",
)
def test_the_job_meets_at_an_address(trn1):
    job, _ = render_bert_directory(trn1.plan, SlurmRequest())
    assert "NodeAddr=" in job.files["addresses.sh"]
    assert '--master_addr="${addresses[0]}"' in job.files["worker.sh"]
    assert not [name for name, text in job.files.items() if "/etc/hosts" in text]


@same("PR-45", "EFA variables, BUCKET_CAP_MB, driver reloaded, reserved port, 32 processes a node")
def test_the_job_has_the_settings_of_the_tutorial(trn1):
    job, nodes = render_bert_directory(trn1.plan, SlurmRequest())
    worker = job.files["worker.sh"]
    for setting in (
        "FI_PROVIDER=efa",
        "FI_EFA_USE_DEVICE_RDMA=1",
        "BUCKET_CAP_MB=512",
        "modprobe -r neuron",
        "net.ipv4.ip_local_reserved_ports=48620",
        "run=(neuron_parallel_compile torchrun)",
        "--nproc_per_node=32",
    ):
        assert setting in worker
    assert nodes.count == 2


@better(
    "PR-46",
    "Troubleshooting: an image of another version, wrong subnets, the log group in the console",
    why="the first two are refused before anything is made, and the log group is an output",
)
def test_what_went_wrong_there_is_refused_here(trn1):
    with pytest.raises(ConfigError, match="pcluster build-image"):
        stack_plan("pc-trn1-ami", architecture__custom_ami_id="ami-0c0000000000bad01")
    public = ["subnet-0a000000000000001", "subnet-0b000000000000001"]
    with pytest.raises(ConfigError, match="private_subnet_ids"):
        stack_plan("pc-gpu", network__private_subnet_ids=public)
    assert trn1.outputs["log_group"].startswith("/aws/parallelcluster/")


@same("PR-60", "One compute resource of 16 nodes, or two of eight in one queue")
def test_the_nodes_are_one_pool_or_two(ultracluster):
    assert (ultracluster.nodes["Name"], ultracluster.nodes["MaxCount"]) == ("queue1-i1", 16)
    half = {"instance_type": "trn1.32xlarge", "maximum": 8, "efa_enabled": True}
    both = {"architecture__queues__compute1__compute_resources": {"queue-0": half, "queue-1": half}}
    (queue,) = rendered(stack_plan("pc-trn1-ultracluster", **both))["Scheduling"]["SlurmQueues"]
    found = [(nodes["Name"], nodes["MaxCount"]) for nodes in queue["ComputeResources"]]
    assert found == [("queue-0", 8), ("queue-1", 8)]


@better(
    "PR-61",
    "Two subnets and a NAT gateway by hand; compilers on the head node too",
    why="the stack makes them, and nothing launches before the way out is there",
)
def test_the_way_out_is_there_before_the_cluster(ultracluster):
    (gateway,) = ultracluster.cloud.of_type("aws:ec2/natGateway:NatGateway")
    private = [
        made
        for made in ultracluster.cloud.of_type("aws:ec2/route:Route")
        if made.inputs.get("natGatewayId") == f"{gateway.name}-id"
    ]
    (stack,) = ultracluster.cloud.of_type("aws:cloudformation/stack:Stack")
    assert private
    assert {route.urn for route in private} <= stack.dependencies
    assert len(scripts(ultracluster.head)) == 1


@better(
    "PR-62",
    "FSx for Lustre beside the nodes, in the text; EFS in the sample",
    why="Lustre, which ParallelCluster makes in the subnet of the queue",
)
def test_lustre_is_in_the_zone_of_the_nodes(ultracluster):
    types = {entry["StorageType"] for entry in ultracluster.storage.values()}
    assert types == {"FsxLustre"}
    assert len(ultracluster.queue["Networking"]["SubnetIds"]) == 1


@better(
    "PR-63",
    "`pcluster create-cluster`, `describe-cluster` and `delete-cluster`",
    why="`up`, `outputs` with the fields that people read there, and `destroy`",
)
def test_outputs_are_the_fields_that_people_read(ultracluster):
    outputs = ultracluster.outputs
    assert outputs["cluster_status"] == "CREATE_COMPLETE"
    assert outputs["compute_fleet_status"] == "RUNNING"
    assert outputs["head_node"].keys() == {"instance_id", "private_ip", "public_ip"}
    assert "ssm start-session" in outputs["ssm_command"]
    assert ultracluster.custom_resource["DeletionPolicy"] == "Delete"
    assert ultracluster.cluster["Tags"][0]["Value"] == "pc-trn1-ultracluster"


@same(
    "PR-64",
    "BERT-Large on 16 nodes in less than eight hours; `sinfo` shows compute1 and queue1-i1",
    why="the same nodes, processes and global batch; how long they take is not measured here",
)
def test_the_job_takes_all_16_nodes_and_keeps_the_global_batch(ultracluster):
    job, nodes = render_bert_directory(ultracluster.plan, SlurmRequest())
    assert (nodes.queue.name, nodes.resource.name, nodes.count) == ("compute1", "queue1-i1", 16)
    batch = job.files["train.sbatch"]
    assert "#SBATCH --partition=compute1" in batch
    assert "#SBATCH --nodes=16" in batch
    assert "#SBATCH --exclusive" in batch
    assert "a global batch of 16384 sequences" in job.files["phase1.sh"]
