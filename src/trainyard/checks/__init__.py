"""Checks of a stack file with the account, and how their results are shown."""
