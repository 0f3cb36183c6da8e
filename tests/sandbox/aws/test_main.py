"""`python -m trainyard.sandbox.aws`: only the endpoint."""

from __future__ import annotations

import shlex
import signal
import subprocess
import sys

from trainyard.sandbox.access import Endpoint


def test_the_endpoint_alone_answers_until_it_is_asked_to_end() -> None:
    command = [sys.executable, "-m", "trainyard.sandbox.aws", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(4)]
        exports = dict(shlex.split(line)[1].split("=", 1) for line in lines)
        access = Endpoint(exports["AWS_ENDPOINT_URL"], exports["AWS_ACCESS_KEY_ID"])
        try:
            assert access.ask("GET", "health") == {"status": "ready"}
        finally:
            process.send_signal(signal.SIGTERM)
    assert process.returncode == 0
