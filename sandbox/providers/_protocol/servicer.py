"""The parts of the provider protocol that are the same for every stand-in."""

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

from sandbox.providers._protocol.values import from_struct

Answer = TypeVar("Answer")


class ProviderError(Exception):
    """The sandbox refuses or cannot do what was asked; the message is for people."""


class UnfinishedError(ProviderError):
    """The object was made and is not what it should be; the engine keeps it in the state.

    Attributes:
        identifier: Id of the resource.
        properties: Its outputs as they are.
        inputs: The inputs that were asked for; None where the engine has them.
        reasons: What else is to be said of it.
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
    """Answers what needs no knowledge of resources; errors become messages, not tracebacks."""

    package: str
    version: str
    configuration: frozenset[str]
    """Settings of the provider that are known; some of them need nothing to be done."""

    def Handshake(self, request: Any, context: Any) -> Any:
        """Ask for plain values."""
        return provider_pb2.ProviderHandshakeResponse()

    def Attach(self, request: Any, context: Any) -> Any:
        """Accept an engine."""
        return empty_pb2.Empty()

    def Cancel(self, request: Any, context: Any) -> Any:
        """Accept the wish to stop; no call here takes long."""
        return empty_pb2.Empty()

    def GetPluginInfo(self, request: Any, context: Any) -> Any:
        """Return the version of the official plugin that this one stands in for."""
        return plugin_pb2.PluginInfo(version=self.version)

    def GetSchema(self, request: Any, context: Any) -> Any:
        """Return an empty schema; programs in Python do not need one."""
        return provider_pb2.GetSchemaResponse(schema="{}")

    def CheckConfig(self, request: Any, context: Any) -> Any:
        """Refuse configuration that this stand-in would ignore."""
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
        """Refuse every component; these packages have theirs inside the official plugins."""
        self._refuse(context, request.name, f"the type {request.type}")

    def Invoke(self, request: Any, context: Any) -> Any:
        """Refuse every function; a stand-in that has some overrides this."""
        self._refuse(context, request.tok, "this function")

    def Call(self, request: Any, context: Any) -> Any:
        """Refuse every method of a resource."""
        self._refuse(context, request.tok, "this method")

    def _refuse(self, context: Any, what: str, unknown: str) -> NoReturn:
        _abort(context, f"{what}: the sandbox's {self.package} provider does not know {unknown}")

    def guarded(self, context: Any, what: str, do: Callable[[], Answer]) -> Answer:
        """Return what `do` returns; an error ends the call with a message for people.

        `what` begins the message; nothing does where it is empty.
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
