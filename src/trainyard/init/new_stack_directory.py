"""Where a new stack file is written, by `init` and by `import`."""

from __future__ import annotations

import os
from pathlib import Path

from trainyard.components.config.pulumi_command import as_typed
from trainyard.init.question import Ask, Question
from trainyard.stack_files import stacks_directory
from trainyard.stack_files.installation import INSTALLATION

DEFAULT_DIRECTORY = "~/trainyard-stacks"
"""Directory for stack files that is proposed in a clone."""


def new_stack_directory(ask: Ask, *, yes: bool) -> Path | None:
    """Return the directory of the file, which may not exist yet; None without an answer."""
    chosen = stacks_directory.chosen_directory()
    here = Path(os.path.realpath("."))
    clone = INSTALLATION.clone
    if chosen is not None and chosen != clone:
        return chosen
    if stacks_directory.is_stacks_directory(here):
        return here
    if clone is None or (not here.is_relative_to(clone) and not any(here.iterdir())):
        return here
    remembered = stacks_directory.stacks_directory() if chosen is None else clone
    if remembered != clone:
        return remembered
    question = Question(
        option="--stacks",
        text="In which directory do you want to keep your stack files?",
        default=(DEFAULT_DIRECTORY,) if yes else None,
        suggested=(DEFAULT_DIRECTORY,),
        otherwise=f" before `init`; or `--yes` for {DEFAULT_DIRECTORY}",
    )
    answer = ask(question)
    return Path(answer[0]).expanduser().absolute() if answer else None


def write_new_stack(path: Path, text: str) -> None:
    """Write a stack file that does not exist yet, and its directory.

    Raises:
        FileExistsError: the file exists.
    """
    stacks_directory.create(path.parent)
    with path.open("x", encoding="utf-8") as file:
        file.write(as_typed(text))
