"""`python -m sandbox.aws`: only the endpoint."""

from __future__ import annotations

import signal
import subprocess
import sys
from urllib.request import urlopen


def test_the_endpoint_alone_answers_until_it_is_asked_to_end() -> None:
    command = [sys.executable, "-m", "sandbox.aws", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        endpoint = process.stdout.readline().strip()
        try:
            with urlopen(f"{endpoint}/_trainyard/health") as answer:
                assert answer.status == 200
        finally:
            process.send_signal(signal.SIGTERM)
    assert process.returncode == 0
