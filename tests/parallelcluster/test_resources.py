"""The ParallelCluster architecture: its resources, their order, and its outputs."""

import json
import re
from dataclasses import replace

import pulumi
import pytest
import yaml

from tests.support.parallelcluster import (
    compute_resource,
    head_node,
    new_vpc_plan,
    p4de_plan,
    plan,
    queue,
    trn1_plan,
)
from tests.support.pools import ODCR_GROUP
from tests.support.stack_files import PRIVATE_B
from trainyard.components.config.parallelcluster import Monitoring
from trainyard.components.parallelcluster.node_scripts import (
    NodeAccess,
    ScriptPlan,
    head_node_key,
    queue_key,
    script_text,
)
from trainyard.components.parallelcluster.plan import SharedStoragePlan
from trainyard.components.parallelcluster.references import Reference
from trainyard.components.parallelcluster.resources import ParallelClusterArchitecture
from trainyard.components.storage.storage_plan import OpenZfsPlan

STACK = "aws:cloudformation/stack:Stack"
SHARE = "arn:aws:ram:us-west-2:999988887777:resource-share/0a1b2c3d-0a1b-2c3d-4e5f-0a1b2c3d4e5f"
GROUPED = plan(
    queues=(queue("compute", compute_resource(capacity=ODCR_GROUP), capacity=ODCR_GROUP),),
    resource_shares={"group": SHARE},
)
HOME = OpenZfsPlan(
    name="home",
    storage_capacity_gib=128,
    throughput_capacity_mbps=160,
    deployment_type="SINGLE_AZ_HA_2",
    compression="LZ4",
    kms_key_arn=None,
    weekly_maintenance=None,
    backup_retention_days=0,
    backup_time=None,
    subnets=(PRIVATE_B,),
    clients=(PRIVATE_B,),
    deletion_protection=True,
    tags={"team": "vision"},
)
MOUNTED_HOME = SharedStoragePlan(
    name="home",
    mount_directory="/shared-home",
    type="FsxOpenZfs",
    settings={"VolumeId": Reference("open-zfs-volume", "home")},
    retained=True,
)


@pytest.fixture
def architecture(deploy):
    """Deploy the architecture of a plan, with its outputs as the stack's exports."""

    def run(of=None):
        made = of or plan()

        def program():
            for name, value in ParallelClusterArchitecture(made.name, made).outputs().items():
                pulumi.export(name, value)

        return deploy(program, calls={"aws:ec2/getSubnet:getSubnet": {"cidrBlock": "10.0.0.0/24"}})

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


def test_a_cluster_in_an_existing_vpc_is_one_stack(architecture):
    """ParallelCluster creates everything else."""
    made = [each for each in architecture().registered if not each.is_component]
    assert [each.type for each in made] == [STACK]


def test_a_shared_reservation_is_accepted_then_grouped_then_used(architecture):
    """PR-05 to PR-08: three manual steps, in this order."""
    cloud = architecture(GROUPED)
    (share,) = cloud.of_type("aws:ram/resourceShareAccepter:ResourceShareAccepter")
    assert share.inputs["shareArn"] == SHARE
    members = cloud.of_type("aws:resourcegroups/resource:Resource")
    assert len(members) == 2
    assert all(share.urn in member.dependencies for member in members)
    assert {share.name, *(member.name for member in members)} <= before(cloud, "pc-g4dn-deployment")


def test_a_share_of_two_reservations_is_accepted_once(architecture):
    """RAM does not accept the same invitation twice."""
    made = plan(resource_shares={"first": SHARE, "second": SHARE})
    shares = architecture(made).of_type("aws:ram/resourceShareAccepter:ResourceShareAccepter")
    assert [share.name for share in shares] == ["pc-g4dn-first-share"]


def test_destroy_does_not_leave_a_share(architecture):
    """The reservation would be unavailable until its owner, AWS, invites the account again."""
    (share,) = architecture(GROUPED).of_type("aws:ram/resourceShareAccepter:ResourceShareAccepter")
    assert share.retain_on_delete


def test_the_group_is_the_target_of_the_queue(architecture):
    """PR-07."""
    config = yaml.safe_load(architecture(GROUPED).exports["cluster_config"])
    target = config["Scheduling"]["SlurmQueues"][0]["CapacityReservationTarget"]
    assert target["CapacityReservationResourceGroupArn"].endswith(
        ":group/reservations-pc-g4dn-group"
    )


