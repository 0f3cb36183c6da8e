"""Property values of the engine's protocol in a readable, comparable form.

Source: `sdk/proto` and `pkg/resource/deploy` of https://github.com/pulumi/pulumi; the markers are
those of `sdk/python/lib/pulumi/runtime/rpc.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from google.protobuf import struct_pb2
from google.protobuf.json_format import MessageToDict

from trainyard.sandbox.providers._protocol.values import (
    SECRET,
    SIGNATURE,
    UNKNOWN,
    name_of,
    type_of,
)

RESOURCE = "5cf8f73096256a8f31e491e813e4eb8e"
OUTPUT = "d0e6a833031e9bbcd3f4e8bde6ca49a4"
SHOWN_UNKNOWN = "<unknown>"


def shown_struct(struct: struct_pb2.Struct) -> dict[str, Any]:
    """Return the values of a message in readable form.

    A resource becomes `<type::name>`, an unknown value `<unknown>`, a secret `{"<secret>": value}`.
    """
    return shown(MessageToDict(struct))


def provider_inputs(struct: struct_pb2.Struct) -> dict[str, Any]:
    """Return inputs as the engine passes them to a provider, with resources as their ids."""
    return _with_ids(MessageToDict(struct))


def _with_ids(value: Any) -> Any:
    if isinstance(value, Mapping):
        if value.get(SIGNATURE) == RESOURCE:
            return value.get("id") or UNKNOWN
        return {key: _with_ids(item) for key, item in value.items()}
    return [_with_ids(item) for item in value] if isinstance(value, list) else value


def shown(value: Any) -> Any:
    """Return a value in readable form."""
    if isinstance(value, Mapping):
        return _shown_object(value)
    if isinstance(value, list):
        return [shown(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return SHOWN_UNKNOWN if value == UNKNOWN else value


def _shown_object(value: Mapping[str, Any]) -> Any:
    signature = value.get(SIGNATURE)
    if signature == SECRET:
        return {"<secret>": shown(value["value"])}
    if signature == RESOURCE:
        return f"<{resource(value['urn'])}>"
    if signature == OUTPUT:
        known = shown(value.get("value", UNKNOWN))
        return {"<secret>": known} if value.get("secret") else known
    if signature is not None:
        raise ValueError(f"the recorder does not know the marker {signature}")
    return {key: shown(item) for key, item in value.items()}


def resource(urn: str) -> str:
    """Return `type::name` of the resource with a URN."""
    return f"{type_of(urn)}::{name_of(urn)}"


def provider(reference: str) -> str:
    """Return `type::name` of the provider of a reference, which is a URN, `::` and an id."""
    return resource(reference.rpartition("::")[0])


def output(value: Any, urns: list[str]) -> dict[str, Any]:
    """Return a value that depends on other resources, as a program passes it to a component.

    Args:
        value: The value, or `UNKNOWN`.
        urns: URNs of the resources.
    """
    known = {} if value == UNKNOWN else {"value": value}
    return {SIGNATURE: OUTPUT, "dependencies": urns, **known}
