"""Which requests the AWS endpoint admits; checked before anything else reads a request.

The endpoint listens on the loopback interface, which is open to every user of the machine, and to
every web page in a browser on it. A request is admitted only if

- it has no `Origin`: no client of AWS sends one, and browsers send one with every request that may
  change something (https://fetch.spec.whatwg.org/#origin-header), preflights included;
- its `Host` is an address of the endpoint, so that a name that a web page has rebound to this
  machine is refused;
- it names an access key of the sandbox: in its signature, or in a header if it is for the sandbox
  itself (see `trainyard.sandbox.access`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from moto.iam.models import iam_backends

from trainyard.sandbox.access import CONTROL, HEADER, REGISTRIES, AccessKey
from trainyard.sandbox.aws.unimplemented import call_of, error_response, scope_of
from trainyard.sandbox.wsgi import Answer

_HEADER_IN_WSGI = f"HTTP_{HEADER.upper().replace('-', '_')}"
_PARTITION = "aws"
_REFUSED = "403 FORBIDDEN"
_EXPLANATION = (
    "This is the AWS endpoint of a trainyard sandbox. It answers whoever has its access key, which "
    "the commands with --sandbox use, and no web page."
)
_UNKNOWN_KEY: Mapping[str, tuple[str, str, str]] = {
    "ec2": (
        "AuthFailure",
        "AWS was not able to validate the provided access credentials.",
        "401 UNAUTHORIZED",
    ),
    "query": (
        "InvalidClientTokenId",
        "The security token included in the request is invalid.",
        _REFUSED,
    ),
    "rest-xml": (
        "InvalidAccessKeyId",
        "The AWS Access Key Id you provided does not exist in our records.",
        _REFUSED,
    ),
}
"""Code, message and status with which AWS refuses an unknown access key, by protocol.

Sources: https://docs.aws.amazon.com/ec2/latest/APIReference/errors-overview.html,
https://docs.aws.amazon.com/STS/latest/APIReference/CommonErrors.html and
https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
"""
_UNKNOWN_KEY_IN_JSON = (
    "UnrecognizedClientException",
    "The security token included in the request is invalid.",
    _REFUSED,
)
"""As above, for all other protocols: `UnrecognizedClient` in
https://docs.aws.amazon.com/eks/latest/APIReference/CommonErrors.html"""


class Admission:
    """Admits the requests of the sandbox's own clients.

    Args:
        own: The access key of these clients.
    """

    def __init__(self, own: AccessKey) -> None:
        self._own = own
        self._hosts: re.Pattern[str] | None = None

    def listens_on(self, host: str, port: int) -> None:
        """Set the address of the endpoint.

        The provider puts an account in front of the host (see `sandbox_environment`).
        """
        self._hosts = re.compile(rf"(\d{{12}}\.)?{re.escape(host)}:{port}")

    def refusal(self, environ: Mapping[str, Any]) -> Answer | None:
        """Return the response to a request that is not admitted; None if it is."""
        host = environ.get("HTTP_HOST", "")
        if "HTTP_ORIGIN" in environ:
            return _refused(environ, "requests of web pages are refused")
        if self._hosts is None or not self._hosts.fullmatch(host):
            return _refused(environ, f"the host {host!r} is not that of the endpoint")
        if self.account_of(_key_of(environ)) is None:
            call = call_of(environ, b"")
            code, message, status = _UNKNOWN_KEY.get(call.protocol, _UNKNOWN_KEY_IN_JSON)
            return error_response(call, code, f"{message} {_EXPLANATION}", status)
        return None

    def account_of(self, key_id: str) -> str | None:
        """Return the account that an access key belongs to; None for an unknown one."""
        if self._own.is_id(key_id):
            return self._own.account_id
        issued = iam_backends[self._own.account_id][_PARTITION].access_keys
        return self._own.account_id if key_id in issued else None


def _key_of(environ: Mapping[str, Any]) -> str:
    """Return the id of the access key of a request; empty without one."""
    path = environ.get("PATH_INFO", "")
    if path.startswith(CONTROL):
        rest = path.removeprefix(CONTROL)
        if rest.startswith(REGISTRIES):
            return rest.removeprefix(REGISTRIES).partition("/")[0]
        return environ.get(_HEADER_IN_WSGI, "")
    return scope_of(environ)[0]


def _refused(environ: Mapping[str, Any], why: str) -> Answer:
    return error_response(call_of(environ, b""), "AccessDenied", f"{why}. {_EXPLANATION}", _REFUSED)
