"""The account for the checks of a Batch stack."""

from tests.support.eks_account import block, configure, facts, with_subnet

__all__ = ["block", "configure", "facts", "with_subnet"]
