"""`accept` under faults that interrupt it: it says so, and its next start leaves nothing.

The faults of the account begin in the middle of `up`: after the calls of the checks, and before the
last resource.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.processes import until
from tests.support.sandbox import Done, Sandbox
from trainyard.acceptance.steps import RECORD, read_record
from trainyard.cli import failures
from trainyard.components import clock

pytestmark = [pytest.mark.sandbox, pytest.mark.parallelcluster]
BATCH, SLURM = "batch-dev", "pc-dev"
MIDDLE = 250
"""Number of a call in the middle of `up`: the acceptance begins with about 150, and it has 600."""


@dataclass
class Faulty:
    """A sandbox in which acceptances are interrupted."""

    sandbox: Sandbox
    directory: Path
    before: list[str] = field(default_factory=list[str])

    @property
    def up(self) -> Path:
        """The log of `up`."""
        return self.directory / "up.log"

    def command(self, stack: str = BATCH) -> tuple[str | Path, ...]:
        return ("accept", stack, "--sandbox", "--output", self.directory)

    def faults(self, **fault: Any) -> None:
        """Put a fault in force."""
        schedule = self.directory.with_suffix(".yaml")
        schedule.write_text(yaml.safe_dump([{"times": "always", **fault}]), encoding="utf-8")
        self.sandbox.must("sandbox", "faults", schedule)

    def interrupted(self, stack: str = BATCH) -> Done:
        """Accept a stack, which fails."""
        done = self.sandbox.run(*self.command(stack))
        assert done.exit_code == failures.WORK_FAILED, done.said
        assert f"{stack}: not accepted after" in done.stdout
        assert "Traceback" not in done.said
        return done

    def next_start(self, stack: str = BATCH) -> Done:
        """Start again without the fault, when the time of the acceptance is over."""
        self.sandbox.must("sandbox", "faults", "--clear")
        later = Sandbox(self.sandbox.directory, settings={clock.VARIABLE: str(24 * 3600)})
        done = later.run(*self.command(stack))
        if self.deletes_forgotten(done):
            done = later.run(*self.command(stack))
        record = read_record(self.directory)
        assert record is not None
        assert record.is_deleted, done.said
        assert not record.left_behind
        assert [each.result for each in record.done if each.name == "remains"] == ["pass"]
        assert self.sandbox.inventory() == self.before
        # What has failed stays said.
        assert f"{stack}: not accepted after" in done.stdout
        return done

    def deletes_forgotten(self, done: Done) -> bool:
        """Delete the launch template that is named, if there is one, as its line says.

        The provider waits until a new one can be read before it sets its id, and forgets it if that
        fails: `resourceLaunchTemplateCreate` in internal/service/ec2/ec2_launch_template.go of
        https://github.com/hashicorp/terraform-provider-aws.
        """
        forgotten = re.findall(
            r"left behind: arn:\S+:launch-template/(lt-\w+); delete it: aws ec2 "
            r"delete-launch-template --launch-template-id \1 --region \S+\n",
            done.stdout,
        )
        assert done.stdout.count("left behind: ") == len(forgotten) <= 1
        for each in forgotten:
            self.sandbox.aws("ec2").delete_launch_template(LaunchTemplateId=each)
        return bool(forgotten)


@pytest.fixture
def faulty(sandbox: Sandbox, tmp_path: Path) -> Iterator[Faulty]:
    sandbox.must("sandbox", "start")
    yield Faulty(sandbox, tmp_path / "accept", sandbox.inventory())
    sandbox.must("sandbox", "faults", "--clear")


@pytest.mark.parametrize(
    ("happens", "says"),
    [
        ("connection-reset", "Connection was closed"),
        ("credentials-expired", "ExpiredToken|RequestExpired"),
        ("throttled", "Throttling|RequestLimitExceeded|Rate exceeded"),
    ],
)
def test_an_account_that_stops_answering(faulty: Faulty, happens: str, says: str) -> None:
    """Until the end: neither `up` nor the deletion can go on, and what is left cannot be read."""
    faulty.faults(call="*", happens=happens, nth=MIDDLE)
    said = faulty.interrupted().stdout
    assert "fail: up: exit code 1: error: " in said
    assert "fail: destroy: exit code 1: error: " in said
    assert re.search(rf"stopped: remains: the account did not say what is left: .*(?:{says})", said)
    assert f"{BATCH} may exist, and AWS charges for it: run the same command again" in said
    faulty.next_start()


def test_a_launch_without_capacity(faulty: Faulty) -> None:
    faulty.faults(call="ec2:RunInstances", happens="insufficient-capacity")
    said = faulty.interrupted(SLURM).stdout
    assert "fail: up: exit code 1: error: " in said
    assert "EC2 currently has no capacity for these instances" in faulty.up.read_text("utf-8")
    # It could be deleted at once.
    assert "may exist" not in said
    faulty.next_start(SLURM)


def test_a_full_disk(faulty: Faulty) -> None:
    """The stack comes up, but nothing could show it."""
    faulty.directory.mkdir()
    faulty.up.symlink_to("/dev/full")
    said = faulty.interrupted().stdout
    assert "fail: up: its log could not be written: No space left on device" in said
    faulty.next_start()


def test_sigterm_in_the_middle(faulty: Faulty) -> None:
    def has_made_something() -> bool:
        return faulty.up.is_file() and "created aws:" in faulty.up.read_text("utf-8")

    with faulty.sandbox.start_command(*faulty.command()) as process:
        until(has_made_something, "the first resource")
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate()
    assert process.returncode == failures.CANCELLED, said
    assert f"{BATCH} may exist, and AWS charges for it; run the same command again" in said
    assert (faulty.directory / RECORD).is_file()
    assert faulty.sandbox.inventory() != faulty.before
    faulty.next_start()
