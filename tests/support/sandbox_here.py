"""A sandbox whose account is served by this process, for commands with `--sandbox`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.sandbox_aws import ACCOUNT, Account
from trainyard.sandbox.aws.server import AwsServer  # before boto3 makes a client: it prepares moto
from trainyard.sandbox.engine import Plugin, write_plugins
from trainyard.sandbox.process_identity import own_identity
from trainyard.sandbox.state import SandboxDirectory, SandboxStatus

AWS = Plugin(name="aws", version="7.0.0", origin="official", directory="/cache/aws")


@contextmanager
def running_sandbox(directory: Path) -> Iterator[Account]:
    """Let the commands find a running sandbox in a directory."""
    with AwsServer() as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRAINYARD_SANDBOX", str(directory))
        record_sandbox(directory, server)
        yield Account(server)


def record_sandbox(directory: Path, server: AwsServer) -> SandboxStatus:
    """Write what a sandbox records when it has started."""
    own = own_identity()
    status = SandboxStatus(
        pid=own.pid,
        process_start_time=own.start_time,
        aws_endpoint=server.endpoint,
        access_key=server.access.access_key,
        account_id=ACCOUNT,
        region="us-west-2",
    )
    write_plugins(directory, (AWS,))
    sandbox = SandboxDirectory(directory)
    sandbox.programs_file.write_text('{"kubectl": ["/bin/kubectl"]}', encoding="utf-8")
    sandbox.write_status(status)
    return status
