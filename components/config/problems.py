"""Problems of a configuration or a plan, with fixes, reported all at once."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic_core import PydanticCustomError

from trainyard.components.look_alikes import plain_characters
from trainyard.components.plain_text import legible, printable, shell_word
from trainyard.components.secret_documents import hidden, hidden_at
from trainyard.components.typed_command import pulumi_command


def nearest(found: object, choices: Sequence[str]) -> str | None:
    """Return the allowed value that is meant, by number, then by letters, then by spelling."""
    return next(nearest_of(found, choices), None)


def nearest_of(found: object, choices: Sequence[str]) -> Iterator[str]:
    """Yield the allowed value that is meant, if that is clear."""
    numbers = [int(each) for each in choices if re.fullmatch(r"-?\d+", each)]
    if numbers and len(numbers) == len(choices):
        yield from _of_numbers(found, numbers)
        return
    text = plain_characters(str(found)).strip()
    same = {_letters(each): each for each in choices}
    if _letters(text) in same:
        yield same[_letters(text)]
        return
    close = difflib.get_close_matches(_letters(text), list(same), n=1, cutoff=0.6)
    yield from (same[each] for each in close)


def _of_numbers(found: object, numbers: Iterable[int]) -> Iterator[str]:
    digits = re.search(r"-?\d+", str(found))
    if digits and not isinstance(found, bool):
        wanted = int(digits[0])
        # Of two that are equally near, the larger one.
        yield str(min(numbers, key=lambda each: (abs(each - wanted), -each)))


def _letters(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


ROOT = "trainyard:cluster"
"""The Pulumi configuration key of the whole configuration."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One problem and its fix; what looks like a secret in it is not kept."""

    path: str
    """Key in the stack file, such as `trainyard:cluster.network.vpc_id`."""
    problem: str
    """What is wrong and why it matters."""
    found: object = None
    """The value in the stack file, if any."""
    allowed: str | None = None
    """Allowed values."""
    remedy: str
    """The change to make, with the command if there is one."""
    rules: tuple[str, ...] = ()
    """Ids of the rules in `docs/rules.md` that are broken, the most specific first."""

    def __post_init__(self) -> None:
        """Hide secrets, so that no output, document or log of the problem has them."""
        for name in ("problem", "allowed", "remedy"):
            object.__setattr__(self, name, hidden(getattr(self, name)))
        object.__setattr__(self, "found", hidden_at(last_key(self.path), self.found))


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumed:
    """A valid configuration that is as near to the one in the stack file as possible.

    What is wrong with it otherwise is said together with the problems of the schema.
    """

    config: Any
    """The validated configuration, as `load_stack_config` returns it."""
    paths: tuple[str, ...]
    """Paths of the values that are not those of the stack file."""
    examples: tuple[str, ...]
    """Values that stand for one of the user's."""

    def is_of_the_user(self, problem: Problem) -> bool:
        """Return whether a problem is one of the stack file, and not of what was assumed."""
        said = f"{problem.problem} {show(problem.found)} {problem.allowed} {problem.remedy}"
        return self.is_given(problem.path, said)

    def is_given(self, path: str, said: str) -> bool:
        """Return whether a text about a key says nothing of what was assumed."""
        if any(path.startswith(each) for each in self.paths):
            return False
        return not any(example in said for example in self.examples)


class ConfigError(Exception):
    """The configuration is invalid; contains every problem.

    `str()` returns the complete message for users.
    """

    def __init__(
        self,
        problems: Sequence[Problem],
        *,
        stack_file: str,
        assumed: Assumed | None = None,
        of_plan: Sequence[Problem] = (),
        of_account: Sequence[Problem] = (),
    ) -> None:
        """Keep the problems.

        Args:
            problems: Every problem.
            stack_file: Name of the stack file.
            assumed: The configuration without these problems, if it is known.
            of_plan: Those of the problems that the plan has, and not the schema.
            of_account: Those that the account has besides.
        """
        super().__init__(tuple(problems), stack_file)
        self.problems = tuple(problems)
        self.stack_file = stack_file
        self.assumed = assumed
        self.of_plan = tuple(of_plan)
        self.of_account = tuple(of_account)

    def __str__(self) -> str:
        """Return the headline and one paragraph per problem."""
        count = len(self.problems)
        noun = "problem" if count == 1 else "problems"
        headline = f"{self.stack_file}: {count} {noun}; nothing was changed"
        paragraphs = [headline, *(_paragraph(problem) for problem in self.problems)]
        return legible("\n\n".join(paragraphs))


