"""A job definition and the role of its jobs."""

import json
from dataclasses import replace

import pulumi
import pytest

from tests.support.batch import container, job_definition
from trainyard.components.batch.job_definition import BatchJobDefinition, BatchJobDefinitionArgs


def deployed(deploy, plan=None, **changes):
    args = BatchJobDefinitionArgs(
        plan=plan or job_definition(),
        image="registry/image:1",
        scratch=False,
        region="us-west-2",
        tags={"team": "vision"},
    )

    def program():
        made = BatchJobDefinition("batch-nccl", replace(args, **changes))
        pulumi.export("arn", made.arn)
        pulumi.export("role", made.role_arn)

    return deploy(program)


def definition(cloud):
    return cloud.one("batch-nccl-definition").inputs


def test_a_job_on_one_node_is_a_container(deploy):
    """BAT-21."""
    made = definition(deployed(deploy))
    assert made["type"] == "container"
    assert json.loads(made["containerProperties"])["image"] == "registry/image:1"
    assert "nodeProperties" not in made
    assert made["propagateTags"] is True
    assert made["platformCapabilities"] == ["EC2"]


def test_a_job_on_several_nodes_is_multi_node_parallel(deploy):
    """BAT-22, BAT5-09."""
    made = definition(deployed(deploy, job_definition(nodes=2)))
    assert made["type"] == "multinode"
    assert json.loads(made["nodeProperties"])["numNodes"] == 2
    assert "containerProperties" not in made


def test_the_container_has_the_role_of_the_job(deploy):
    cloud = deployed(deploy)
    document = json.loads(definition(cloud)["containerProperties"])
    assert document["jobRoleArn"] == cloud.exports["role"]
    assert cloud.exports["role"].endswith(":role/batch-nccl-role")


def test_a_failed_job_is_tried_again_as_often_as_asked_for(deploy):
    """BAT-21."""
    assert definition(deployed(deploy, job_definition(attempts=10)))["retryStrategy"] == {
        "attempts": 10
    }


def test_an_attempt_ends_only_where_it_should(deploy):
    assert "timeout" not in definition(deployed(deploy))
    made = definition(deployed(deploy, job_definition(timeout_seconds=3600)))
    assert made["timeout"] == {"attemptDurationSeconds": 3600}


def test_local_disks_reach_the_container(deploy):
    document = json.loads(definition(deployed(deploy, scratch=True))["containerProperties"])
    assert document["mountPoints"][0]["containerPath"] == "/scratch"


def test_the_name_stays_from_revision_to_revision(deploy):
    """BAT-23."""
    cloud = deployed(deploy)
    assert definition(cloud)["name"] == "batch-nccl"
    assert cloud.exports["arn"].endswith(":job-definition/batch-nccl:1")
    assert {made.urn for made in cloud.components()} <= set(cloud.closed)


SECRETS = {"HF_TOKEN": "arn:aws:secretsmanager:us-west-2:123456789012:secret:hf-AbCdEf"}


@pytest.mark.parametrize(("nodes", "key"), [(1, "containerProperties"), (2, "nodeProperties")])
def test_secrets_are_references_that_ecs_reads_with_a_role_of_its_own(deploy, nodes, key):
    """The containers themselves cannot read them again."""
    plan = job_definition(nodes=nodes, container=container(secrets=SECRETS))
    cloud = deployed(deploy, plan)
    document = json.loads(definition(cloud)[key])
    if nodes > 1:
        (document,) = (each["container"] for each in document["nodeRangeProperties"])
    (name,) = SECRETS
    assert document["secrets"] == [{"name": name, "valueFrom": SECRETS[name]}]
    assert document["executionRoleArn"].endswith(":role/batch-nccl-execution-role")
    assert document["jobRoleArn"] == cloud.exports["role"]


def test_a_job_without_secrets_has_no_execution_role(deploy):
    cloud = deployed(deploy)
    document = json.loads(definition(cloud)["containerProperties"])
    assert not {"secrets", "executionRoleArn"} & document.keys()
    assert len(cloud.of_type("aws:iam/role:Role")) == 1
