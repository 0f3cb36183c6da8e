"""A job of a ParallelCluster stack: a directory of scripts for the head node."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from trainyard.jobs.nodes import JobError
from trainyard.stack_files.files import write_whole

EXECUTABLE = 0o755


@dataclass(frozen=True, slots=True, kw_only=True)
class JobDirectory:
    """The files of a job, and the commands for them."""

    files: Mapping[str, str]
    """Content by name."""
    submit: tuple[str, ...]
    """Commands to run in the directory on the head node; the last one submits the job to Slurm."""
    results: tuple[str, ...]
    """Commands that show the results."""


def write_directory(job: JobDirectory, target: Path, *, force: bool) -> None:
    """Write the scripts of a job into a directory.

    Args:
        job: The job.
        target: The directory; created if it does not exist.
        force: Write into a directory that contains files; files with the same name are replaced,
            others are kept.

    Raises:
        JobError: the directory is not empty, or is a file.
    """
    if target.exists() and not target.is_dir():
        raise JobError(f"{target} is a file; name a directory with --output")
    if not force and target.is_dir() and any(target.iterdir()):
        raise JobError(
            f"{target} is not empty; name another directory with --output, or write into it with "
            "--force"
        )
    target.mkdir(parents=True, exist_ok=True)
    for name, content in job.files.items():
        path = target / name
        write_whole(path, content)
        if content.startswith("#!"):
            path.chmod(EXECUTABLE)
