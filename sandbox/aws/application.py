"""The WSGI application: moto's, one request at a time, with the sandbox's internal endpoints.

moto keeps its state in plain dictionaries and is not thread-safe, and the sandbox's clock works on
the same state, so a lock is held for every request and every tick of the clock. CloudFormation and
Lambda are handled separately, without the lock.
"""

from __future__ import annotations

import functools
import io
import logging
import threading
from collections.abc import Callable, Collection, Iterable
from typing import Any

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app

from trainyard.sandbox.access import CONTROL
from trainyard.sandbox.aws import internal
from trainyard.sandbox.aws.admission import Admission
from trainyard.sandbox.aws.cloudformation.forwarding import Forwarder, is_forwarded, list_stacks
from trainyard.sandbox.aws.idempotency import AnsweredTokens
from trainyard.sandbox.aws.rpc_v2_cbor import Handle, is_rpc_v2_cbor, translated
from trainyard.sandbox.aws.transitions import TRANSITIONS
from trainyard.sandbox.aws.unimplemented import (
    FAILURE_CODE,
    Call,
    call_of,
    error_response,
    not_implemented,
    region_of,
)
from trainyard.sandbox.faults.in_force import FAULTS, OBSERVER
from trainyard.sandbox.faults.kind import Request
from trainyard.sandbox.wsgi import Answer

LOG = logging.getLogger("trainyard.sandbox.aws")

StartResponse = Callable[..., Any]


class _Moto(DomainDispatcherApplication):
    """moto, which remembers the service of a host.

    moto lists its directory and tries the patterns of all services again for each request: a fifth
    of the processor time of the requests of an `up`.
    """

    def __init__(self) -> None:
        super().__init__(_backend_application)
        self._services = functools.cache(super().get_backend_for_host)

    def get_backend_for_host(self, host: str | None) -> Any:
        return self._services(host)


class Application:
    """Handles AWS calls and the sandbox's internal endpoints.

    Args:
        admission: Decides which requests are handled.
        calls: The calls that are handled, such as `ec2:RunInstances`.

    Attributes:
        admission: As given.
        lock: Held while a request is processed; hold it to access moto's objects from outside.
        forwarder: Handles CloudFormation and Lambda.
        tokens: Responses to requests with a client token.
    """

    def __init__(self, admission: Admission, calls: Collection[str]) -> None:
        self.admission = admission
        self._calls = calls
        self.lock = threading.RLock()
        self._moto = _Moto()
        self.forwarder = Forwarder()
        self.tokens = AnsweredTokens()

    def __call__(self, environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        """Handle one request (WSGI)."""
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        answering = translated if is_rpc_v2_cbor(environ) else _as_it_is
        status, headers, answer = self.admission.refusal(environ) or answering(
            environ, body, self._answer
        )
        has_length = any(name.lower() == "content-length" for name, _ in headers)
        if not has_length and status[:3] not in ("204", "304"):  # which have no content
            # A response of unknown length would be sent in chunks.
            headers = [*headers, ("Content-Length", str(len(answer)))]
        start_response(status, headers)
        return [answer]

    def _answer(self, environ: dict[str, Any], body: bytes) -> Answer:
        if environ.get("PATH_INFO", "").startswith(CONTROL):
            with self.lock:
                return internal.answer(environ, body, self.admission)
        call = call_in(environ, body)
        if call.name not in self._calls:
            return not_implemented(call, "no stack and no command makes this call")
        if call.name == "tag:GetResources":
            described = self.forwarder.described_stacks(region_of(environ))
            with self.lock:
                list_stacks(described)
        if FAULTS.is_empty or OBSERVER in environ.get("HTTP_USER_AGENT", ""):
            return self._answered(environ, body)
        return FAULTS.answer(Request(call, environ, body, self._answered))

    def _answered(self, environ: dict[str, Any], body: bytes) -> Answer:
        environ["wsgi.input"] = io.BytesIO(body)
        return self.tokens.answer(
            lambda: call_in(environ, body), body, lambda: self.work(environ, body)
        )

    def work(self, environ: dict[str, Any], body: bytes) -> Answer:
        """Process a request without faults."""
        if is_forwarded(environ):
            return self.forwarder.answer(call_in(environ, body), environ, body)
        with self.lock:
            TRANSITIONS.end_due()
            return self._aws(environ, body)

    def _aws(self, environ: dict[str, Any], body: bytes) -> Answer:
        seen: list[Any] = []

        def remember(status: str, headers: list[tuple[str, str]], *_: Any) -> Callable[..., None]:
            seen[:] = [status, headers]
            return lambda _data: None

        try:
            answer = b"".join(self._moto(environ, remember))
        except NotImplementedError as error:
            return not_implemented(call_in(environ, body), str(error))
        except Exception as error:
            call = call_in(environ, body)
            if isinstance(error, KeyError) and error.args == (region_of(environ),):
                # moto has the backends of a service by region.
                return error_response(call, FAILURE_CODE, _no_region(region_of(environ)))
            LOG.exception("%s broke", call.name)
            return error_response(
                call,
                FAILURE_CODE,
                f"The sandbox broke on {call.name}: {type(error).__name__}: {error}",
            )
        status, headers = seen
        # Only S3 uses HEAD, and its own 404 has no body either.
        is_head = environ.get("REQUEST_METHOD") == "HEAD"
        if not is_head and _nobody_answered(status, headers, answer):
            return not_implemented(call_in(environ, body), "no such path in the emulator")
        return status, headers, answer


def _as_it_is(environ: dict[str, Any], body: bytes, handle: Handle) -> Answer:
    return handle(environ, body)


def _no_region(region: str) -> str:
    return f"The sandbox has no region {region!r}; set aws:region to one that it has: us-west-2"


def _backend_application(service: Any) -> Any:
    if service is None:
        raise NotImplementedError("moto has no such service")
    return create_backend_app(service)


def call_in(environ: dict[str, Any], body: bytes) -> Call:
    """Return the AWS call of a request; `environ` is not changed."""
    return call_of({**environ, "wsgi.input": io.BytesIO(body)}, body)


def _nobody_answered(status: str, headers: list[tuple[str, str]], answer: bytes) -> bool:
    """Return whether a 404 is moto's (or Flask's) response to an unknown path, not a service's."""
    code = status.partition(" ")[0]
    if code == "405":
        return True
    content_type = dict(headers).get("Content-Type", "")
    # A service's own 404 is JSON or XML; Flask's page and moto's empty response are HTML.
    return code == "404" and (
        not answer or (content_type.startswith("text/html") and b"<title>404" in answer)
    )
