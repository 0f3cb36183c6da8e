"""A cancelled operation is told apart from a failed one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from trainyard.cli.failures import CANCELLED, CancelledError
from trainyard.deployment.operation_end import finish
from trainyard.engine.engine_process import EngineResult, PulumiCommand
from trainyard.stack_files.stack_files import find_stack_file
from trainyard.workspace.accounts import target_of
from trainyard.workspace.backend import STACK_NOT_FOUND, StackMissingError
from trainyard.workspace.workspace import AccountWorkspace


def ended(exit_code: int, *, interrupted: bool = False, **facts: Any) -> EngineResult:
    return EngineResult(exit_code, interrupted=interrupted, **facts)


def end(result: EngineResult, operation: str = "up") -> None:
    command = PulumiCommand(Path("/none"), Path("/"), {})
    file = find_stack_file("dev")
    finish(result, AccountWorkspace(target_of(file, sandbox=False), command, None), operation)


def test_no_changes_nothing() -> None:
    with pytest.raises(CancelledError) as raised:
        end(ended(1, declined=True))
    assert str(raised.value) == "up of dev; nothing was changed"
    assert raised.value.exit_code == CANCELLED


def test_an_interrupt_before_the_first_change_changes_nothing() -> None:
    with pytest.raises(CancelledError, match="was interrupted; nothing was changed"):
        end(ended(255, interrupted=True), "destroy")


def test_an_interrupt_later_says_what_was_done_and_how_to_continue() -> None:
    with pytest.raises(CancelledError) as raised:
        end(ended(1, interrupted=True, begun=True, changes={"create": 11, "same": 2}))
    assert str(raised.value) == (
        "up of dev was interrupted; completed operations are kept and recorded: 11 changed "
        "(11 create), 2 unchanged\n  continue:  ./trainyard up dev"
    )


def test_a_destroy_that_was_canceled_is_not_taken_for_done() -> None:
    with pytest.raises(CancelledError, match=r"continue:  \./trainyard destroy dev"):
        end(ended(0, interrupted=True, begun=True), "destroy")


def test_what_succeeded_returns() -> None:
    end(ended(0))


def test_a_preview_of_a_stack_that_the_backend_lacks_names_the_command() -> None:
    with pytest.raises(StackMissingError, match="pulumi stack init dev"):
        end(ended(STACK_NOT_FOUND), "preview")
