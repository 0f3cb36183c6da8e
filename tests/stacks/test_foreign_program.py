"""A program that is not ours is stopped by the policy pack: its preview fails, `up` makes nothing.

What our own schema and plan refuse, the pack sees in the resources of anybody's program.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox.state import SandboxDirectory
from tests.support.sandbox import Sandbox
from tests.support.tracked import ROOT
from tools.engine import ensure_pulumi
from tools.workspace.environment import sandbox_environment
from tools.workspace.project import SandboxProject
from tools.workspace.stack_files import StackFile

pytestmark = pytest.mark.sandbox

LAUNCH_TEMPLATE = """\
import pulumi_aws as aws

group = aws.ec2.PlacementGroup("group", strategy="cluster")
aws.ec2.LaunchTemplate(
    "template",
    instance_type="p5.48xlarge",
    metadata_options={{"http_tokens": "required"}},
    placement={{"group_name": group.name}},
    {capacity}
)
"""
CAPACITY_BLOCK = """\
instance_market_options={"market_type": "capacity-block"},
    capacity_reservation_specification={
        "capacity_reservation_target": {"capacity_reservation_id": "cr-0123456789abcdef0"}
    },"""
AWS_ASSISTED = """\
capacity_reservation_specification={
        "capacity_reservation_preference": "capacity-reservations-only",
        "capacity_reservation_target": {"capacity_reservation_id": "cr-0a550000000000001"},
    },"""


@pytest.fixture
def pulumi(sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Run `pulumi` on a foreign program against the sandbox's account, with the pack attached."""

    def prepare(program: str) -> Callable[..., subprocess.CompletedProcess[str]]:
        (tmp_path / "program").mkdir()
        (tmp_path / "program" / "__main__.py").write_text(program)
        project = SandboxProject(tmp_path / "project", ROOT / "sandbox" / "providers")
        config = {"aws:region": "us-west-2"}
        project.write(StackFile("foreign", tmp_path / "Pulumi.foreign.yaml", {"config": config}))
        description = project.directory / "Pulumi.yaml"
        ours, foreign = f"main: {ROOT}\n", f"main: {tmp_path / 'program'}\n"
        assert ours in description.read_text()
        description.write_text(description.read_text().replace(ours, foreign))
        status = SandboxDirectory(sandbox.directory).read_status()
        assert status is not None
        engine = ensure_pulumi(lambda _: None)
        environment = sandbox_environment(
            os.environ,
            engine=engine.directory,
            home=project.home,
            backend=project.backend,
            passphrase=project.passphrase,
            region=status.region,
            aws_endpoint=status.aws_endpoint,
        )

        def run(*arguments: str) -> subprocess.CompletedProcess[str]:
            return subprocess.run(
                [str(engine.executable), *arguments],
                cwd=project.directory,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )

        assert run("stack", "init", "foreign").returncode == 0
        return run

    return prepare


@pytest.mark.parametrize(
    ("capacity", "rule"),
    [
        pytest.param(CAPACITY_BLOCK, "capacity-block-no-placement-group", id="capacity-block"),
        pytest.param(AWS_ASSISTED, "odcr-aws-assisted-no-placement-group", id="aws-assisted-odcr"),
    ],
)
def test_a_placement_group_where_aws_places_itself_is_stopped(
    sandbox: Sandbox, pulumi, capacity: str, rule: str
) -> None:
    before = sandbox.objects()
    run = pulumi(LAUNCH_TEMPLATE.format(capacity=capacity))
    for command in (["preview"], ["up", "--yes"]):
        done = run(*command, "--policy-pack", str(ROOT / "policies"))
        assert done.returncode != 0, done.stdout
        assert rule in done.stdout + done.stderr
    assert sandbox.objects() == before


def test_without_the_pack_the_same_program_is_made_so_it_is_the_pack_that_stops_it(
    sandbox: Sandbox, pulumi
) -> None:
    before = sandbox.objects()
    run = pulumi(LAUNCH_TEMPLATE.format(capacity=CAPACITY_BLOCK))
    made = run("up", "--yes")
    assert made.returncode == 0, made.stdout + made.stderr
    assert len(sandbox.objects()) == len(before) + 2
    assert run("destroy", "--yes").returncode == 0
    assert sandbox.objects() == before
