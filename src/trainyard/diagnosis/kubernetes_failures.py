"""Recognize errors of pulumi-kubernetes by their messages.

Sources, in https://github.com/pulumi/pulumi-kubernetes/tree/v4.32.0/provider/pkg:
    `provider/provider.go`, `Create`, `Read`, `Update` and `Delete`
    `await/await.go`, `Creation`; `await/error.go`
"""

from __future__ import annotations

import re

from trainyard.engine.engine_events import EngineError

DAEMON_SET = "kubernetes:apps/v1:DaemonSet"
NOT_READY = re.compile(
    r"failed to fully initialize or become live: (?:Timeout|(?:'[^']+' )?timed out)|"
    r"was created but failed to initialize"
)
"""Text of the message if the object was created but did not become ready in time. The message of a
change that the API server rejects begins with the same words."""
_EXISTS = re.compile(r'"[^"]+" already exists')
UNREACHABLE = re.compile(
    r"configured Kubernetes cluster is unreachable|resource state due to unreachable cluster"
)


def not_ready(error: EngineError) -> list[str]:
    """Return an explanation if an object did not become ready in time."""
    name = error.resource_name
    if error.resource_type == DAEMON_SET:
        return [f"{name}: its pods did not become ready on every node in time"]
    return [f"{name}: it did not become ready in time"]


def is_unready_daemon_set(error: EngineError) -> bool:
    """Return whether pods of a DaemonSet did not become ready, so that they can be inspected."""
    return error.resource_type == DAEMON_SET and bool(NOT_READY.search(error.message))


def exists_already(error: EngineError) -> bool:
    """Return whether the object to be created exists in the cluster already."""
    return _is_of_kubernetes(error) and bool(_EXISTS.search(error.message))


def is_unreachable(error: EngineError) -> bool:
    """Return whether the endpoint of the cluster did not respond."""
    return _is_of_kubernetes(error) and bool(UNREACHABLE.search(error.message))


def _is_of_kubernetes(error: EngineError) -> bool:
    return error.resource_type.startswith("kubernetes:")
