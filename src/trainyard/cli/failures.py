"""Errors that end a command with a message and an exit code."""

from __future__ import annotations

WORK_FAILED = 1
"""Exit code: the operation started and failed."""
WRONG_USE = 2
"""Exit code: invalid usage or configuration; nothing was started."""
CANCELLED = 3
"""Exit code: the user answered no or interrupted the command."""

TIMED_OUT = 124
"""Exit code: the job ran longer than its time limit, as the command `timeout` says it.
https://www.gnu.org/software/coreutils/manual/html_node/timeout-invocation.html"""


class CommandError(Exception):
    """Ends a command with a message on standard error and an exit code."""

    def __init__(self, message: str, *, exit_code: int = WORK_FAILED) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class CancelledError(CommandError):
    """The user answered no or interrupted the command; the message says what was done."""

    def __init__(self, message: str) -> None:
        super().__init__(message, exit_code=CANCELLED)


class JobFailedError(CommandError):
    """A job has failed; the command ends with the exit code of its program.

    The codes 2 and 3 of a program become 1, because a command that ends with them has started
    nothing, or was interrupted.
    """

    def __init__(self, message: str, code: int | None) -> None:
        """Create the error.

        Args:
            message: Why the job has failed.
            code: Exit code of the program; None or 0 if it has none.
        """
        own = code if code is not None and CANCELLED < code <= 255 else WORK_FAILED
        super().__init__(message, exit_code=own)


class NotDeployedError(CommandError):
    """The stack has no resources, or no outputs, yet."""


class WrongUseError(CommandError):
    """The arguments or the configuration cannot be used."""

    def __init__(self, message: str) -> None:
        super().__init__(message, exit_code=WRONG_USE)
