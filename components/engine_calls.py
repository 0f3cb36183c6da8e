"""Calls of the program to the engine that nothing has to wait for.

The SDK waits for the answer of every note for debugging, four or five a resource, and a provider
starts when the first of its resources is registered, which is when everything is imported.
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
"""A function that the AWS provider answers from its own configuration, without a call to AWS.

https://www.pulumi.com/registry/packages/aws/api-docs/getregion/
"""

SECONDS_TO_SEND = 0.5
"""For the answers about what a resource is in; in their absence the rest is registered first."""
SECONDS_TO_SEND_CHILDREN = 0.03
"""For the children of that resource, which wait for its answer."""


class NotesNotAwaited:
    """The engine, as the SDK calls it, whose answers to notes for debugging nobody awaits.

    What is said to the user is still waited for, so that it is there when the program ends. Source:
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
    """Let no note for debugging that is sent from now on hold the program up."""
    settings: Any = pulumi.runtime.settings.SETTINGS
    if isinstance(settings.engine, engine_pb2_grpc.EngineStub):
        settings.engine = NotesNotAwaited(settings.engine)


def start_aws_provider() -> grpc.Future | None:
    """Ask the engine for what makes it start the AWS provider, and do not wait for it.

    Only in a preview: an update writes the provider into the state, and nothing may be written
    before the account was looked at. The version is that of the SDK's own registrations, or the
    engine would start a provider that nothing uses.
    """
    if not pulumi.runtime.is_dry_run():
        return None
    monitor: Any = pulumi.runtime.settings.get_monitor()
    request = resource_pb2.ResourceInvokeRequest(
        tok=SETTLED_BY_THE_PROVIDER, version=version("pulumi_aws")
    )
    return monitor.Invoke.future(request)


def begin_with(resource: pulumi.Resource) -> None:
    """Let the engine begin with what is registered up to this resource, in a preview.

    The SDK sends nothing before the program has ended, unless it runs the event loop in between, as
    it does itself where a program waits for the answer of a function. Not in an update: nothing is
    made of a program that may fail further on.
    """
    if pulumi.runtime.is_dry_run():
        run: Any = _sync_await
        run(_sent(resource))


async def _sent(resource: pulumi.Resource) -> None:
    urn: Any = resource.urn.future()
    await asyncio.wait([asyncio.ensure_future(urn)], timeout=SECONDS_TO_SEND)
    await asyncio.sleep(SECONDS_TO_SEND_CHILDREN)
