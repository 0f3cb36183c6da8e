"""The tags of an image or a chart in an OCI registry, listed anonymously.

Source: https://github.com/opencontainers/distribution-spec/blob/main/spec.md, "Listing Tags", and
https://distribution.github.io/distribution/spec/auth/token/ for the token of an anonymous client.
"""

import json
import re
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

TIMEOUT_SECONDS = 10.0
_MOST_PAGES = 50
_UNAUTHORIZED = 401


class RegistryError(Exception):
    """The tags cannot be listed; the message says why."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A response of a registry."""

    status: int
    headers: Mapping[str, str]
    """Header values by lowercase name."""
    body: bytes


Fetch = Callable[[str, Mapping[str, str]], Answer]
"""Sends a GET request with headers; raises RegistryError if the host does not respond."""


def fetch(url: str, headers: Mapping[str, str]) -> Answer:
    """Send a GET request, through the proxy in the environment.

    Raises:
        RegistryError: the host cannot be reached.
    """
    request = urllib.request.Request(url, headers=dict(headers))  # noqa: S310 # always https
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:  # noqa: S310
            return _answer(response.status, response.headers, response.read())
    except urllib.error.HTTPError as error:
        with error:
            return _answer(error.code, error.headers, error.read())
    except OSError as error:
        host = urllib.parse.urlsplit(url).netloc
        raise RegistryError(
            f"{host} cannot be reached: {getattr(error, 'reason', error)}"
        ) from error


def image_tags(repository: str, get: Fetch = fetch) -> list[str]:
    """Return every tag of a repository, such as ``example.org/team/image``.

    Raises:
        RegistryError: the registry cannot be reached, or requires a login to list them.
    """
    host, _, name = repository.partition("/")
    url = f"https://{host}/v2/{name}/tags/list?n=1000"
    headers = dict[str, str]()
    tags: list[str] = []
    for _ in range(_MOST_PAGES):
        answer = get(url, headers)
        if answer.status == _UNAUTHORIZED and not headers:
            headers = {"Authorization": f"Bearer {_token(repository, answer, get)}"}
            answer = get(url, headers)
        tags += _json(repository, answer).get("tags") or []
        following = re.search(r'<([^>]+)>;\s*rel="?next"?', answer.headers.get("link", ""))
        if following is None:
            break
        url = urllib.parse.urljoin(url, following[1])
    return tags


def _token(repository: str, refusal: Answer, get: Fetch) -> str:
    challenge = refusal.headers.get("www-authenticate", "")
    fields = dict(re.findall(r'(\w+)="([^"]*)"', challenge))
    realm = fields.pop("realm", "")
    if not challenge.lower().startswith("bearer ") or not realm.startswith("https://"):
        raise RegistryError(f"the registry of {repository} wants credentials")
    fields.setdefault("scope", f"repository:{repository.partition('/')[2]}:pull")
    answer = get(f"{realm}?{urllib.parse.urlencode(fields)}", {})
    document = _json(repository, answer)
    return document.get("token") or document.get("access_token") or ""


def _json(repository: str, answer: Answer) -> Mapping[str, Any]:
    try:
        document = json.loads(answer.body) if answer.status < 300 else None
    except ValueError:
        document = None
    if not isinstance(document, dict):
        raise RegistryError(
            f"the registry does not list the tags of {repository} to everybody "
            f"(HTTP {answer.status})"
        )
    return document


def _answer(status: int, headers: Any, body: bytes) -> Answer:
    return Answer(
        status=status, headers={name.lower(): value for name, value in headers.items()}, body=body
    )
