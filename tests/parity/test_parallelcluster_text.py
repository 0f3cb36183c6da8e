"""Rows that are only in the text on the five templates: PR-01 to PR-11."""

from __future__ import annotations

import pytest
import yaml

from tests.support.parallelcluster import rendered
from tests.support.parity import better, not_applicable, same
from tests.support.stacks import stack_plan
from trainyard.components.catalog.versions import PARALLELCLUSTER_VERSION
from trainyard.components.config.problems import ConfigError
from trainyard.components.parallelcluster.rendering import render_cluster
from trainyard.components.parallelcluster.update_review import update_problems

NOT_APPLICABLE = [
    not_applicable(
        "PR-11",
        "Slips of the text: names of files that do not exist, a public subnet for the nodes",
        why="this page and the stack files name what there is; wrong subnets are PR-46",
    ),
]
ML = "architecture__queues__compute-gpu__compute_resources__distributed-ml"
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFxtkBQK8pio3VACjCmOl68BcFHYzZ6Xk60QDD9HYPvn me"
SHARE = "arn:aws:ram:us-west-2:999988887777:resource-share/12345678-1234-1234-1234-123456789012"
GROUPED = {
    "kind": "odcr-group",
    "members": ["cr-00d00000000000004"],
    "availability_zone": "us-west-2b",
}
ASSISTED = {
    "kind": "odcr",
    "reservation_id": "cr-0a550000000000001",
    "provenance": "aws-assisted",
    "resource_share_arn": SHARE,
}
P5 = {
    f"{ML}__instance_type": "p5.48xlarge",
    f"{ML}__minimum": 2,
    f"{ML}__maximum": 2,
    "reservations__training": ASSISTED,
}


@better(
    "PR-01",
    "A virtual environment with the AWS CLI and ParallelCluster's, of any version",
    why="nothing to install: the version is the program's, and CloudFormation brings its tools",
)
def test_the_version_of_parallelcluster_is_pinned(slurm):
    made = slurm("pc-gpu")
    assert made.plan.version == PARALLELCLUSTER_VERSION
    assert f"/parallelcluster/{PARALLELCLUSTER_VERSION}/" in made.provider["TemplateURL"]
    assert made.outputs["cluster_version"] == PARALLELCLUSTER_VERSION


@better(
    "PR-02",
    "`aws ec2 create-key-pair`, and the private key in a file",
    why="the stack imports your public key; the private one is never seen, and refused",
)
def test_a_public_key_is_imported_and_a_private_one_refused(registered):
    cloud = registered("pc-gpu", architecture__head_node__ssh__public_key=KEY)
    (pair,) = cloud.of_type("aws:ec2/keyPair:KeyPair")
    assert pair.inputs["publicKey"] == KEY.removesuffix(" me")
    private = "-----BEGIN OPENSSH PRIVATE KEY-----"
    with pytest.raises(ConfigError, match=r"ssh\.public_key"):
        stack_plan("pc-gpu", architecture__head_node__ssh__public_key=private)


@better(
    "PR-03",
    "`pcluster create-cluster --cluster-configuration F --cluster-name N --region us-east-1`",
    why="one `up`, through CloudFormation; the same configuration is an output for `pcluster`",
)
def test_the_cluster_is_made_from_the_configuration_that_is_an_output(slurm):
    made = slurm("pc-gpu")
    assert made.custom_resource["ClusterName"] == "pc-gpu" != made.deployment["name"]
    assert yaml.safe_load(made.outputs["cluster_config"]) == made.cluster
    assert set(made.deployment["capabilities"]) == {
        "CAPABILITY_IAM",
        "CAPABILITY_NAMED_IAM",
        "CAPABILITY_AUTO_EXPAND",
    }


@better(
    "PR-04",
    "Minimum and maximum alike: nodes that stay; else they come and go. Changed by an update",
    why="the same, and an update that ParallelCluster would refuse is refused before it begins",
)
def test_fewer_nodes_are_refused_before_the_update_and_more_are_not(slurm):
    deployed = slurm("pc-gpu").cluster
    elastic = render_cluster(stack_plan("pc-gpu", **{f"{ML}__minimum": 0}))
    assert elastic["Scheduling"]["SlurmQueues"][0]["ComputeResources"][0]["MinCount"] == 0
    (problem,) = update_problems(deployed, elastic, stack_file="Pulumi.pc-gpu.yaml")
    assert "TERMINATE" in problem.remedy
    small = rendered(stack_plan("pc-gpu", **{f"{ML}__minimum": 2, f"{ML}__maximum": 2}))
    grown = rendered(stack_plan("pc-gpu"))
    assert not list(update_problems(small, grown, stack_file="Pulumi.pc-gpu.yaml"))


