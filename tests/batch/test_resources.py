"""The AWS Batch architecture: its resources, their order, and its outputs."""

import json
from dataclasses import replace

import pulumi
import pytest

from tests.support.batch import (
    IMAGE,
    compute_environment,
    container,
    efa_environment,
    job_definition,
    p4d_plan,
    p5_plan,
    plan,
    trn1_plan,
)
from tests.support.pools import ODCR_GROUP
from trainyard.components.batch.plan import RepositoryPlan
from trainyard.components.batch.resources import BatchArchitecture
from trainyard.components.config.network import NewVpc
from trainyard.components.network.network_plan import plan_network

ENVIRONMENT = "aws:batch/computeEnvironment:ComputeEnvironment"
QUEUE = "aws:batch/jobQueue:JobQueue"
DEFINITION = "aws:batch/jobDefinition:JobDefinition"
SHARE = "arn:aws:ram:us-west-2:999988887777:resource-share/0a1b2c3d-0a1b-2c3d-4e5f-0a1b2c3d4e5f"
GROUPED = plan(
    compute_environments=(efa_environment("p4d", "p4d.24xlarge", capacity=ODCR_GROUP),),
    job_definitions=(),
    resource_shares={"group": SHARE, "other": SHARE},
)


def new_vpc_plan():
    network = NewVpc(kind="new-vpc", availability_zones=("us-west-2b",), addresses="vpc-one-az")
    made = plan_network(network, region="us-west-2")
    nodes = compute_environment(subnets=made.private_names)
    return plan(network=made, compute_environments=(nodes,))


@pytest.fixture
def architecture(deploy):
    """Deploy the architecture of a plan, with its outputs as the stack's exports."""

    def run(of=None):
        made = of or plan()

        def program():
            for name, value in BatchArchitecture(made.name, made).outputs().items():
                pulumi.export(name, value)

        return deploy(program)

    return run


def before(cloud, name):
    """Return the names of all direct and indirect dependencies of a resource."""
    by_urn = {made.urn: made for made in cloud.registered}
    found, open_ = set(), [cloud.one(name)]
    while open_:
        for urn in open_.pop().dependencies:
            if urn in by_urn and by_urn[urn].name not in found:
                found.add(by_urn[urn].name)
                open_.append(by_urn[urn])
    return found


def test_every_environment_has_a_queue_and_every_job_a_definition(architecture):
    """BAT-14, BAT-19, BAT-21, BAT-22."""
    cloud = architecture(p4d_plan())
    assert [made.name for made in cloud.of_type(ENVIRONMENT)] == ["batch-p4d-p4d-environment"]
    assert [made.name for made in cloud.of_type(QUEUE)] == ["batch-p4d-p4d-queue"]
    definitions = cloud.of_type(DEFINITION)
    assert [made.inputs["name"] for made in definitions] == [
        "batch-p4d-nccl-multi",
        "batch-p4d-nccl-single",
    ]
    assert [made.inputs["type"] for made in definitions] == ["multinode", "container"]


def test_nodes_reach_each_other_and_the_internet(architecture):
    """BAT-08, VPC1-10 to VPC1-13, pain 6: independent of the VPC's existing groups."""
    cloud = architecture(p5_plan())
    (interfaces,) = [
        made.inputs["networkInterfaces"]
        for made in cloud.of_type("aws:ec2/launchTemplate:LaunchTemplate")
    ]
    assert {tuple(i["securityGroups"]) for i in interfaces} == {("batch-p5-nodes-group-id",)}
    rules = {made.name for made in cloud.registered if "SecurityGroup" in made.type}
    assert {
        "batch-p5-nodes-ingress-self",
        "batch-p5-nodes-egress-self",
        "batch-p5-nodes-egress-internet",
    } <= rules


def test_rules_stand_before_nodes_start(architecture):
    """An environment with a minimum launches nodes at once."""
    cloud = architecture(p5_plan())
    rules = {made.name for made in cloud.registered if made.type.endswith("gressRule")}
    assert rules
    assert rules <= before(cloud, "batch-p5-p5-environment")


def test_a_shared_reservation_is_accepted_then_grouped_then_used(architecture):
    """PR-05 to PR-08."""
    cloud = architecture(GROUPED)
    (share,) = cloud.of_type("aws:ram/resourceShareAccepter:ResourceShareAccepter")
    assert share.retain_on_delete
    members = cloud.of_type("aws:resourcegroups/resource:Resource")
    assert len(members) == 2
    assert all(share.urn in member.dependencies for member in members)
    waits = before(cloud, "batch-g4dn-p4d-environment")
    assert {share.name, *(member.name for member in members)} <= waits
    target = cloud.one("batch-g4dn-p4d-launch-template").inputs["capacityReservationSpecification"]
    assert target["capacityReservationTarget"]["capacityReservationResourceGroupArn"].endswith(
        ":group/reservations-batch-g4dn-group"
    )


