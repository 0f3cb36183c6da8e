"""Errors that end a recovery."""


class CreatesPendingError(Exception):
    """The account can have objects that are not in the state; the message explains the fix."""
