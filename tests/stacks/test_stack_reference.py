"""The network of another stack, read by the real engine from its state."""

from pathlib import Path

import pytest

from tests.support.pulumi_workspace import Workspace, empty_project
from tests.support.warm_python import warm
from trainyard.engine.pulumi_engine import ensure_pulumi

pytestmark = pytest.mark.engine

ROOT = Path(__file__).parents[2]
PROGRAM = f"""
import sys
sys.path.insert(0, {str(ROOT / "src")!r})
import pulumi
from trainyard.components.config.network import StackNetwork
from trainyard.components.config.problems import ConfigError
from trainyard.components.network.cluster_network import network_reader

if pulumi.get_stack() == "other":
    pulumi.export("vpc_id", "vpc-0a1b2c3d4e5f60718")
    pulumi.export("public_subnet_ids", ["subnet-0a1b2c3d4e5f60711"])
    pulumi.export("private_subnet_ids", ["subnet-0a1b2c3d4e5f60712"])
    pulumi.export("token", pulumi.Output.secret("hidden"))
else:
    reference = StackNetwork(kind="stack-reference", stack=pulumi.Config().require("stack"))
    try:
        network = network_reader("Pulumi.test.yaml")(reference)
    except ConfigError as error:
        pulumi.log.error(str(error))
        sys.exit(32)
    pulumi.export("found", network.model_dump(mode="json"))
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Return a project with the stack `test`, and `other`, which exports a network."""
    made = empty_project(tmp_path_factory.mktemp("reference"), ensure_pulumi(print))
    made.variables = warm({})
    made.write("__main__.py", PROGRAM)
    made.run("stack", "init", "other")
    made.run("up", "--yes", "--skip-preview", "--stack", "other")
    return made


def test_a_preview_knows_the_network_of_another_stack(project):
    project.run("config", "set", "--stack", "test", "stack", "other")
    said = project.run("preview", "--stack", "test", "--diff")
    assert "vpc-0a1b2c3d4e5f60718" in said
    assert "subnet-0a1b2c3d4e5f60712" in said


def test_a_stack_is_named_with_its_organization_too(project):
    project.run("config", "set", "--stack", "test", "stack", "organization/example/other")
    assert "vpc-0a1b2c3d4e5f60718" in project.run("preview", "--stack", "test", "--diff")


def test_a_stack_that_does_not_exist_is_refused_and_nothing_is_kept(project):
    project.run("config", "set", "--stack", "test", "stack", "missing")
    said = project.run("up", "--yes", "--skip-preview", "--stack", "test", code=1)
    assert "does not exist in this backend" in said
    assert "./trainyard up missing" in said
    assert "StackReference" not in project.run("stack", "export", "--stack", "test")


def test_a_name_that_no_backend_has_is_refused_in_the_words_of_the_engine(project):
    project.run("config", "set", "--stack", "test", "stack", "acme/example/other")
    said = project.run("preview", "--stack", "test", code=1)
    assert "cannot be read" in said
    assert "organization" in said
