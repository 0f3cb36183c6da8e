"""Requests that are made twice with one token: AWS does the work once and answers the same.

EC2, EKS, FSx and CloudFormation take such a token; a client sends it again where it got no answer.
Sources:
    https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-idempotency.html
    (`IdempotentParameterMismatch` where anything else has changed)
    https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateCluster.html (clientRequestToken)
    https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html
    (ClientRequestToken; `IncompatibleParameterError`)
    https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStack.html
    (ClientRequestToken; `TokenAlreadyExistsException`)
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs

from sandbox.aws.unimplemented import Call, error_response

Answer = tuple[str, list[tuple[str, str]], bytes]

_TOKENS = ("ClientToken", "ClientRequestToken", "clientRequestToken", "clientToken")
_MAKES = ("Create", "Run", "Allocate", "Import", "Register", "Update")
_MISMATCH = {
    "cloudformation": "TokenAlreadyExistsException",
    "eks": "InvalidParameterException",
    "fsx": "IncompatibleParameterError",
}
_EC2_MISMATCH = "IdempotentParameterMismatch"


class AnsweredTokens:
    """Answers of this account by token."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._answers: dict[tuple[str, str, str], tuple[bytes, Answer]] = {}

    def clear(self) -> None:
        """Forget every token."""
        with self._lock:
            self._answers.clear()

    def answer(self, call: Callable[[], Call], body: bytes, work: Callable[[], Answer]) -> Answer:
        """Return what `work` returns, or what it returned when the token came first.

        Args:
            call: Tells which call it is; asked only where the request has a token.
            body: Of the request.
            work: Does what the request asks.
        """
        token = _token(body)
        made = call() if token else None
        if made is None or not made.operation.startswith(_MAKES):
            return work()
        key = (made.service, made.operation, token)
        with self._lock:
            known = self._answers.get(key)
        if known is not None:
            return known[1] if known[0] == body else _mismatch(made)
        answer = work()
        if answer[0].startswith("2"):
            with self._lock:
                self._answers[key] = (body, answer)
        return answer


def _token(body: bytes) -> str:
    if not any(name.encode() in body for name in _TOKENS):
        return ""
    text = body.decode("utf-8", "replace")
    given: dict[str, Any] = {}
    if text.lstrip().startswith("{"):
        try:
            given = json.loads(text)
        except ValueError:
            return ""
    else:
        given = {key: values[0] for key, values in parse_qs(text).items()}
    return next((str(given[name]) for name in _TOKENS if given.get(name)), "")


def _mismatch(call: Call) -> Answer:
    code = _MISMATCH.get(call.service, _EC2_MISMATCH)
    return error_response(
        call, code, "The token has been used before, with other parameters of the request."
    )
