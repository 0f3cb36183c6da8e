"""One case of the corpus: a file with a stack or a program, and its expected result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

import yaml

from tests.support.corpus.pulumi_yaml import declared
from tests.support.policy import Program
from tests.support.stack_files import with_values
from tests.support.stacks import STACKS, stack_config

Stage = Literal["schema", "plan", "preflight", "policy"]
STAGES: tuple[Stage, ...] = ("schema", "plan", "preflight", "policy")
"""In the order in which a stack file passes them."""

CASE = "corpus"
"""Property of a test that names the category of its case: a stage, or `good`."""
CASES = Path(__file__).parents[2] / "corpus"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A stack file or a program, as its file in `broken` or `good` describes it."""

    name: str
    """The file's name without its suffix."""
    thread: str = ""
    """URL of the report; optional for good cases."""
    happened: str
    """The reported failure, in one sentence; for a good case, why it looks wrong."""
    stage: Stage | None
    """The stage that must refuse it; None for a good case."""
    at: str = ""
    """Where it is refused: a key below `trainyard:cluster`, or a rule of the policy pack."""
    says: tuple[str, ...] = ()
    """Words that the message must contain."""
    also: tuple[str, ...] = ()
    """Further keys or rules that refuse the same fault."""
    noted: bool = False
    """Whether the plan only notes it, because it may be intended."""
    stack: str = ""
    """The shipped stack file that `changes` change; empty for a program."""
    changes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """New values by their path below `trainyard:cluster`; None removes the key."""
    program: Program = ()
    rules: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    """For a program: the configuration of the pack, by rule."""
    advice: tuple[str, ...] = ()
    """For a good case: rules that give it advice."""
    file: bool = True
    """Whether a file describes it; the stack files of the repository describe themselves."""

    @property
    def raw(self) -> dict[str, Any]:
        """The stack file's `trainyard:cluster`, with the sandbox's ids and with the changes."""
        return with_values(_shipped_config(self.stack), self.changes)

    @property
    def stack_file(self) -> str:
        """The name of the stack file."""
        return f"Pulumi.{self.stack}.yaml"


@cache
def _shipped_config(stack: str) -> dict[str, Any]:
    return stack_config(stack)["trainyard:cluster"]


def broken() -> list[Case]:
    """Return every case that must be refused, by name."""
    return _read("broken")


def good() -> list[Case]:
    """Return every case that must pass: each stack file of the repository, then the files."""
    return [*map(_shipped, STACKS), *_read("good")]


def _shipped(stack: str) -> Case:
    happened = "As it is shipped."
    return Case(name=f"stack-{stack}", happened=happened, stage=None, stack=stack, file=False)


def _read(folder: str) -> list[Case]:
    return [_case(path) for path in sorted((CASES / folder).glob("*.yaml"))]


def _case(path: Path) -> Case:
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    resources = content.pop("resources", {})
    lists = {key: tuple(content.pop(key, ())) for key in ("says", "also", "advice")}
    stage = content.pop("stage", None)
    return Case(name=path.stem, stage=stage, program=declared(resources), **lists, **content)
