"""Ends what is left of a Slurm: the programs of its jobs outlive the slurmd that started them."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

from trainyard.sandbox.removal import remove_tree


def kill_programs(directory: Path, file: str = "") -> None:
    """Kill all programs of a Slurm: they have a variable with its configuration.

    Args:
        directory: The directory of the Slurm, or of several.
        file: Name of the configuration of a node, to kill only its programs.
    """
    mark = f"SLURM_CONF={directory}/{file}".encode()
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended, or belongs to another user
            variables = (process / "environ").read_bytes().split(b"\0")
            if any(each.startswith(mark) for each in variables):
                os.kill(int(process.name), signal.SIGKILL)


def remove_slurm(directory: Path) -> None:
    """Kill all programs of a Slurm, or of several, and remove its directory."""
    kill_programs(directory)
    remove_tree(directory)
