"""The account that the checks of a Batch stack read."""

from tests.account.conftest import block, configure, facts, with_subnet

__all__ = ["block", "configure", "facts", "with_subnet"]
