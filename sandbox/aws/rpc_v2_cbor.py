"""Requests in the protocol RPC v2 CBOR, which AWS SDKs use for CloudWatch and moto lacks.

A request is translated into the JSON protocol of the same service, and the response back.

Sources:
    https://smithy.io/2.0/additional-specs/protocols/smithy-rpc-v2.html
    https://smithy.io/2.0/aws/protocols/aws-json-1_0-protocol.html
    https://smithy.io/2.0/aws/protocols/aws-query-protocol.html#awsquerycompatible-trait: errors
        have the name of their shape, and the code of the query protocol in a header
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any

import botocore.session
import cbor2
from botocore.model import OperationModel, ServiceModel

from trainyard.sandbox.wsgi import Answer

_PATH = re.compile(r"/service/(?P<target>\w+)/operation/(?P<operation>\w+)")
_SERVICES = ("cloudwatch",)
_NAMESPACE = "com.amazonaws.cloudwatch"

Handle = Callable[[dict[str, Any], bytes], Answer]


def is_rpc_v2_cbor(environ: Mapping[str, Any]) -> bool:
    """Return whether a WSGI request has this protocol."""
    return environ.get("HTTP_SMITHY_PROTOCOL") == "rpc-v2-cbor"


def translated(environ: dict[str, Any], body: bytes, handle: Handle) -> Answer:
    """Handle a request in the JSON protocol and return the response in this one."""
    found = _PATH.search(environ.get("PATH_INFO", ""))
    target, name = (found["target"], found["operation"]) if found else ("", "")
    arguments = json.dumps(_plain(cbor2.loads(body) if body else {})).encode()
    in_json = {
        **environ,
        "PATH_INFO": "/",
        "RAW_URI": "/",
        "REQUEST_URI": "/",
        "CONTENT_TYPE": "application/x-amz-json-1.0",
        "CONTENT_LENGTH": str(len(arguments)),
        "HTTP_X_AMZ_TARGET": f"{target}.{name}",
    }
    status, _, answer = handle(in_json, arguments)
    content: Any = json.loads(answer or b"{}")
    headers = [("smithy-protocol", "rpc-v2-cbor"), ("Content-Type", "application/cbor")]
    if status.startswith("2"):
        output: Any = _operation(target, name).output_shape
        content = _timed(content, output) if output else {}
    else:
        code = str(content.get("__type", "")).rpartition("#")[2]
        at_fault = "Receiver" if status.startswith("5") else "Sender"
        headers.append(("x-amzn-query-error", f"{code};{at_fault}"))
        content = {**content, "__type": f"{_NAMESPACE}#{_error_shape(target, name, code)}"}
    return status, headers, cbor2.dumps(content, datetime_as_timestamp=True)


def _error_shape(target: str, name: str, code: str) -> str:
    """Return the name of the error with this code; SDKs compare it with the types of errors."""
    shapes: Any = _operation(target, name).error_shapes
    named = {each.metadata.get("error", {}).get("code", each.name): each.name for each in shapes}
    return named.get(code, code)


@cache
def _operation(target: str, name: str) -> OperationModel:
    return _service(target).operation_model(name)


@cache
def _service(target: str) -> ServiceModel:
    session = botocore.session.get_session()
    models = (session.get_service_model(name) for name in _SERVICES)
    return next(model for model in models if model.metadata["targetPrefix"] == target)


def _plain(value: Any) -> Any:
    """Return a value as the JSON protocol has it: timestamps are seconds."""
    if isinstance(value, datetime):
        return value.timestamp()
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value


def _timed(value: Any, shape: Any) -> Any:
    """Return a value as this protocol has it: timestamps are CBOR timestamps."""
    if value is None:
        return None
    match shape.type_name:
        case "timestamp":
            return datetime.fromtimestamp(float(value), UTC)
        case "structure":
            return {
                key: _timed(each, shape.members[key])
                for key, each in value.items()
                if key in shape.members
            }
        case "list":
            return [_timed(each, shape.member) for each in value]
        case "map":
            return {key: _timed(each, shape.value) for key, each in value.items()}
        case "double" | "float":
            return float(value)
        case _:
            return value
