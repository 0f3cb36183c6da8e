"""Commands in the documents have the arguments of the command line, and YAML has known keys."""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import typer
import yaml
from pulumi.automation import ProjectSettings
from typer.core import TyperGroup

from tests.contract.support.code_blocks import CodeBlock, code_blocks, commands
from tests.support.tracked import ROOT, tracked
from tools.clone import COMMANDS
from trainyard.cli.command_line import command
from trainyard.jobs.job_file import read_job_file
from trainyard.sandbox.faults.schedule import read_schedule
from trainyard.stack_files.files import FileRefusedError

UsageError = typer.BadParameter.__base__
"""Error of the parser of the command line."""
MODELS = ("StackConfig", "EksArchitecture", "ParallelClusterArchitecture", "BatchArchitecture")
"""Models whose keys a block can begin with."""
SHELL = ("sh", "console", "bash", "")
BLOCKS = [
    block
    for path in tracked(".md")
    if not {"goldens", "decisions"} & set(path.parts) and path.name != "CHANGELOG.md"
    for block in code_blocks(path)
]


def name(block: CodeBlock) -> str:
    return f"{block.path}:{block.line}"


def problem_of(arguments: list[str]) -> str:
    """Return why the command line does not take these arguments; empty if it does."""
    word, *rest = arguments
    if word.startswith("-"):
        return "" if word in ("-h", "--help", "--version", "--stacks") else f"no option {word}"
    if word not in COMMANDS:
        return f"no command {word}"
    parsed: Any = command(word, COMMANDS)
    while isinstance(parsed, TyperGroup) and rest:
        word, *rest = rest
        if word not in parsed.commands:
            return f"no command {word}"
        parsed = parsed.commands[word]
    try:
        parsed.make_context(word, rest)
    except typer.Exit:
        return ""
    except UsageError as error:
        return error.format_message()
    except FileRefusedError:
        return ""  # the words are right, and the file is the reader's
    return ""


@pytest.mark.parametrize(
    "block",
    [each for each in BLOCKS if each.language in SHELL and [*commands(each.text)]],
    ids=name,
)
def test_commands_have_the_arguments_of_the_command_line(block: CodeBlock) -> None:
    problems = {" ".join(each): problem_of(each) for each in commands(block.text)}
    assert not {command: why for command, why in problems.items() if why}


@pytest.mark.parametrize(
    "arguments",
    ["status", "status p5-cb --sand-box", "run p5-cb --imag x", "stauts p5-cb", "capacity by cb-1"],
)
def test_commands_that_do_not_exist_are_found(arguments: str) -> None:
    assert problem_of(arguments.split())


def read_as_a_stack_file(block: CodeBlock, directory: Path) -> None:
    """Compare keys and values of a part of a stack file with the schema."""
    content = yaml.safe_load(block.text)
    part = content.get("trainyard:cluster", content)
    schema = without_required(json.loads((ROOT / "docs/schema/stack.schema.json").read_text()))
    models = [schema["$defs"][each] for each in MODELS]
    model = next((each for each in models if {*part} & {*each["properties"]}), models[0])
    partial = {**model, "$defs": schema["$defs"], "required": []}
    errors = jsonschema.Draft202012Validator(partial).iter_errors(part)
    assert not [f"{error.json_path}: {error.message}" for error in errors]


def read_as_a_whole_stack_file(block: CodeBlock, directory: Path) -> None:
    """Compare keys and values of `config` with the schema."""
    schema = without_required(json.loads((ROOT / "docs/schema/stack.schema.json").read_text()))
    errors = jsonschema.Draft202012Validator(schema).iter_errors(yaml.safe_load(block.text))
    assert not [f"{error.json_path}: {error.message}" for error in errors]


def without_required(schema: Any) -> Any:
    """Return a schema for parts of an object; `kind` stays required, because it selects one."""
    if isinstance(schema, list):
        return [without_required(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: without_required(value) for key, value in schema.items()}
    if isinstance(found.get("required"), list):
        found["required"] = [key for key in found["required"] if key == "kind"]
    return found


def read_as_a_job_file(block: CodeBlock, directory: Path) -> None:
    path = directory / "train.yaml"
    path.write_text(block.text)
    read_job_file(path)


def read_as_a_schedule(block: CodeBlock, directory: Path) -> None:
    """Read faults of the sandbox; the logs that they print exist."""
    for log in re.findall(r"log: ([a-z-]+\.log)", block.text):
        (directory / log).touch()
    assert read_schedule(block.text, directory)


def read_as_kubernetes(block: CodeBlock, directory: Path) -> None:
    """A part of a pod, of which the API server has the schema."""
    assert set(yaml.safe_load(block.text)) <= {"spec", "volumes"}


def read_as_an_alert_manager(block: CodeBlock, directory: Path) -> None:
    """A definition of an alert manager of Prometheus, which sends to a receiver that it has."""
    definition = yaml.safe_load(yaml.safe_load(block.text)["alertmanager_config"])
    (receiver,) = definition["receivers"]
    assert definition["route"]["receiver"] == receiver["name"]
    for each in receiver["sns_configs"]:
        assert each["topic_arn"].split(":")[3] == each["sigv4"]["region"]


def read_as_steps(block: CodeBlock, directory: Path) -> None:
    """Steps of a workflow; those of this repository have the inputs of its action."""
    inputs = yaml.safe_load((ROOT / "action.yml").read_text())["inputs"]
    own = [step for step in yaml.safe_load(block.text) if "/trainyard@" in step["uses"]]
    assert own
    assert all(set(step["with"]) <= set(inputs) for step in own)


def read_as_hooks(block: CodeBlock, directory: Path) -> None:
    """Hooks of pre-commit, which this repository has."""
    own = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    for repository in yaml.safe_load(block.text)["repos"]:
        assert {hook["id"] for hook in repository["hooks"]} <= {hook["id"] for hook in own}


def read_as_a_project(block: CodeBlock, _directory: Path) -> None:
    """As the SDK reads a `Pulumi.yaml`."""
    read = ProjectSettings(**yaml.safe_load(block.text))
    assert read.name
    assert read.runtime == "python"


READERS = (
    (re.compile(r"- uses: "), read_as_steps),
    (re.compile(r"repos:"), read_as_hooks),
    (re.compile(r"config:"), read_as_a_whole_stack_file),
    (re.compile(r"alertmanager_config:"), read_as_an_alert_manager),
    (re.compile(r"- \{?(?:call|happens): "), read_as_a_schedule),
    (re.compile(r"(?:# in a pod\n|spec:)"), read_as_kubernetes),
    (re.compile(r"name: .*\nimage: "), read_as_a_job_file),
    (re.compile(r"name: .*\nruntime: "), read_as_a_project),
    (re.compile(""), read_as_a_stack_file),
)
"""How a block is read, by its first words; a comment with a file name is left out."""


@pytest.mark.parametrize("block", [each for each in BLOCKS if each.language == "yaml"], ids=name)
def test_yaml_has_the_keys_of_its_kind(block: CodeBlock, tmp_path: Path) -> None:
    text = re.sub(r"\A# \S+\.ya?ml\b.*\n", "", textwrap.dedent(block.text))
    read = next(reader for first, reader in READERS if first.match(text))
    read(block._replace(text=text), tmp_path)


@pytest.mark.parametrize(
    "text",
    ["storage: {data: {kind: fsx-lustr}}", "netwerk: {kind: new-vpc}", "monitoring: {alarm: {}}"],
)
def test_a_key_that_does_not_exist_is_found(text: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        read_as_a_stack_file(CodeBlock(Path("x.md"), 1, "yaml", text), tmp_path)
