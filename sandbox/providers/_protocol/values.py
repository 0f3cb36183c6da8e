"""Property values in the protocol of the Pulumi engine.

The emulations request plain values: no secrets, resource references or output values. A value is
therefore JSON, in which one string marks unknown values.
"""

from __future__ import annotations

from typing import Any

from google.protobuf import struct_pb2
from google.protobuf.json_format import MessageToDict, ParseDict

UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""Pulumi's marker of an unknown value; `sdk/python/lib/pulumi/runtime/rpc.py`."""
SIGNATURE = "4dabf18193072939515e22adb298388d"
"""Key of the objects in which Pulumi wraps special values."""
SECRET = "1b47061264138c4ac30d75fd1eb44270"


def from_struct(struct: struct_pb2.Struct) -> dict[str, Any]:
    """Return the values as Python objects; whole numbers become ints."""
    return _whole(MessageToDict(struct))


def _whole(value: Any) -> Any:
    if isinstance(value, dict):
        if value.get(SIGNATURE) == SECRET:
            return _whole(value["value"])
        return {key: _whole(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_whole(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def to_struct(values: dict[str, Any]) -> struct_pb2.Struct:
    """Return the values in the engine's form; None values are omitted."""
    return ParseDict(_present(values), struct_pb2.Struct())


def _present(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _present(item) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [_present(item) for item in value]
    return value


def secret(value: Any) -> dict[str, Any]:
    """Return the value marked as a secret."""
    return {SIGNATURE: SECRET, "value": value}


def has_unknown(value: Any) -> bool:
    """Return whether the value contains unknown values."""
    if isinstance(value, dict):
        return any(map(has_unknown, value.values()))
    if isinstance(value, list):
        return any(map(has_unknown, value))
    return value == UNKNOWN


def type_of(urn: str) -> str:
    """Return the type token of a resource's URN."""
    return urn.split("::")[2].rpartition("$")[2]


def name_of(urn: str) -> str:
    """Return the logical name of a resource's URN."""
    return urn.split("::", 3)[3]
