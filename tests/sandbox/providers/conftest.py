"""Provider plugins as the engine sees them: called in this process, or started by it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.aws.server import AwsServer
from sandbox.kubernetes.aws_program import write_aws_program
from sandbox.providers.aws.servicer import AwsServicer
from tests.support.plugin_process import plugin_process
from tests.support.provider_plugin import Plugin
from tests.support.pulumi_workspace import Workspace, empty_project
from tests.support.sandbox_aws import Account
from tests.support.tracked import ROOT
from tools.engine import ensure_plugins, ensure_pulumi

PLUGINS = "plugins:\n  providers:\n" + "".join(
    f"    - {{name: {name}, path: {ROOT / 'sandbox' / 'providers' / name}}}\n"
    for name in ("aws", "eks", "kubernetes")
)


@pytest.fixture(scope="session")
def _aws(server: AwsServer) -> Plugin:
    # boto3 takes longer to make a client than the server to answer a test's calls.
    return Plugin(AwsServicer(server.endpoint), region="us-west-2")


@pytest.fixture
def aws(account: Account, _aws: Plugin) -> Plugin:
    return _aws


@pytest.fixture(scope="session")
def _aws_provider(server: AwsServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plugin]:
    plugins = ensure_plugins(print, ensure_pulumi(print))
    (found,) = [plugin for plugin in plugins if plugin.name == "aws"]
    executable = Path(found.directory) / "pulumi-resource-aws"
    directory = tmp_path_factory.mktemp("aws-plugin")
    with plugin_process(executable, server.endpoint, directory) as servicer:
        yield Plugin(servicer, region="us-west-2")


@pytest.fixture
def aws_provider(account: Account, _aws_provider: Plugin) -> Plugin:
    """The AWS provider of the sandbox, which works in the emulated account."""
    return _aws_provider


@pytest.fixture
def workspace(server: AwsServer, tmp_path: Path) -> Workspace:
    """A project whose plugins are the stand-ins."""
    directory = tmp_path / "project"
    directory.mkdir()
    made = empty_project(directory, ensure_pulumi(print), PLUGINS)
    programs = write_aws_program(
        tmp_path / "bin", clusters=tmp_path / "clusters", region="us-west-2"
    )
    made.variables |= {
        "AWS_ENDPOINT_URL": server.endpoint,
        "PATH": os.pathsep.join(map(str, [programs, made.engine.directory, os.environ["PATH"]])),
        "TRAINYARD_PYTHON": sys.executable,
    }
    return made
