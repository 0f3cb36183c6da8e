"""Problems of a configuration, with fixes."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from trainyard.components.config.pulumi_command import pulumi_command
from trainyard.components.plain_text import legible, printable, shell_word
from trainyard.components.secret_documents import hidden, hidden_at

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


class ConfigError(Exception):
    """The configuration is invalid; contains every problem.

    `str()` returns the complete message for users.
    """

    def __init__(self, problems: Sequence[Problem], *, stack_file: str) -> None:
        super().__init__(tuple(problems), stack_file)
        self.problems = tuple(problems)
        self.stack_file = stack_file

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
