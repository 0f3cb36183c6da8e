"""Who may use the AWS endpoint: not other users of the machine, and no web page.

What an attacker sends is written out here, as `curl` or a browser would send it.
"""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

import boto3
import botocore.session
import pytest
from botocore.exceptions import ClientError

from tests.support.sandbox_aws import OF_OTHERS, Account
from trainyard.sandbox.access import HEADER
from trainyard.sandbox.aws.server import AwsServer
from trainyard.sandbox.aws.unimplemented import served_calls

MADE_UP = "AKIAIOSFODNN7EXAMPLE"
RUN_SHELL = {"InstanceIds": ["i-0123456789abcdef0"], "DocumentName": "AWS-RunShellScript"}


def sent(
    server: AwsServer,
    method: str,
    path: str,
    headers: Mapping[str, str],
    body: bytes = b"",
) -> tuple[int, Mapping[str, str], bytes]:
    """Send a request as it is; `Host` is that of the endpoint unless it is given."""
    parts = urlsplit(server.endpoint)
    connection = http.client.HTTPConnection(str(parts.hostname), parts.port)
    connection.putrequest(method, path, skip_host="Host" in headers)
    for name, value in {**headers, "Content-Length": str(len(body))}.items():
        connection.putheader(name, value)
    connection.endheaders(body)
    answer = connection.getresponse()
    return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()


def signed(key: str, service: str = "ssm") -> dict[str, str]:
    """Return the headers of a call with a made-up signature, which the sandbox does not check."""
    scope = f"{key}/20261129/us-west-2/{service}/aws4_request"
    return {
        "Authorization": f"AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders=host, Signature=00",
        "X-Amz-Target": "AmazonSSM.SendCommand",
        "Content-Type": "application/x-amz-json-1.1",
    }


@pytest.mark.parametrize(
    "authorization", ["", "Basic c2FuZGJveDo=", "AWS4-HMAC-SHA256 Credential="]
)
def test_a_request_without_an_access_key_runs_no_command(
    server: AwsServer, authorization: str
) -> None:
    headers = {**signed(MADE_UP), "Authorization": authorization}
    status, _, body = sent(server, "POST", "/", headers, json.dumps(RUN_SHELL).encode())
    assert (status, "access key" in body.decode()) == (403, True)


@pytest.mark.parametrize("key", ["sandbox", "test", "x", MADE_UP, "123456789012", ""])
def test_another_user_of_the_machine_has_no_access_key(server: AwsServer, key: str) -> None:
    status, _, _ = sent(server, "POST", "/", signed(key), json.dumps(RUN_SHELL).encode())
    assert status == 403


@pytest.mark.parametrize(
    ("service", "call", "code", "status"),
    [
        ("ec2", "describe_vpcs", "AuthFailure", 401),
        ("iam", "list_roles", "InvalidClientTokenId", 403),
        ("eks", "list_clusters", "UnrecognizedClientException", 403),
        ("s3", "list_buckets", "InvalidAccessKeyId", 403),
        ("cloudformation", "list_stacks", "InvalidClientTokenId", 403),
    ],
)
def test_an_unknown_access_key_is_refused_with_the_code_of_aws(
    server: AwsServer, service: str, call: str, code: str, status: int
) -> None:
    client = boto3.client(
        service,
        endpoint_url=server.endpoint,
        region_name="us-west-2",
        aws_access_key_id=MADE_UP,
        aws_secret_access_key="made-up",
    )
    with pytest.raises(ClientError) as caught:
        getattr(client, call)()
    answer = caught.value.response
    assert (answer["Error"]["Code"], answer["ResponseMetadata"]["HTTPStatusCode"]) == (code, status)
    assert "trainyard sandbox" in answer["Error"]["Message"]


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost:3000", ""])
@pytest.mark.parametrize("method", ["POST", "GET"])
def test_a_web_page_is_refused_even_with_the_access_key(
    server: AwsServer, origin: str, method: str
) -> None:
    headers = {**signed(server.access.access_key), "Origin": origin}
    status, found, _ = sent(server, method, "/", headers)
    assert status == 403
    assert not [name for name in found if name.startswith("access-control-")]


def test_the_preflight_of_a_browser_allows_nothing(server: AwsServer) -> None:
    headers = {
        "Origin": "https://evil.example",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type,x-amz-target",
        "Access-Control-Request-Private-Network": "true",
    }
    status, found, _ = sent(server, "OPTIONS", "/", headers)
    assert status == 403
    assert not [name for name in found if name.startswith("access-control-")]


