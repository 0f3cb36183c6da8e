"""The parts of the provider protocol that all emulations share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TypeVar

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import (
    plugin_pb2,
    provider_pb2,
    provider_pb2_grpc,
    status_pb2,
)

from trainyard.sandbox.providers._protocol.values import from_struct

Answer = TypeVar("Answer")


class ProviderError(Exception):
    """The emulation rejects a request or cannot complete it; the message is for users."""


class UnfinishedError(ProviderError):
    """The object was created but is incomplete; the engine keeps it in the state.

    Attributes:
        identifier: Id of the resource.
        properties: Its current outputs.
        inputs: The requested inputs; None if the engine has them.
        reasons: Additional messages.
    """

    def __init__(
        self,
        message: str,
        identifier: str,
        properties: Any,
        inputs: Any,
        reasons: Sequence[str] = (),
    ) -> None:
        super().__init__(message)
        self.identifier = identifier
        self.properties = properties
        self.inputs = inputs
        self.reasons = reasons


class StandInServicer(provider_pb2_grpc.ResourceProviderServicer):
    """Handles calls that involve no resources; errors become messages, not tracebacks."""

    package: str
    version: str
    configuration: frozenset[str]
    """Supported settings of the provider; some of them have no effect."""

    def Handshake(self, request: Any, context: Any) -> Any:
        """Request plain values."""
        return provider_pb2.ProviderHandshakeResponse()

    def Attach(self, request: Any, context: Any) -> Any:
        """Accept an engine."""
        return empty_pb2.Empty()

    def Cancel(self, request: Any, context: Any) -> Any:
        """Accept the cancellation; no call here takes long."""
        return empty_pb2.Empty()

    def GetPluginInfo(self, request: Any, context: Any) -> Any:
        """Return the version of the official plugin that is emulated."""
        return plugin_pb2.PluginInfo(version=self.version)

    def GetSchema(self, request: Any, context: Any) -> Any:
        """Return an empty schema; programs in Python do not need one."""
        return provider_pb2.GetSchemaResponse(schema="{}")

    def CheckConfig(self, request: Any, context: Any) -> Any:
        """Reject configuration that the emulation would ignore."""
        failures = [
            provider_pb2.CheckFailure(
                property=key, reason=f"the sandbox's {self.package} provider does not know {key}"
            )
            for key in sorted(from_struct(request.news).keys() - self.configuration)
        ]
        return provider_pb2.CheckResponse(inputs=request.news, failures=failures)

    def DiffConfig(self, request: Any, context: Any) -> Any:
        """A changed configuration never replaces the provider."""
        return provider_pb2.DiffResponse()

    def Construct(self, request: Any, context: Any) -> Any:
        """Reject every component; the official plugins provide those of these packages."""
        self._refuse(context, request.name, f"the type {request.type}")

    def Invoke(self, request: Any, context: Any) -> Any:
        """Reject every function; emulations with functions override this."""
        self._refuse(context, request.tok, "this function")

    def Call(self, request: Any, context: Any) -> Any:
        """Reject every method of a resource."""
        self._refuse(context, request.tok, "this method")

    def _refuse(self, context: Any, what: str, unknown: str) -> NoReturn:
        _abort(context, f"{what}: the sandbox's {self.package} provider does not know {unknown}")

    def guarded(self, context: Any, what: str, do: Callable[[], Answer]) -> Answer:
        """Return the result of `do`; an error ends the call with a message for users.

        The message begins with `what`, if it is not empty.
        """
        try:
            return do()
        except UnfinishedError as error:
            _keep(context, what, error)
        except ProviderError as error:
            _abort(context, _said(what, str(error)))
        except Exception as error:
            _abort(context, _said(what, f"{type(error).__name__}: {error}"))


def _keep(context: Any, what: str, error: UnfinishedError) -> NoReturn:
    message = _said(what, str(error))
    status = status_pb2.Status(code=grpc.StatusCode.UNKNOWN.value[0], message=message)
    status.details.add().Pack(
        provider_pb2.ErrorResourceInitFailed(
            id=error.identifier,
            properties=error.properties,
            reasons=[str(error), *error.reasons],
            inputs=error.inputs,
        )
    )
    context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
    _abort(context, message)


def _said(what: str, message: str) -> str:
    return f"{what}: {message}" if what else message


def _abort(context: Any, message: str) -> NoReturn:
    context.abort(grpc.StatusCode.UNKNOWN, message)
    raise AssertionError("abort returns")
