"""Responses to CloudFormation."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from trainyard.sandbox.parallelcluster.provider.handler import flattened, send, shortened


class Listener:
    """Receives PUT requests to a URL."""

    def __init__(self) -> None:
        self.answers: list[dict[str, Any]] = []
        answers = self.answers

        class Handler(BaseHTTPRequestHandler):
            def do_PUT(self) -> None:
                length = int(self.headers["Content-Length"])
                answers.append(json.loads(self.rfile.read(length)))
                self.send_response(200)
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its signature
                """Write no log."""

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.event = {
            "StackId": "arn",
            "RequestId": "request",
            "LogicalResourceId": "Cluster",
            "ResponseURL": f"http://127.0.0.1:{self.server.server_port}/answer",
        }


@pytest.fixture
def listener() -> Iterator[Listener]:
    made = Listener()
    thread = threading.Thread(target=made.server.serve_forever)
    thread.start()
    yield made
    made.server.shutdown()
    thread.join()
    made.server.server_close()


def test_nested_values_have_dotted_names() -> None:
    assert flattened({"a": 1, "headNode": {"state": "running", "ip": {"public": "x"}}}) == {
        "a": 1,
        "headNode.state": "running",
        "headNode.ip.public": "x",
    }


def test_a_long_reason_keeps_its_end() -> None:
    assert shortened("x" * 256) == "x" * 256
    assert shortened("a" * 100 + "b" * 240) == "ERROR: (truncated) " + "b" * 240


def test_an_answer_tells_how_the_request_ended(listener: Listener) -> None:
    send(listener.event, status="SUCCESS", physical_id="c", data={"clusterName": "c"})
    (answer,) = listener.answers
    assert answer == {
        "Status": "SUCCESS",
        "PhysicalResourceId": "c",
        "StackId": "arn",
        "RequestId": "request",
        "LogicalResourceId": "Cluster",
        "Reason": "",
        "Data": {"clusterName": "c"},
    }


def test_an_answer_that_is_too_long_is_a_failure(listener: Listener) -> None:
    send(listener.event, status="SUCCESS", physical_id="c", data={"long": "x" * 4096})
    (answer,) = listener.answers
    assert (answer["Status"], answer["Reason"]) == ("FAILED", "Response object is too long.")
