"""Look up container images in public registries, as anybody can pull them.

Sources:
    https://github.com/opencontainers/distribution-spec at 967efdc, spec.md: "Pulling manifests"
        (200 and 404 of `/v2/NAME/manifests/REFERENCE`, also for HEAD) and "Error Codes"
        (`MANIFEST_UNKNOWN`, `NAME_UNKNOWN`)
    https://distribution.github.io/distribution/spec/auth/token/: 401 with a Bearer challenge, and
        the anonymous token of its realm
    https://github.com/opencontainers/image-spec, image-index.md and media-types.md
    https://docs.docker.com/docker-hub/usage/pulls/: on Docker Hub, GET counts as a pull, HEAD not
"""

from __future__ import annotations

import json
import os
import re
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any

from trainyard.components.catalog.image_references import (
    DOCKER_HUB,
    ImageReference,
    ecr_registry,
    in_registry,
)
from trainyard.components.catalog.instance_types import Architecture
from trainyard.components.compute.facts import PublicImageFacts

EMULATED_REGISTRIES = "TRAINYARD_EMULATED_REGISTRIES"
"""Variable that only the sandbox and tests set: the address below which a registry answers in place
of each host. Without a network, nothing else does."""
REQUEST_SECONDS = 3.0
"""Timeout of a request; an image needs at most four."""
LOOKUP_SECONDS = 8.0
"""Time for all images of all registries. What has no answer then is a note."""
_DOCKER_HUB_HOST = "registry-1.docker.io"
_ARM = "arm64"
_WHOLE_REGISTRY = ""
"""Key of a token for all repositories, as ECR Public gives (`scope="aws"`)."""
_MOST_BYTES = 4 * 2**20
"""Largest manifest that registries should accept (spec.md, "Pushing Manifests")."""
_UNAUTHORIZED, _FORBIDDEN, _NOT_FOUND = 401, 403, 404
_ACCEPT = ", ".join(
    (
        "application/vnd.oci.image.index.v1+json",
        "application/vnd.oci.image.manifest.v1+json",
        "application/vnd.docker.distribution.manifest.list.v2+json",
        "application/vnd.docker.distribution.manifest.v2+json",
    )
)
_GO_ARCHITECTURES = {"x86_64": "amd64", "arm64": _ARM}


class RegistryError(Exception):
    """A registry does not answer the question; the message says why."""


@dataclass(frozen=True, kw_only=True)
class RegistryAnswer:
    """A response of a registry."""

    status: int
    headers: Mapping[str, str]
    """Header values by lowercase name."""
    body: bytes


Fetch = Callable[[str, Mapping[str, str]], RegistryAnswer]
"""Sends a GET request with headers; raises RegistryError if the host does not respond."""


def fetch(
    url: str,
    headers: Mapping[str, str],
    *,
    method: str = "GET",
    timeout_seconds: float = REQUEST_SECONDS,
) -> RegistryAnswer:
    """Send a request, through the proxy in the environment.

    Raises:
        RegistryError: the host cannot be reached.
    """
    request = urllib.request.Request(url, headers=dict(headers), method=method)  # noqa: S310 # see _base
    try:
        with urllib.request.urlopen(request, timeout=timeout_seconds) as response:  # noqa: S310
            return _answer(response.status, response.headers, response.read(_MOST_BYTES))
    except urllib.error.HTTPError as error:
        with error:
            return _answer(error.code, error.headers, error.read(_MOST_BYTES))
    except (OSError, HTTPException, ValueError) as error:  # ValueError: a redirect to no URL
        host = urllib.parse.urlsplit(url).netloc
        raise RegistryError(
            f"{host} cannot be reached: {getattr(error, 'reason', error)}"
        ) from error


