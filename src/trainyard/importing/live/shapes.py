"""The keys of answers of AWS, from the models of botocore."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import botocore.session

Shapes = Mapping[str, tuple[str, str, str]]
"""Service, operation and path in its answer, by the key of the document that has it."""

_SCALARS = {
    **dict.fromkeys(("integer", "long"), "integer"),
    **dict.fromkeys(("double", "float"), "number"),
    "boolean": "boolean",
}


def keys_of_shapes(shapes: Shapes, added: Mapping[str, str]) -> str:
    """Return the keys of answers, one a line with its kind.

    Args:
        shapes: The answers, whose fields are in the models of botocore.
        added: Kinds of keys that the program adds, or that replace those of the models; below one
            that is not read (`any`, `anys`) are no keys.
    """
    session = botocore.session.get_session()
    rows = dict(added)
    for key, (service, operation, path) in shapes.items():
        shape: Any = session.get_service_model(service).operation_model(operation).output_shape
        for part in path.split("."):
            shape = shape.members[part]
        rows.setdefault(key, _kind(shape))
        for below, kind in _keys(_item(shape), key, added):
            rows.setdefault(below, kind)
    return "".join(f"{key} {kind}\n" for key, kind in sorted(rows.items()))


def _keys(shape: Any, prefix: str, added: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    if shape.type_name != "structure":
        return
    for name, member in shape.members.items():
        path = f"{prefix}.{name}"
        yield path, _kind(member)
        if not added.get(path, "").startswith("any"):
            yield from _keys(_item(member), path, added)


def _item(shape: Any) -> Any:
    return shape.member if shape.type_name == "list" else shape


def _kind(shape: Any) -> str:
    if shape.type_name == "structure":
        return "section"
    if shape.type_name == "list":
        return "sections" if shape.member.type_name == "structure" else "list"
    return "map" if shape.type_name == "map" else _SCALARS.get(shape.type_name, "text")
