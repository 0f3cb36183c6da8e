"""The tags of an image or a chart in an OCI registry, listed anonymously.

Source: https://github.com/opencontainers/distribution-spec/blob/main/spec.md, "Listing Tags".
"""

import json
import re
import urllib.parse
from collections.abc import Mapping
from functools import partial
from typing import Any

from trainyard.components.compute.image_registry import (
    Fetch,
    RegistryAnswer,
    RegistryError,
    anonymous_token,
    fetch,
)

_MOST_PAGES = 50
_UNAUTHORIZED = 401

_fetch: Fetch = partial(fetch, timeout_seconds=10.0)


def image_tags(repository: str, get: Fetch = _fetch) -> list[str]:
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
            headers = {"Authorization": f"Bearer {anonymous_token(repository, answer, get)}"}
            answer = get(url, headers)
        tags += _json(repository, answer).get("tags") or []
        following = re.search(r'<([^>]+)>;\s*rel="?next"?', answer.headers.get("link", ""))
        if following is None:
            break
        url = urllib.parse.urljoin(url, following[1])
    return tags


def _json(repository: str, answer: RegistryAnswer) -> Mapping[str, Any]:
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
