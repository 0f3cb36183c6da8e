"""Collect the problems of a plan, to report all of them at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from trainyard.components.config.nearest import nearest
from trainyard.components.config.problems import (
    ROOT,
    ConfigError,
    Problem,
    example_of,
    remove_command,
    set_command,
)


@dataclass(slots=True, kw_only=True)
class Review:
    """Problems and notes about one stack file, in the order in which they were found."""

    stack_file: str
    problems: list[Problem] = field(default_factory=list[Problem])
    notes: list[str] = field(default_factory=list[str])

    def refuse(
        self,
        key: str,
        problem: str,
        *,
        remedy: str,
        found: object = None,
        allowed: str | None = None,
        rules: tuple[str, ...] = (),
    ) -> None:
        """Record a problem.

        `key` is relative to `trainyard:cluster`; `rules` are the ids of the rules in
        `docs/rules.md` that the stack breaks, the most specific first. The same problem is recorded
        once: `further_blocks` are pools with the same settings.
        """
        found_here = Problem(
            path=f"{ROOT}.{key}",
            problem=problem,
            found=found,
            allowed=allowed,
            remedy=remedy,
            rules=rules,
        )
        if found_here not in self.problems:
            self.problems.append(found_here)

    def note(self, text: str) -> None:
        """Record information for the user that is not an error."""
        self.notes.append(text)

    def set_command(self, key: str, value: str) -> str:
        """Return the command that sets a key, relative to `trainyard:cluster`."""
        return set_command(f"{ROOT}.{key}", value, stack_file=self.stack_file)

    def nearest_command(self, key: str, found: str, choices: Sequence[str]) -> str:
        """Return the command that sets a key to the value that is meant, or an example."""
        meant = nearest(found, choices)
        if meant is not None or len(choices) == 1:
            return self.set_command(key, meant or choices[0])
        return self.example_of(key, choices[0])

    def example_of(self, key: str, example: str) -> str:
        """Return how to set a key to a value that only the user knows; never a command."""
        return example_of(f"{ROOT}.{key}", example, stack_file=self.stack_file)

    def remove_command(self, key: str) -> str:
        """Return the command that removes a key, relative to `trainyard:cluster`."""
        return remove_command(f"{ROOT}.{key}", stack_file=self.stack_file)

    def close(self) -> None:
        """End the review.

        Raises:
            ConfigError: a problem was recorded.
        """
        if self.problems:
            raise ConfigError(self.problems, stack_file=self.stack_file)
