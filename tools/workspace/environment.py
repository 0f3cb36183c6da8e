"""The environment variables that the Pulumi engine gets."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from sandbox.plain_environment import plain_environment
from tools.engine.aws_plugin_source import WAIT_DIVISOR

_WAIT_DIVISOR = 400
LOOPBACK = "127.0.0.1,localhost,::1"
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "grpc_proxy")


def sandbox_environment(
    user: Mapping[str, str],
    *,
    engine: Path,
    programs: Path,
    home: Path,
    backend: Path,
    passphrase: str,
    region: str,
    aws_endpoint: str,
) -> dict[str, str]:
    """Return the environment of an engine whose AWS is the sandbox.

    Of the user's only what every program may know is passed on (`plain_environment`), and the
    credentials are ones that cannot be real. `programs` is a directory whose programs go before
    those of the user, such as the sandbox's `aws`.
    """
    return {
        **plain_environment(user),
        **_without_proxy(user),
        "PATH": _path(user, programs, engine),
        "PULUMI_HOME": str(home),
        "PULUMI_BACKEND_URL": backend.as_uri(),
        "PULUMI_CONFIG_PASSPHRASE": passphrase,
        "PULUMI_SKIP_UPDATE_CHECK": "1",
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        "AWS_ENDPOINT_URL": aws_endpoint,
        "AWS_ACCESS_KEY_ID": "sandbox",
        "AWS_SECRET_ACCESS_KEY": "sandbox",
        "AWS_REGION": region,
        "AWS_DEFAULT_REGION": region,
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "TRAINYARD_PYTHON": sys.executable,
        # The emulated account does at once what the provider polls for every half a minute.
        WAIT_DIVISOR: str(_WAIT_DIVISOR),
    }


def account_environment(user: Mapping[str, str], *, engine: Path) -> dict[str, str]:
    """Return the environment of an engine that works in the user's own account.

    Its parts talk to one another on the loopback, over gRPC, which in Python asks a proxy for that
    too: https://github.com/grpc/grpc/blob/master/doc/environment_variables.md
    """
    proxied = any(user.get(name) for name in _PROXIES)
    return {
        **user,
        **(_without_proxy(user) if proxied else {}),
        "PATH": _path(user, engine),
        "PULUMI_SKIP_UPDATE_CHECK": "1",
    }


def profile_environment(user: Mapping[str, str], profile: str) -> dict[str, str]:
    """Return the environment in which a named profile counts, and nothing else that is there.

    Without a profile it is the user's own. The engine's provider takes a profile that a stack
    file names before keys in the environment; boto3 does so only where they are gone.

    Source: https://docs.aws.amazon.com/boto3/latest/guide/credentials.html
    """
    if not profile:
        return dict(user)
    keys = {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"}
    return {name: value for name, value in user.items() if name not in keys} | {
        "AWS_PROFILE": profile
    }


@contextlib.contextmanager
def process_environment(values: Mapping[str, str]) -> Iterator[None]:
    """Give this process another environment for a while, for libraries that read it."""
    before = dict(os.environ)
    os.environ.clear()
    os.environ.update(values)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _path(user: Mapping[str, str], *first: Path) -> str:
    return os.pathsep.join([*map(str, first), user.get("PATH", os.defpath)])


def _without_proxy(user: Mapping[str, str]) -> dict[str, str]:
    # The sandbox listens on the loopback; a proxy of the user's must not be asked for it.
    # Of the two spellings some programs read only one, and some the first that is there.
    names = ("NO_PROXY", "no_proxy")
    given = next((user[name] for name in names if user.get(name)), None)
    return {name: ",".join(filter(None, [user.get(name) or given, LOOPBACK])) for name in names}
