"""A resource as the engine's state holds it: the live object, and what was asked for.

Source: `checkpointObject` of
https://github.com/pulumi/pulumi-kubernetes/blob/v4.32.0/provider/pkg/provider/provider.go
"""

from __future__ import annotations

import secrets
from typing import Any

from sandbox.providers._protocol.values import secret
from sandbox.providers.kubernetes.managers import CREATOR

INPUTS, VERSION_OF_API, MANAGER = "__inputs", "__initialApiVersion", "__fieldManager"
AUTOMATIC_NAME = "pulumi.com/autonamed"
FIELD_MANAGER = "pulumi.com/patchFieldManager"
HIDDEN_ANNOTATIONS = frozenset(
    {"deployment.kubernetes.io/revision", "kubectl.kubernetes.io/last-applied-configuration"}
)
"""Annotations that others write, which no program would."""
RANDOM_BYTES = 4

Object = dict[str, Any]


def checkpoint(found: Object, inputs: Object, state: Object) -> Object:
    """Return the outputs of a resource.

    Args:
        found: The object as it is.
        inputs: What was asked for.
        state: The outputs before, or the inputs of a new resource.
    """
    return {
        **with_secrets(found),
        INPUTS: with_secrets(inputs),
        VERSION_OF_API: state.get(VERSION_OF_API) or inputs["apiVersion"],
        MANAGER: manager_of(state, inputs),
    }


def live(outputs: Object) -> Object:
    """Return the object of a resource's outputs."""
    return {key: value for key, value in outputs.items() if key != INPUTS}


def inputs_in(outputs: Object) -> Object:
    """Return what was asked for when these outputs came to be."""
    return outputs.get(INPUTS, {})


def manager_of(state: Object, inputs: Object) -> str:
    """Return who owns the fields of a resource: as asked for, as before, or somebody new."""
    asked = (inputs.get("metadata", {}).get("annotations") or {}).get(FIELD_MANAGER)
    return asked or state.get(MANAGER) or f"{CREATOR}-{random_name()}"


def random_name() -> str:
    """Return eight hexadecimal digits, as the engine's automatic names end with."""
    return secrets.token_hex(RANDOM_BYTES)


def identifier_of(found: Object) -> str:
    """Return `NAMESPACE/NAME`, and `NAME` where the kind has no namespace."""
    metadata = found["metadata"]
    return "/".join(filter(None, (metadata.get("namespace"), metadata["name"])))


def metadata_of(identifier: str) -> Object:
    """Return the name and namespace of an id."""
    namespace, _, name = identifier.rpartition("/")
    return {"name": name, **({"namespace": namespace} if namespace else {})}


def importable(found: Object) -> Object:
    """Return what a program would write for an object that exists."""
    made_up = {"creationTimestamp", "generation", "managedFields", "resourceVersion", "uid"}
    metadata = {k: v for k, v in found["metadata"].items() if k not in made_up}
    annotations = metadata.pop("annotations", {})
    shown = {k: v for k, v in annotations.items() if k not in HIDDEN_ANNOTATIONS}
    if shown:
        metadata["annotations"] = shown
    return {k: v for k, v in found.items() if k != "status"} | {"metadata": metadata}


def with_secrets(value: Object) -> Object:
    """Return an object with the content of a Secret marked as secret."""
    if value.get("kind") != "Secret":
        return value
    return value | {key: secret(value[key]) for key in ("data", "stringData") if key in value}
