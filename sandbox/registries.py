"""Emulated registries of container images, for looking up tags without a network.

They have the images in `registries.yaml` and nothing else, and give manifests only with a token, as
ECR Public does. An unknown tag of a known repository is 404. An unknown repository wants
credentials, as private ones do: it can be one of the user's. Of digests it knows those of the table
only.

Sources:
    https://github.com/opencontainers/distribution-spec, spec.md, "Pulling manifests", "Error Codes"
    https://distribution.github.io/distribution/spec/auth/token/
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from trainyard.sandbox.wsgi import Answer

_TABLE = Path(__file__).with_suffix(".yaml")
_TOKEN = "anonymous"  # noqa: S105 - what the emulated registries give to everybody
_INDEX = "application/vnd.oci.image.index.v1+json"
_MANIFEST = "application/vnd.oci.image.manifest.v1+json"


@functools.cache
def repositories() -> Mapping[str, Mapping[str, Any]]:
    """Return the rows of the table, by repository."""
    rows = yaml.safe_load(_TABLE.read_text(encoding="utf-8"))
    return {row["repository"]: row for row in rows}


def answer(environ: Mapping[str, Any], path: str) -> Answer:
    """Handle one request to `<host>/v2/<name>/manifests/<tag>` or `<host>/token`."""
    host, _, rest = path.partition("/")
    if rest == "token":
        return _json("200 OK", {"token": _TOKEN})
    name, found, tag = rest.removeprefix("v2/").rpartition("/manifests/")
    if not (rest.startswith("v2/") and found):
        return _error("404 NOT FOUND", "UNSUPPORTED", f"no {rest}")
    row = repositories().get(f"{host}/{name}")
    if environ.get("HTTP_AUTHORIZATION") != f"Bearer {_TOKEN}" or row is None:
        address = f"{environ['wsgi.url_scheme']}://{environ['HTTP_HOST']}"
        realm = f"{address}{environ['PATH_INFO'].removesuffix(rest)}token"
        challenge = f'Bearer realm="{realm}",service="{host}",scope="sandbox"'
        status, headers, body = _error("401 UNAUTHORIZED", "UNAUTHORIZED", "no access")
        return status, [*headers, ("WWW-Authenticate", challenge)], body
    known = (*row["tags"], *row.get("digests", ()))
    if ":" in tag and tag not in known:
        return _error("501 NOT IMPLEMENTED", "UNSUPPORTED", "the sandbox knows no such digest")
    if tag not in known:
        message = f"the sandbox knows no tag {tag} of {host}/{name}"
        return _error("404 NOT FOUND", "MANIFEST_UNKNOWN", message)
    return _manifest(row)


def _manifest(row: Mapping[str, Any]) -> Answer:
    platforms = [{"os": "linux", "architecture": each} for each in row.get("platforms", ())]
    if not platforms:
        return _json("200 OK", {"schemaVersion": 2, "mediaType": _MANIFEST}, _MANIFEST)
    manifests = [{"mediaType": _MANIFEST, "platform": each} for each in platforms]
    index = {"schemaVersion": 2, "mediaType": _INDEX, "manifests": manifests}
    return _json("200 OK", index, _INDEX)


def _error(status: str, code: str, message: str) -> Answer:
    return _json(status, {"errors": [{"code": code, "message": message}]})


def _json(status: str, content: Any, kind: str = "application/json") -> Answer:
    return status, [("Content-Type", kind)], json.dumps(content).encode()
