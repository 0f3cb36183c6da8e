"""Repeated requests with a client token: AWS processes the first and repeats its response.

EC2, EKS, FSx, CloudFormation, EventBridge Scheduler and Prometheus accept a client token; a client
repeats it if it got no response.
Sources:
    https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-idempotency.html
    (`IdempotentParameterMismatch` where anything else has changed)
    https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateCluster.html (clientRequestToken)
    https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html
    (ClientRequestToken; `IncompatibleParameterError`)
    https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStack.html
    (ClientRequestToken; `TokenAlreadyExistsException`)
    https://docs.aws.amazon.com/scheduler/latest/APIReference/API_CreateSchedule.html (ClientToken)
    https://docs.aws.amazon.com/prometheus/latest/APIReference/API_CreateScraper.html (clientToken)
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs

from trainyard.sandbox.aws.unimplemented import Call, error_response
from trainyard.sandbox.wsgi import Answer

_TOKENS = ("ClientToken", "ClientRequestToken", "clientRequestToken", "clientToken")
_MAKES = ("Create", "Run", "Allocate", "Import", "Register", "Update")
_MISMATCH = {
    "cloudformation": "TokenAlreadyExistsException",
    "eks": "InvalidParameterException",
    "fsx": "IncompatibleParameterError",
}
_EC2_MISMATCH = "IdempotentParameterMismatch"


class AnsweredTokens:
    """Responses of this account by token."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._answers: dict[tuple[str, str, str], tuple[bytes, Answer]] = {}

    def clear(self) -> None:
        """Delete all tokens."""
        with self._lock:
            self._answers.clear()

    def answer(self, call: Callable[[], Call], body: bytes, work: Callable[[], Answer]) -> Answer:
        """Return the result of `work`, or the earlier result if the token is known.

        Args:
            call: Returns the AWS call; used only if the request has a token.
            body: Body of the request.
            work: Processes the request.
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
