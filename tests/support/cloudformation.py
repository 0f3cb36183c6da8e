"""CloudFormation of a sandbox for tests: templates, and waiting for stacks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError

from tests.support.processes import until
from tests.support.sandbox_aws import Account
from trainyard.sandbox.aws.cloudformation.service import CloudFormation
from trainyard.sandbox.aws.server import AwsServer
from trainyard.sandbox.engine.parallelcluster_environment import parallelcluster_python
from trainyard.sandbox.processes import Spawner

CAPABILITIES = ["CAPABILITY_NAMED_IAM", "CAPABILITY_AUTO_EXPAND"]

PROVIDER_URL = (
    "https://us-west-2-aws-parallelcluster.s3.us-west-2.amazonaws.com/parallelcluster/3.16.1/"
    "templates/custom_resource/cluster.yaml"
)

_CODE = """
import json, os, urllib.request

import boto3

def handler(event, context):
    asked = event["ResourceProperties"]
    answer = {key: event[key] for key in ("StackId", "RequestId", "LogicalResourceId")}
    answer |= {"PhysicalResourceId": asked["Name"], "Status": "SUCCESS", "Reason": ""}
    if "Fail" in asked and event["RequestType"] != "Delete":
        answer |= {"Status": "FAILED", "Reason": asked["Fail"]}
    if asked.get("Vpcs") == "true":
        vpcs = boto3.client("ec2").describe_vpcs()["Vpcs"]
        answer["Data"] = {"Vpc.Ids": ",".join(each["VpcId"] for each in vpcs)}
    body = json.dumps(answer).encode()
    request = urllib.request.Request(
        event["ResponseURL"], data=body, method="PUT", headers={"content-type": ""})
    urllib.request.urlopen(request).close()
"""
_TRUST = {
    "Version": "2012-10-17",
    "Statement": [
        {
            "Effect": "Allow",
            "Action": "sts:AssumeRole",
            "Principal": {"Service": "lambda.amazonaws.com"},
        }
    ],
}


@contextmanager
def cloudformation(server: AwsServer, directory: Path) -> Iterator[CloudFormation]:
    """Let a server in this process answer CloudFormation and Lambda."""
    spawner = Spawner(directory / "processes")
    python = [str(parallelcluster_python(print))]
    engine = CloudFormation(directory / "cloudformation", python, spawner.spawn, region="us-west-2")
    server.use_cloudformation(engine)
    try:
        yield engine
    finally:
        engine.stop()
        server.application.forwarder.cloudformation = None
        spawner.stop_all()


def thing_template(outputs: bool = True, **properties: Any) -> str:
    """Return a template with a function and one custom resource that it manages."""
    resources = {
        "Role": {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": _TRUST}},
        "Function": {
            "Type": "AWS::Lambda::Function",
            "Properties": {
                "Code": {"ZipFile": _CODE},
                "Handler": "index.handler",
                "Runtime": "python3.12",
                # A function that times out never answers, and its stack waits for an hour.
                "Timeout": 300,
                "Role": {"Fn::GetAtt": ["Role", "Arn"]},
            },
        },
        "Thing": {
            "Type": "Custom::Thing",
            "Properties": {
                "ServiceToken": {"Fn::GetAtt": ["Function", "Arn"]},
                "Name": "thing",
                **properties,
            },
        },
    }
    made = {"Name": {"Value": {"Ref": "Thing"}}} if outputs else {}
    return json.dumps({"Resources": resources, "Outputs": made})


def cluster_template(
    configuration: dict[str, Any], *, name: str = "training", url: str = PROVIDER_URL, **more: Any
) -> str:
    """Return the template of a deployment: the provider's stack and one cluster."""
    properties = {
        "ServiceToken": {"Fn::GetAtt": ["Provider", "Outputs.ServiceToken"]},
        "ClusterName": name,
        "ClusterConfiguration": configuration,
        **more,
    }
    attributes = {
        "Status": "clusterStatus",
        "Fleet": "computeFleetStatus",
        "HeadNode": "headNode.instanceId",
        "Messages": "validationMessages",
    }
    return json.dumps(
        {
            "Resources": {
                "Provider": {
                    "Type": "AWS::CloudFormation::Stack",
                    "Properties": {"TemplateURL": url},
                },
                "Cluster": {"Type": "Custom::PclusterCluster", "Properties": properties},
            },
            "Outputs": {
                output: {"Value": {"Fn::GetAtt": ["Cluster", attribute]}}
                for output, attribute in attributes.items()
            },
        }
    )


class Stacks:
    """The stacks of an account."""

    def __init__(self, account: Account) -> None:
        self.account = account
        self.client = account.client("cloudformation")

    def create(self, name: str, body: str, **arguments: Any) -> str:
        """Create a stack; return the status in which it ends."""
        self.client.create_stack(
            StackName=name, TemplateBody=body, **{"Capabilities": CAPABILITIES, **arguments}
        )
        return self.settled(name)

    def update(self, name: str, body: str, **arguments: Any) -> str:
        """Update a stack; return the status in which it ends."""
        self.client.update_stack(
            StackName=name, TemplateBody=body, **{"Capabilities": CAPABILITIES, **arguments}
        )
        return self.settled(name)

    def delete(self, name: str) -> str:
        """Delete a stack; return the status in which it ends."""
        self.client.delete_stack(StackName=name)
        return self.settled(name)

    def clear(self) -> None:
        """Delete every stack, beginning with those that are not nested."""
        described = self.client.describe_stacks()["Stacks"]
        for stack in [each for each in described if "ParentId" not in each]:
            self.delete(stack["StackName"])

    def settled(self, name: str) -> str:
        """Wait until no operation is in progress; return the status."""
        until(lambda: "IN_PROGRESS" not in self.status(name), f"{name} to settle")
        return self.status(name)

    def status(self, name: str) -> str:
        """Return the status of a stack; `DELETE_COMPLETE` if it does not exist."""
        try:
            return self.described(name)["StackStatus"]
        except ClientError as error:
            if "does not exist" in str(error):
                return "DELETE_COMPLETE"
            raise

    def described(self, name: str) -> dict[str, Any]:
        """Return a stack as it is described."""
        return self.client.describe_stacks(StackName=name)["Stacks"][0]

    def outputs(self, name: str) -> dict[str, str]:
        """Return the outputs of a stack."""
        described = self.described(name)
        return {each["OutputKey"]: each["OutputValue"] for each in described["Outputs"]}

    def failures(self, name: str) -> list[str]:
        """Return why resources failed, the newest first."""
        events = self.client.describe_stack_events(StackName=name)["StackEvents"]
        return [
            event["ResourceStatusReason"]
            for event in events
            if event["ResourceStatus"].endswith("_FAILED")
        ]
