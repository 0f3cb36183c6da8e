"""Supported calls, and the immediate error of others, which names the call.

Supported are the calls that a stack or a command makes. moto has thousands more, which no test of
the sandbox covers. A stack with a new type of resource fails at its first call that is not listed.

moto responds with 500, which boto3 retries, or with an empty 404 without a message. Here a client
gets HTTP 501, which no SDK retries, with the code `SandboxNotImplemented` in its own protocol, and
the daemon's `unimplemented.log` gets a line.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs
from xml.sax.saxutils import escape

import yaml
from botocore.exceptions import UnknownServiceError
from moto.core.request import Request
from moto.core.routing import get_service_router
from moto.core.utils import get_service_model
from werkzeug.exceptions import NotFound

from trainyard.sandbox.wsgi import Answer

LISTED = Path(__file__).with_name("served_calls.yaml")
CODE = "SandboxNotImplemented"
"""Error code of an unsupported call."""

FAILURE_CODE = "SandboxFailure"
"""Error code of a call on which the sandbox failed."""

LOG = logging.getLogger("sandbox.unimplemented")

_IAM_PREFIXES = {"monitoring": "cloudwatch", "tagging": "tag"}
"""Prefixes in IAM policies of services that sign with another name."""
_BOTOCORE_NAMES = {"aps": "amp", "elasticfilesystem": "efs", "tag": "resourcegroupstaggingapi"}
"""botocore's names of services that have another prefix in IAM policies."""


_SECOND_MODELS = {"s3": ("s3control",)}
"""botocore's names of further services that sign with the same name."""


@cache
def served_calls() -> frozenset[str]:
    """Return the calls that a stack or a command makes, such as `ec2:RunInstances`."""
    return frozenset().union(*listed_calls().values())


def listed_calls() -> Mapping[str, frozenset[str]]:
    """Return the calls by who makes them: `provider`, `parallelcluster`, `commands`, and so on."""
    listed = yaml.safe_load(LISTED.read_text(encoding="utf-8"))
    return {
        who: frozenset(f"{prefix}:{name}" for prefix, names in of.items() for name in names)
        for who, of in listed.items()
    }


@dataclass(frozen=True)
class Call:
    """The AWS call of a request."""

    service: str
    """Prefix in IAM policies, `ec2`; empty for an unsigned request."""
    operation: str
    """`RunInstances`; method and path if the operation is unknown."""
    protocol: str
    """botocore's name of the protocol: ec2, query, json, rest-json, rest-xml."""

    @property
    def name(self) -> str:
        """`ec2:RunInstances`."""
        return f"{self.service or 'unsigned'}:{self.operation}"


def region_of(environ: Mapping[str, Any]) -> str:
    """Return the region of a WSGI request; empty for an unsigned request."""
    parts = scope_of(environ)
    return parts[2] if len(parts) >= 5 else ""


def scope_of(environ: Mapping[str, Any]) -> list[str]:
    """Return access key, date, region, service and terminator of the signature of a request.

    https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html: it
    is in a header, or in the query of a presigned URL.

    Returns:
        These parts; a list with one text, possibly empty, if the request is not signed.
    """
    header = environ.get("HTTP_AUTHORIZATION", "")
    if header:
        return header.partition("Credential=")[2].split(",")[0].strip().split("/")
    query = parse_qs(environ.get("QUERY_STRING", ""))
    return query.get("X-Amz-Credential", [""])[0].split("/")


def call_of(environ: Mapping[str, Any], body: bytes) -> Call:
    """Return the AWS call of a WSGI request."""
    parts = scope_of(environ)
    signed = parts[3] if len(parts) >= 5 else ""
    service = _IAM_PREFIXES.get(signed, signed)
    protocol = _protocol(service)
    target = environ.get("HTTP_X_AMZ_TARGET")
    if target:
        return Call(service, target.rpartition(".")[2], protocol)
    if protocol in ("ec2", "query"):
        query = body.decode("utf-8", "replace") or environ.get("QUERY_STRING", "")
        action = parse_qs(query).get("Action", ["(no Action)"])[0]
        return Call(service, action, protocol)
    return Call(service, _rest_operation(service, environ), protocol)


def _rest_operation(service: str, environ: Mapping[str, Any]) -> str:
    request = Request(dict(environ))
    for model in (_botocore_name(service), *_SECOND_MODELS.get(service, ())):
        with suppress(NotFound, NotImplementedError, UnknownServiceError, KeyError):
            return str(get_service_router(model).match(request)[0].name)
    return f"{request.method} {request.path}"


@cache
def _protocol(service: str) -> str:
    try:
        # moto keeps this model: reading EC2's takes half a second.
        return str(get_service_model(_botocore_name(service)).resolved_protocol)
    except UnknownServiceError:
        return "json"


def _botocore_name(service: str) -> str:
    return _BOTOCORE_NAMES.get(service, service)


def error_response(call: Call, code: str, message: str, status: str = "400 BAD REQUEST") -> Answer:
    """Return status, headers and body of an error in the call's protocol."""
    at_fault = "Receiver" if status.startswith("5") else "Sender"
    if call.protocol == "ec2":
        text = (
            f"<Response><Errors><Error><Code>{code}</Code><Message>{escape(message)}</Message>"
            "</Error></Errors><RequestID>sandbox</RequestID></Response>"
        )
    elif call.protocol == "query":
        text = (
            f"<ErrorResponse><Error><Type>{at_fault}</Type><Code>{code}</Code>"
            f"<Message>{escape(message)}</Message></Error><RequestId>sandbox</RequestId>"
            "</ErrorResponse>"
        )
    elif call.protocol == "rest-xml":
        text = f"<Error><Code>{code}</Code><Message>{escape(message)}</Message></Error>"
    else:
        text = json.dumps({"__type": code, "message": message})
    kind = "application/json" if text.startswith("{") else "text/xml"
    headers = [("Content-Type", kind), ("x-amzn-ErrorType", code)]
    return status, headers, text.encode()


def not_implemented(call: Call, detail: str) -> Answer:
    """Log an unsupported call and return its error."""
    LOG.warning("%s %s", call.name, detail)
    message = f"The sandbox does not implement {call.name}: {detail}"
    return error_response(call, CODE, message, "501 NOT IMPLEMENTED")