def _paragraph(problem: Problem) -> str:
    lines = [f"  {problem.path}", f"    problem: {problem.problem}"]
    if problem.found is not None:
        lines.append(f"    found:   {show(problem.found)}")
    if problem.allowed is not None:
        lines.append(f"    allowed: {problem.allowed}")
    lines.append(f"    fix:     {problem.remedy}")
    return "\n".join(lines)


_LONGEST_SHOWN = 120


def last_key(path: str) -> str:
    """Return the last key of a path such as `trainyard:cluster.tags.team`."""
    return re.sub(r'^.*[.:\["]([^.:\["\]]+)["\]]*$', r"\1", path)


def show(value: object) -> str:
    """Return a value of a stack file on one line, as YAML if that is short."""
    written = value if isinstance(value, str) else json.dumps(value, default=str)
    text = printable(" ".join(written.split()))
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 1]}…"


def example_of(path: str, example: str, *, stack_file: str) -> str:
    """Return how to set one key to a value that only the user knows; never a command."""
    return f"set `{path}` in {stack_file}, for example to `{example}`"


_PLACEHOLDER = re.compile(r"VALUE|NUMBER|NAME|ZONE|KEY|SHORTER|YOUR\..*")
"""Values that stand for one of the user's."""


def set_command(path: str, value: str, *, stack_file: str) -> str:
    """Return how to set one key of a stack file: a command for `Pulumi.p5-cb.yaml`.

    A command is only given for a value that can be used as it is, or has `…` for what the user
    adds.
    """
    if _PLACEHOLDER.fullmatch(value):
        return f"set `{path}` in {stack_file} to your own value for `{value}`"
    stack = stack_of(stack_file)
    if stack is None:
        return f"set `{path}` to `{value}` in {stack_file}"
    # A value such as -1 would be parsed as an option.
    end_of_options = "-- " if value.startswith("-") else ""
    return pulumi_command(
        f"config set --stack {shell_word(stack)} --path {end_of_options}{_quoted(path)} "
        f"{shell_word(value)}"
    )


def _quoted(path: str) -> str:
    """Return a path for a POSIX shell, always quoted because of its brackets."""
    return "'{}'".format(path.replace("'", "'\\''"))


def remove_command(path: str, *, stack_file: str) -> str:
    """Return how to remove one key of a stack file: a command for `Pulumi.p5-cb.yaml`."""
    stack = stack_of(stack_file)
    if stack is None:
        return f"remove `{path}` from {stack_file}"
    return pulumi_command(f"config rm --stack {shell_word(stack)} --path {_quoted(path)}")


def stack_of(stack_file: str) -> str | None:
    """Return the stack of a stack file, or None for a file elsewhere."""
    match = re.fullmatch(r"Pulumi\.([^/]+)\.yaml", stack_file)
    return match.group(1) if match else None


Contradiction = dict[str, str]
"""Key, problem, reason, allowed values and fix."""


def fault(key: str, problem: str, *, why: str, allowed: str, remedy: str) -> Contradiction:
    """Return one contradiction.

    Args:
        key: Key in the section, such as `iops`.
        problem: The problem, as text that follows the key.
        why: The reason, for the message.
        allowed: Allowed values.
        remedy: What to write instead.
    """
    return {"key": key, "problem": problem, "why": why, "allowed": allowed, "remedy": remedy}


def place_faults(
    *, subnet_id: str | None, availability_zone: str | None
) -> Iterator[Contradiction]:
    """Yield a problem if both a subnet and a zone are set."""
    if subnet_id is not None and availability_zone is not None:
        yield fault(
            "availability_zone",
            "is given together with subnet_id",
            why="the subnet already determines the zone",
            allowed="one of availability_zone and subnet_id",
            remedy="remove availability_zone",
        )


def raise_all(found: Iterable[Contradiction]) -> None:
    """End the validation of a model.

    Raises:
        PydanticCustomError: `found` is not empty.
    """
    every = list(found)
    if every:
        raise PydanticCustomError("contradictions", "does not fit together", {"all": every})


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

    def remove_after_first(self, key: str, entries: Sequence[str]) -> str:
        """Return the commands that remove all entries of a list but the first."""
        numbers = range(len(entries) - 1, 0, -1)
        return " and ".join(self.remove_command(f"{key}[{number}]") for number in numbers)

    def remove_repeated(self, key: str, entries: Sequence[str]) -> str:
        """Return the commands that remove entries of a list that are in it already."""
        # From the last one on, so that the numbers of the others stay as they are.
        again = [n for n, each in enumerate(entries) if each in entries[:n]]
        commands = (self.remove_command(f"{key}[{number}]") for number in reversed(again))
        return f"remove the second one: {' and '.join(commands)}"

    def close(self) -> None:
        """End the review.

        Raises:
            ConfigError: a problem was recorded.
        """
        if self.problems:
            raise ConfigError(self.problems, stack_file=self.stack_file)
