"""The account against which whole stacks are checked."""

from tests.account.conftest import block, configure, facts, with_subnet

__all__ = ["block", "configure", "facts", "with_subnet"]
