"""The endpoint itself: unsupported calls, its own paths, its port."""

from __future__ import annotations

import json
import logging
import socket
from collections.abc import Callable
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit

import boto3
import pytest
from botocore.exceptions import ClientError

from tests.support.sandbox_aws import STANDARD_IMAGE, Account, refused
from trainyard.sandbox.aws.server import LOOPBACK, AwsServer, PortInUseError

CALLS: list[tuple[str, str, Callable[[Any], Any]]] = [
    ("ec2", "ec2:DescribeIpamPools", lambda client: client.describe_ipam_pools()),
    ("eks", "eks:ListInsights", lambda client: client.list_insights(clusterName="c")),
    ("iam", "iam:SimulatePrincipalPolicy", lambda client: client.simulate_principal_policy(
        PolicySourceArn="arn:aws:iam::123456789012:role/some", ActionNames=["ec2:RunInstances"])),
    ("autoscaling", "autoscaling:StartInstanceRefresh", lambda client:
        client.start_instance_refresh(AutoScalingGroupName="group")),
    ("ec2", "ec2:CreateNetworkInterface", lambda client: client.create_network_interface(
        SubnetId="subnet-0a000000000000002", InterfaceType="efa")),
    ("ec2", "ec2:RequestSpotInstances", lambda client: client.request_spot_instances()),
    ("autoscaling", "autoscaling:CreateAutoScalingGroup", lambda client:
        client.create_auto_scaling_group(AutoScalingGroupName="g", MinSize=0, MaxSize=1,
                                         LaunchConfigurationName="old")),
    ("pcs", "pcs:ListClusters", lambda client: client.list_clusters()),
    ("ssm", "ssm:DescribeOpsItems", lambda client: client.describe_ops_items()),
]  # fmt: skip


@pytest.mark.parametrize(("service", "name", "call"), CALLS)
def test_a_call_that_the_sandbox_has_not_is_refused_by_name_at_once(
    account: Account,
    caplog: pytest.LogCaptureFixture,
    service: str,
    name: str,
    call: Callable[[Any], Any],
) -> None:
    with (
        caplog.at_level(logging.WARNING, "sandbox.unimplemented"),
        refused("SandboxNotImplemented", f"does not implement {name}"),
    ):
        call(account.client(service))
    assert name in caplog.text


def test_a_filter_that_the_sandbox_has_not_is_refused_too(account: Account) -> None:
    account.ec2.run_instances(
        MinCount=1,
        MaxCount=1,
        ImageId=STANDARD_IMAGE,
        InstanceType="c5.large",
        SubnetId="subnet-0a000000000000002",
    )
    with refused("SandboxNotImplemented", "ec2:DescribeInstances", "hypervisor"):
        account.ec2.describe_instances(Filters=[{"Name": "hypervisor", "Values": ["xen"]}])


def test_a_service_may_say_not_found(account: Account) -> None:
    with refused("ResourceNotFoundException"):
        account.eks.describe_cluster(name="none")
    with refused("ParameterNotFound"):
        account.client("ssm").get_parameter(Name="/none")


def test_the_sandbox_answers_below_its_own_path(server: AwsServer, account: Account) -> None:
    assert server.access.ask("GET", "health") == {"status": "ready"}
    with pytest.raises(HTTPError) as caught:
        server.access.ask("GET", "nothing")
    with caught.value:
        assert caught.value.code == 404
    with pytest.raises(HTTPError) as caught:
        server.access.ask("GET", "identity?cluster=c")
    with caught.value:
        assert "arn, session" in json.load(caught.value)["message"]


def test_the_clock_can_be_moved(server: AwsServer, account: Account) -> None:
    block = "cr-0cb00000000000001"
    assert account.reservation(block)["State"] == "scheduled"
    server.access.ask("POST", "clock?advance_seconds=259200")
    assert account.reservation(block)["State"] == "active"


def test_a_port_that_is_taken_is_told() -> None:
    with socket.socket() as other:
        other.bind((LOOPBACK, 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(PortInUseError, match=f"Port {port} on 127.0.0.1 is in use"):
            AwsServer(port=port)


def test_the_server_listens_on_the_loopback_interface_only(server: AwsServer) -> None:
    assert server.endpoint.startswith("http://127.0.0.1:")


@pytest.mark.parametrize(
    ("service", "body"),
    [
        ("sts", b"Action=GetCallerIdentity&Version=2011-06-15"),
        ("ec2", b"Action=DescribeIpamPools&Version=2016-11-15"),
    ],
)
def test_an_answer_arrives_in_one_piece(server: AwsServer, service: str, body: bytes) -> None:
    """The Go SDK abandons a connection on which it has received only the head of the answer."""
    host = server.endpoint.removeprefix("http://")
    scope = f"{server.access.access_key}/20260101/us-west-2/{service}/aws4_request"
    request = (
        f"POST / HTTP/1.1\r\nHost: {host}\r\nAuthorization: AWS4-HMAC-SHA256 Credential={scope}\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    for _ in range(10):
        with socket.create_connection((LOOPBACK, urlsplit(server.endpoint).port)) as connection:
            connection.sendall(request.encode() + body)
            head, _, content = connection.recv(64 * 1024).partition(b"\r\n\r\n")
            assert f"Content-Length: {len(content)}".encode() in head.splitlines()


def test_a_region_that_the_sandbox_has_not_is_named(account: Account) -> None:
    client = boto3.client(
        "ec2",
        region_name="us-west-9",
        endpoint_url=account.server.endpoint,
        **account.server.access.credentials,
    )
    with pytest.raises(ClientError, match="The sandbox has no region 'us-west-9'"):
        client.describe_vpcs()
