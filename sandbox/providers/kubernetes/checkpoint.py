"""A resource in the engine's state: the live object and its inputs.

Source: `checkpointObject` of
https://github.com/pulumi/pulumi-kubernetes/blob/v4.32.0/provider/pkg/provider/provider.go
"""

from __future__ import annotations

import secrets
from typing import Any

from trainyard.sandbox.providers._protocol.values import secret
from trainyard.sandbox.providers.kubernetes.managers import CREATOR

INPUTS, VERSION_OF_API, MANAGER = "__inputs", "__initialApiVersion", "__fieldManager"
AUTOMATIC_NAME = "pulumi.com/autonamed"
FIELD_MANAGER = "pulumi.com/patchFieldManager"
HIDDEN_ANNOTATIONS = frozenset(
    {"deployment.kubernetes.io/revision", "kubectl.kubernetes.io/last-applied-configuration"}
)
"""Annotations that controllers write, which no program would."""
RANDOM_BYTES = 4

Object = dict[str, Any]


def checkpoint(found: Object, inputs: Object, state: Object) -> Object:
    """Return the outputs of a resource.

    Args:
        found: The live object.
        inputs: The inputs.
        state: The previous outputs, or the inputs of a new resource.
    """
    return {
        **with_secrets(found),
        INPUTS: with_secrets(inputs),
        VERSION_OF_API: state.get(VERSION_OF_API) or inputs["apiVersion"],
        MANAGER: manager_of(state, inputs),
    }


def live(outputs: Object) -> Object:
    """Return the live object in a resource's outputs."""
    return {key: value for key, value in outputs.items() if key != INPUTS}


def inputs_in(outputs: Object) -> Object:
    """Return the inputs that led to these outputs."""
    return outputs.get(INPUTS, {})


def manager_of(state: Object, inputs: Object) -> str:
    """Return the field manager of a resource: from its inputs, its state, or a new one."""
    asked = (inputs.get("metadata", {}).get("annotations") or {}).get(FIELD_MANAGER)
    return asked or state.get(MANAGER) or f"{CREATOR}-{random_name()}"


def random_name() -> str:
    """Return eight hexadecimal digits, like the suffix of the engine's auto-names."""
    return secrets.token_hex(RANDOM_BYTES)


def identifier_of(found: Object) -> str:
    """Return `NAMESPACE/NAME`, or `NAME` if the object is cluster-scoped."""
    metadata = found["metadata"]
    return "/".join(filter(None, (metadata.get("namespace"), metadata["name"])))


def metadata_of(identifier: str) -> Object:
    """Return the name and namespace in an id."""
    namespace, _, name = identifier.rpartition("/")
    return {"name": name, **({"namespace": namespace} if namespace else {})}


def importable(found: Object) -> Object:
    """Return the inputs that a program would have for an existing object."""
    made_up = {"creationTimestamp", "generation", "managedFields", "resourceVersion", "uid"}
    metadata = {k: v for k, v in found["metadata"].items() if k not in made_up}
    annotations = metadata.pop("annotations", {})
    shown = {k: v for k, v in annotations.items() if k not in HIDDEN_ANNOTATIONS}
    if shown:
        metadata["annotations"] = shown
    return {k: v for k, v in found.items() if k != "status"} | {"metadata": metadata}


def with_secrets(value: Object) -> Object:
    """Return an object with Secret data marked as secret."""
    if value.get("kind") != "Secret":
        return value
    return value | {key: secret(value[key]) for key in ("data", "stringData") if key in value}
