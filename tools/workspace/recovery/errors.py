"""What ends a recovery."""


class CreatesPendingError(Exception):
    """An account may hold objects that the state does not know; the message says what to do."""
