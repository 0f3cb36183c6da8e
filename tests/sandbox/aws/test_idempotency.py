"""Errors of the services for a client token that is reused with another request."""

from __future__ import annotations

import json

import botocore.session
import pytest

from trainyard.sandbox.aws.application import AnsweredTokens
from trainyard.sandbox.aws.unimplemented import Call
from trainyard.sandbox.wsgi import Answer

DONE: Answer = ("200 OK", [], b"done")


def _request(tokens: AnsweredTokens, call: Call, name: str) -> Answer:
    body = json.dumps({"ClientRequestToken": "once", "name": name}).encode()
    return tokens.answer(lambda: call, body, lambda: DONE)


@pytest.mark.parametrize(
    ("service", "operation", "code"),
    [
        ("cloudformation", "CreateStack", "TokenAlreadyExistsException"),
        ("eks", "CreateCluster", "InvalidParameterException"),
        ("fsx", "CreateFileSystem", "IncompatibleParameterError"),
    ],
)
def test_a_token_of_another_request_is_refused_as_the_service_declares(
    service: str, operation: str, code: str
) -> None:
    model = botocore.session.get_session().get_service_model(service)
    call = Call(service, operation, "json")
    tokens = AnsweredTokens()
    assert _request(tokens, call, "a") == _request(tokens, call, "a") == DONE
    assert code.encode() in _request(tokens, call, "b")[2]
    assert code in {shape.name for shape in model.operation_model(operation).error_shapes}
