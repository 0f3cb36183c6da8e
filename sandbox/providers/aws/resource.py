"""What one type of resource is: its properties, and how it comes, changes and goes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sandbox.providers.aws.account import Account

Values = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceType:
    """One type of resource, in the spelling of pulumi-aws."""

    token: str
    """Type token, such as `aws:ec2/launchTemplate:LaunchTemplate`."""
    inputs: frozenset[str]
    """Properties that a program may set; any other is an error that names it."""
    required: frozenset[str] = frozenset()
    computed: frozenset[str]
    """Outputs that AWS makes; unknown in the preview of a creation."""
    computed_inside: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    """Outputs that AWS adds inside of an input, by that input."""
    replace_on: frozenset[str] = frozenset()
    """Inputs whose change replaces the resource."""
    replace_when: Callable[[Values, Values], list[str]] | None = None
    """Old and new inputs to those whose change replaces the resource only sometimes."""
    recomputed: frozenset[str] = frozenset()
    """Outputs that any change makes anew; unknown in the preview of a change."""
    name_property: str | None = None
    """Property that is made from the logical name where the program gives none."""
    name_prefix_property: str | None = None
    """Property in the place of the name, which the official provider then completes."""
    name_limit: int = 255
    delete_before_replace: bool = False
    """Whether the old object goes before the new one comes, whatever its name."""
    defaults: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Values of properties that the program leaves out, as the official provider fills them in."""
    create: Callable[[Account, Values], tuple[str, Values]]
    """Inputs to id and outputs."""
    settle: Callable[[Account, str, Values], None] | None = None
    """Waits after the creation until the object with this id is what the inputs ask for; where
    that fails the object stays, and the engine knows of it."""
    unknown_inside: Callable[[Values], list[str]] | None = None
    """Paths of nested properties that the sandbox does not know."""
    known_as: Callable[[Account, str], str] | None = None
    """The official provider's id to the one that is used here, where they differ."""
    read: Callable[[Account, str], Values | None]
    """Id to all properties, inputs among them; None where it does not exist."""
    update: Callable[[Account, str, Values, Values], None] | None = None
    """Id, old and new inputs; None where every change replaces."""
    delete: Callable[[Account, str, Values], None]
    """Id and last outputs."""
