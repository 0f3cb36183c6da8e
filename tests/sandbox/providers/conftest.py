"""Provider plugins as the engine sees them: called over gRPC, or started by the engine."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.aws_plugin import AT_ONCE, REGION, aws_plugin, aws_program
from tests.support.provider_plugin import Plugin
from tests.support.pulumi_workspace import Workspace, empty_project
from tests.support.sandbox_aws import Account
from tests.support.tracked import ROOT
from tests.support.warm_python import warm
from trainyard.engine.pulumi_engine import ensure_pulumi
from trainyard.sandbox.aws.server import AwsServer
from trainyard.sandbox.kubernetes.aws_program import write_aws_program

STAND_INS = ROOT / "sandbox" / "providers"


@pytest.fixture(scope="session")
def aws_provider(server: AwsServer) -> Iterator[Plugin]:
    """The AWS provider, in the current account."""
    with aws_plugin(server.access, settings=AT_ONCE) as plugin:
        yield plugin


@pytest.fixture
def aws(account: Account, aws_provider: Plugin) -> Plugin:
    """The AWS provider, in the account as the sandbox's own fixture describes it."""
    return aws_provider


@pytest.fixture
def workspace(server: AwsServer, tmp_path: Path) -> Workspace:
    """A project of the AWS provider and the stand-ins for the others, in warm processes."""
    directory = tmp_path / "project"
    directory.mkdir()
    directories = {
        "aws": aws_program().directory,
        **{name: STAND_INS / name for name in ("eks", "kubernetes")},
    }
    plugins = "".join(f"    - {{name: {name}, path: {at}}}\n" for name, at in directories.items())
    made = empty_project(directory, ensure_pulumi(print), f"plugins:\n  providers:\n{plugins}")
    programs = write_aws_program(tmp_path / "bin", clusters=tmp_path / "clusters", region=REGION)
    variables = {
        **AT_ONCE,
        **server.access.environment,
        "AWS_REGION": REGION,
        "PATH": os.pathsep.join(map(str, [programs, made.engine.directory, os.environ["PATH"]])),
        "TRAINYARD_PYTHON": sys.executable,
    }
    made.variables |= warm(variables)
    return made
