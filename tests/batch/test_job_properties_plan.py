"""The JSON documents of job definitions."""

import botocore.session
import pytest
from botocore.validate import ParamValidator

from tests.support.batch import container, job_definition, p4d_plan
from trainyard.components.batch.job_definition_plan import container_properties, node_properties

ROLE = "arn:aws:iam::123456789012:role/job"
EFA = tuple(f"/dev/infiniband/uverbs{index}" for index in range(4))


def properties(scratch=False, **changes):
    return container_properties(
        container(**changes), image="registry/image:1", job_role_arn=ROLE, scratch=scratch
    )


def test_a_container_gets_what_its_plan_says():
    """BAT-21."""
    made = properties(vcpus=96, memory_mib=1000, gpus=8, shared_memory_mib=8192)
    assert made["resourceRequirements"] == [
        {"type": "VCPU", "value": "96"},
        {"type": "MEMORY", "value": "1000"},
        {"type": "GPU", "value": "8"},
    ]
    assert made["linuxParameters"]["sharedMemorySize"] == 8192
    assert (made["image"], made["jobRoleArn"]) == ("registry/image:1", ROLE)


def test_a_container_without_gpus_asks_for_none():
    """Batch accepts no requirement of 0."""
    kinds = [each["type"] for each in properties(gpus=0)["resourceRequirements"]]
    assert kinds == ["VCPU", "MEMORY"]


def test_every_efa_device_is_handed_over_with_all_rights():
    """BAT-21, BAT5-09: 4 devices of p4d, with READ, WRITE and MKNOD."""
    devices = properties(devices=EFA)["linuxParameters"]["devices"]
    assert [device["hostPath"] for device in devices] == list(EFA)
    assert all(device["containerPath"] == device["hostPath"] for device in devices)
    assert all(device["permissions"] == ["READ", "WRITE", "MKNOD"] for device in devices)


def test_limits_let_efa_register_memory():
    """BAT-21."""
    limits = {each["name"]: each["hardLimit"] for each in properties()["ulimits"]}
    assert limits == {"memlock": -1, "stack": 67_108_864, "nofile": 1_024_000}


def test_a_container_is_never_privileged():
    """Devices are passed one by one instead."""
    assert "privileged" not in properties(devices=EFA)


def test_variables_stand_in_one_order():
    """Another order would create another revision."""
    names = [each["name"] for each in properties(environment={"B": "1", "A": "2"})["environment"]]
    assert names == ["A", "B"]


def test_without_a_command_the_image_has_its_own():
    assert "command" not in properties(command=())


def test_local_disks_reach_the_container():
    """BAT-09."""
    made = properties(scratch=True)
    assert made["volumes"] == [{"name": "scratch", "host": {"sourcePath": "/scratch"}}]
    (mount,) = made["mountPoints"]
    assert (mount["sourceVolume"], mount["containerPath"]) == ("scratch", "/scratch")
    assert not {"volumes", "mountPoints"} & properties().keys()


def test_nodes_are_one_range_that_a_submission_may_change():
    """BAT-22: `numNodes` of a submission requires an open-ended range."""
    (_, plan) = p4d_plan().job_definitions
    made = node_properties(plan, image="i/i:1", job_role_arn=ROLE, scratch=False)
    assert (made["mainNode"], made["numNodes"]) == (0, 2)
    (group,) = made["nodeRangeProperties"]
    assert group["targetNodes"] == "0:"
    assert group["container"]["instanceType"] == "p4d.24xlarge"


@pytest.mark.parametrize("scratch", [True, False])
def test_the_documents_are_those_of_the_api(scratch):
    """Checked by the API's own model in botocore."""
    model = botocore.session.Session().get_service_model("batch")
    shape = model.operation_model("RegisterJobDefinition").input_shape
    secrets = {"B": "arn:aws:ssm:us-west-2:123456789012:parameter/b"}
    single = properties(scratch, devices=EFA, environment={"A": "1"}, secrets=secrets)
    several = node_properties(
        job_definition(nodes=2, container=container(secrets=secrets)),
        image="i/i:1",
        job_role_arn=ROLE,
        execution_role_arn=ROLE,
        scratch=scratch,
    )
    named = {"jobDefinitionName": "job"}
    for request in (
        {**named, "type": "container", "containerProperties": single},
        {**named, "type": "multinode", "nodeProperties": several},
    ):
        assert not ParamValidator().validate(request, shape).has_errors()
