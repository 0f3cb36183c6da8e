"""Capacity Blocks that are bought, on the sandbox's clock: EKS and Batch, from block to block."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client

from sandbox.inventory.clients import clients_of
from sandbox.state import SandboxDirectory
from tests.support.sandbox import Done, Sandbox, copied_stack_file
from tests.support.waiting import until

pytestmark = pytest.mark.sandbox

EKS, BATCH = "p5-cb", "batch-p5"
WARNED = {"monitoring": {"alarms": {"block_warning_hours": [24, 2]}}}
KEPT = ("cluster_name", "cluster_endpoint", "vpc_id", "node_groups", "compute_environments")
"""Outputs that name what outlives a block."""


@dataclass(slots=True)
class Stacks:
    """Both stacks in one account."""

    sandbox: Sandbox
    files: dict[str, Path]
    blocks: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """Ids of the blocks of a stack, in the order of purchase."""
    ahead: timedelta = timedelta()

    @property
    def now(self) -> datetime:
        """The time in the account."""
        return datetime.now(UTC) + self.ahead

    def aws(self, service: str) -> Any:
        status = SandboxDirectory(self.sandbox.directory).read_status()
        assert status is not None
        return clients_of(status.aws_endpoint, status.region).client(service)

    def block(self, stack: str) -> dict[str, Any]:
        """Return the description of the newest block of a stack."""
        found = self.aws("ec2").describe_capacity_reservations(
            CapacityReservationIds=[self.blocks[stack][-1]]
        )
        return found["CapacityReservations"][0]

    def buy(self, stack: str, start: datetime | None = None) -> None:
        """Search and buy a block of a week that starts in two days, or from a time on."""
        search = ("--type", "p5.48xlarge", "--nodes", "2", "--days", "7", "--json", "--from")
        start = start or self.now + timedelta(days=2)
        said = self.run("capacity", "search", *search, f"{start:%Y-%m-%dT%H:%M+00:00}")
        offerings = json.loads(said.stdout)["offerings"]
        found = next(e for e in offerings if (e["zone"], e["hours"]) == ("us-west-2b", 168))
        bought = ("capacity", "buy", found["offering_id"], "--for", stack, "--price", found["fee"])
        said = self.run(*bought, "--stack-file", self.files[stack])
        (block,) = re.findall(r"bought (cr-[0-9a-f]{17})", said.stdout)
        self.blocks.setdefault(stack, []).append(block)

    def run(self, *arguments: str | Path) -> Done:
        return self.sandbox.must(*arguments, "--sandbox")

    def at_once(self, command: str, stack: str) -> Done:
        path = ("--stack-file", self.files[stack])
        return self.sandbox.without_preview().must(command, stack, "--sandbox", "--yes", *path)

    def kept(self, stack: str) -> dict[str, Any]:
        outputs = json.loads(self.run("outputs", stack, "--json").stdout)
        return {name: outputs[name] for name in KEPT if name in outputs}

    def advance_to(self, moment: datetime) -> None:
        hours = (moment - self.now) / timedelta(hours=1)
        self.sandbox.must("sandbox", "advance", "--hours", f"{hours:.3f}")
        self.ahead += timedelta(hours=hours)

    def gpu_nodes(self) -> list[str]:
        """Return the names of the Ready EKS nodes that offer GPUs."""
        with self.sandbox.kubernetes(EKS) as api:
            nodes = client.CoreV1Api(api).list_node().items
        return [n.metadata.name for n in nodes if n.status.allocatable.get("nvidia.com/gpu") == "8"]

    def in_use(self, stack: str) -> int:
        """Return how many instances run in the newest block of a stack."""
        block = self.block(stack)
        return block["TotalInstanceCount"] - block["AvailableInstanceCount"]

    def running_pods(self) -> int:
        """Return how many pods of programs run."""
        with self.sandbox.kubernetes(EKS) as api:
            pods = client.CoreV1Api(api).list_namespaced_pod("default").items
        return sum(each.status.phase == "Running" for each in pods)

    def subscribe(self) -> str:
        """Return the URL of a queue that receives the messages of the EKS stack's topic."""
        outputs = json.loads(self.run("outputs", EKS, "--json").stdout)
        queue = self.aws("sqs").create_queue(QueueName="messages")["QueueUrl"]
        arn = self.aws("sqs").get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])
        topic = outputs["monitoring"]["topic_arn"]
        endpoint = arn["Attributes"]["QueueArn"]
        self.aws("sns").subscribe(TopicArn=topic, Protocol="sqs", Endpoint=endpoint)
        return queue

    def messages(self, queue: str) -> list[str]:
        """Return the texts that have arrived in a queue, in the order of their times."""
        texts: list[str] = []
        while found := self.aws("sqs").receive_message(QueueUrl=queue).get("Messages"):
            for each in found:
                delete = {"QueueUrl": queue, "ReceiptHandle": each["ReceiptHandle"]}
                self.aws("sqs").delete_message(**delete)
                texts.append(json.loads(each["Body"])["Message"])
        return texts


