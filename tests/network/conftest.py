"""The account for the tests of this folder."""

from tests.support.eks_account import account, block, configure, facts, reader, server, with_subnet

__all__ = ["account", "block", "configure", "facts", "reader", "server", "with_subnet"]