def anonymous_token(repository: str, refusal: RegistryAnswer, get: Fetch = fetch) -> str:
    """Return the token that the challenge in a response offers to everybody.

    Args:
        repository: The repository with its registry, such as ``example.org/team/image``.
        refusal: The response with status 401.
        get: Sends a GET request.

    Raises:
        RegistryError: the registry wants credentials, or gives no token.
    """
    challenge = refusal.headers.get("www-authenticate", "")
    fields = dict(re.findall(r'(\w+)="([^"]*)"', challenge))
    realm = fields.pop("realm", "")
    emulated = os.environ.get(EMULATED_REGISTRIES)
    secure = realm.startswith("https://") or bool(emulated and realm.startswith(emulated))
    if not challenge.lower().startswith("bearer ") or not secure:
        raise RegistryError(f"the registry of {repository} wants credentials")
    fields.setdefault("scope", f"repository:{repository.partition('/')[2]}:pull")
    document = _object(get(f"{realm}?{urllib.parse.urlencode(fields)}", {}))
    token = document.get("token") or document.get("access_token")
    if not token:
        raise RegistryError(f"the registry of {repository} gives no token without credentials")
    return str(token)


def is_public(image: str) -> bool:
    """Return whether the image is of a registry that may answer everybody: no private ECR."""
    return ecr_registry(_reference(image).registry) is None


def _reference(image: str) -> ImageReference:
    return in_registry(image, starts="the stack")


def look_up_public_images(
    images: Mapping[str, Collection[str]],
    *,
    request_seconds: float = REQUEST_SECONDS,
    lookup_seconds: float = LOOKUP_SECONDS,
) -> dict[str, PublicImageFacts]:
    """Return whether each image can be pulled by everybody.

    Registries are asked side by side, and the images of one registry one after the other, which
    keeps within the limits of anonymous clients. If a registry does not respond to one image, it is
    not asked for the others.

    Args:
        images: Architectures of the nodes that pull it (`x86_64`, `arm64`), by image.
        request_seconds: Timeout of a request.
        lookup_seconds: Time for all images.
    """
    by_registry: dict[str, list[str]] = {}
    for image in images:
        by_registry.setdefault(_reference(image).registry, []).append(image)
    found: dict[str, PublicImageFacts] = {}

    def ask(names: Iterable[str]) -> None:
        registry = _Registry(request_seconds)
        for name in names:
            found[name] = registry.look_up(name, images[name])

    # Daemons, because a host that drops packages must not keep the process from ending.
    threads = [
        threading.Thread(target=ask, args=(names,), daemon=True) for names in by_registry.values()
    ]
    for thread in threads:
        thread.start()
    ends = time.monotonic() + lookup_seconds
    for thread in threads:
        thread.join(max(0.0, ends - time.monotonic()))
    late = PublicImageFacts(unknown=f"no answer in {lookup_seconds:g} s")
    answered = dict(found)
    return {image: answered.get(image, late) for image in images}


