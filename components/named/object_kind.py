"""A kind of AWS object that a stack file names, and what its checks know besides the object."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from trainyard.components.account.facts import AccountFacts
from trainyard.components.config.named import Named
from trainyard.components.config.problems import Problem
from trainyard.components.config.stack import StackConfig
from trainyard.components.named.lookup import LookUp
from trainyard.components.tagging import CLUSTER_TAG


@dataclass(frozen=True, slots=True)
class NamedContext:
    """The stack and the account."""

    config: StackConfig
    facts: AccountFacts
    region: str
    stack_file: str

    @property
    def stack(self) -> str:
        """Name of the stack; empty if the name of the file does not contain it."""
        found = re.fullmatch(r"Pulumi\.(.+)\.yaml", self.stack_file)
        return found[1] if found else ""

    def may_exist(self, use: Named) -> bool:
        """Whether the resource that uses the object may exist already.

        An update then does not create it, so that a problem of the object is a warning.
        """
        if self.facts.deployed_cluster is not None:
            return True
        if use.key.startswith("storage."):
            systems = self.facts.file_systems.values()
            return any(each.tags.get(CLUSTER_TAG) == self.config.name for each in systems)
        cluster = self.facts.cluster
        return cluster is not None and cluster.secrets_key_arn == use.name


def _nothing(use: Named, found: Any, context: NamedContext) -> tuple[()]:
    del use, found, context
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectKind:
    """A kind of AWS object that a stack file can name."""

    check: str
    """Name of the check."""
    asked: str
    """The checked conditions, for a row."""
    calls: tuple[str, ...]
    """The AWS calls of `look_up`."""
    look_up: LookUp
    problems: Callable[[Named, Any, NamedContext], Iterable[Problem]] = _nothing
    """Yields why `up` would fail; the second argument is the object, or None if it does not exist.
    """
    warnings: Callable[[Named, Any, NamedContext], Iterable[str]] = _nothing
    """Yields what AWS accepts, but is hardly meant."""
