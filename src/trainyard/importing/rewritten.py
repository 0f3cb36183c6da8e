"""A document of another format that is written from objects of an API.

An eksctl `ClusterConfig` or a template of AWS Batch has a key for most of what an API answers or
takes, so one conversion makes the decisions for both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from trainyard.importing.draft import StackDraft
from trainyard.importing.formats import Format
from trainyard.importing.reader import Reader
from trainyard.importing.report import Report
from trainyard.importing.source import Location, Node, child, node_of_value


@dataclass(slots=True)
class Rewritten:
    """Values by their place in the document, and the answers that they come from."""

    format: Format
    values: dict[Location, Any] = field(default_factory=dict[Location, Any])
    origins: list[tuple[Location, Location]] = field(
        default_factory=list[tuple[Location, Location]]
    )
    """Place in the document, and place of the answer."""

    def put(self, at: Location, value: Any) -> None:
        """Set a key that no answer has."""
        self.values[at] = value

    def take(
        self, at: Location, source: Reader, change: Callable[[Any], Any] | None = None
    ) -> None:
        """Set a key to the value of an answer, if there is one."""
        if source.exists:
            self.values[at] = change(source.value) if change else source.value
            self.origins.append((at, source.location))

    def convert(self, source: Reader, stack: StackDraft) -> None:
        """Read the document into a stack file, and report on the answers behind it."""
        conversion = self.format.conversion()
        root, report = _node(self.values), Report()
        conversion.convert(Reader(root, (), report), stack)
        for at, answer in self.origins:
            node = root
            for part in at:
                node = child(node, part) or Node(None, 0)
            keys = conversion.KEYS.keys_of(root, at)
            claim = report.claim_of(at, node.value, conversion.FATES, keys)
            source.report.claim(replace(claim, location=answer))
        answers = dict(self.origins)
        for ours, at in report.origins.items():
            if at in answers:
                source.report.origins.setdefault(ours, answers[at])
        source.report.notes += report.notes


def _node(values: dict[Location, Any]) -> Node:
    """Return values by location as one document; numbers are indexes of lists."""
    tree: dict[str | int, Any] = {}
    for (*parents, last), value in values.items():
        place = tree
        for part in parents:
            place = place.setdefault(part, {})
        place[last] = value
    return node_of_value(_listed(tree))


def _listed(tree: Any) -> Any:
    if not isinstance(tree, dict):
        return tree
    if tree and all(isinstance(key, int) for key in tree):
        return [_listed(tree[key]) for key in sorted(tree)]
    return {key: _listed(value) for key, value in tree.items()}