@better(
    "PR-05",
    "`aws resource-groups create-group` with two configurations, by hand",
    why="the stack makes the group, with the same two",
)
def test_a_group_of_reservations_is_made(registered):
    cloud = registered("pc-gpu", reservations__training=GROUPED)
    (group,) = cloud.of_type("aws:resourcegroups/group:Group")
    pool, generic = group.inputs["configurations"]
    assert pool == {"type": "AWS::EC2::CapacityReservationPool"}
    assert generic["type"] == "AWS::ResourceGroups::Generic"
    (parameter,) = generic["parameters"]
    assert parameter == {
        "name": "allowed-resource-types",
        "values": ["AWS::EC2::CapacityReservation"],
    }


@better(
    "PR-06",
    "`aws resource-groups group-resources`, by hand",
    why="the stack fills the group; one without a reservation of the nodes' type is refused",
)
def test_the_group_is_filled(registered):
    cloud = registered("pc-gpu", reservations__training=GROUPED)
    members = cloud.of_type("aws:resourcegroups/resource:Resource")
    assert {made.inputs["resourceArn"].rpartition("/")[2] for made in members} == set(
        GROUPED["members"]
    )
    other = {**GROUPED, "members": ["cr-00d00000000000002"]}
    with pytest.raises(ConfigError, match=r"reserves p5\.48xlarge"):
        stack_plan("pc-gpu", reservations__training=other)


@better(
    "PR-07",
    "`CapacityReservationResourceGroupArn`, in the sample in another region than its members",
    why="the ARN is that of the stack's own group; members of another region are refused",
)
def test_the_group_is_the_target_of_the_queue(registered):
    cloud = registered("pc-gpu", reservations__training=GROUPED)
    cluster = yaml.safe_load(cloud.exports["cluster_config"])
    (arn,) = cluster["Scheduling"]["SlurmQueues"][0]["CapacityReservationTarget"].values()
    assert arn.startswith("arn:aws:resource-groups:us-west-2:")
    elsewhere = "arn:aws:ec2:sa-east-1:123456789012:capacity-reservation/cr-00d00000000000004"
    with pytest.raises(ConfigError, match="in a different region"):
        stack_plan("pc-gpu", reservations__training={**GROUPED, "members": [elsewhere]})


@better(
    "PR-08",
    "A reservation made by AWS: accept the share by hand, and turn the placement group off",
    why="the stack accepts the share, and such a reservation never gets a group",
)
def test_a_shared_reservation_is_accepted_and_gets_no_group(registered):
    cloud = registered("pc-gpu", **P5)
    (share,) = cloud.of_type("aws:ram/resourceShareAccepter:ResourceShareAccepter")
    assert share.inputs["shareArn"] == SHARE
    (stack,) = cloud.of_type("aws:cloudformation/stack:Stack")
    assert share.urn in stack.dependencies
    cluster = yaml.safe_load(cloud.exports["cluster_config"])
    networking = cluster["Scheduling"]["SlurmQueues"][0]["Networking"]
    assert networking["PlacementGroup"] == {"Enabled": False}


@same("PR-09", "Placement groups are for training, not for inference")
def test_inference_gets_no_placement_group(slurm):
    (inference,) = (q for name, q in slurm("pc-p4de-g5").queues.items() if "inference" in name)
    assert inference["Networking"]["PlacementGroup"] == {"Enabled": False}
    (training,) = slurm("pc-trn1").queues.values()
    assert training["Networking"]["PlacementGroup"] == {"Enabled": True}


@better(
    "PR-10",
    "HeadNodeWaitCondition: look into the log group, or create with `--rollback-on-failure false`",
    why="the log group is an output and outlives the cluster, and `up` ends with the reason",
)
def test_logs_are_there_after_a_failure_and_nothing_breaks_later_updates(slurm):
    made = slurm("pc-gpu")
    assert made.outputs["log_group"].startswith("/aws/parallelcluster/")
    logs = made.cluster["Monitoring"]["Logs"]["CloudWatch"]
    assert (logs["Enabled"], logs["DeletionPolicy"]) == (True, "Retain")
    # An argument of the creation alone, which fails every update.
    assert "RollbackOnFailure" not in made.custom_resource