@pytest.fixture
def stacks(own_sandbox: Sandbox, tmp_path: Path) -> Stacks:
    files = {
        EKS: copied_stack_file(tmp_path / "eks.yaml", WARNED),
        BATCH: copied_stack_file(tmp_path / "batch.yaml", {}, BATCH),
    }
    return Stacks(own_sandbox, files)


FAULTS = """\
- happens: container-hangs
  job: train
  index: 0
  log: run.log
  stop_log: stop.log
  stop_seconds: 2
- {happens: container-hangs, job: train, index: 1}
"""


def test_nodes_come_and_go_with_their_block_and_move_to_the_next_one(stacks: Stacks) -> None:
    """Rules D8 and D9, EKN-16."""
    both, without = (EKS, BATCH), stacks.sandbox.inventory()
    for stack in both:
        stacks.buy(stack)
    made = {stack: stacks.at_once("up", stack).stdout for stack in both}
    assert "until then there are no nodes, then 2 launch automatically" in made[EKS]
    assert stacks.gpu_nodes() == []
    queue, kept = stacks.subscribe(), {stack: stacks.kept(stack) for stack in both}
    job = stacks.run("job", BATCH, "nccl-tests", "--submit").stdout.split()[-1]

    _start_the_block(stacks, queue)
    _nothing_changes_in_the_block(stacks)
    _checkpoint_before_the_end(stacks)
    _end_the_block(stacks, queue)
    (waited,) = json.loads(stacks.run("jobs", BATCH, "--json").stdout)
    assert (waited["id"], waited["state"]) == (job, "SUCCEEDED")

    # The next block, in the same stacks: nothing that outlives a block is replaced.
    stacks.advance_to(stacks.block(EKS)["EndDate"] + timedelta(hours=1))
    for stack in both:
        stacks.buy(stack)
        stacks.at_once("up", stack)
        changes = stacks.sandbox.resource_changes(stack)
        assert changes["update"] > 0
        assert set(changes) <= {"update", "same", "create", "delete"}
        assert stacks.kept(stack) == kept[stack]
    assert len({*stacks.blocks[EKS], *stacks.blocks[BATCH]}) == 4
    stacks.run("job", BATCH, "nccl-tests", "--submit")
    _start_the_block(stacks, queue)
    _end_the_block(stacks, queue)

    for stack in both:
        stacks.at_once("destroy", stack)
    left = {*stacks.sandbox.inventory()} - {*without}
    assert {line.split()[0] for line in left} == {"ec2:capacity-reservation"}


