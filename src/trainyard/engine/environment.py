"""Environment variables for the Pulumi engine."""

from __future__ import annotations

import contextlib
import os
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from trainyard.sandboxes.client import Endpoint, plain_environment, wait_divisor
from trainyard.workspace.backend import PASSPHRASE_FILE

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
    account: Endpoint,
) -> dict[str, str]:
    """Return the environment of an engine that uses the sandbox as AWS.

    Only general variables of the user are passed on (`plain_environment`), and the credentials are
    those of the sandbox. The `programs` directory comes first on the PATH, for programs such as the
    sandbox's `aws`.
    """
    return {
        **plain_environment(user),
        **_without_proxy(user),
        # The provider puts the account in front of the host for tags of buckets, which resolves to
        # no address: `addEndpointPrefix_opListTagsForResourceMiddleware` of aws-sdk-go-v2,
        # service/s3control. A proxy resolves names itself, and this one is the account.
        "HTTP_PROXY": account.url,
        "PATH": _path(user, programs, engine),
        "PULUMI_HOME": str(home),
        "PULUMI_BACKEND_URL": backend.as_uri(),
        "PULUMI_CONFIG_PASSPHRASE": passphrase,
        "PULUMI_SKIP_UPDATE_CHECK": "1",
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        **account.environment,
        "AWS_REGION": region,
        "AWS_DEFAULT_REGION": region,
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "TRAINYARD_PYTHON": sys.executable,
        # The emulated account completes immediately what the provider polls every 30 seconds.
        **wait_divisor(_WAIT_DIVISOR),
    }


def account_environment(user: Mapping[str, str], *, engine: Path) -> dict[str, str]:
    """Return the environment of an engine that works in the user's own account.

    Its processes communicate over gRPC on the loopback interface, and gRPC in Python uses a proxy
    even there: https://github.com/grpc/grpc/blob/master/doc/environment_variables.md
    """
    proxied = any(user.get(name) for name in _PROXIES)
    return {
        **user,
        **(_without_proxy(user) if proxied else {}),
        **_absolute(user, PASSPHRASE_FILE),
        "PATH": _path(user, engine),
        "PULUMI_SKIP_UPDATE_CHECK": "1",
    }


def _absolute(user: Mapping[str, str], name: str) -> dict[str, str]:
    """Return a variable with the absolute path, because the engine runs in another directory."""
    path = user.get(name)
    return {name: str(Path(path).expanduser().absolute())} if path else {}


def profile_environment(user: Mapping[str, str], profile: str) -> dict[str, str]:
    """Return the environment in which a named profile takes precedence.

    Without a profile, the user's environment is returned unchanged. The AWS provider prefers a
    profile from the stack file to keys in the environment; boto3 does so only if the keys are not
    set.

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
    """Replace the environment of this process temporarily, for libraries that read it."""
    before = dict(os.environ)
    _use(values)
    try:
        yield
    finally:
        _use(before)


def _use(values: Mapping[str, str]) -> None:
    os.environ.clear()
    os.environ.update(values)
    # `urlopen` reads the proxies once, when it makes the opener that all later calls share:
    # https://github.com/python/cpython/blob/v3.11.7/Lib/urllib/request.py#L192-L216
    urllib.request.install_opener(None)  # type: ignore[arg-type]
    # boto3 keeps profile and credentials of its first call in a session that all later calls share,
    # `DEFAULT_SESSION`: https://docs.aws.amazon.com/boto3/latest/guide/session.html
    boto3: Any = sys.modules.get("boto3")
    if boto3 is not None:
        boto3.DEFAULT_SESSION = None


def _path(user: Mapping[str, str], *first: Path) -> str:
    return os.pathsep.join([*map(str, first), user.get("PATH", os.defpath)])


def _without_proxy(user: Mapping[str, str]) -> dict[str, str]:
    # The sandbox listens on the loopback interface, so the user's proxy must not be used. Some
    # programs read only one of the two spellings, and some the first that is set.
    names = ("NO_PROXY", "no_proxy")
    given = next((user[name] for name in names if user.get(name)), None)
    return {name: ",".join(filter(None, [user.get(name) or given, LOOPBACK])) for name in names}
