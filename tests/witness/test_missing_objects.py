"""The emulated account says in the recorded words of AWS that an object does not exist."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.support.account_fixtures import account, server
from tests.support.sandbox_aws import ACCOUNT  # before boto3 makes a client

import boto3  # isort: skip

from tests.witness.support.errors import known_refusals, masked  # isort: skip

__all__ = ["account", "server"]

NONE = "0" * 17
ASKED: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "ec2.DescribeAddresses": ("describe_addresses", {"AllocationIds": [f"eipalloc-{NONE}"]}),
    "ec2.DescribeInternetGateways": (
        "describe_internet_gateways",
        {"InternetGatewayIds": [f"igw-{NONE}"]},
    ),
    "ec2.DescribeLaunchTemplateVersions": (
        "describe_launch_template_versions",
        {"LaunchTemplateId": f"lt-{NONE}"},
    ),
    "ec2.DescribeNetworkInterfaces": (
        "describe_network_interfaces",
        {"NetworkInterfaceIds": [f"eni-{NONE}"]},
    ),
    "ec2.DescribeSecurityGroups": ("describe_security_groups", {"GroupIds": [f"sg-{NONE}"]}),
    "ec2.DescribeSubnets": ("describe_subnets", {"SubnetIds": [f"subnet-{NONE}"]}),
    "ec2.DescribeVolumes": ("describe_volumes", {"VolumeIds": [f"vol-{NONE}"]}),
    "iam.GetPolicy": ("get_policy", {"PolicyArn": f"arn:aws:iam::{ACCOUNT}:policy/gone"}),
    "iam.GetRole": ("get_role", {"RoleName": "gone"}),
}


@pytest.mark.usefixtures("account")
@pytest.mark.parametrize("operation", ASKED)
def test_a_missing_object_is_refused_in_the_words_of_aws(operation: str) -> None:
    service, (call, arguments) = operation.partition(".")[0], ASKED[operation]
    client: Any = boto3.client(service, region_name="us-west-2")
    with pytest.raises(ClientError) as raised:
        getattr(client, call)(**arguments)
    said = raised.value.response["Error"]
    (recorded,) = [each for each in known_refusals() if each.operation == operation]
    # Recordings mask names in quotes before or after their ids.
    assert (said["Code"], masked(said["Message"])) == (recorded.code, masked(recorded.text))
