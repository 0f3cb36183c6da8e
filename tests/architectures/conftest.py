"""The account that whole stacks are checked against."""

from tests.account.conftest import block, configure, facts, with_subnet

__all__ = ["block", "configure", "facts", "with_subnet"]
