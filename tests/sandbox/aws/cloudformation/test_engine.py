"""Stacks with Lambda-backed custom resources, through boto3."""

from __future__ import annotations

import json

import pytest

from tests.support.cloudformation import Stacks, thing_template
from tests.support.processes import processes_below, until
from tests.support.sandbox_aws import VPC, refused
from trainyard.sandbox.aws.cloudformation.service import CloudFormation

pytestmark = pytest.mark.parallelcluster


def test_a_stack_lives_from_create_to_delete(stacks: Stacks) -> None:
    assert stacks.create("s", thing_template(), Tags=[{"Key": "team", "Value": "a"}]) == (
        "CREATE_COMPLETE"
    )
    described = stacks.described("s")
    assert described["StackId"].startswith("arn:aws:cloudformation:us-west-2:123456789012:stack/s/")
    assert stacks.outputs("s") == {"Name": "thing"}
    assert stacks.update("s", thing_template(More="x")) == "UPDATE_COMPLETE"
    assert stacks.delete("s") == "DELETE_COMPLETE"


def test_a_function_calls_the_account_while_cloudformation_waits_for_it(stacks: Stacks) -> None:
    template = json.loads(thing_template(Vpcs=True))
    template["Outputs"] = {"Vpc": {"Value": {"Fn::GetAtt": ["Thing", "Vpc.Ids"]}}}
    assert stacks.create("calls", json.dumps(template)) == "CREATE_COMPLETE"
    assert VPC in stacks.outputs("calls")["Vpc"]
    stacks.delete("calls")


def test_a_failed_creation_says_why(stacks: Stacks) -> None:
    assert stacks.create("f", thing_template(Fail="boom: no such thing")) == "ROLLBACK_COMPLETE"
    assert stacks.failures("f")[0] == "boom: no such thing"
    stacks.delete("f")


def test_a_failed_update_leaves_the_stack_as_it_was(stacks: Stacks) -> None:
    stacks.create("u", thing_template())
    assert stacks.update("u", thing_template(Fail="boom")) == "UPDATE_ROLLBACK_COMPLETE"
    assert "boom" in stacks.failures("u")
    stacks.delete("u")


def test_an_attribute_that_the_function_did_not_return_fails_the_stack(stacks: Stacks) -> None:
    template = json.loads(thing_template())
    template["Outputs"] = {"Ip": {"Value": {"Fn::GetAtt": ["Thing", "headNode.publicIp"]}}}
    assert stacks.create("attribute", json.dumps(template)) == "ROLLBACK_COMPLETE"
    stacks.delete("attribute")


@pytest.mark.parametrize("given", [[], ["CAPABILITY_AUTO_EXPAND"]])
def test_a_stack_with_a_role_needs_a_capability(stacks: Stacks, given: list[str]) -> None:
    with refused("InsufficientCapabilitiesException", "Requires capabilities : [CAPABILITY_IAM]"):
        stacks.create("c", thing_template(), Capabilities=given)
    assert stacks.status("c") == "DELETE_COMPLETE"


def test_a_template_is_read_from_the_accounts_bucket(stacks: Stacks) -> None:
    s3 = stacks.account.client("s3")
    where = {"CreateBucketConfiguration": {"LocationConstraint": "us-west-2"}}
    s3.create_bucket(Bucket="templates", **where)
    s3.put_object(Bucket="templates", Key="t.json", Body=thing_template().encode())
    url = "https://templates.s3.us-west-2.amazonaws.com/t.json"
    stacks.client.create_stack(
        StackName="from-s3", TemplateURL=url, Capabilities=["CAPABILITY_IAM"]
    )
    assert stacks.settled("from-s3") == "CREATE_COMPLETE"
    stacks.delete("from-s3")
    with refused("ValidationError", "S3 error"):
        stacks.client.create_stack(StackName="none", TemplateURL=f"{url}.none")


def test_a_template_that_cloudformation_would_refuse_is_refused(stacks: Stacks) -> None:
    with refused("ValidationError", "Invalid template property or properties [Resorces]"):
        stacks.create("r", json.dumps({"Resorces": {}}))


def test_functions_are_listed_by_lambda(stacks: Stacks) -> None:
    stacks.create("l", thing_template())
    listed = stacks.account.client("lambda").list_functions()["Functions"]
    assert [each for each in listed if each["FunctionName"].startswith("l-Function")]
    stacks.delete("l")


def test_nothing_of_it_runs_or_is_remembered_after_a_stop(
    stacks: Stacks, engine: CloudFormation
) -> None:
    stacks.create("p", thing_template())
    workers = [line for line in processes_below(engine.directory) if "_worker.py" in line]
    assert workers
    engine.stop()
    until(lambda: not processes_below(engine.directory), "its processes to end")
    assert stacks.client.list_stacks()["StackSummaries"] == []
    assert not engine.is_running
