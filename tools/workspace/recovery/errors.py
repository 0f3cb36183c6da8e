"""Errors that end a recovery."""


class CreatesPendingError(Exception):
    """The account may hold objects that are not in the state; the message says what to do."""
