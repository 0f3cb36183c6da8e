"""A minimal client of the Kubernetes API for plain JSON objects.

The official client creates a model object for every field of every response, which takes more CPU
time than the simulated kubelets.
"""

from __future__ import annotations

import base64
import json
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlencode, urlsplit

import urllib3

JSON = "application/json"
STRATEGIC_MERGE_PATCH = "application/strategic-merge-patch+json"
MERGE_PATCH = "application/merge-patch+json"
NOT_FOUND = 404
RETRIES = urllib3.Retry(
    total=None,
    connect=False,
    read=False,
    redirect=False,
    other=False,
    status=5,
    status_forcelist=[429],
    allowed_methods=["GET"],
    raise_on_status=False,
)
"""The API server refuses to list objects of a new kind for a moment, with `Retry-After`: `storage
is (re)initializing`. https://kubernetes.io/docs/reference/command-line-tools-reference/feature-gates/,
`ResilientWatchCacheInitialization`"""


class ApiError(Exception):
    """The API server rejected a request.

    Attributes:
        status: HTTP status; 401 if the token was not accepted.
        message: The API server's explanation.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"{status}: {message}")
        self.status = status
        self.message = message


class ApiUnreachableError(Exception):
    """No API server responds at the endpoint, or its certificate is from another authority."""


@contextmanager
def unless_gone() -> Iterator[None]:
    """Ignore that an object in the block has been deleted meanwhile.

    Raises:
        ApiError: the API server rejected a request for another reason.
    """
    try:
        yield
    except ApiError as error:
        if error.status != NOT_FOUND:
            raise


class KubernetesApi:
    """A client of an API server; thread-safe."""

    def __init__(
        self,
        endpoint: str,
        *,
        certificate_authority_data: str,
        token: str,
        timeout_seconds: float = 10.0,
    ) -> None:
        """Prepare connections; the first request connects.

        Raises:
            ValueError: `certificate_authority_data` is not base64 of a PEM certificate, or
                `endpoint` is not an HTTPS URL.
        """
        parts = urlsplit(endpoint)
        if parts.scheme != "https" or not parts.hostname:
            raise ValueError(f"the endpoint {endpoint!r} is not an HTTPS URL")
        try:
            authority = base64.b64decode(certificate_authority_data, validate=True).decode()
            context = ssl.create_default_context(cadata=authority)
        except (ValueError, ssl.SSLError) as error:
            raise ValueError(
                "the certificate authority is not base64 of a PEM certificate"
            ) from error
        self._pool = urllib3.HTTPSConnectionPool(
            parts.hostname,
            parts.port or 443,
            ssl_context=context,
            timeout=urllib3.Timeout(timeout_seconds),
            retries=RETRIES,
            maxsize=2,
        )
        self._headers = {"Authorization": f"Bearer {token}", "Accept": JSON}

    def get(self, path: str, **query: str) -> dict[str, Any]:
        """Read an object or a list; `query` becomes the query string of the URL."""
        return self._request("GET", f"{path}?{urlencode(query)}" if query else path)

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Create an object."""
        return self._request("POST", path, body, JSON)

    def patch(
        self, path: str, body: dict[str, Any], content_type: str = MERGE_PATCH
    ) -> dict[str, Any]:
        """Change fields of an object."""
        return self._request("PATCH", path, body, content_type)

    def delete(self, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """Delete an object; `body` may contain DeleteOptions."""
        return self._request("DELETE", path, body, JSON)

    def text(self, path: str) -> str:
        """Read a response that is not JSON, such as `/readyz`."""
        return self._send("GET", path, None, None).decode()

    def close(self) -> None:
        """Close the idle connections."""
        self._pool.close()

    def _request(
        self,
        method: str,
        path: str,
        body: dict[str, Any] | None = None,
        content_type: str | None = None,
    ) -> dict[str, Any]:
        return json.loads(self._send(method, path, body, content_type))

    def _send(
        self, method: str, path: str, body: dict[str, Any] | None, content_type: str | None
    ) -> bytes:
        headers = dict(self._headers)
        if body is not None and content_type is not None:
            headers["Content-Type"] = content_type
        content = None if body is None else json.dumps(body).encode()
        try:
            response = self._pool.request(method, path, body=content, headers=headers)
        except urllib3.exceptions.HTTPError as error:
            raise ApiUnreachableError(
                f"https://{self._pool.host}:{self._pool.port} does not answer: {error}"
            ) from error
        if response.status >= 400:
            raise ApiError(response.status, _message(response.data))
        return response.data


def _message(content: bytes) -> str:
    """Return the message of a `Status` object, or the response text if it is something else."""
    try:
        return str(json.loads(content)["message"])
    except (ValueError, KeyError, TypeError):
        return content.decode(errors="replace").strip()


_QUIET_SECONDS = 1.0
_SETTLED_AFTER_SECONDS = 3.0


class Pace:
    """The interval of a loop: short while something changes, and longer afterwards.

    A sandbox is mostly idle. Polling its clusters several times per second would take a tenth of a
    processor all the time.

    Args:
        busy_seconds: The short interval.
    """

    def __init__(self, busy_seconds: float) -> None:
        self._busy_seconds = busy_seconds
        self._seen: object = None
        self._changed_at = time.monotonic()

    def interval(self, seen: object) -> float:
        """Return the seconds to wait.

        Args:
            seen: What the last step found; another value than before is a change.
        """
        now = time.monotonic()
        if seen != self._seen:
            self._seen, self._changed_at = seen, now
        settled = now - self._changed_at > _SETTLED_AFTER_SECONDS
        return _QUIET_SECONDS if settled else self._busy_seconds