class _Registry:
    """One registry, with the tokens that it has given."""

    def __init__(self, request_seconds: float) -> None:
        self._seconds = request_seconds
        self._tokens: dict[str, str] = {}
        self._silent: str | None = None
        """Why it does not respond."""

    def look_up(self, image: str, architectures: Collection[str]) -> PublicImageFacts:
        """Return whether an image exists, with an image for each of the architectures."""
        if self._silent is not None:
            return PublicImageFacts(unknown=self._silent)
        try:
            return self._look_up(_reference(image), architectures)
        except RegistryError as error:
            return PublicImageFacts(unknown=str(error))

    def _look_up(self, name: ImageReference, architectures: Collection[str]) -> PublicImageFacts:
        wanted = {_GO_ARCHITECTURES[each] for each in architectures}
        # Nearly every image has amd64, so that only others need the index itself.
        reads = _ARM in wanted and name.registry != DOCKER_HUB
        answer = self._manifest(name, "GET" if reads else "HEAD")
        if answer.status == _NOT_FOUND and not reads:
            answer = self._manifest(name, "GET")  # the response to HEAD has no error code
        if answer.status == _NOT_FOUND:
            errors = [*_errors(answer)]
            if not errors:
                return PublicImageFacts(unknown="HTTP 404, but not the error of a registry")
            return PublicImageFacts(missing=f"HTTP 404, {', '.join(errors)}")
        if answer.status in (_UNAUTHORIZED, _FORBIDDEN):
            return PublicImageFacts(
                unknown=f"HTTP {answer.status}: it is private, or does not exist"
            )
        if answer.status != 200:
            return PublicImageFacts(unknown=f"HTTP {answer.status}")
        offered = [*_architectures(answer)] if reads else []
        if offered and not wanted.issubset(offered):
            lacking = ", ".join(sorted(wanted.difference(offered)))
            return PublicImageFacts(missing=f"it has {', '.join(offered)}, but not {lacking}")
        return PublicImageFacts()

    def _manifest(self, name: ImageReference, method: str) -> RegistryAnswer:
        """Return the response to a request for a manifest, with a token if that is needed."""
        url = f"{_base(name.registry)}/v2/{name.path}/manifests/{name.reference}"
        headers = {"Accept": _ACCEPT}
        known = self._tokens.get(name.path) or self._tokens.get(_WHOLE_REGISTRY)
        if known is not None:
            headers["Authorization"] = f"Bearer {known}"
        answer = self._fetch(url, headers, method)
        if answer.status != _UNAUTHORIZED or known is not None:
            return answer
        repository = f"{name.registry}/{name.path}"
        try:
            token = anonymous_token(repository, answer, self._fetch)
        except RegistryError:
            if self._silent is not None:
                raise
            return answer
        scope = re.search(r'scope="(?!repository:)', answer.headers.get("www-authenticate", ""))
        self._tokens[_WHOLE_REGISTRY if scope else name.path] = token
        return self._fetch(url, {**headers, "Authorization": f"Bearer {token}"}, method)

    def _fetch(self, url: str, headers: Mapping[str, str], method: str = "GET") -> RegistryAnswer:
        try:
            return fetch(url, headers, method=method, timeout_seconds=self._seconds)
        except RegistryError as error:
            self._silent = str(error)
            raise


def _base(registry: str) -> str:
    """Return the address of a registry: always HTTPS, except for the emulated ones."""
    emulated = os.environ.get(EMULATED_REGISTRIES)
    if emulated:
        return f"{emulated}/{registry}"
    return f"https://{_DOCKER_HUB_HOST if registry == DOCKER_HUB else registry}"


def _errors(answer: RegistryAnswer) -> Iterator[str]:
    """Yield code and message of each error in a body."""
    for each in _object(answer).get("errors") or ():
        if isinstance(each, dict) and "code" in each:
            message = f": {each['message']}" if each.get("message") else ""
            yield f"{each['code']}{message}"


def _architectures(answer: RegistryAnswer) -> Iterator[str]:
    """Yield the Linux architectures of an index; none for the manifest of a single image."""
    for each in _object(answer).get("manifests") or ():
        platform = each.get("platform") or {}
        if platform.get("os") == "linux":
            yield str(platform.get("architecture"))


def _object(answer: RegistryAnswer) -> Mapping[str, Any]:
    """Return the JSON object of a response, or an empty one."""
    try:
        document = json.loads(answer.body)
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}


def _answer(status: int, headers: Any, body: bytes) -> RegistryAnswer:
    return RegistryAnswer(
        status=status, headers={name.lower(): value for name, value in headers.items()}, body=body
    )


UPDATE_PROGRAM = "update trainyard, which pins another image"


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedImage:
    """A container image that a stack pulls."""

    image: str
    key: str
    """Key of the stack file that decides on it, below `trainyard:cluster`."""
    user: str
    """What pulls it, such as `Kueue`."""
    architectures: frozenset[Architecture]
    """Of the nodes that pull it."""
    remedy: str
    """What to do if it does not exist."""
    later: bool = False
    """Whether only a later command pulls it, so that `up` succeeds without it."""