@pytest.mark.parametrize(
    "host",
    ["evil.example", "localhost", "127.0.0.1", "127.0.0.1.evil.example", "ec2.amazonaws.com"],
)
def test_a_name_that_was_rebound_to_this_machine_is_refused(server: AwsServer, host: str) -> None:
    for name in (host, f"{host}:{urlsplit(server.endpoint).port}" if host != "127.0.0.1" else host):
        headers = {**signed(server.access.access_key), "Host": name}
        assert sent(server, "POST", "/", headers)[0] == 403


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "health"),
        ("GET", "identity?cluster=c&arn=a&session=s"),
        ("GET", f"caller?access_key={MADE_UP}"),
        ("GET", "clock"),
        ("POST", "clock?advance_seconds=60"),
        ("POST", "latency?scale=1"),
        ("GET", "faults"),
        ("POST", "faults"),
        ("DELETE", "faults"),
        ("POST", "slurm-job?name=a"),
        ("GET", "registries/public.ecr.aws/token"),
        ("GET", f"registries/{MADE_UP}/public.ecr.aws/token"),
    ],
)
def test_what_controls_the_sandbox_needs_its_access_key(
    server: AwsServer, method: str, path: str
) -> None:
    for headers in ({}, {HEADER: MADE_UP}, signed(server.access.access_key)):
        status, _, _ = sent(server, method, f"/_trainyard/{path}", headers)
        assert status == 403


def test_no_file_is_read_for_a_stranger(server: AwsServer, tmp_path: Path) -> None:
    """A schedule of faults names files, whose content the sandbox plays as a log."""
    (tmp_path / "shadow").write_text("root:secret", encoding="utf-8")
    schedule = b"[{happens: container-log, job: '*', log: shadow}]"
    path = f"/_trainyard/faults?directory={tmp_path}"
    status, _, body = sent(server, "POST", path, {"Content-Type": "text/plain"}, schedule)
    assert status == 403
    assert b"secret" not in body
    assert server.access.ask("GET", "faults") == []


def test_keys_that_the_account_issues_are_different_in_every_sandbox() -> None:
    def issued() -> str:
        with AwsServer(keep_time=False) as server:
            account = Account(server)
            role = account.person_role("r")
            answer = account.client("sts").assume_role(RoleArn=role, RoleSessionName="session")
            return answer["Credentials"]["AccessKeyId"]

    assert issued() != issued()


def test_a_key_that_the_account_has_issued_is_admitted(account: Account) -> None:
    role = account.person_role("r")
    keys = account.client("sts").assume_role(RoleArn=role, RoleSessionName="session")["Credentials"]
    session = boto3.client(
        "sts",
        endpoint_url=account.server.endpoint,
        region_name="us-west-2",
        aws_access_key_id=keys["AccessKeyId"],
        aws_secret_access_key=keys["SecretAccessKey"],
        aws_session_token=keys["SessionToken"],
    )
    assert session.get_caller_identity()["Arn"].endswith(":assumed-role/r/session")


def test_the_access_key_is_in_no_message_of_an_object(server: AwsServer) -> None:
    assert server.access.access_key not in repr(server.access)


WITHOUT_PATHS = ("autoscaling", "cloudformation", "ec2", "iam", "kms", "sns", "ssm", "sts")
"""Services whose calls have no path, so that a request needs the name of the call alone."""


def calls_of_nobody() -> Iterator[tuple[str, str, str]]:
    """Yield service, target and name of every call that neither a stack nor a command makes."""
    session = botocore.session.get_session()
    for service in WITHOUT_PATHS:
        model = session.get_service_model(service)
        target = model.metadata.get("targetPrefix", "")
        for name in model.operation_names:
            if f"{service}:{name}" not in {*served_calls(), *OF_OTHERS}:
                yield service, target, name


def test_a_call_that_neither_a_stack_nor_a_command_makes_is_not_handled(
    server: AwsServer, account: Account
) -> None:
    """Not even with the access key, and before moto, which has most of them, looks at it."""
    for service, target, name in calls_of_nobody():
        headers = signed(server.access.access_key, service)
        if target:
            body = b"{}"
            headers["X-Amz-Target"] = f"{target}.{name}"
        else:
            body = f"Action={name}&Version=2016-11-15".encode()
            del headers["X-Amz-Target"]
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        status, _, answer = sent(server, "POST", "/", headers, body)
        said = f"The sandbox does not implement {service}:{name}: no stack and no command makes"
        assert (status, said in answer.decode()) == (501, True), name
    assert not account.iam.list_users()["Users"]


@pytest.mark.parametrize(
    ("service", "method", "path"),
    [
        ("lambda", "POST", "/2015-03-31/functions"),
        ("lambda", "POST", "/2015-03-31/functions/any/invocations"),
        ("s3", "PUT", "/bucket?notification"),
        ("eks", "POST", "/clusters/c/identity-provider-configs/associate"),
        ("elasticfilesystem", "PUT", "/2015-02-01/file-systems/fs-1/policy"),
        ("apigateway", "POST", "/restapis"),
        ("s3", "POST", "/moto-api/reset"),
        ("", "POST", "/moto-api/reset"),
    ],
)
def test_a_path_of_no_such_call_is_not_handled(
    server: AwsServer, service: str, method: str, path: str
) -> None:
    headers = signed(server.access.access_key, service)
    del headers["X-Amz-Target"]
    status, _, _ = sent(server, method, path, headers, b"{}")
    assert status in (403, 501)
