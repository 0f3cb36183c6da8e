"""Lists every key of ParallelCluster's configuration with its kind; runs in its environment.

Prints a JSON object with the kind of each key by its path, in schema order. Kinds: `section`,
`sections` (a list of sections), `list`, `map` (keys that the user chooses), `maps` (a list of
them), `text`, `integer`, `number`, `boolean` and `any`.

Source: the marshmallow schema that ParallelCluster validates a configuration with:
https://github.com/aws/aws-parallelcluster/blob/v3.16.1/cli/src/pcluster/schemas/cluster_schema.py
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from typing import Any

_ANY_NAME = "keys"
"""The schema requires a cluster name; no key depends on it."""
_SCALARS = {"Str": "text", "Int": "integer", "Float": "number", "Bool": "boolean", "Raw": "any"}
"""Kinds by the alias of the field's class in `marshmallow.fields`."""


def main() -> None:
    """Print the keys."""
    schema = importlib.import_module("pcluster.schemas.cluster_schema").ClusterSchema
    json.dump(dict(_keys(schema(cluster_name=_ANY_NAME), "")), sys.stdout)


def _keys(schema: Any, prefix: str) -> Iterator[tuple[str, str]]:
    for field in schema.declared_fields.values():
        path = f"{prefix}{field.data_key}"
        yield path, _kind(field)
        if not hasattr(field, "nested"):
            continue
        yield from _keys(field.schema, f"{path}.")
        if type(field).__name__ == "OneOrManyCustomActionField":
            # A list with this name holds several scripts, and the schema has no field for it.
            yield f"{path}.Sequence", "sections"
            yield from _keys(field.schema, f"{path}.Sequence.")


def _kind(field: Any) -> str:
    fields = importlib.import_module("marshmallow").fields
    if isinstance(field, fields.Nested):
        return "sections" if field.many else "section"
    if isinstance(field, fields.List):
        return "maps" if isinstance(field.inner, fields.Dict) else "list"
    if isinstance(field, fields.Dict):
        return "map"
    return next(kind for name, kind in _SCALARS.items() if type(field) is getattr(fields, name))


if __name__ == "__main__":
    main()
