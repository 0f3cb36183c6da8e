"""Stacks with Capacity Blocks that are bought, in one account whose clock a test advances."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml
from kubernetes import client

from tests.support.processes import until
from tests.support.sandbox import Done, Sandbox
from tests.support.stack_files import value_at, with_values
from trainyard.stack_files.stack_files import CLUSTER_KEY

EKS, BATCH, SLURM = "p5-cb", "batch-p5", "pc-gpu"
SLURM_NODE = "compute-gpu-st-distributed-ml-1"
WARNED = {"monitoring": {"alarms": {"block_warning_hours": [24, 2]}}}
KEPT = (
    "cluster_name",
    "cluster_endpoint",
    "vpc_id",
    "node_groups",
    "compute_environments",
    "head_node",
    "storage",
)
"""Outputs that name what outlives a block."""
OPERATING = {
    EKS: ("check", "plan", "status", "jobs", "repair --dry-run"),
    BATCH: ("check", "plan", "status", "jobs"),
    SLURM: ("check", "plan", "status", "jobs", "repair --dry-run --node NODE"),
}
"""Commands, with their options, for a stack that is up; Batch replaces nodes itself."""


@dataclass(slots=True)
class Stacks:
    """The stacks in one account."""

    sandbox: Sandbox
    files: dict[str, Path]
    blocks: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """Ids of the blocks of a stack, in the order of purchase."""
    ahead: timedelta = timedelta()

    @property
    def now(self) -> datetime:
        """The time in the account."""
        return datetime.now(UTC) + self.ahead

    def block(self, stack: str, number: int = -1) -> dict[str, Any]:
        """Return the description of a block of a stack, by default of the newest one."""
        found = self.sandbox.aws("ec2").describe_capacity_reservations(
            CapacityReservationIds=[self.blocks[stack][number]]
        )
        return found["CapacityReservations"][0]

    def buy(self, stack: str, start: datetime | None = None, *options: str) -> None:
        """Search and buy a block of a week that starts in two days, or from a time on."""
        search = ("--type", "p5.48xlarge", "--nodes", "2", "--days", "7", "--json", "--from")
        start = start or self.now + timedelta(days=2)
        said = self.run("capacity", "search", *search, f"{start:%Y-%m-%dT%H:%M+00:00}")
        offerings = json.loads(said.stdout)["offerings"]
        found = next(e for e in offerings if (e["zone"], e["hours"]) == ("us-west-2b", 168))
        bought = (
            "capacity",
            "buy",
            found["offering_id"],
            "--for",
            stack,
            "--price",
            found["fee"],
            *options,
        )
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

    def operate_after_years(self, stack: str, years: int = 2) -> None:
        """Operate and update a stack whose blocks have been over for some years."""
        moment = self.block(stack)["EndDate"] + timedelta(days=365 * years)
        if self.now < moment:
            self.advance_to(moment)
        for line in OPERATING[stack]:
            command, *options = line.replace("NODE", SLURM_NODE).split()
            self.run(command, stack, *options, "--stack-file", self.files[stack])
        kept = self.kept(stack)
        done = self.at_once("up", stack)
        assert f"the Capacity Block {self.blocks[stack][-1]} has expired" in done.stderr
        assert self.kept(stack) == kept

    def remove_block(self, stack: str, entry: str, pool: str) -> None:
        """Remove an entry of `reservations`, and of `further_blocks` of a node pool."""
        content = yaml.safe_load(self.files[stack].read_text(encoding="utf-8"))
        cluster = content["config"][CLUSTER_KEY]
        further = value_at(cluster, tuple(pool.split(".")))["further_blocks"]
        change = {
            f"reservations.{entry}": None,
            f"{pool}.further_blocks": [each for each in further if each != entry],
        }
        content["config"][CLUSTER_KEY] = with_values(cluster, change)
        self.files[stack].write_text(yaml.safe_dump(content), encoding="utf-8")

    def gpu_nodes(self) -> list[str]:
        """Return the names of the Ready EKS nodes that offer GPUs."""
        with self.sandbox.kubernetes(EKS) as api:
            nodes = client.CoreV1Api(api).list_node().items
        return [n.metadata.name for n in nodes if n.status.allocatable.get("nvidia.com/gpu") == "8"]

    def in_use(self, stack: str, number: int = -1) -> int:
        """Return how many instances run in a block of a stack, by default in the newest one."""
        block = self.block(stack, number)
        return block["TotalInstanceCount"] - block["AvailableInstanceCount"]

    def environment_state(self) -> str:
        """Return the state of the compute environment."""
        (found,) = self.sandbox.aws("batch").describe_compute_environments()["computeEnvironments"]
        return found["state"]

    def state_of_job(self, job_id: str) -> str:
        """Return the state of a job of Batch."""
        (found,) = self.sandbox.aws("batch").describe_jobs(jobs=[job_id])["jobs"]
        return found["status"]

    def running_pods(self) -> int:
        """Return how many pods of programs run."""
        with self.sandbox.kubernetes(EKS) as api:
            pods = client.CoreV1Api(api).list_namespaced_pod("default").items
        return sum(each.status.phase == "Running" for each in pods)

    def subscribe(self, stack: str) -> str:
        """Return the URL of a queue that receives the messages of a stack's topic."""
        outputs = json.loads(self.run("outputs", stack, "--json").stdout)
        queue = self.sandbox.aws("sqs").create_queue(QueueName=stack)["QueueUrl"]
        arn = self.sandbox.aws("sqs").get_queue_attributes(
            QueueUrl=queue, AttributeNames=["QueueArn"]
        )
        topic = outputs["monitoring"]["topic_arn"]
        endpoint = arn["Attributes"]["QueueArn"]
        self.sandbox.aws("sns").subscribe(TopicArn=topic, Protocol="sqs", Endpoint=endpoint)
        return queue

    def was_told_of_the_start(self, queue: str) -> None:
        """Assert that EC2's event of the start of a block is the only message in a queue."""
        (started,) = map(json.loads, self._arrived(queue, 1))
        assert started["detail-type"] == "Capacity Block Reservation Delivered"

    def was_warned(self, queue: str) -> None:
        """Assert that a queue has the warnings of the stack and that of EC2, in their order."""
        day, hours, warning = self._arrived(queue, 3)
        assert "ends in 24 hours" in day
        assert "ends in 2 hours" in hours
        assert json.loads(warning)["detail-type"] == "Capacity Block Reservation Expiration Warning"

    def _arrived(self, queue: str, count: int) -> list[str]:
        """Return the texts in a queue, in the order of their times, when there are enough."""
        texts: list[str] = []

        def are_enough() -> bool:
            texts.extend(self._messages(queue))
            return len(texts) >= count

        until(are_enough, f"{count} messages")
        return texts

    def _messages(self, queue: str) -> list[str]:
        texts: list[str] = []
        while found := self.sandbox.aws("sqs").receive_message(QueueUrl=queue).get("Messages"):
            for each in found:
                delete = {"QueueUrl": queue, "ReceiptHandle": each["ReceiptHandle"]}
                self.sandbox.aws("sqs").delete_message(**delete)
                texts.append(json.loads(each["Body"])["Message"])
        return texts
