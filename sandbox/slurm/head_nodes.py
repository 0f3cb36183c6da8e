"""The head nodes of the ParallelCluster stacks in a sandbox, each with a real Slurm.

The Slurm of a cluster starts with the first command on its head node, so that a stack comes up
without it. It ends with its cluster, and starts again when an update has changed the queues.

Source:
    https://docs.aws.amazon.com/parallelcluster/latest/ug/HeadNode-v3.html (`AdditionalIamPolicies`)
    https://docs.aws.amazon.com/parallelcluster/latest/ug/connect-ssm-v3.html: Systems Manager needs
        the policy AmazonSSMManagedInstanceCore
"""

from __future__ import annotations

import logging
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainyard.sandbox.access import Endpoint
from trainyard.sandbox.faults.in_force import FAULTS
from trainyard.sandbox.parallelcluster.provider.records import Record, Records
from trainyard.sandbox.processes import Spawn
from trainyard.sandbox.removal import remove_tree
from trainyard.sandbox.slurm.block_instances import BlockInstances, BlockNodes
from trainyard.sandbox.slurm.blocks import SlurmBlocks
from trainyard.sandbox.slurm.cluster import SlurmCluster, SlurmError
from trainyard.sandbox.slurm.configuration import ranges_of
from trainyard.sandbox.slurm.head_node import HeadNodeShell
from trainyard.sandbox.slurm.lost_nodes import LostNodes
from trainyard.sandbox.slurm.slurm_clock import SlurmClock

LOG = logging.getLogger("trainyard.sandbox.slurm")

_POLL_SECONDS = 1.0
_POLICY = "/AmazonSSMManagedInstanceCore"


@dataclass(frozen=True, slots=True)
class _Running:
    """A Slurm that runs, with the record of its cluster when it started."""

    record: Record
    slurm: SlurmCluster
    shell: HeadNodeShell
    clock: SlurmClock
    blocks: SlurmBlocks
    lost: LostNodes

    def is_of(self, record: Record | None) -> bool:
        """Return whether it is the Slurm of a cluster as it is now."""
        return (
            record is not None
            and record.created == self.record.created
            and record.configuration["Scheduling"] == self.record.configuration["Scheduling"]
        )


class HeadNodes:
    """Runs commands on head nodes.

    Args:
        directory: Directory with one for each cluster.
        records: The clusters that exist.
        instances: The instances of their nodes in Capacity Blocks.
        programs: Returns the directory of Slurm's programs; None if the sandbox has none yet.
        spawn: Starts processes.
        account: The account, whose schedule of faults gives logs to jobs; None if all jobs really
            run.
    """

    def __init__(
        self,
        directory: Path,
        records: Records,
        instances: BlockInstances,
        programs: Callable[[], Path | None],
        spawn: Spawn,
        account: Endpoint | None = None,
    ) -> None:
        self._directory = directory
        self._records = records
        self._instances = instances
        self._programs = programs
        self._spawn = spawn
        self._account = account
        self._lock = threading.Lock()
        self._running: dict[str, _Running] = {}

    def is_managed(self, cluster: str) -> bool:
        """Return whether the head node of a cluster runs an SSM Agent that may connect."""
        record = self._records.find(cluster)
        return record is not None and self._programs() is not None and _may_connect(record)

    def run(
        self, cluster: str, commands: Sequence[str], *, timeout_seconds: float
    ) -> subprocess.CompletedProcess[str]:
        """Run commands on the head node of a cluster, and start its Slurm if necessary.

        Raises:
            SlurmError: the cluster does not exist, or its Slurm does not start.
            TimeoutExpired: they do not end in time.
        """
        with self._lock:
            shell = self._shell(cluster)
        return shell.run(commands, timeout_seconds=timeout_seconds)

    def follow(self, stopped: threading.Event) -> None:
        """End the Slurm of each cluster that is deleted or changed, until the event is set.

        Nodes in Capacity Blocks come and go with them, and jobs end by the clock of the sandbox.
        """
        while not stopped.wait(_POLL_SECONDS):
            with self._lock:
                self._end_others()
                for record in self._records.every():
                    if record.is_settled:  # else its nodes are about to change
                        self._follow(record)

    def _follow(self, record: Record) -> None:
        found, running = self._nodes_in_blocks(record), self._running.get(record.name)
        if running is None:
            return
        try:
            running.clock.step()
            running.blocks.step(found)
            running.lost.step()
        except SlurmError as error:
            LOG.warning("the Slurm of %s does not follow the clock: %s", record.name, error)

    def _nodes_in_blocks(self, record: Record) -> list[BlockNodes]:
        ranges = ranges_of(_typed(record.configuration))
        return self._instances.follow(record.name, [e for e in ranges if e.capacity_block])

    def stop_all(self) -> None:
        """End every Slurm with its jobs."""
        with self._lock:
            for each in self._running.values():
                each.slurm.stop()
            self._running.clear()

    def _shell(self, cluster: str) -> HeadNodeShell:
        self._end_others()
        if cluster not in self._running:
            record, programs = self._records.find(cluster), self._programs()
            if record is None or programs is None:
                raise SlurmError(f"the cluster {cluster} has no head node")
            self._running[cluster] = self._started(record, programs)
        return self._running[cluster].shell

    def _started(self, record: Record, programs: Path) -> _Running:
        directory = self._directory / record.name
        directory.mkdir(parents=True, exist_ok=True)
        slurm = SlurmCluster(
            record.name,
            _typed(record.configuration),
            programs=programs,
            directory=directory,
            spawn=self._spawn,
        )
        try:
            slurm.start()
            blocks = SlurmBlocks(slurm)
            blocks.step(self._nodes_in_blocks(record))
            blocks.wait()
        except BaseException:
            slurm.stop()
            raise
        shell = HeadNodeShell(slurm, self._account)
        lost = LostNodes(slurm, FAULTS)
        return _Running(record, slurm, shell, SlurmClock(slurm, shell), blocks, lost)

    def _end_others(self) -> None:
        """End what does not belong to a cluster as it is now."""
        for name, running in list(self._running.items()):
            record = self._records.find(name)
            if running.is_of(record):
                continue
            del self._running[name]
            running.slurm.stop()
            has_gone = record is None or record.created != running.record.created
            directory = running.slurm.layout.directory
            # The home directory of a cluster remains; the queue and the nodes are others.
            remove_tree(directory if has_gone else directory / "state")


def _typed(value: Any) -> Any:
    """Return a configuration with its numbers and truth values, which CloudFormation sends as text.

    `_normalise_resource_properties` of ministack does the same as AWS.
    """
    if isinstance(value, Mapping):
        return {key: _typed(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_typed(each) for each in value]
    if value in ("true", "false"):
        return value == "true"
    return int(value) if isinstance(value, str) and value.isdecimal() else value


def _may_connect(record: Record) -> bool:
    policies: Sequence[Mapping[str, Any]] = (
        record.configuration["HeadNode"].get("Iam", {}).get("AdditionalIamPolicies", ())
    )
    return any(str(each["Policy"]).endswith(_POLICY) for each in policies)
