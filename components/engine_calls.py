"""Engine calls without waiting for their responses.

The SDK waits for the response to every debug message, four or five per resource. A provider starts
when its first resource is registered, which is after all imports.
"""

from __future__ import annotations

import asyncio
from importlib.metadata import version
from typing import Any

import grpc
import pulumi
from pulumi.runtime.proto import engine_pb2, engine_pb2_grpc, resource_pb2
from pulumi.runtime.sync_await import (
    _sync_await,  # pyright: ignore[reportPrivateUsage, reportUnknownVariableType]
)

SETTLED_BY_THE_PROVIDER = "aws:index/getRegion:getRegion"
"""A function that the AWS provider resolves from its configuration, without calling AWS.

https://www.pulumi.com/registry/packages/aws/api-docs/getregion/
"""

SECONDS_TO_SEND = 0.5
"""Time for the responses about a resource's parents; without them, other resources are registered
first."""
SECONDS_TO_SEND_CHILDREN = 0.03
"""Time for the children of that resource, which wait for its response."""


class NotesNotAwaited:
    """An engine stub for the SDK that does not wait for responses to debug messages.

    Messages to the user are still awaited, so that they arrive before the program ends. Source:
    `_log` of `sdk/python/lib/pulumi/log.py`.
    """

    def __init__(self, engine: Any) -> None:
        self._engine = engine

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def Log(self, request: Any) -> Any:  # noqa: N802 - the name of the call
        """Send one message."""
        if request.severity == engine_pb2.DEBUG:
            return self._engine.Log.future(request)
        return self._engine.Log(request)


def await_no_notes() -> None:
    """Stop waiting for the responses to debug messages."""
    settings: Any = pulumi.runtime.settings.SETTINGS
    if isinstance(settings.engine, engine_pb2_grpc.EngineStub):
        settings.engine = NotesNotAwaited(settings.engine)


def start_aws_provider() -> grpc.Future | None:
    """Make the engine start the AWS provider, without waiting.

    Only in a preview: an update writes the provider to the state, and nothing may be written before
    the account checks. The version must match the registrations of the SDK, or the engine would
    start an unused provider.
    """
    if not pulumi.runtime.is_dry_run():
        return None
    monitor: Any = pulumi.runtime.settings.get_monitor()
    request = resource_pb2.ResourceInvokeRequest(
        tok=SETTLED_BY_THE_PROVIDER, version=version("pulumi_aws")
    )
    return monitor.Invoke.future(request)


def begin_with(resource: pulumi.Resource) -> None:
    """Send the registrations up to this resource to the engine, in a preview.

    The SDK sends nothing until the program ends, unless the event loop runs in between, as it does
    while a program waits for a function result. Not in an update: a program that can still fail
    must not create resources.
    """
    if pulumi.runtime.is_dry_run():
        run: Any = _sync_await
        run(_sent(resource))


async def _sent(resource: pulumi.Resource) -> None:
    urn: Any = resource.urn.future()
    await asyncio.wait([asyncio.ensure_future(urn)], timeout=SECONDS_TO_SEND)
    await asyncio.sleep(SECONDS_TO_SEND_CHILDREN)
