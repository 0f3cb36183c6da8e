"""Python programs, dynamic resources and policy packs in the real engine.

These tests apply to the language host that is built here and to the official one.
"""

import importlib.metadata
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.processes import PATIENCE, until
from tests.support.pulumi_workspace import Workspace

pytestmark = pytest.mark.engine

DYNAMIC_RESOURCE = """
import pulumi
from pulumi.dynamic import CreateResult, Resource, ResourceProvider


class Provider(ResourceProvider):
    def create(self, props):
        return CreateResult("an-id", {**props, "doubled": props["number"] * 2})


class Doubled(Resource):
    doubled: pulumi.Output[float]

    def __init__(self, name, number):
        super().__init__(Provider(), name, {"number": number, "doubled": None})


pulumi.export("doubled", Doubled("answer", 21).doubled)
"""

POLICY_PACK = """
import pulumi
from pulumi_policy import EnforcementLevel, PolicyPack, StackValidationPolicy


def validate(args, report_violation):
    wanted = pulumi.Config("example").get("wanted")
    report_violation(f"stack {pulumi.get_stack()} wants {wanted}, has {len(args.resources)}")


PolicyPack("pack", policies=[
    StackValidationPolicy(
        name="always", description="Always violated.",
        enforcement_level=EnforcementLevel.MANDATORY, validate=validate,
    )
])
"""


def test_an_empty_program_creates_its_stack_only(workspace: Workspace) -> None:
    output = workspace.run("up", "--yes", "--stack", "test")

    assert "pulumi:pulumi:Stack example-test create" in " ".join(output.split())
    assert json.loads(workspace.run("stack", "export"))["deployment"]["resources"]


def test_a_program_reads_its_configuration_and_exports_from_it(workspace: Workspace) -> None:
    workspace.write(
        "__main__.py",
        "import pulumi\n"
        "config = pulumi.Config()\n"
        "pulumi.export('plain', config.require_object('shape')['sides'])\n"
        "pulumi.export('secret', config.require_secret('word'))\n",
    )
    workspace.run("config", "set", "--path", "shape.sides", "4")
    workspace.run("config", "set", "--secret", "word", "abc")
    workspace.run("up", "--yes")

    shown = json.loads(workspace.run("stack", "output", "--json", "--show-secrets"))
    hidden = json.loads(workspace.run("stack", "output", "--json"))

    assert shown == {"plain": 4, "secret": "abc"}
    assert hidden == {"plain": 4, "secret": "[secret]"}


def test_a_program_in_another_directory_runs_there(workspace: Workspace, tmp_path: Path) -> None:
    program = tmp_path / "elsewhere with spaces"
    workspace.write(
        f"{program.name}/__main__.py", "import os\nimport helper\nhelper.show(os.getcwd())\n"
    )
    workspace.write(
        f"{program.name}/helper.py",
        "import pulumi\ndef show(value): pulumi.export('directory', value)\n",
    )
    project = (tmp_path / "Pulumi.yaml").read_text()
    workspace.write("Pulumi.yaml", f"{project}main: {str(program)!r}\n")
    workspace.run("up", "--yes")

    assert json.loads(workspace.run("stack", "output", "--json")) == {"directory": str(program)}


def test_an_exception_is_shown_once_and_creates_nothing_more(workspace: Workspace) -> None:
    workspace.write("__main__.py", "raise RuntimeError('no capacity today')\n")

    output = workspace.run("up", "--yes", code=1)

    assert output.count("RuntimeError: no capacity today") == 1
    assert "exit status" not in output


def test_the_exit_code_of_a_program_is_reported(workspace: Workspace) -> None:
    workspace.write("__main__.py", "import os\nos._exit(7)\n")

    assert "non-zero exit code: 7" in workspace.run("up", "--yes", code=1)


def test_a_dynamic_resource_is_created_by_its_own_provider(workspace: Workspace) -> None:
    workspace.write("__main__.py", DYNAMIC_RESOURCE)
    workspace.run("up", "--yes")

    assert json.loads(workspace.run("stack", "output", "--json")) == {"doubled": 42}
    assert workspace.processes() == []


def test_a_policy_pack_knows_its_stack_and_stops_the_update(workspace: Workspace) -> None:
    write_policy_pack(workspace)
    workspace.run("config", "set", "wanted", "peace")

    output = workspace.run("preview", "--policy-pack", "pack", code=1)

    assert "stack test wants peace" in output
    assert workspace.processes() == []


def write_policy_pack(workspace: Workspace) -> None:
    """Write a pack whose environment is named relative to it, as this repository's is."""
    workspace.write(
        "pack/PulumiPolicy.yaml",
        "runtime: {name: python, options: {toolchain: pip, virtualenv: ../link}}\nversion: 0.0.1\n",
    )
    (workspace.directory / "link").symlink_to(sys.prefix)
    workspace.write("pack/__main__.py", POLICY_PACK)


def test_the_packages_of_the_program_name_the_plugins_they_need(workspace: Workspace) -> None:
    plugins = json.loads(workspace.run("about", "--json"))["plugins"]
    wanted = {plugin["name"]: plugin["version"] for plugin in plugins}

    installed = {
        name: importlib.metadata.version(f"pulumi-{name}") for name in ("aws", "eks", "kubernetes")
    }
    assert installed.items() <= wanted.items()
    assert "policy" not in wanted  # a package that says it has no plugin


def start_update(workspace: Workspace) -> subprocess.Popen[bytes]:
    """Start an update with a policy pack, which runs as long as its program."""
    return subprocess.Popen(
        workspace.command("up", "--yes", "--skip-preview", "--policy-pack", "pack"),
        cwd=workspace.directory,
        env=workspace.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def test_nothing_outlives_an_engine_that_is_killed(workspace: Workspace) -> None:
    write_policy_pack(workspace)
    blocked = workspace.directory / "blocked"
    waits = f"open({str(blocked)!r}, 'w').close(); import threading; threading.Event().wait()"
    workspace.write(
        "__main__.py",
        DYNAMIC_RESOURCE.replace("return CreateResult", f"{waits}; return CreateResult"),
    )
    engine = start_update(workspace)
    try:
        until(blocked.exists, "the provider to create the resource")
        assert len(workspace.processes()) >= 5  # engine, host, program, policy pack, provider
    finally:
        engine.kill()
        engine.wait()

    until(lambda: not workspace.processes(), "every process to end after its engine", 10)


def test_an_interrupted_update_ends_its_program(workspace: Workspace) -> None:
    write_policy_pack(workspace)
    waiting = workspace.directory / "waiting"
    workspace.write(
        "__main__.py",
        f"import threading\nopen({str(waiting)!r}, 'w').close()\nthreading.Event().wait()\n",
    )
    engine = start_update(workspace)
    try:
        until(waiting.exists, "the program to wait")
        engine.send_signal(signal.SIGINT)
        assert engine.wait(timeout=PATIENCE) != 0
    finally:
        engine.kill()
        engine.wait()

    until(lambda: not workspace.processes(), "every process to end", 10)
