"""One case of the corpus: a file with a stack or a program, and its expected result.

Programs in Pulumi's YAML language are what a preview shows to the policy pack: outputs of other
resources, such as `${efa.id}`, are unknown; their inputs are known. Only the features that the
corpus needs are supported: `type`, `properties`, `options.protect` and `fn::toJSON`.

Source:
    https://www.pulumi.com/docs/iac/languages-sdks/yaml/yaml-language-reference/
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal, cast

import yaml

from tests.support.policy import UNKNOWN, Declared, Program
from tests.support.stack_files import with_values
from tests.support.stacks import STACKS, stack_config

_REFERENCE = re.compile(r"\$\{([\w-]+)(?:\.(\w+))?\}")
_TO_JSON = "fn::toJSON"


def declared(resources: Mapping[str, Any]) -> Program:
    """Return the `resources` of a program as the engine declares them during a preview."""
    return tuple(_resource(name, made, resources) for name, made in resources.items())


def _resource(name: str, made: Mapping[str, Any], resources: Mapping[str, Any]) -> Declared:
    properties = cast("Mapping[str, Any]", made.get("properties", {}))
    depends = {key: sorted(set(_names(value))) for key, value in properties.items()}
    return Declared(
        type_token(made["type"]),
        name,
        {key: _value(value, resources) for key, value in properties.items()},
        {key: names for key, names in depends.items() if names},
        protect=made.get("options", {}).get("protect", False),
    )


def type_token(written: str) -> str:
    """Return the full token of a type from its short form, such as `aws:ec2:LaunchTemplate`."""
    package, module, name = written.split(":")
    if package != "aws" or "/" in module:
        return written
    return f"{package}:{module}/{name[0].lower()}{name[1:]}:{name}"


def _value(value: Any, resources: Mapping[str, Any]) -> Any:
    if isinstance(value, Mapping):
        whole = cast("Mapping[str, Any]", value)
        if _TO_JSON in whole:
            return _json(_value(whole[_TO_JSON], resources))
        return {key: _value(inner, resources) for key, inner in whole.items()}
    if isinstance(value, list):
        return [_value(inner, resources) for inner in cast("list[Any]", value)]
    if not isinstance(value, str) or not (found := _REFERENCE.search(value)):
        return value
    name, key = found.groups()
    given = resources[name].get("properties", {}).get(key)
    if found.group() == value and given is not None:
        return _value(given, resources)
    return UNKNOWN


def _json(value: Any) -> str:
    text = json.dumps(value)
    # One unknown value makes the whole text unknown.
    return UNKNOWN if UNKNOWN in text else text


def _names(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for inner in cast("Mapping[str, Any]", value).values():
            yield from _names(inner)
    elif isinstance(value, list):
        for inner in cast("list[Any]", value):
            yield from _names(inner)
    elif isinstance(value, str):
        yield from (name for name, _ in _REFERENCE.findall(value))


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
