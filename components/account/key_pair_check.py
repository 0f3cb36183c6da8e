"""Checks of the key pairs that a stack file names."""

from __future__ import annotations

from collections.abc import Iterator

from components.account.facts import AccountFacts
from components.config.problems import Problem


def missing_key_problems(
    path: str, key_name: str | None, facts: AccountFacts, *, loss: str, remedy: str
) -> Iterator[Problem]:
    """Yield a problem if a key pair does not exist.

    Args:
        path: Key of the name in the stack file.
        key_name: The name; None without a key pair, which is allowed.
        facts: The account.
        loss: Consequence: `no node would launch`.
        remedy: Alternative to importing it.
    """
    readable = facts.could_read("ec2:DescribeKeyPairs")
    if key_name is not None and readable and key_name not in facts.key_pairs:
        yield Problem(
            path=path,
            found=key_name,
            problem=f"this key pair does not exist in this region; {loss}",
            remedy=f"import it (`aws ec2 import-key-pair`), or {remedy}",
        )