def test_a_new_vpc_is_complete_before_the_first_node(architecture):
    """Nodes pull images when they start."""
    cloud = architecture(new_vpc_plan())
    routes = {made.name for made in cloud.of_type("aws:ec2/route:Route")}
    gateways = {made.name for made in cloud.of_type("aws:ec2/natGateway:NatGateway")}
    assert routes
    assert gateways
    assert routes | gateways <= before(cloud, "batch-g4dn-g4dn-environment")


def test_an_image_of_the_stacks_own_repository_has_the_name_of_its_job(architecture):
    """BAT-21: without a tag it would be `latest`, and tags of the repository are immutable."""
    cloud = architecture(p4d_plan())
    (multi, _) = cloud.of_type(DEFINITION)
    properties = json.loads(multi.inputs["nodeProperties"])
    (group,) = properties["nodeRangeProperties"]
    url = cloud.exports["repository_url"]
    assert group["container"]["image"] == f"{url}:nccl-multi"


def test_fails_where_an_image_is_in_a_repository_that_nobody_makes(architecture):
    lost = plan(job_definitions=(job_definition(container=container(image=None)),))
    with pytest.raises(ValueError, match="nccl-single is in a repository that the plan"):
        architecture(lost)


def test_there_is_no_repository_where_none_is_asked_for(architecture):
    """DF-11: the template's repository was unused."""
    cloud = architecture()
    assert not cloud.of_type("aws:ecr/repository:Repository")
    assert cloud.exports["repository_url"] is None


@pytest.mark.parametrize(("local_nvme", "mounted"), [("raid0", True), ("none", False)])
def test_jobs_get_the_local_disks_of_their_nodes(architecture, local_nvme, mounted):
    """BAT-09."""
    cloud = architecture(plan(compute_environments=(compute_environment(local_nvme=local_nvme),)))
    (definition,) = cloud.of_type(DEFINITION)
    properties = json.loads(definition.inputs["containerProperties"])
    assert ("mountPoints" in properties) is mounted


def test_outputs_say_what_people_ask_next(architecture):
    """BAT-23, BAT5-12."""
    exports = architecture().exports
    assert exports.keys() == {
        "compute_environments",
        "job_definitions",
        "repository_url",
        "vpc_id",
        "private_subnet_ids",
        "security_group_ids",
        "notes",
    }
    batch = "arn:aws:batch:us-west-2:123456789012"
    assert exports["compute_environments"]["g4dn"] == {
        "name": "batch-g4dn-g4dn-20261121",
        "arn": f"{batch}:compute-environment/batch-g4dn-g4dn-20261121",
        "job_queue": "batch-g4dn-g4dn",
        "job_queue_arn": f"{batch}:job-queue/batch-g4dn-g4dn",
        "instance_type": "g4dn.8xlarge",
        "minimum_vcpus": 0,
        "maximum_vcpus": 128,
    }
    assert exports["job_definitions"]["nccl-single"] == {
        "arn": f"{batch}:job-definition/batch-g4dn-nccl-single:1",
        "job_queue": "batch-g4dn-g4dn",
        "nodes": 1,
        "image": IMAGE,
    }


@pytest.mark.parametrize("make", [plan, p4d_plan, p5_plan, trn1_plan, new_vpc_plan])
def test_every_component_is_closed_and_every_child_stays_inside(architecture, make):
    cloud = architecture(make())
    assert {made.urn for made in cloud.components()} <= set(cloud.closed)
    (top,) = (made for made in cloud.components() if "Architecture" in made.type)
    assert [made.name for made in cloud.registered if top.urn not in cloud.line(made)] == []


def test_no_reservation_is_made_or_owned(architecture):
    """Users buy reservations; destroying the stack must not change them."""
    types = {made.type for made in architecture(GROUPED).registered}
    assert not [t for t in types if "apacityReservation" in t or "apacityBlock" in t]


def test_every_resource_that_takes_tags_has_those_of_the_stack(architecture):
    tagged = replace(
        new_vpc_plan(),
        repository=RepositoryPlan(
            name="batch", untagged_days=14, kept_images=100, deletion_protection=False
        ),
    )
    untagged = [
        made.name
        for made in architecture(tagged).registered
        if isinstance(made.inputs.get("tags"), dict) and made.inputs["tags"].get("team") != "vision"
    ]
    assert untagged == []


def test_no_output_is_secret(architecture):
    assert "secret" not in json.dumps(architecture(p4d_plan()).exports)
