"""Checks of the key pairs that a stack file names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.components.account.facts import AccountFacts
from trainyard.components.checks.check import Subject
from trainyard.components.config.problems import ROOT, Problem
from trainyard.components.config.stack import StackConfig


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


def pool_key_problems(
    key: str, names: Mapping[str, str | None], facts: AccountFacts, *, remedy: str
) -> Iterator[Problem]:
    """Yield the key pairs of node pools that do not exist.

    Args:
        key: Key of the section of the pools, relative to `trainyard:cluster`.
        names: Names of the key pairs, by pool; None without one.
        facts: The account.
        remedy: Alternative to importing it.
    """
    for pool, name in names.items():
        path = f"{ROOT}.{key}.{pool}.ssh_key_name"
        yield from missing_key_problems(
            path, name, facts, loss="no node would launch", remedy=remedy
        )


def key_pair_subjects(config: StackConfig, facts: AccountFacts) -> Iterator[Subject]:
    """Yield what the checks of key pairs ask."""
    for name in sorted(config.architecture.key_names()):
        found = f"{name}, {facts.key_pairs.get(name, 'type unknown')}"
        calls = ("ec2:DescribeKeyPairs",)
        yield Subject("architecture", "the key pair exists and fits", found, calls)
