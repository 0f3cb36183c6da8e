"""Clusters through CloudFormation, from the official template's address to an empty account."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.cloudformation import Stacks, cloudformation, cluster_template
from tests.support.kept_logs import without_kept_logs
from tests.support.sandbox_aws import AWS_ASSISTED, PRIVATE_A, PRIVATE_B, Account, refused
from trainyard.sandbox.aws.server import AwsServer
from trainyard.sandbox.inventory import account_items, clients_of
from trainyard.sandbox.parallelcluster.provider import clusters

pytestmark = pytest.mark.parallelcluster

PUBLIC_A = "subnet-0a000000000000001"
CONFIGURATION: dict[str, Any] = {
    "Image": {"Os": "alinux2023"},
    "HeadNode": {
        "InstanceType": "c5.large",
        "Networking": {"SubnetId": PUBLIC_A},
        "Ssh": {"KeyName": "sandbox"},
    },
    "Scheduling": {
        "Scheduler": "slurm",
        "SlurmSettings": {"QueueUpdateStrategy": "TERMINATE"},
        "SlurmQueues": [
            {
                "Name": "gpu",
                "ComputeResources": [
                    {
                        "Name": "g4dn",
                        "InstanceType": "g4dn.8xlarge",
                        "MinCount": 1,
                        "MaxCount": 2,
                        "Efa": {"Enabled": True},
                    }
                ],
                "Networking": {"SubnetIds": [PRIVATE_A], "PlacementGroup": {"Enabled": True}},
            }
        ],
    },
    "SharedStorage": [
        {
            "Name": "fsx",
            "StorageType": "FsxLustre",
            "MountDir": "/fsx",
            "FsxLustreSettings": {"StorageCapacity": 1200, "DeletionPolicy": "Delete"},
        },
        {
            "Name": "home",
            "StorageType": "Efs",
            "MountDir": "/shared",
            "EfsSettings": {"DeletionPolicy": "Delete"},
        },
        {
            "Name": "apps",
            "StorageType": "Ebs",
            "MountDir": "/apps",
            "EbsSettings": {"Size": 50, "DeletionPolicy": "Delete"},
        },
    ],
}


@pytest.fixture(scope="module")
def _stacks(server: AwsServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stacks]:
    server.reset()
    with cloudformation(server, tmp_path_factory.mktemp("engine")):
        yield Stacks(Account(server))


@pytest.fixture
def stacks(_stacks: Stacks) -> Iterator[Stacks]:
    """The CloudFormation stacks of an account, shared by the tests of this module."""
    yield _stacks
    _stacks.clear()


def changed(**resource: Any) -> dict[str, Any]:
    """Return the configuration with another compute resource, and no storage."""
    made = copy.deepcopy(CONFIGURATION)
    del made["SharedStorage"]
    made["Scheduling"]["SlurmQueues"][0]["ComputeResources"][0] |= resource
    return made


def lines(stacks: Stacks) -> list[str]:
    clients = clients_of(stacks.account.server.access, "us-west-2")
    return without_kept_logs(sorted(item.line for item in account_items(clients)))


def test_a_cluster_lives_from_create_to_delete(stacks: Stacks) -> None:
    before = lines(stacks)
    tags = [{"Key": "team", "Value": "a"}]
    created = stacks.create("d", cluster_template(CONFIGURATION), Tags=tags)
    assert created == "CREATE_COMPLETE", stacks.failures("d")
    outputs = stacks.outputs("d")
    assert (outputs["Status"], outputs["Fleet"]) == ("CREATE_COMPLETE", "RUNNING")
    levels = {message["level"] for message in json.loads(outputs["Messages"])}
    assert levels == {"INFO"}

    nodes = {node["InstanceId"]: node for node in stacks.account.instances()}
    head = nodes.pop(outputs["HeadNode"])
    assert {"Key": "team", "Value": "a"} in head["Tags"]
    (compute,) = nodes.values()
    assert compute["Placement"]["GroupName"] == "training-gpu-g4dn"
    kinds = [each["InterfaceType"] for each in compute["NetworkInterfaces"]]
    assert sorted(kinds) == ["efa-only", "interface"]
    shown = [line for line in lines(stacks) if line.startswith("cloudformation:stack")]
    assert [line.split()[1].partition("-")[0] for line in shown] == ["d", "d", "training"]
    assert "parent=d" in shown[1]
    assert "Sandbox stand-in" in shown[1]

    more = copy.deepcopy(CONFIGURATION)
    more["Scheduling"]["SlurmQueues"][0]["ComputeResources"][0]["MinCount"] = 2
    assert stacks.update("d", cluster_template(more), Tags=tags) == "UPDATE_COMPLETE"
    assert stacks.outputs("d")["Status"] == "UPDATE_COMPLETE"
    assert len(stacks.account.instances()) == 3

    assert stacks.delete("d") == "DELETE_COMPLETE"
    assert lines(stacks) == before


OF_FUNCTION, OF_CLEANUP = "/aws/lambda/pcluster-cfn-", "/aws/lambda/pcluster-CleanupResources-"


@pytest.mark.parametrize(
    ("policy", "kept"),
    [
        ("Retain", [OF_CLEANUP, OF_FUNCTION, "/aws/parallelcluster/logs-"]),
        ("Delete", [OF_FUNCTION]),
    ],
)
def test_log_groups_stay_as_parallelcluster_keeps_them(
    stacks: Stacks, policy: str, kept: list[str]
) -> None:
    """They have the tags of their stacks; that of the function stays in any case."""
    client = stacks.account.client("logs")
    there = {each["logGroupName"] for each in client.describe_log_groups()["logGroups"]}

    def made() -> dict[str, dict[str, Any]]:
        groups = client.describe_log_groups()["logGroups"]
        return {each["logGroupName"]: each for each in groups if each["logGroupName"] not in there}

    name = f"logs-{policy.lower()}"
    configuration = changed()
    configuration["Monitoring"] = {"Logs": {"CloudWatch": {"DeletionPolicy": policy}}}
    tags = [{"Key": "team", "Value": "a"}]
    assert stacks.create("l", cluster_template(configuration, name=name), Tags=tags) == (
        "CREATE_COMPLETE"
    ), stacks.failures("l")
    assert len(made()) == 3
    for made_name, group in made().items():
        arn = group["arn"].removesuffix(":*")
        shown = client.list_tags_for_resource(resourceArn=arn)["tags"]
        is_of_cluster = made_name.startswith(("/aws/parallelcluster/", OF_CLEANUP))
        assert shown["team"] == "a"
        assert shown.get("parallelcluster:cluster-name") == (name if is_of_cluster else None)
        assert group["retentionInDays"] == (180 if is_of_cluster else 90)
    assert stacks.delete("l") == "DELETE_COMPLETE"
    left = sorted(made())
    assert all(each.startswith(prefix) for each, prefix in zip(left, kept, strict=True))


def test_what_parallelcluster_refuses_to_change_stays_as_it_is(stacks: Stacks) -> None:
    stacks.create("u", cluster_template(changed()))
    head = changed()
    head["HeadNode"]["InstanceType"] = "c5.xlarge"
    assert stacks.update("u", cluster_template(head)) == "UPDATE_ROLLBACK_COMPLETE"
    assert "Restore 'InstanceType' value to 'c5.large'" in stacks.failures("u")[0]

    renamed = cluster_template(changed(), name="other")
    assert stacks.update("u", renamed) == "UPDATE_ROLLBACK_COMPLETE"
    assert "Cannot update the ClusterName in the properties." in stacks.failures("u")[0]

    broken = cluster_template(changed(), RollbackOnFailure=True)
    assert stacks.update("u", broken) == "UPDATE_ROLLBACK_COMPLETE"
    assert (
        "<update-cluster> got unexpected arguments: {'rollback_on_failure'}"
        in (stacks.failures("u")[0])
    )
    assert len(stacks.account.instances()) == 2
    stacks.delete("u")


def test_validators_refuse_a_cluster_and_nothing_is_left(stacks: Stacks) -> None:
    before = lines(stacks)
    no_efa = cluster_template(changed(InstanceType="c5.large"))
    assert stacks.create("bad", no_efa) == "ROLLBACK_COMPLETE"
    (reason,) = stacks.failures("bad")
    assert '"type": "EfaValidator"' in reason
    assert "does not support EFA" in reason
    stacks.delete("bad")
    assert lines(stacks) == before


def test_the_schema_refuses_what_it_does_not_know(stacks: Stacks) -> None:
    assert stacks.create("s", cluster_template(changed(Nope=1))) == "ROLLBACK_COMPLETE"
    assert "Unknown field" in stacks.failures("s")[0]
    stacks.delete("s")


def test_capacity_that_is_not_there_fails_the_creation_and_nothing_is_left(stacks: Stacks) -> None:
    """The account, not a validator, refuses a placement group with the reservation."""
    before = lines(stacks)
    made = changed(InstanceType="p5.48xlarge", MaxCount=1)
    made["Scheduling"]["SlurmQueues"][0] |= {
        "CapacityReservationTarget": {"CapacityReservationId": AWS_ASSISTED},
        "Networking": {"SubnetIds": [PRIVATE_B], "PlacementGroup": {"Enabled": True}},
    }
    made["HeadNode"]["Networking"]["SubnetId"] = PRIVATE_B
    suppressed = ["type:PlacementGroupCapacityReservationValidator"]
    template = cluster_template(made, SuppressValidators=suppressed)
    assert stacks.create("c", template) == "ROLLBACK_COMPLETE"
    assert "InsufficientInstanceCapacity" in stacks.failures("c")[0]
    stacks.delete("c")
    assert lines(stacks) == before


def test_a_cluster_is_not_named_like_a_stack(stacks: Stacks) -> None:
    before = lines(stacks)
    assert stacks.create("same", cluster_template(changed(), name="same")) == "ROLLBACK_COMPLETE"
    assert "Cluster same already exists." in stacks.failures("same")[0]
    stacks.delete("same")
    assert lines(stacks) == before


def test_a_second_cluster_of_a_name_does_not_harm_the_first(stacks: Stacks) -> None:
    stacks.create("first", cluster_template(changed(), name="one"))
    assert stacks.create("second", cluster_template(changed(), name="one")) == "ROLLBACK_COMPLETE"
    stacks.delete("second")
    assert len(stacks.account.instances()) == 2
    stacks.delete("first")
    assert stacks.account.instances() == []


@pytest.mark.parametrize(
    "given", [["CAPABILITY_NAMED_IAM"], ["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"]]
)
def test_the_providers_stack_needs_its_capabilities(stacks: Stacks, given: list[str]) -> None:
    status = stacks.create("caps", cluster_template(changed()), Capabilities=given)
    assert status == "ROLLBACK_COMPLETE"
    assert "Requires capabilities : [" in stacks.failures("caps")[0]
    stacks.delete("caps")


def test_the_template_may_come_from_elsewhere(stacks: Stacks) -> None:
    s3 = stacks.account.client("s3")
    where = {"CreateBucketConfiguration": {"LocationConstraint": "us-west-2"}}
    s3.create_bucket(Bucket="mine", **where)
    url = "https://mine.s3.us-west-2.amazonaws.com/provider.yaml"
    with refused("NoSuchKey"):
        s3.get_object(Bucket="mine", Key="provider.yaml")
    assert stacks.create("e", cluster_template(changed(), url=url)) == "ROLLBACK_COMPLETE"
    assert "Failed to fetch nested-stack template" in stacks.failures("e")[0]
    stacks.delete("e")


def test_a_retained_cluster_outlives_its_stack(stacks: Stacks) -> None:
    template = cluster_template(changed(), name="kept", DeletionPolicy="Retain")
    stacks.create("r", template)
    assert stacks.delete("r") == "DELETE_COMPLETE"
    assert len(stacks.account.instances()) == 2
    assert stacks.status("kept") == "CREATE_COMPLETE"
    assert stacks.create("again", template) == "ROLLBACK_COMPLETE"
    assert "Cluster kept already exists." in stacks.failures("again")[0]
    clusters.remove(stacks.account.client, "kept", retained=())


def test_the_stacks_of_a_cluster_are_listed_by_tag_until_they_are_deleted(stacks: Stacks) -> None:
    """Its own stack, which no state has, and that of the deployment."""
    tagging = stacks.account.client("resourcegroupstaggingapi")

    def listed(key: str, value: str) -> list[str]:
        found = tagging.get_resources(
            TagFilters=[{"Key": key, "Values": [value]}], ResourceTypeFilters=["cloudformation"]
        )
        arns = [each["ResourceARN"] for each in found["ResourceTagMappingList"]]
        return [arn.split("/")[1] for arn in arns]

    tags = [{"Key": "trainyard:cluster", "Value": "tagged"}]
    stacks.create("t-deployment", cluster_template(changed(), name="tagged"), Tags=tags)
    assert listed("parallelcluster:cluster-name", "tagged") == ["tagged"]
    assert {"t-deployment", "tagged"} <= {*listed("trainyard:cluster", "tagged")}
    assert stacks.delete("t-deployment") == "DELETE_COMPLETE"
    assert listed("parallelcluster:cluster-name", "tagged") == []
    assert listed("trainyard:cluster", "tagged") == []
