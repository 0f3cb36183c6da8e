"""Checks that all architectures share, of the stack file and of the account."""
