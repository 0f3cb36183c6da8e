"""Which logs of a job are wanted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from trainyard.cli import failures
from trainyard.schedulers.job_wait import JobWait
from trainyard.schedulers.listed_job import ListedJob


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRequest:
    """The arguments of `logs STACK JOB`."""

    job: str
    """Name or id."""
    node: int | None = None
    """Number of a node of the job, from 0; None for the first one, or that of `rank`."""
    rank: int | None = None
    """Number of a process of the job, from 0."""
    every_node: bool = False
    previous: bool = False
    """Whether the log is that of the run before the last restart."""
    follow: bool = False
    """Whether to wait for new lines until the job ends."""
    wait: JobWait = field(default_factory=JobWait)
    """The clock."""

    def nodes_of(self, count: int, processes: int | None) -> list[int]:
        """Return the numbers of the nodes whose logs are wanted.

        Args:
            count: Number of nodes of the job.
            processes: Number of processes of a node; None if it is not known.

        Raises:
            WrongUseError: the job has no such node or process.
        """
        if self.every_node:
            return [*range(count)]
        node = self.node or 0
        if self.rank is not None:
            if processes is None:
                raise failures.WrongUseError(
                    f"the job {self.job} does not say how many processes a node has; use --node"
                )
            node = self.rank // processes
        if node >= count:
            nodes = "1 node" if count == 1 else f"{count} nodes"
            has = nodes if self.rank is None else f"{nodes} with {processes} processes each"
            raise failures.WrongUseError(f"the job {self.job} has {has}, numbered from 0")
        return [node]


def newest_of(job: str, listed: Sequence[ListedJob]) -> ListedJob:
    """Return the job of a name or an id; of several, one that has not ended, or the newest.

    Args:
        job: Name or id.
        listed: The jobs of the stack, in that order.

    Raises:
        WrongUseError: there is none.
    """
    for each in listed:
        if each.is_called(job):
            return each
    known = ", ".join(each.id for each in listed)
    raise failures.WrongUseError(f"the stack has no job {job}; it has: {known or 'none'}")
