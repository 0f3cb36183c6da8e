"""The account for the shared checks."""

from tests.account.conftest import block, configure, facts, with_subnet

__all__ = ["block", "configure", "facts", "with_subnet"]
