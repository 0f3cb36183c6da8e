"""Compute environments and job queues: refusals, updates in place and replacements."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from tests.support.batch_account import Batch
from tests.support.sandbox_aws import BLOCK, STANDARD_IMAGE, Account, refused


@pytest.fixture
def batch(account: Account) -> Batch:
    return Batch(account)


def test_an_environment_without_a_service_role_has_the_service_linked_one(batch: Batch) -> None:
    batch.environment()
    found = batch.described()
    assert found["serviceRole"].endswith("/batch.amazonaws.com/AWSServiceRoleForBatch")
    assert (found["status"], found["statusReason"]) == ("VALID", "ComputeEnvironment Healthy")
    assert found["ecsClusterArn"].startswith("arn:aws:ecs:us-west-2:123456789012:cluster/AWSBatch-")


def test_an_environment_that_a_queue_refers_to_is_not_deleted(batch: Batch) -> None:
    """Pain 9: the deadlock of a replaced environment and its queue."""
    environment, other = batch.environment(), batch.environment("other")
    batch.queue(environment)
    with refused("ClientException", "Cannot delete, state must be DISABLED"):
        batch.client.delete_compute_environment(computeEnvironment="env")
    batch.client.update_compute_environment(computeEnvironment="env", state="DISABLED")
    with refused("ClientException", "Cannot delete, found existing JobQueue relationship"):
        batch.client.delete_compute_environment(computeEnvironment="env")
    order = [{"order": 1, "computeEnvironment": other}]
    batch.client.update_job_queue(jobQueue="queue", computeEnvironmentOrder=order)
    batch.client.delete_compute_environment(computeEnvironment="env")
    left = batch.client.describe_compute_environments()["computeEnvironments"]
    assert [each["computeEnvironmentName"] for each in left] == ["other"]


def test_a_queue_is_deleted_when_it_is_disabled(batch: Batch) -> None:
    batch.queue(batch.environment())
    with refused("ClientException", "state must be DISABLED"):
        batch.client.delete_job_queue(jobQueue="queue")
    batch.client.update_job_queue(jobQueue="queue", state="DISABLED")
    batch.client.delete_job_queue(jobQueue="queue")
    assert batch.client.describe_job_queues()["jobQueues"] == []


@pytest.mark.parametrize(
    ("resources", "words"),
    [
        ({"instanceTypes": ["p9.huge"]}, "Instance type p9.huge is not valid"),
        ({"instanceTypes": []}, "instanceTypes is required"),
        ({"instanceRole": ""}, "instanceRole is required"),
        ({"minvCpus": 32}, "minvCpus 32 must be between"),
        ({"allocationStrategy": "SPOT_CAPACITY_OPTIMIZED"}, "is not supported for type EC2"),
        ({"securityGroupIds": []}, "securityGroupIds is required"),
        ({"securityGroupIds": [f"sg-{number}" for number in range(6)]}, "at most 5"),
        ({"launchTemplate": {"launchTemplateId": "a", "launchTemplateName": "b"}}, "not both"),
    ],
)
def test_what_no_environment_can_be_is_refused(
    batch: Batch, resources: dict[str, Any], words: str
) -> None:
    with refused("ClientException", words):
        batch.environment(**resources)


@pytest.mark.parametrize("version", ["1", "$Latest", None])
def test_groups_beside_the_interfaces_of_the_template_are_refused(
    batch: Batch, version: str | None
) -> None:
    """G3: the message is that of aws/aws-cdk#21577."""
    interfaces = [{"DeviceIndex": 0, "Groups": [batch.group]}]
    template = {"launchTemplateId": batch.account.template("t", NetworkInterfaces=interfaces)}
    template |= {"version": version} if version else {}
    words = "Network Interfaces in Launch template are exclusively allowed"
    with refused("ClientException", words):
        batch.environment(launchTemplate=template)
    batch.environment(launchTemplate=template, securityGroupIds=[])
    with refused("ClientException", words):
        batch.client.update_compute_environment(
            computeEnvironment="env", computeResources={"securityGroupIds": [batch.group]}
        )


@pytest.mark.parametrize(
    ("kind", "strategy"),
    [
        ("EC2", "BEST_FIT_PROGRESSIVE_ORDERED"),
        ("SPOT", "SPOT_PRICE_CAPACITY_OPTIMIZED"),
        ("SPOT", "SPOT_CAPACITY_OPTIMIZED_PRIORITIZED"),
    ],
)
def test_strategies_that_batch_updates_in_place(batch: Batch, kind: str, strategy: str) -> None:
    batch.environment(type=kind, allocationStrategy=strategy)
    batch.client.update_compute_environment(
        computeEnvironment="env", computeResources={"instanceTypes": ["c5.4xlarge"]}
    )
    assert batch.described()["computeResources"]["instanceTypes"] == ["c5.4xlarge"]


@pytest.mark.parametrize(
    "resources", [{"type": "FARGATE"}, {"instanceTypes": ["p5"]}, {"scalingPolicy": {"x": 1}}]
)
def test_what_the_sandbox_does_not_have_is_a_loud_error(
    batch: Batch, resources: dict[str, Any]
) -> None:
    if "scalingPolicy" in resources:
        resources = {"scalingPolicy": {"minScaleDownDelayMinutes": 20}}
    with refused("SandboxNotImplemented", "batch:CreateComputeEnvironment"):
        batch.environment(**resources)