def test_a_new_vpc_is_complete_before_the_cluster(architecture):
    """PR-61: nodes download packages when they start."""
    cloud = architecture(new_vpc_plan())
    routes = {made.name for made in cloud.of_type("aws:ec2/route:Route")}
    gateways = {made.name for made in cloud.of_type("aws:ec2/natGateway:NatGateway")}
    assert routes
    assert gateways
    assert routes | gateways <= before(cloud, "pc-g4dn-deployment")


def test_ids_of_a_new_vpc_are_in_the_cluster_file(architecture):
    config = yaml.safe_load(architecture(new_vpc_plan()).exports["cluster_config"])
    assert config["HeadNode"]["Networking"]["SubnetId"].endswith("-id")


def test_a_file_system_that_parallelcluster_cannot_make_is_made_first(architecture):
    made = plan(open_zfs=(HOME,), shared_storage=(MOUNTED_HOME,))
    cloud = architecture(made)
    (file_system,) = cloud.of_type("aws:fsx/openZfsFileSystem:OpenZfsFileSystem")
    assert file_system.protect
    rules = {each.name for each in cloud.registered if "IngressRule" in each.type}
    assert rules
    assert {file_system.name, *rules} <= before(cloud, "pc-g4dn-deployment")


@pytest.mark.parametrize("make", [plan, p4de_plan, trn1_plan, new_vpc_plan])
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
    untagged = [
        made.name
        for made in architecture(new_vpc_plan()).registered
        if isinstance(made.inputs.get("tags"), dict) and made.inputs["tags"].get("team") != "vision"
    ]
    assert untagged == []


def test_outputs_say_what_people_ask_next(architecture):
    """PR-63, PR-46: common fields of `pcluster describe-cluster`, and access to the head node."""
    exports = architecture().exports
    assert exports.keys() == {
        "cluster_name",
        "cluster_version",
        "cluster_status",
        "compute_fleet_status",
        "cluster_stack_arn",
        "head_node",
        "ssh_command",
        "ssm_command",
        "log_group",
        "validation_messages",
        "cluster_config",
        "queues",
        "vpc_id",
        "private_subnet_ids",
        "file_systems",
        "notes",
    }
    assert exports["cluster_version"] == "3.16.1"
    assert exports["cluster_status"] == "CREATE_COMPLETE"
    assert exports["compute_fleet_status"] == "RUNNING"
    assert exports["head_node"] == {
        "instance_id": "i-0123456789abcdef0",
        "private_ip": "10.0.0.10",
        "public_ip": "203.0.113.10",
    }
    assert exports["queues"] == {
        "compute": {"g4dn": {"instance_type": "g4dn.8xlarge", "minimum": 0, "maximum": 2}}
    }


def test_queues_are_partitions_with_their_nodes(architecture):
    """PR-60, PR-64: `sinfo` shows them by these names."""
    made = trn1_plan(
        queues=(queue("compute1", compute_resource("queue-0"), compute_resource("queue-1")),)
    )
    assert architecture(made).exports["queues"]["compute1"].keys() == {"queue-0", "queue-1"}


def test_file_systems_say_where_they_are_and_whether_they_stay(architecture):
    assert architecture(p4de_plan()).exports["file_systems"] == {
        "fsx": {"type": "FsxLustre", "mount_directory": "/fsx", "outlives_the_cluster": True},
        "apps": {"type": "Ebs", "mount_directory": "/apps", "outlives_the_cluster": True},
    }


def test_a_private_head_node_has_no_public_address(architecture):
    exports = architecture(plan(head_node=head_node(public=False))).exports
    assert exports["head_node"]["public_ip"] is None
    assert exports["ssh_command"] is None


def test_the_cluster_file_of_the_outputs_is_the_deployed_one(architecture):
    cloud = architecture(p4de_plan())
    (stack,) = cloud.of_type(STACK)
    resources = json.loads(stack.inputs["templateBody"])["Resources"]
    deployed = resources["PclusterCluster"]["Properties"]["ClusterConfiguration"]
    assert yaml.safe_load(cloud.exports["cluster_config"]) == deployed


