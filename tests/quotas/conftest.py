"""The account for the tests of this folder."""

from tests.support.eks_account import account, block, facts, reader, server

__all__ = ["account", "block", "facts", "reader", "server"]
