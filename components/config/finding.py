"""One error of pydantic, placed in the stack file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic_core import ErrorDetails

from trainyard.components.config.given_stack import GivenStack
from trainyard.components.config.keys import Location, Place, path_of, place_at, value_at
from trainyard.components.config.problems import example_of, set_command


@dataclass(frozen=True, slots=True)
class Finding:
    """One error of pydantic, placed in the stack file."""

    raw: Any
    stack_file: str
    location: Location
    error: ErrorDetails

    @property
    def path(self) -> str:
        """The location, in the syntax of `pulumi config set --path`."""
        return path_of(self.location)

    @property
    def found(self) -> Any:
        """The value at the location, if any."""
        return value_at(self.raw, self.location)

    @property
    def context(self) -> Mapping[str, Any]:
        """The context of the error, by name."""
        return self.error.get("ctx") or {}

    @property
    def place(self) -> Place | None:
        """The schema of the location; None for an unknown key."""
        return place_at(GivenStack, self.raw, self.location)

    @property
    def example(self) -> str:
        """An example of a valid value."""
        place = self.place
        return (place.example if place else None) or "VALUE"

    def set_to(self, value: str) -> str:
        """Return the command that sets a value here."""
        return set_command(path_of(self.location), value, stack_file=self.stack_file)

    def example_of(self, value: str, location: Location | None = None) -> str:
        """Return how to set a value that only the user knows.

        For an id it is the command with `…` in place of the digits, which cannot be run as it is;
        otherwise an example that is no command.
        """
        path = path_of(self.location if location is None else location)
        shown = re.sub(r"-[0-9a-f]{17}$", "-…", value)
        if shown != value:
            return set_command(path, shown, stack_file=self.stack_file)
        return example_of(path, value, stack_file=self.stack_file)

    @property
    def parent(self) -> Finding:
        """The same error, placed at the section of this place."""
        return Finding(self.raw, self.stack_file, self.location[:-1], self.error)

    def below(self, key: str) -> Finding:
        """Return the same error, placed at a key of this place."""
        return Finding(self.raw, self.stack_file, (*self.location, key), self.error)