def test_a_call_that_the_sandbox_does_not_have_is_a_loud_error(batch: Batch) -> None:
    with refused("SandboxNotImplemented", "batch:CreateSchedulingPolicy"):
        batch.client.create_scheduling_policy(name="p")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ({"ImageId": "/aws/service/ecs/optimized-ami/x"}, "InvalidAMIID.NotFound"),
        ({"KeyName": "nobody"}, "InvalidKeyPair.NotFound"),
        (
            {"UserData": base64.b64encode(b"#!/bin/bash\n").decode()},
            "Launch Template UserData is not MIME multipart format",
        ),
    ],
)
def test_an_environment_whose_nodes_cannot_start_is_invalid(
    batch: Batch, data: dict[str, Any], reason: str
) -> None:
    """Pain 10, DF-10: a parameter that is no image, and user data that is not MIME."""
    template = batch.account.template("t", **{"ImageId": STANDARD_IMAGE, **data})
    environment = batch.environment(launchTemplate={"launchTemplateId": template})
    found = batch.described()
    assert found["status"] == "INVALID"
    assert reason in found["statusReason"]
    with refused("ClientException", "is not VALID"):
        batch.queue(environment)


def test_an_invalid_environment_is_mended_by_an_update(batch: Batch) -> None:
    batch.environment(ec2KeyPair="nobody")
    assert batch.described()["status"] == "INVALID"
    batch.client.update_compute_environment(
        computeEnvironment="env", computeResources={"ec2KeyPair": ""}
    )
    found = batch.described()
    assert found["status"] == "VALID"
    assert "ec2KeyPair" not in found["computeResources"]


@pytest.mark.parametrize(
    ("strategy", "role", "words"),
    [
        ("BEST_FIT", None, "BEST_FIT"),
        ("BEST_FIT_PROGRESSIVE", "arn:aws:iam::123456789012:role/own", "AWSServiceRoleForBatch"),
    ],
)
def test_infrastructure_changes_in_place_only_where_batch_does_it(
    batch: Batch, strategy: str, role: str | None, words: str
) -> None:
    """DF-12, pain 9."""
    batch.client.create_compute_environment(
        computeEnvironmentName="env",
        type="MANAGED",
        computeResources=batch.resources(allocationStrategy=strategy),
        **({"serviceRole": role} if role else {}),
    )
    update = batch.client.update_compute_environment
    update(computeEnvironment="env", computeResources={"maxvCpus": 32})  # a scaling update
    with refused("ClientException", "instanceTypes", words):
        update(computeEnvironment="env", computeResources={"instanceTypes": ["c5.4xlarge"]})


def test_an_infrastructure_update_replaces_idle_nodes(batch: Batch) -> None:
    batch.environment(minvCpus=8)
    (before,) = batch.account.instances()
    batch.client.update_compute_environment(
        computeEnvironment="env", computeResources={"instanceTypes": ["c5.4xlarge"]}
    )
    (after,) = batch.account.instances()
    assert before["InstanceType"] == "c5.2xlarge"
    assert after["InstanceType"] == "c5.4xlarge"


def test_latest_is_looked_up_when_infrastructure_is_updated_and_not_before(batch: Batch) -> None:
    template = batch.account.template("t", InstanceType="c5.large")
    named = {"launchTemplateId": template, "version": "$Latest"}
    batch.environment(launchTemplate=named, minvCpus=8)
    batch.account.ec2.create_launch_template_version(
        LaunchTemplateId=template, LaunchTemplateData={"KeyName": "sandbox"}
    )
    update = batch.client.update_compute_environment
    update(computeEnvironment="env", computeResources={"minvCpus": 16})
    assert ["KeyName" in each for each in batch.account.instances()] == [False, False]
    update(computeEnvironment="env", computeResources={"tags": {"a": "b"}})
    assert [each["KeyName"] for each in batch.account.instances()] == ["sandbox", "sandbox"]


def test_minimum_vcpus_take_the_block_at_once(batch: Batch) -> None:
    batch.block(minvCpus=384)
    assert batch.account.reservation(BLOCK)["AvailableInstanceCount"] == 0
    assert batch.described()["computeResources"]["desiredvCpus"] == 384
    with refused("ClientException", "Manually scaling down"):
        batch.client.update_compute_environment(
            computeEnvironment="env", computeResources={"minvCpus": 0, "desiredvCpus": 0}
        )


def test_tags_of_environments_queues_and_definitions(batch: Batch) -> None:
    environment = batch.environment()
    for arn in (environment, batch.queue(environment), batch.single()["jobDefinitionArn"]):
        batch.client.tag_resource(resourceArn=arn, tags={"a": "1", "b": "2"})
        batch.client.untag_resource(resourceArn=arn, tagKeys=["a"])
        assert batch.client.list_tags_for_resource(resourceArn=arn)["tags"] == {"b": "2"}
    with refused("ClientException", "does not exist"):
        batch.client.list_tags_for_resource(resourceArn=environment + "x")
