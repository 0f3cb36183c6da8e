"""Generate `keys.txt` from the JSON schema of eksctl.

Download the schema of a commit, and run `python -m trainyard.importing.eksctl.generate FILE
COMMIT`:
https://github.com/eksctl-io/eksctl/blob/main/pkg/apis/eksctl.io/v1alpha5/assets/schema.json
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

DATA_FILE = Path(__file__).with_name("keys.txt")

_SCALARS = {"string": "text", "integer": "integer", "number": "number", "boolean": "boolean"}
_OTHER_FORMS: Mapping[str, str] = {
    # eksctl also reads a list of ids, and a mapping of keys to texts:
    # pkg/apis/eksctl.io/v1alpha5/vpc.go, `AZSubnetMapping.UnmarshalJSON`, and taints.go,
    # `taintsWrapper.UnmarshalJSON`
    "vpc.subnets.private": "any",
    "vpc.subnets.public": "any",
    "nodeGroups.taints": "any",
    # The schema has `type` only, and eksctl reads the fields of the type with it:
    # pkg/apis/eksctl.io/v1alpha5/identity_provider.go, `IdentityProvider.UnmarshalJSON`
    "identityProviders": "anys",
}
"""Kinds of keys that eksctl reads in other forms than its schema says."""


def table(schema: Mapping[str, Any], commit: str) -> str:
    """Return the data file: one key a line, with its kind."""
    definitions = schema["definitions"]
    keys = _keys(definitions["ClusterConfig"], "", definitions)
    rows = (f"{path} {kind}" for path, kind in keys)
    source = f"# Keys of eksctl.io/v1alpha5, from schema.json of eksctl-io/eksctl at {commit}."
    return "".join(f"{line}\n" for line in (source, *rows))


def _keys(
    section: Mapping[str, Any], prefix: str, definitions: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    for name, given in section["properties"].items():
        path = f"{prefix}{name}"
        if path in _OTHER_FORMS:
            yield path, _OTHER_FORMS[path]
            continue
        found = _resolved(given, definitions)
        if found.get("type") == "array":
            items = _resolved(found["items"], definitions)
            yield path, "sections" if "properties" in items else "list"
            found = items
        else:
            yield path, _kind(found)
        if "properties" in found:
            yield from _keys(found, f"{path}.", definitions)


def _resolved(given: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    while "$ref" in given:
        name = given["$ref"].removeprefix("#/definitions/")
        # The schema describes the fields of the parsed ARN; in the file, it is text.
        given = {"type": "string"} if name == "ARN" else definitions[name]
    return given


def _kind(found: Mapping[str, Any]) -> str:
    if "properties" in found:
        return "section"
    return _SCALARS.get(found.get("type", ""), "map")


if __name__ == "__main__":
    _file, _commit = sys.argv[1:]
    _schema = json.loads(Path(_file).read_text(encoding="utf-8"))
    DATA_FILE.write_text(table(_schema, _commit), encoding="utf-8")
