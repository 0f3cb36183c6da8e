"""Errors of purchases, without the imports of what raises them."""


class UnreadableRecordError(Exception):
    """The record of a purchase cannot be read; the message says what to do."""