def test_no_output_is_secret(architecture):
    exports = architecture(
        plan(head_node=head_node(key_name=None, public_key="ssh-ed25519 AAAA me"))
    ).exports
    assert "secret" not in json.dumps(exports)


def test_a_cluster_without_logs_asks_for_no_log_group(architecture):
    cloud = architecture(plan(monitoring=Monitoring(logs=False)))
    assert cloud.exports["log_group"] is None
    assert "aws:cloudformation/getStack:getStack" not in [token for token, _ in cloud.invoked]


def test_plans_of_two_clusters_do_not_collide(deploy):
    other = replace(plan(), name="other")

    def program():
        ParallelClusterArchitecture("pc-g4dn", plan())
        ParallelClusterArchitecture("other", other)

    cloud = deploy(program)
    assert len({made.urn for made in cloud.registered}) == len(cloud.registered)


def with_scripts(*names, head_node_names=()):
    """Return a plan whose queue and head node run built-in scripts."""
    queues = NodeAccess(
        on_node_configured=tuple(ScriptPlan(built_in=name, key=queue_key(name)) for name in names)
    )
    head = NodeAccess(
        on_node_configured=tuple(
            ScriptPlan(built_in=name, key=head_node_key(name)) for name in head_node_names
        )
    )
    resource = compute_resource()
    return plan(
        head_node=head_node(access=head), queues=(queue("compute", resource, access=queues),)
    )


def test_built_in_scripts_are_objects_of_a_private_bucket(architecture):
    """PCx-07, TRN-23."""
    cloud = architecture(with_scripts("docker", "pyxis", head_node_names=("pyxis",)))
    (bucket,) = cloud.of_type("aws:s3/bucket:Bucket")
    # Only such buckets are open to ParallelCluster's own function, which looks for the scripts.
    assert bucket.inputs["bucketPrefix"].startswith("parallelcluster-")
    assert bucket.inputs["forceDestroy"] is True
    (closed,) = cloud.of_type("aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock")
    assert [closed.inputs[each] for each in closed.inputs if each != "bucket"] == [True] * 4
    (owned,) = cloud.of_type("aws:s3/bucketOwnershipControls:BucketOwnershipControls")
    assert owned.inputs["rule"] == {"objectOwnership": "BucketOwnerEnforced"}
    (policy,) = cloud.of_type("aws:s3/bucketPolicy:BucketPolicy")
    (statement,) = json.loads(policy.inputs["policy"])["Statement"]
    assert statement["Effect"] == "Deny"
    assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    objects = cloud.of_type("aws:s3/bucketObjectv2:BucketObjectv2")
    assert {each.inputs["key"]: each.inputs["content"] for each in objects} == {
        queue_key("docker"): script_text("docker"),
        queue_key("pyxis"): script_text("pyxis"),
        head_node_key("pyxis"): script_text("pyxis"),
    }


def test_nodes_read_the_scripts_from_the_bucket(architecture):
    cloud = architecture(with_scripts("neuron", head_node_names=("neuron",)))
    config = yaml.safe_load(cloud.exports["cluster_config"])
    (queued,) = config["Scheduling"]["SlurmQueues"]
    for section, key in (
        (config["HeadNode"], head_node_key("neuron")),
        (queued, queue_key("neuron")),
    ):
        (access,) = section["Iam"]["S3Access"]
        (script,) = section["CustomActions"]["OnNodeConfigured"]["Sequence"]
        assert script["Script"] == f"s3://{access['BucketName']}/{key}"
        assert access["KeyName"] == "node-scripts/*"
        assert re.fullmatch(r"[a-z0-9.-]+", access["BucketName"])


def test_the_bucket_is_there_before_the_cluster_and_after_it(architecture):
    cloud = architecture(with_scripts("neuron"))
    made = {each.name for each in cloud.registered if each.type.startswith("aws:s3/")}
    (policy,) = cloud.of_type("aws:s3/bucketPolicy:BucketPolicy")
    assert len(made) == 6
    assert made <= before(cloud, "pc-g4dn-deployment")
    assert policy.name in made


def test_stacks_without_built_in_scripts_have_no_bucket(architecture):
    """`p4de_plan` runs scripts of the user."""
    assert not [each for each in architecture(p4de_plan()).registered if "s3/" in each.type]
