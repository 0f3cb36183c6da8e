"""One stack with faults of clusters: `up` ends with a clear message, and the next `up` continues.

The commands run once, in the order of `life`; every test asserts one claim about their results.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
import yaml

from tests.support.sandbox import Done, Sandbox

pytestmark = [pytest.mark.sandbox, pytest.mark.first]

STACK = "p5-cb"
BLOCK = "cr-0123456789abcdef0"
PLUGIN = "nvidia-device-plugin-ds"
"""Value of the label `name` of the pods of NVIDIA's device plugin."""
CREDENTIALS = {"call": "*:*", "nth": 100, "times": "always", "happens": "credentials-expired"}
OUTSIDE = {"happens": "node-never-joins", "node_group": "p5"}
BROKEN = {"happens": "device-plugin-never-ready", "plugin": PLUGIN}
CANCELLED = {
    "call": "ec2:DescribeCapacityReservations",
    "happens": "reservation-expires",
    "reservation": BLOCK,
}


@dataclass(slots=True)
class Life:
    """The results, by the name of the step."""

    done: dict[str, Done] = field(default_factory=dict[str, Done])
    before: list[str] = field(default_factory=list[str])
    after: list[str] = field(default_factory=list[str])

    def said(self, moment: str) -> str:
        """Return the output of a command that must have failed because of the cluster."""
        done = self.done[moment]
        assert done.exit_code == 1, done.said
        assert "Traceback" not in done.said
        return done.stderr


@pytest.fixture(scope="module")
def life(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Life]:
    """Run the stack through every fault, and record the results."""
    folder = tmp_path_factory.mktemp("faults")
    sandbox = Sandbox(folder / "sandbox").warm()
    # Waits that cannot succeed end soon.
    impatient = Sandbox(sandbox.directory, settings={"TRAINYARD_WAIT_SECONDS": "10"})
    impatient = impatient.without_preview()
    sandbox.must("sandbox", "start")
    life = Life(before=sandbox.inventory())

    def up(user: Sandbox, moment: str, *entries: dict[str, Any]) -> None:
        schedule = folder / "schedule.yaml"
        schedule.write_text(yaml.safe_dump(list(entries)), encoding="utf-8")
        user.must("sandbox", "faults", schedule)
        life.done[moment] = user.run("up", STACK, "--sandbox", "--yes")

    try:
        at_once = sandbox.without_preview()
        up(at_once, "credentials expired", CREDENTIALS)
        up(impatient, "nodes outside", OUTSIDE)
        up(impatient, "plugin broken", BROKEN)
        up(sandbox, "mended")
        up(sandbox, "block over", CANCELLED)
        sandbox.must("sandbox", "faults", "--clear")
        life.done["destroy"] = at_once.run("destroy", STACK, "--sandbox", "--yes")
        life.after = sandbox.inventory()
        yield life
    finally:
        sandbox.must("sandbox", "stop")


def test_expired_credentials_are_to_be_renewed(life: Life) -> None:
    said = life.said("credentials expired")
    assert said.count("the AWS credentials expired") == 1
    assert "aws sso login" in said
    assert f"./trainyard up {STACK} --sandbox" in said


def test_nodes_that_never_joined_are_named_with_the_causes(life: Life) -> None:
    """The Auto Scaling group reports no problem: only the check of the cluster detects it."""
    said = life.said("nodes outside")
    assert "node group p5: 0 of 2 p5.48xlarge nodes are Ready" in said
    assert "are running but have not joined the cluster; check these causes in order:" in said
    # The role is known to be authorized, so it is not the first cause to check.
    assert said.index("1. user data") < said.index("2. route") < said.index("3. security group")


def test_a_plugin_that_crashes_is_named_with_node_pod_and_reason(life: Life) -> None:
    said = life.said("plugin broken")
    assert "nvidia-device-plugin-daemonset on ip-" in said
    assert "does not run: CrashLoopBackOff: back-off" in said
    assert "--namespace kube-system describe pod nvidia-device-plugin-daemonset-" in said


def test_the_next_up_after_everything_is_mended_is_clean(life: Life) -> None:
    done = life.done["mended"]
    assert done.exit_code == 0, done.said
    assert "nvidia.com/gpu: 8" in done.stdout


def test_a_block_that_is_over_stops_no_update_and_is_said(life: Life) -> None:
    done = life.done["block over"]
    assert done.exit_code == 0, done.said
    assert f"the Capacity Block {BLOCK} has expired" in done.stderr
    assert "buy another block" in done.stderr


def test_destroy_works_without_the_block_and_leaves_the_account_as_it_was(life: Life) -> None:
    """Except for the block itself, which AWS ended."""
    assert life.done["destroy"].exit_code == 0, life.done["destroy"].said

    def others(lines: list[str]) -> list[str]:
        return [line for line in lines if BLOCK not in line]

    assert others(life.after) == others(life.before)
