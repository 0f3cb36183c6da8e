"""Who may use the sandbox: whoever has its access key.

An access key of the sandbox is a secret, and the account that it belongs to. The id of the key is
the secret: signatures are not verified, because everything stays on this machine, and a request
names the id of its key (`Credential=` in the signature). The daemon makes a key at its start and
writes it to a file that only its user can read; `trainyard.sandbox.aws.application` refuses every
other request. Keys that the account itself issues (`sts:AssumeRole`, `iam:CreateAccessKey`) are
secrets of the same kind.

This module imports nothing but the standard library, because processes of other Python environments
use it too.
"""

from __future__ import annotations

import hmac
import json
import secrets
import shlex
import urllib.request
from dataclasses import dataclass, field
from typing import Any

CONTROL = "/_trainyard/"
"""Path of the endpoints with which commands and processes of a sandbox control it."""
HEADER = "X-Trainyard-Access-Key"
"""Header with the key of a request that has no signature: one for the sandbox itself."""
KEY_VARIABLE = "TRAINYARD_SANDBOX_ACCESS_KEY"
"""Variable with which the daemon passes the key to its own processes."""
REGISTRIES = "registries/"
"""Below `CONTROL`; then the key, because clients of registries send no header of the sandbox."""
REGISTRIES_VARIABLE = "TRAINYARD_EMULATED_REGISTRIES"
"""Variable that directs lookups of images to the registries of a sandbox
(`trainyard.components.compute.image_registry`)."""
_PREFIX = "SANDBOX"
_SECRET_BYTES = 24


@dataclass(frozen=True, slots=True)
class AccessKey:
    """An access key of the sandbox."""

    key_id: str = field(repr=False)
    """The secret. The ids of AWS have 16 to 128 letters and digits
    (https://docs.aws.amazon.com/IAM/latest/APIReference/API_AccessKey.html)."""
    account_id: str
    """The account to which a request with this key belongs."""

    @classmethod
    def new(cls, account_id: str) -> AccessKey:
        """Return a key that nobody else knows."""
        return cls(f"{_PREFIX}{secrets.token_hex(_SECRET_BYTES).upper()}", account_id)

    def is_id(self, given: str) -> bool:
        """Return whether `given` is the id of this key, in a time that does not depend on it."""
        return hmac.compare_digest(self.key_id.encode(), given.encode())


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The AWS endpoint of a sandbox, for a client that may use it."""

    url: str
    """`http://127.0.0.1:<port>`."""
    access_key: str = field(repr=False)
    """Id of an access key of the sandbox."""

    @property
    def credentials(self) -> dict[str, str]:
        """Arguments of a boto3 session."""
        # The endpoint verifies no signature, so the secret access key has no meaning.
        return {"aws_access_key_id": self.access_key, "aws_secret_access_key": "sandbox"}

    @property
    def environment(self) -> dict[str, str]:
        """Variables with which AWS clients and lookups of images use the sandbox."""
        return {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": self.access_key,
            "AWS_SECRET_ACCESS_KEY": "sandbox",
            REGISTRIES_VARIABLE: f"{self.url}{CONTROL}{REGISTRIES}{self.access_key}",
        }

    def exports(self) -> list[str]:
        """Return the lines with which a POSIX shell exports `environment`."""
        return [f"export {name}={shlex.quote(value)}" for name, value in self.environment.items()]

    def ask(self, method: str, path: str, body: bytes | None = None) -> Any:
        """Send a request to the sandbox itself, and return its JSON.

        Args:
            method: GET, POST or DELETE.
            path: Below `CONTROL`, with its query.
            body: Content of a POST request.

        Raises:
            urllib.error.URLError: it does not respond, or refuses the request.
        """
        # The URL is the sandbox's own, on the loopback interface: no proxy, no other scheme.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        request = urllib.request.Request(  # noqa: S310 - see above
            f"{self.url}{CONTROL}{path}",
            data=body,
            method=method,
            headers={HEADER: self.access_key},
        )
        with opener.open(request) as answer:
            return json.load(answer)


NO_ACCOUNT = Endpoint("http://127.0.0.1:9", "none")
"""For programs that need no account: this endpoint does not respond."""
