"""The objects of a template that its conditions create, with computed values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from trainyard.importing.cloudformation.deferred import Deferred
from trainyard.importing.cloudformation.evaluation import Evaluation
from trainyard.importing.reader import Reader
from trainyard.importing.source import Location, child


@dataclass(frozen=True, slots=True)
class Resource:
    """An object of a template."""

    name: str
    """Its logical id."""
    kind: str
    """Its type, such as `AWS::EC2::VPC`."""
    source: Reader

    def at(self, *keys: str | int) -> Reader:
        """Return a place below the properties."""
        return self.source.at("Properties", *keys)

    def claim_made(self, ours: Location, why: str = "") -> None:
        """Record that the stack makes the object."""
        self.source.at("Type").claim("taken over", why, ours=ours)


@dataclass(frozen=True, slots=True)
class Template:
    """The objects of a template."""

    resources: Mapping[str, Resource]

    def of(self, *kinds: str) -> Iterator[Resource]:
        """Yield the objects of some types."""
        return (each for each in self.resources.values() if each.kind in kinds)

    def named_by(self, source: Reader) -> Resource | None:
        """Return the object that a value refers to, or None."""
        value = source.value
        return self.resources.get(value.name) if isinstance(value, Deferred) else None

    def within(self, source: Reader, kind: str) -> Resource | None:
        """Return the object of a type that a value names, also as a part of a text."""
        value = source.value
        names = value.names if isinstance(value, Deferred) else ()
        found = (self.resources[name] for name in names if name in self.resources)
        return next((each for each in found if each.kind == kind), None)


def read_template(source: Reader, evaluation: Evaluation) -> Template:
    """Return the objects that a template creates, and report those that it does not."""
    found: dict[str, Resource] = {}
    for name, given in source.at("Resources").entries():
        if name.startswith("Fn::"):
            given.unsupported(
                "expand loops and macros first: import the template that `aws cloudformation "
                "get-template --template-stage Processed` prints"
            )
            continue
        condition = given.at("Condition")
        if condition.exists and not evaluation.holds(str(condition.value), given.location):
            given.dropped(f"its condition `{condition.value}` is false with these parameters")
            continue
        node = child(child(source.node, "Resources"), name)
        computed = None if node is None else evaluation.value(node, given.location)
        reader = Reader(computed, given.location, source.report)
        found[name] = Resource(name, str(given.at("Type").value or ""), reader)
    return Template(found)
