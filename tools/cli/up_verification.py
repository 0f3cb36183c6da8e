"""`up --verify`: the verification of all nodes of a stack after its deployment."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import typer

from tools.cli import failures
from tools.cli.stack_config import plan_of
from tools.cli.verify import planned_of, refuse_without_accelerators, verify
from tools.verify.planned_nodes import verifiable_pools
from tools.workspace.stack_files import StackFile


def planned_verification(
    found: StackFile, *, stack_file: Path | None, sandbox: bool
) -> Callable[[], None]:
    """Return the verification of all pools of a stack, one after the other, for after the update.

    It raises `typer.Exit` if a pool fails, whose result is printed, and `CommandError` if a test
    did not run.

    Args:
        found: The stack file.
        stack_file: Its path if the user named it.
        sandbox: Whether the stack is in the sandbox.

    Raises:
        ConfigError: the configuration is invalid; the error lists every problem.
        WrongUseError: nothing can be verified there.
    """
    plan: Any = plan_of(found)
    pools = verifiable_pools(plan)
    if not pools:
        raise failures.WrongUseError(
            f"--verify tests accelerators, and {found.stack} has no nodes with accelerators now; "
            "omit it"
        )
    for options in pools:
        planned = planned_of(found, nodes=None, given=options)
        if sandbox:
            refuse_without_accelerators(found.architecture, planned)
    return partial(_verify_all, found.stack, pools, stack_file=stack_file, sandbox=sandbox)


def _verify_all(
    stack: str, pools: Sequence[Mapping[str, str]], *, stack_file: Path | None, sandbox: bool
) -> None:
    failed = False
    for options in pools:
        named: Any = {name.removeprefix("--").replace("-", "_"): options[name] for name in options}
        try:
            verify(stack, **named, stack_file=stack_file, sandbox=sandbox)
        except typer.Exit:
            failed = True
    if failed:
        raise typer.Exit(failures.WORK_FAILED)
