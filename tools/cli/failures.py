"""Errors that end a command with a message and an exit code."""

from __future__ import annotations

WORK_FAILED = 1
"""Exit code: the operation started and failed."""
WRONG_USE = 2
"""Exit code: invalid usage or configuration; nothing was started."""
CANCELLED = 3
"""Exit code: the user answered no or interrupted the command."""


class CommandError(Exception):
    """Ends a command with a message on standard error and an exit code."""

    def __init__(self, message: str, *, exit_code: int = WORK_FAILED) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class CancelledError(CommandError):
    """The user answered no or interrupted the command; the message says what was done."""

    def __init__(self, message: str) -> None:
        super().__init__(message, exit_code=CANCELLED)


class NotDeployedError(CommandError):
    """The stack has no resources, or no outputs, yet."""


class WrongUseError(CommandError):
    """The arguments or the configuration cannot be used."""

    def __init__(self, message: str) -> None:
        super().__init__(message, exit_code=WRONG_USE)
