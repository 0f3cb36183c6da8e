"""Variables of a user's environment that reach the engine, and those that never do."""

from __future__ import annotations

import os
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from trainyard.engine.environment import (
    account_environment,
    process_environment,
    profile_environment,
    sandbox_environment,
)
from trainyard.sandbox.access import AccessKey, Endpoint

USER = {
    "HOME": "/home/someone",
    "PATH": "/usr/bin",
    "LANG": "C.UTF-8",
    "AWS_PROFILE": "production",
    "AWS_ACCESS_KEY_ID": "a-real-key",
    "AWS_SESSION_TOKEN": "a-real-token",
    "PULUMI_ACCESS_TOKEN": "a-real-login",
    "PULUMI_BACKEND_URL": "s3://production",
    "KUBECONFIG": "/home/someone/.kube/config",
    "PYTHONPATH": "/home/someone/lib",
    "HTTPS_PROXY": "http://proxy.example.com",
    "NO_PROXY": "example.com",
}


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return sandbox_environment(
        USER,
        engine=Path("/opt/engine"),
        programs=Path("/opt/sandbox"),
        home=tmp_path / "home",
        backend=tmp_path / "state",
        passphrase="secret",
        region="us-west-2",
        account=Endpoint("http://127.0.0.1:5000", "key-of-the-sandbox"),
    )


@pytest.mark.parametrize("name", ["AWS_PROFILE", "AWS_SESSION_TOKEN", "PULUMI_ACCESS_TOKEN"])
def test_the_sandbox_gets_no_login_of_the_user(environment: dict[str, str], name: str) -> None:
    assert name not in environment


def test_nothing_of_the_users_accounts_stands_in_any_value(environment: dict[str, str]) -> None:
    values = " ".join(environment.values())
    assert not [word for word in ("a-real", "production", ".kube") if word in values]


def test_the_sandbox_has_state_and_home_of_its_own(
    environment: dict[str, str], tmp_path: Path
) -> None:
    assert environment["PULUMI_HOME"] == str(tmp_path / "home")
    assert environment["PULUMI_BACKEND_URL"] == f"file://{tmp_path}/state"


def test_aws_is_the_sandbox_with_credentials_that_cannot_be_real(
    environment: dict[str, str],
) -> None:
    assert environment["AWS_ENDPOINT_URL"] == "http://127.0.0.1:5000"
    assert environment["AWS_ACCESS_KEY_ID"] == "key-of-the-sandbox"
    assert AccessKey.new("123456789012").key_id.startswith("SANDBOX")  # those of AWS with A
    assert environment["AWS_SHARED_CREDENTIALS_FILE"] == "/dev/null"


def test_the_sandboxs_programs_and_the_engine_come_first_on_the_path(
    environment: dict[str, str],
) -> None:
    assert environment["PATH"] == "/opt/sandbox:/opt/engine:/usr/bin"


def test_a_proxy_is_not_asked_for_the_loopback(environment: dict[str, str]) -> None:
    assert environment["NO_PROXY"] == "example.com,127.0.0.1,localhost,::1"


def test_everything_else_of_the_user_stays(environment: dict[str, str]) -> None:
    assert (environment["HOME"], environment["LANG"]) == ("/home/someone", "C.UTF-8")


def test_an_account_gets_the_users_own_environment() -> None:
    environment = account_environment(USER, engine=Path("/opt/engine"))
    assert environment == {
        **USER,
        "NO_PROXY": "example.com,127.0.0.1,localhost,::1",
        "no_proxy": "example.com,127.0.0.1,localhost,::1",
        "PATH": "/opt/engine:/usr/bin",
        "PULUMI_SKIP_UPDATE_CHECK": "1",
    }


def test_an_account_without_a_proxy_gets_nothing_more() -> None:
    user = {"PATH": "/usr/bin", "HOME": "/home/someone"}
    found = account_environment(user, engine=Path("/opt/engine"))
    assert found.keys() - user.keys() == {"PULUMI_SKIP_UPDATE_CHECK"}


def test_a_named_profile_counts_before_keys_in_the_environment() -> None:
    user = {"AWS_ACCESS_KEY_ID": "AKIAEXAMPLE", "AWS_REGION": "us-west-2", "AWS_PROFILE": "mine"}
    given = profile_environment(user, "training")
    assert given == {"AWS_REGION": "us-west-2", "AWS_PROFILE": "training"}
    assert profile_environment(user, "") == user


class _Here(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - inherited name
        """Keep the test's output clean."""


def test_a_proxy_ends_with_its_environment() -> None:
    """`urlopen` keeps the proxies of its first call."""
    nobody, direct = {"HTTP_PROXY": "http://127.0.0.1:9"}, {"PATH": os.environ["PATH"]}
    with HTTPServer(("127.0.0.1", 0), _Here) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        with process_environment(nobody), pytest.raises(URLError):
            urlopen(url)
        with process_environment(direct), urlopen(url) as answer:
            assert answer.status == 204
        with process_environment(nobody), pytest.raises(URLError):
            urlopen(url)
        server.shutdown()
