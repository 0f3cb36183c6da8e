"""What the engine is told of an error of AWS, and of how often the request was made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.config import Config

from sandbox.aws.server import AwsServer
from sandbox.faults.in_force import FAULTS
from sandbox.faults.schedule import parse_schedule
from sandbox.providers._protocol.servicer import ProviderError
from sandbox.providers.aws.account import CREDENTIALS
from sandbox.providers.aws.failures import aws_words
from sandbox.providers.aws.retries import ATTEMPTS, NETWORK_ATTEMPTS, retry_as_the_provider

LIMIT = "logs:CreateLogGroup"


def client(service: str, endpoint: str) -> Any:
    made: Any = boto3.client(
        service,
        region_name="us-west-2",
        endpoint_url=endpoint,
        config=Config(retries={"total_max_attempts": 1}, proxies={}),
        **CREDENTIALS,
    )
    retry_as_the_provider(made, wait=lambda _: 0.0)
    return made


@pytest.fixture
def endpoint() -> Iterator[str]:
    with AwsServer() as server:
        yield server.endpoint
        FAULTS.use([])


@pytest.mark.parametrize(
    ("happens", "begins"),
    [
        ("throttled", f"CreateLogGroup: exceeded maximum number of attempts, {ATTEMPTS}: Thro"),
        ("quota-exceeded", "CreateLogGroup: LimitExceededException: Resource limit exceeded"),
    ],
)
def test_only_what_was_tried_to_the_end_says_so(endpoint: str, happens: str, begins: str) -> None:
    """The provider does not repeat a limit of CloudWatch Logs, which elsewhere is throttling."""
    FAULTS.use(parse_schedule([{"call": LIMIT, "happens": happens, "times": "always"}]))
    with pytest.raises(ProviderError) as caught, aws_words():
        client("logs", endpoint).create_log_group(logGroupName="g")
    assert str(caught.value).startswith(begins)


def test_a_refused_connection_says_how_often_it_was_tried() -> None:
    with pytest.raises(ProviderError) as caught, aws_words():
        client("logs", "http://127.0.0.1:9").create_log_group(logGroupName="g")
    assert str(caught.value).startswith(
        f"exceeded maximum number of attempts, {NETWORK_ATTEMPTS}: request send failed"
    )
