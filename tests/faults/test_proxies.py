"""A user behind a proxy: calls to this machine do not use it.

Every client that a sandbox needs is created as by its user, with proxies at unused ports. Whole
stacks are tested manually, as `docs/security.md` describes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent import futures
from pathlib import Path

import grpc
import pytest

from trainyard.sandbox.access import NO_ACCOUNT, Endpoint
from trainyard.sandbox.aws.server import AwsServer  # before boto3 makes a client

import boto3  # isort: skip

from trainyard.components.runtime.aws_auth_config_map import AwsAuthConfigMap  # isort: skip
from trainyard.sandbox.plain_environment import plain_environment  # isort: skip
from tests.support.api_server import ROLE, answers, api_server  # isort: skip
from trainyard.diagnosis.rollout import look_at  # isort: skip
from trainyard.engine.environment import (  # isort: skip
    account_environment,
    process_environment,
    sandbox_environment,
)

NOBODY = "http://me:secret@127.0.0.1:9"
PROXIES = {
    name: NOBODY
    for upper in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "GRPC_PROXY")
    for name in (upper, upper.lower())
}
USERS = {
    "no exceptions": {},
    "exceptions of their own": {"NO_PROXY": "example.com"},
    "exceptions in small letters": {"no_proxy": "example.com"},
}


@pytest.fixture(params=USERS)
def user(request: pytest.FixtureRequest) -> dict[str, str]:
    """The environment of a user behind a proxy."""
    kept = {k: v for k, v in os.environ.items() if "proxy" not in k.lower()}
    return {**kept, **PROXIES, **USERS[request.param]}


def in_sandbox(user: dict[str, str], *, account: Endpoint = NO_ACCOUNT) -> dict[str, str]:
    return sandbox_environment(
        user,
        engine=Path("/opt/engine"),
        programs=Path("/opt/sandbox"),
        home=Path("/tmp/home"),
        backend=Path("/tmp/state"),
        passphrase="x",
        region="us-west-2",
        account=account,
    )


@pytest.fixture
def monitor() -> Iterator[str]:
    """Address of a server, in the form of the engine and its plugins."""
    server = grpc.server(futures.ThreadPoolExecutor(1))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield f"127.0.0.1:{port}"
    server.stop(None)


def reaches(address: str) -> bool:
    with grpc.insecure_channel(address) as channel:
        try:
            grpc.channel_ready_future(channel).result(timeout=20)
        except grpc.FutureTimeoutError:
            return False
    return True


def test_the_account_of_a_sandbox_is_asked_directly(user: dict[str, str]) -> None:
    account = AwsServer(region="us-west-2", keep_time=False)
    with account as server, process_environment(in_sandbox(user, account=server.access)):
        assert boto3.client("sts", region_name="us-west-2").get_caller_identity()["Account"]


def test_the_cluster_of_a_sandbox_is_asked_directly(user: dict[str, str]) -> None:
    """Both by the command, which has its user's environment, and by the program, which does not."""
    with api_server() as server:
        server.said = {**answers(), "aws-auth": answers()["configmaps"]["items"][0]}
        with process_environment(user):
            assert look_at(server.kubeconfig)[1] == ""
        with process_environment(in_sandbox(user)):
            assert AwsAuthConfigMap(server.kubeconfig, give_up_seconds=0).find(ROLE) is not None


@pytest.mark.parametrize("place", ["sandbox", "account"])
def test_engine_program_and_plugins_find_one_another(
    user: dict[str, str], monitor: str, place: str
) -> None:
    """gRPC in Python uses a proxy for 127.0.0.1 too; against an account the proxy is kept."""
    account = account_environment(user, engine=Path("/opt/engine"))
    with process_environment(in_sandbox(user) if place == "sandbox" else account):
        assert reaches(monitor)
    assert account["HTTPS_PROXY"] == NOBODY


def test_what_runs_in_a_sandbox_knows_of_no_proxy(user: dict[str, str]) -> None:
    for environment in (in_sandbox(user), plain_environment(user)):
        assert not [name for name, value in environment.items() if value == NOBODY]


def test_exceptions_of_the_user_stay(user: dict[str, str]) -> None:
    found = account_environment(user, engine=Path("/opt/engine"))
    for name in ("NO_PROXY", "no_proxy"):
        listed = found[name].split(",")
        assert {"127.0.0.1", "localhost"} <= {*listed}
        assert ("example.com" in listed) == any("example.com" in v for v in user.values())
