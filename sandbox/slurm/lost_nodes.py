"""Nodes of Slurm that are lost on schedule (`node-lost`), or that somebody drains.

The programs of their jobs really run. The nodes are replaced as by clustermgtd of ParallelCluster,
which looks once a minute; the sandbox looks all the time. It sets a lost static node to DOWN, so
that Slurm starts its jobs again, and launches another instance under the same name. A lost dynamic
node is powered down. A drained node is replaced in the same way when its jobs have ended.

Source:
    https://github.com/aws/aws-parallelcluster-node, src/slurm_plugin/clustermgtd.py
        (`_handle_unhealthy_static_nodes`, `_handle_unhealthy_dynamic_nodes`,
        `terminate_drain_nodes`, which is on by default) and
        src/common/schedulers/slurm_commands.py (`set_nodes_power_down`)
    https://slurm.schedmd.com/sinfo.html, `drained`: no job of the node runs any more
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from trainyard.sandbox.faults.fault import Schedule
from trainyard.sandbox.faults.kinds import NODE_LOST, matches_job
from trainyard.sandbox.slurm.cluster import SlurmCluster
from trainyard.sandbox.slurm.configuration import ranges_of

STATIC_REASON = "Static node maintenance: unhealthy node is being replaced"
_DYNAMIC_REASON = "Scheduler health check failed"


@dataclass(slots=True)
class _Loss:
    """The node that a job loses."""

    at: float
    """Time of this machine's monotonic clock."""
    index: int
    """Its place among the nodes of the job."""


class LostNodes:
    """The nodes of a Slurm that runs.

    Args:
        slurm: The Slurm.
        faults: The schedule. `nth` and `times` count the jobs that start; a job loses one node.
    """

    def __init__(self, slurm: SlurmCluster, faults: Schedule) -> None:
        self._slurm = slurm
        self._faults = faults
        ranges = ranges_of(slurm.configuration)
        self._static = {name for each in ranges if each.static for name in each.names}
        self._losses: dict[str, _Loss | None] = {}
        self._replaced: set[str] = set()

    def step(self) -> None:
        """Do what is due now.

        Raises:
            SlurmError: a command fails; the next step continues.
        """
        self._return_replaced()
        for node in self._drained():
            self._lose(node)
            if node in self._static:
                # Slurm keeps DRAIN besides DOWN; it clears it when it powers a dynamic node down.
                self._slurm.run("scontrol", "update", f"nodename={node}", "state=undrain")
        if not self._faults.of_kind(NODE_LOST.name):
            return
        now = time.monotonic()
        running = self._slurm.run("squeue", "--noheader", "--states=running", "--format=%i %N %j")
        for job, nodes, name in (line.split(maxsplit=2) for line in running.splitlines()):
            if job not in self._losses:
                self._losses[job] = self._loss(name, now)
            loss = self._losses[job]
            if loss is not None and loss.at <= now:
                self._losses[job] = None
                names = self._slurm.run("scontrol", "show", "hostnames", nodes).split()
                for node in names[loss.index : loss.index + 1]:
                    self._lose(node)

    def _drained(self) -> list[str]:
        listed = self._slurm.run("sinfo", "--noheader", "-N", "--states=drained", "--format=%N %T")
        states = dict(line.split() for line in listed.splitlines())
        # A node that is being powered down is drained too, and its state has another suffix.
        return [name for name, state in states.items() if state in ("drained", "drained~")]

    def _loss(self, job: str, now: float) -> _Loss | None:
        hit = self._faults.hit(
            lambda each: each.kind is NODE_LOST and matches_job(each.fault.job or "", job)
        )
        return _Loss(now + hit.fault.after_seconds, hit.fault.index or 0) if hit else None

    def _lose(self, node: str) -> None:
        if node in self._static:
            self._set(node, "down", STATIC_REASON)
            self._replaced.add(node)
        else:
            # Slurm sets a node that does not respond to DOWN after `SlurmdTimeout`. Until then, its
            # job would not be over.
            self._set(node, "down", _DYNAMIC_REASON)
            self._set(node, "power_down_force", _DYNAMIC_REASON)
            # Its instance does not wait for SuspendProgram.
            (self._slurm.layout.power / node).unlink(missing_ok=True)
        self._slurm.lose(node)

    def _set(self, node: str, state: str, reason: str) -> None:
        change = (f"nodename={node}", f"state={state}", f"reason={reason}")
        self._slurm.run("scontrol", "update", *change)

    def _return_replaced(self) -> None:
        """Let Slurm use nodes whose new process responds; `*` marks one that does not."""
        for node in sorted(self._replaced):
            state = self._slurm.run("sinfo", "--noheader", f"--nodes={node}", "--format=%T").strip()
            if state == "down":
                self._slurm.run("scontrol", "update", f"nodename={node}", "state=resume")
            if not state.startswith("down"):
                self._replaced.discard(node)
