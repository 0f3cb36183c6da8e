"""The account for the tests of this folder."""

from tests.support.eks_account import (
    account,
    block,
    configure,
    facts,
    launched,
    more,
    reader,
    server,
)

__all__ = ["account", "block", "configure", "facts", "launched", "more", "reader", "server"]
