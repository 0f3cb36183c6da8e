"""`up` tolerates an API server that is silent for a while, and ends in time if it stays silent."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import yaml

from trainyard.cli import failures, waiting
from trainyard.diagnosis.rollout import GroupExpectation, wait_until_ready
from trainyard.workspace.accounts import SandboxAccount, account_of

SYSTEM = GroupExpectation("system", "c5.2xlarge", "system", 0, {}, ())


class Server:
    """An API server that answers with these codes in turn, and then lists nothing, with 200."""

    def __init__(self, *codes: int) -> None:
        self.codes, self.asked = list(codes), 0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.asked += 1
                code = outer.codes.pop(0) if outer.codes else 200
                body = b'{"items": []}' if code == 200 else b"{}"
                self.send_response(code)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name
                """Write no log."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()


def kubeconfig(port: int) -> str:
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{port}"}}],
            "users": [{"name": "u", "user": {}}],
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "x",
        }
    )


@pytest.fixture
def flaky() -> Iterator[Server]:
    server = Server(503, 500, 429)
    yield server
    server.stop()


def test_errors_of_the_api_server_are_waited_out_and_told(flaky: Server) -> None:
    told: list[str] = []
    _, missing = wait_until_ready(
        kubeconfig(flaky.port),
        (SYSTEM,),
        deadline_seconds=60,
        report=told.append,
        poll_seconds=0,
    )
    assert missing == []
    codes = [line.partition("(")[2].split()[0] for line in told]
    assert codes == ["503", "500", "429"]


def test_an_api_server_that_refuses_connections_ends_the_wait_in_its_time() -> None:
    server = Server()
    server.stop()
    state, missing = wait_until_ready(
        kubeconfig(server.port), (SYSTEM,), deadline_seconds=0, report=lambda _: None
    )
    assert state.nodes == ()
    assert missing == [
        "the state of the cluster cannot be read from its API server (NewConnectionError)"
    ]


@pytest.mark.parametrize(
    ("sandbox", "given", "seconds"), [(True, "", 120), (False, "", 1200), (False, "1800", 1800)]
)
def test_how_long_up_waits_is_the_users_to_say(sandbox: bool, given: str, seconds: float) -> None:
    environment = {waiting.VARIABLE: given}
    assert waiting.wait_seconds(account_of(sandbox=sandbox), environment=environment) == seconds


@pytest.mark.parametrize("given", ["soon", "-1", "1.5", "1e3"])
def test_a_time_that_is_no_number_of_seconds_is_refused(given: str) -> None:
    with pytest.raises(failures.WrongUseError, match="a whole number of seconds"):
        waiting.wait_seconds(SandboxAccount(), environment={waiting.VARIABLE: given})