def test_a_further_block_takes_over_without_an_update_at_that_moment(stacks: Stacks) -> None:
    stacks.buy(EKS)
    stacks.at_once("up", EKS)
    first = stacks.block(EKS)
    stacks.advance_to(first["StartDate"] + timedelta(hours=1))
    until(lambda: len(stacks.gpu_nodes()) == 2, "two nodes of the first block")
    launched = stacks.gpu_nodes()

    stacks.buy(EKS, first["EndDate"])
    second = stacks.block(EKS)
    assert second["StartDate"] >= first["EndDate"]
    assert "further_blocks: [block-" in stacks.files[EKS].read_text()
    stacks.at_once("up", EKS)
    assert stacks.sandbox.resource_changes(EKS)["create"] > 0
    assert stacks.gpu_nodes() == launched
    timeline = stacks.run("timeline", EKS, "--stack-file", stacks.files[EKS]).stdout
    assert all(block in timeline for block in stacks.blocks[EKS])

    stacks.advance_to(first["EndDate"] - timedelta(minutes=35))
    until(lambda: stacks.gpu_nodes() == [], "the nodes of the first block to have left")
    stacks.advance_to(second["StartDate"] + timedelta(hours=1))
    until(lambda: len(stacks.gpu_nodes()) == 2, "two nodes of the further block")
    assert stacks.in_use(EKS) == 2
    stacks.run("check", EKS, "--live", "--stack-file", stacks.files[EKS])
    # The block that is over stops no update, and the nodes of the other one stay.
    launched = stacks.gpu_nodes()
    stacks.at_once("refresh", EKS)
    stacks.at_once("up", EKS)
    assert stacks.gpu_nodes() == launched
    stacks.at_once("destroy", EKS)


def _start_the_block(stacks: Stacks, queue: str) -> None:
    """Advance the clock to the blocks of both stacks, which start and end at the same time."""
    timeline = ("timeline", EKS, "--stack-file", stacks.files[EKS])
    block = stacks.block(EKS)
    assert f"{stacks.blocks[EKS][-1]}, scheduled" in stacks.run(*timeline).stdout
    stacks.advance_to(block["StartDate"] + timedelta(hours=1))
    assert f"{stacks.blocks[EKS][-1]}, active" in stacks.run(*timeline).stdout
    until(lambda: len(stacks.gpu_nodes()) == 2, "two nodes of the block")
    assert stacks.in_use(EKS) == 2
    until(lambda: stacks.in_use(BATCH) == 2, "two nodes for the job")
    (started,) = map(json.loads, stacks.messages(queue))
    assert started["detail-type"] == "Capacity Block Reservation Delivered"


def _nothing_changes_in_the_block(stacks: Stacks) -> None:
    """Run commands that leave the nodes of the block as they are."""
    launched = stacks.gpu_nodes()
    for command in ("up", "refresh", "up"):
        stacks.at_once(command, EKS)
    assert set(stacks.sandbox.resource_changes(EKS)) == {"same"}
    assert stacks.gpu_nodes() == launched
    live = stacks.run("check", EKS, "--live", "--stack-file", stacks.files[EKS])
    assert "days from now" not in live.stdout


def _checkpoint_before_the_end(stacks: Stacks) -> None:
    """Run a program, which gets SIGTERM when its nodes are about to leave."""
    directory = stacks.files[EKS].parent
    schedule = directory / "faults.yaml"
    schedule.write_text(FAULTS, encoding="utf-8")
    (directory / "run.log").write_text("step 1\n", encoding="utf-8")
    (directory / "stop.log").write_text("checkpoint\n", encoding="utf-8")
    stacks.sandbox.must("sandbox", "faults", schedule)
    options = ("--sandbox", "--stack-file", stacks.files[EKS], "--image", "pytorch/pytorch:2.11.0")
    with stacks.sandbox.start_command("run", EKS, *options, "--", "train.py") as process:
        until(lambda: stacks.running_pods() == 2, "the program running")
        stacks.advance_to(stacks.block(EKS)["EndDate"] - timedelta(minutes=43))
        said, told = process.communicate(timeout=120)
    assert said.splitlines() == ["train", "step 1", "checkpoint"], told
    assert (process.returncode, "the program gets SIGTERM at" in told) == (124, True)
    assert "DeadlineExceeded" in told
    assert len(stacks.gpu_nodes()) == 2


def _end_the_block(stacks: Stacks, queue: str) -> None:
    """Advance the clock to the time after EC2 has terminated the instances of the blocks."""
    stacks.advance_to(stacks.block(EKS)["EndDate"] - timedelta(minutes=35))
    until(lambda: stacks.gpu_nodes() == [], "the nodes to have left, 40 minutes before the end")
    day, hours, warning = stacks.messages(queue)
    assert "ends in 24 hours" in day
    assert "ends in 2 hours" in hours
    assert json.loads(warning)["detail-type"] == "Capacity Block Reservation Expiration Warning"
