"""The functions of a template, in their long and their short form.

https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference.html
"""

from __future__ import annotations

from dataclasses import dataclass

from trainyard.importing.source import Location, Node

IF, REF, GET_ATTRIBUTE = "Fn::If", "Ref", "Fn::GetAtt"


@dataclass(frozen=True, slots=True)
class Function:
    """A call of a function."""

    name: str
    """The name of the long form: `Ref`, `Fn::Sub`."""
    argument: Node
    at: Location
    """Place of the argument."""


def function_of(node: Node, at: Location) -> Function | None:
    """Return the function that computes a value, or None for a plain value."""
    if node.tag.startswith("!"):
        short = node.tag.removeprefix("!")
        name = short if short in (REF, "Condition") else f"Fn::{short}"
        return Function(name, Node(node.value, node.line), at)
    if isinstance(node.value, dict) and len(node.value) == 1:
        ((name, argument),) = node.value.items()
        if name == REF or name.startswith("Fn::"):
            return Function(name, argument, (*at, name))
    return None
