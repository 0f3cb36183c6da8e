"""Each kind of fault as an AWS client sees it."""

from __future__ import annotations

import os
import subprocess
import sys
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError, ConnectionClosedError

from tests.support.faults.account import Faulty
from tests.support.processes import PATIENCE
from tests.support.sandbox_aws import refused
from trainyard.sandbox.faults import fault
from trainyard.sandbox.faults.fault import SERVICES, model, operations
from trainyard.sandbox.faults.kinds import KINDS

CALLS: dict[str, Any] = {
    "ec2": lambda client: client.describe_vpcs(),
    "iam": lambda client: client.list_roles(),
    "autoscaling": lambda client: client.describe_auto_scaling_groups(),
    "eks": lambda client: client.list_clusters(),
    "batch": lambda client: client.describe_job_queues(),
    "cloudwatch": lambda client: client.describe_alarms(),
    "events": lambda client: client.list_rules(),
    "fsx": lambda client: client.describe_file_systems(),
    "logs": lambda client: client.describe_log_groups(),
    "s3": lambda client: client.list_buckets(),
    "scheduler": lambda client: client.list_schedules(),
    "sns": lambda client: client.list_topics(),
}
"""A call of each protocol, and of each service with its own errors."""


@pytest.mark.parametrize("service", CALLS)
@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("throttled", fault.throttled),
        ("internal-error", fault.internal_error),
        ("credentials-expired", fault.credentials_expired),
    ],
)
def test_an_error_has_code_status_and_message_of_its_service(
    faulty: Faulty, service: str, kind: str, error: Any
) -> None:
    faulty.use(f"call: '{service}:*', happens: {kind}")
    expected = error(service, "")
    with pytest.raises(ClientError) as caught:
        CALLS[service](faulty.account.client(service))
    answer: Any = caught.value.response
    assert answer["Error"]["Code"] == expected.code
    assert expected.message in answer["Error"]["Message"]
    assert answer["ResponseMetadata"]["HTTPStatusCode"] == expected.status
    CALLS[service](faulty.account.client(service))


def test_errors_that_a_service_declares_have_the_status_that_it_declares() -> None:
    """The tables agree with botocore's models where those define the errors."""
    compared = 0
    for service in SERVICES:
        described = model(service)
        shapes: dict[str, Any] = {}
        for name in described.shape_names:
            shape = described.shape_for(name)
            if shape.metadata.get("exception"):
                error = shape.metadata.get("error") or {}
                shapes[error.get("code", name)] = error.get("httpStatusCode")
        for error in (fault.throttled, fault.internal_error):
            refusal = error(service, "")
            assert refusal is not None, service
            assert HTTPStatus(refusal.status)
            if shapes.get(refusal.code):
                assert refusal.status == shapes[refusal.code], (service, refusal.code)
                compared += 1
    assert compared >= 8


def test_every_kind_of_refusal_has_a_call_that_gives_it() -> None:
    able = {
        name
        for name, kind in KINDS.items()
        if kind.needs_call
        and any(kind.happens_to(each, call) for each in SERVICES for call in operations(each))
    }
    assert able == {name for name, kind in KINDS.items() if kind.needs_call}


@pytest.mark.parametrize("kind", ["connection-reset", "done-without-answer"])
def test_a_lost_connection_leaves_the_server_able_to_answer(faulty: Faulty, kind: str) -> None:
    faulty.use(f"call: 'ec2:DescribeVpcs', happens: {kind}")
    with pytest.raises(ConnectionClosedError):
        faulty.account.ec2.describe_vpcs()
    assert faulty.done["ec2:DescribeVpcs"] == (1 if kind == "done-without-answer" else 0)
    assert faulty.account.ec2.describe_vpcs()["Vpcs"]


def test_a_new_object_is_not_found_in_the_services_own_words_for_as_long_as_said(
    faulty: Faulty,
) -> None:
    faulty.use("call: 'ec2:CreateVpc', happens: not-found-yet, for_calls: 2")
    vpc_id = faulty.account.ec2.create_vpc(CidrBlock="10.77.0.0/16")["Vpc"]["VpcId"]
    filters = [{"Name": "vpc-id", "Values": [vpc_id]}]
    with refused("InvalidVpcID.NotFound", vpc_id):
        faulty.account.ec2.describe_vpcs(VpcIds=[vpc_id])
    assert faulty.account.ec2.describe_vpcs(Filters=filters)["Vpcs"] == []
    assert faulty.account.ec2.describe_vpcs(VpcIds=[vpc_id])["Vpcs"]


def test_the_sandboxs_own_observers_are_not_hit(faulty: Faulty) -> None:
    from trainyard.sandbox.inventory import Clients

    faulty.use("call: '*', happens: throttled, times: always")
    clients = Clients(faulty.account.server.access, "us-west-2")
    assert clients.client("sts").get_caller_identity()["Account"]
    with refused("Throttling"):
        faulty.account.client("sts").get_caller_identity()


def test_a_token_makes_a_repeated_request_one_object(faulty: Faulty) -> None:
    ec2 = faulty.account.ec2
    data = {"LaunchTemplateData": {"InstanceType": "c5.2xlarge"}, "ClientToken": "once"}
    first = ec2.create_launch_template(LaunchTemplateName="once", **data)
    again = ec2.create_launch_template(LaunchTemplateName="once", **data)
    assert again["LaunchTemplate"] == first["LaunchTemplate"]
    with refused("IdempotentParameterMismatch"):
        ec2.create_launch_template(LaunchTemplateName="another", **data)


CALLER = """
import sys, boto3
from botocore.config import Config
config = Config(retries={"total_max_attempts": 1}, proxies={})
boto3.client("ec2", region_name="us-west-2", config=config).create_vpc(CidrBlock=sys.argv[1])
"""
ENGINE = "import subprocess, sys; subprocess.run([sys.argv[1], '-c', *sys.argv[2:]])"


@pytest.mark.parametrize(
    ("kind", "block", "made"),
    [("engine-killed", "10.78.0.0/16", 0), ("engine-killed-after", "10.79.0.0/16", 1)],
)
def test_the_engine_behind_a_call_is_killed_before_or_after_the_work(
    faulty: Faulty, tmp_path: Path, kind: str, block: str, made: int
) -> None:
    engine = tmp_path / "pulumi"
    engine.symlink_to(sys.executable)
    faulty.use(f"call: 'ec2:CreateVpc', happens: {kind}")
    done = subprocess.run(
        [engine, "-c", ENGINE, sys.executable, CALLER, block],
        env={**os.environ, **faulty.account.server.access.environment},
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == -9
    filters = [{"Name": "cidr", "Values": [block]}]
    assert len(faulty.account.ec2.describe_vpcs(Filters=filters)["Vpcs"]) == made
