"""The template around ParallelCluster's custom resource."""

import json
from dataclasses import replace

import pytest

from tests.support.parallelcluster import head_node, plan
from trainyard.components.parallelcluster.cluster_template import (
    CLUSTER,
    OUTPUTS,
    PROVIDER,
    cluster_template,
    template_body,
    template_bytes,
)

CONFIGURATION = {"Region": "us-west-2"}
TOKEN = "arn:aws:lambda:us-west-2:123456789012:function:pcluster-cfn"


def template(**changes):
    return cluster_template(plan(**changes), CONFIGURATION)


def deployment(**changes):
    return replace(plan().deployment, **changes)


def properties(**changes):
    return template(deployment=deployment(**changes))["Resources"][CLUSTER]["Properties"]


def attributes(made):
    """Return the attributes of a resource that the outputs use."""
    values = [output["Value"] for output in made["Outputs"].values()]
    return {tuple(value["Fn::GetAtt"]) for value in values if "Fn::GetAtt" in value}


def test_a_provider_of_its_own_is_made_from_the_template_of_the_version():
    provider = template()["Resources"][PROVIDER]
    assert provider["Type"] == "AWS::CloudFormation::Stack"
    assert provider["Properties"]["TemplateURL"].endswith(
        "/parallelcluster/3.16.1/templates/custom_resource/cluster.yaml"
    )
    assert properties()["ServiceToken"] == {"Fn::GetAtt": [PROVIDER, "Outputs.ServiceToken"]}


def test_a_provider_that_exists_is_used():
    made = template(deployment=deployment(provider_service_token=TOKEN))
    assert made["Resources"].keys() == {CLUSTER}
    assert made["Resources"][CLUSTER]["Properties"]["ServiceToken"] == TOKEN
    assert (PROVIDER, "Outputs.LogGroupArn") not in attributes(made)


def test_the_cluster_is_the_custom_resource():
    """PR-03: the arguments of a manual `pcluster create-cluster`."""
    cluster = template()["Resources"][CLUSTER]
    assert cluster["Type"] == "Custom::PclusterCluster"
    assert cluster["Properties"]["ClusterName"] == "pc-g4dn"
    assert cluster["Properties"]["ClusterConfiguration"] == CONFIGURATION


def test_properties_that_break_updates_are_left_out():
    """The provider passes every property both to the creation and to the update."""
    given = properties(suppress_validators=("type:UrlValidator",), deletion_policy="Retain")
    assert given.keys() == {
        "ServiceToken",
        "ClusterName",
        "ClusterConfiguration",
        "DeletionPolicy",
        "SuppressValidators",
    }


@pytest.mark.parametrize("policy", ["Delete", "Retain"])
def test_what_becomes_of_the_cluster_is_said(policy):
    assert properties(deletion_policy=policy)["DeletionPolicy"] == policy


def test_validators_are_suppressed_only_where_asked():
    """PR-42: `--suppress-validators type:ComputeResourceLaunchTemplateValidator`."""
    name = "type:ComputeResourceLaunchTemplateValidator"
    assert properties(suppress_validators=(name,))["SuppressValidators"] == [name]
    assert "SuppressValidators" not in properties()


def test_outputs_are_what_people_read_from_describe_cluster():
    """PR-63, PR-46: status of cluster and fleet, the head node, and the provider's log group."""
    made = template()
    assert attributes(made) == {
        *((CLUSTER, attribute) for attribute in OUTPUTS.values()),
        (CLUSTER, "headNode.publicIpAddress"),
        (PROVIDER, "Outputs.LogGroupArn"),
    }
    assert made["Outputs"]["ClusterName"]["Value"] == {"Ref": CLUSTER}


def test_a_private_head_node_is_asked_for_no_public_address():
    """The attribute is missing then, and CloudFormation fails the whole stack."""
    made = template(head_node=head_node(public=False))
    assert (CLUSTER, "headNode.publicIpAddress") not in attributes(made)
    assert "HeadNodePublicIp" not in made["Outputs"]


def test_names_of_outputs_are_those_that_cloudformation_takes():
    assert all(name.isalnum() for name in template()["Outputs"])


def test_the_body_is_the_template_and_no_longer_than_needed():
    body = template_body(template())
    assert json.loads(body) == template()
    assert ", " not in body.replace(template()["Description"], "")
    assert template_bytes({"é": 1}) == len('{"é":1}'.encode())
