"""`preview --html`: what is and what will be, in one picture."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from trainyard.changes.steps import Step
from trainyard.cli import console
from trainyard.deployment.stack_report import Contents, seen_in_account, stack_report
from trainyard.stack_files.files import write_whole
from trainyard.stack_files.stack_files import StackFile
from trainyard.topology.changes import deleted_parts, with_changes


def write_preview_report(
    path: Path, stack_file: StackFile, steps: Sequence[Step], *, sandbox: bool
) -> None:
    """Write a report with the steps of a preview.

    Raises:
        CommandError: the account cannot be read.
        OSError: the file cannot be written.
    """
    stack = stack_file.stack
    seen = seen_in_account(stack_file, sandbox=sandbox)
    gone = deleted_parts(seen.topology, steps, seen.plan)
    root = with_changes(dataclasses.replace(seen, gone=gone).topology, steps)
    title = f"Changes of {stack}"
    write_whole(path, stack_report(stack, seen, Contents(title, topology=root, changes=steps)))
    console.progress(f"the picture of the changes is in {path}")
