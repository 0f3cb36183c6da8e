"""Secrets of every form, in every input of every command, are in none of its outputs.

Every command that reads a stack file is found by its options, so that a new command is tried too.
What leaves a deployed stack is searched in the lives of stacks: `test_secrets` in `tests/faults`,
and `diagnose` with jobs in `tests/stacks`.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import Result

from tests.support import batch
from tests.support.import_sources import batch as batch_template
from tests.support.import_sources import cluster, cluster_config
from tests.support.parallelcluster import RAW_P4DE
from tests.support.secret_forms import CHOSEN, DOCUMENTS, TEXTS
from tests.trainyard.cli.conftest import COMPLETE
from trainyard.cli.command_line import COMMANDS, command

Run = Callable[..., Result]
NOT_HERE: Mapping[str, str] = {
    "accept": "runs other commands; its report is in tests/trainyard/acceptance/test_report.py",
    "sandbox": "its subcommands need a sandbox: tests/faults/test_secrets.py",
    "pulumi": "runs the Pulumi CLI, whose output is not ours",
    "completion": "has no input",
    "list": "shows the names of stack files: below",
    "init": "writes the user's own file: below",
    "import": "reads files of other tools: below",
    "lint": "reads files of other tools: below",
    "explain": "reads the name of a rule: below",
}
"""Commands without an option for a stack file."""
ARGUMENTS: Mapping[str, tuple[str, ...]] = {
    "artifact": ("kubeconfig",),
    "cancel": ("train",),
    "job": ("nccl-tests",),
    "logs": ("train",),
    "ssm": ("i-0123456789abcdef0",),
}
"""Further arguments of commands, after the stack."""
CLUSTERS: Mapping[str, Any] = {
    "p5-cb": COMPLETE,
    "batch-p5": batch.RAW,
    "pc-p4de-g5": RAW_P4DE,
}


def option_names(name: str) -> set[str]:
    """Return the options of a command, also of its subcommands."""
    listed = getattr(command(name), "commands", {}).values()
    return {o for each in (command(name), *listed) for p in each.params for o in p.opts}


WITH_STACK_FILE = [each for each in COMMANDS if each not in NOT_HERE]


def invocations(name: str) -> Iterator[list[str]]:
    """Yield the options of every form of output that a command has."""
    yield []
    for form in ("--json", "--sarif"):
        if form in option_names(name):
            yield [form]


def leaks(result: Result, *files: Path) -> list[str]:
    """Return the ids of the secrets in an output, also of those that lines break."""
    assert result.exception is None or isinstance(result.exception, SystemExit), result.output
    said = "\n".join([result.output, result.stderr, *(each.read_text("utf-8") for each in files)])
    whole = "".join(said.split())
    return [each.id for each in TEXTS if each.secret in said or each.secret in whole]


def planted(raw: Any) -> dict[str, Any]:
    """Return a configuration with secrets in its values and as keys that it does not have."""
    content = copy.deepcopy(raw)
    content["tags"] = {f"t{at}": each.text for at, each in enumerate(TEXTS)}
    content |= {f"unknown{at}": each for at, each in enumerate(DOCUMENTS.values())}
    content["architecture"] |= {each.text: each.text for each in TEXTS}
    content["network"]["vpc_id"] = [each.text for each in TEXTS]
    return content


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Path]:
    def write(name: str, content: object) -> Path:
        path = tmp_path / name
        is_json = name.endswith(".json")
        text = (
            content
            if isinstance(content, str)
            else (json.dumps(content) if is_json else yaml.safe_dump(content))
        )
        path.write_text(text, encoding="utf-8")
        return path

    return write


def stack_content(raw: object) -> dict[str, Any]:
    others = {f"other:password{at}": each.text for at, each in enumerate(TEXTS)}
    return {"config": {"aws:region": "us-west-2", "trainyard:cluster": raw, **others}}


def test_every_command_is_tried_or_has_a_reason() -> None:
    without = {each for each in COMMANDS if "--stack-file" not in option_names(each)}
    assert without == set(NOT_HERE)


@pytest.mark.parametrize(
    ("name", "stack"),
    [*((name, "p5-cb") for name in WITH_STACK_FILE), *(("check", each) for each in CLUSTERS)],
)
def test_no_command_repeats_a_secret_of_a_refused_stack_file(
    trainyard: Run, written: Callable[..., Path], name: str, stack: str
) -> None:
    path = written(f"Pulumi.{stack}.yaml", stack_content(planted(CLUSTERS[stack])))
    for form in invocations(name):
        given = [*ARGUMENTS.get(name, ()), *form, "--stack-file", path]
        result = trainyard(name, stack, *given)
        assert result.exit_code != 0
        assert leaks(result) == []


@pytest.mark.parametrize("name", WITH_STACK_FILE)
def test_no_command_repeats_a_secret_of_a_job_definition(
    trainyard: Run, written: Callable[..., Path], name: str
) -> None:
    raw = copy.deepcopy(batch.RAW)
    for definition in raw["architecture"]["job_definitions"].values():
        definition["environment"] = {f"V{at}": _line(each.text) for at, each in enumerate(TEXTS)}
        definition["image"] = "nvcr.io/nvidia/pytorch:25.10"
        definition["command"] = [_line(each.text) for each in TEXTS]
    path = written("Pulumi.batch-p5.yaml", stack_content(raw))
    for form in invocations(name):
        given = [*ARGUMENTS.get(name, ()), *form, "--stack-file", path]
        assert leaks(trainyard(name, "batch-p5", *given)) == []


def _line(text: str) -> str:
    return " ".join(text.split("\n"))


@pytest.mark.parametrize(
    "each", [each for each in TEXTS if "\n" not in each.text], ids=lambda each: each.id
)
def test_an_argument_is_not_repeated(trainyard: Run, each: Any) -> None:
    for arguments in (
        ("explain", "--", each.text),
        ("check", "--", each.text),
        ("init", "a", "--from", each.text),
        ("run", "p5-cb", "--dry-run", "--image", each.text, "--env", each.text, "--", "x"),
        ("capacity", "search", "--instance-type", each.text),
        ("run", "p5-cb", "--dry-run", "--image", "a", "--env", CHOSEN, "--", "x"),
    ):
        result = trainyard(*arguments)
        assert each.id not in leaks(result), arguments


@pytest.mark.parametrize("as_json", [False, True])
def test_lint_and_import_repeat_no_secret_of_a_file(
    trainyard: Run, written: Callable[..., Path], tmp_path: Path, as_json: bool
) -> None:
    forms = ["--json"] if as_json else []
    for source in sources(written):
        assert leaks(trainyard("lint", source, *forms)) == [], source
        assert leaks(trainyard("lint", source, "--sarif")) == [], source
        stacks = tmp_path / f"stacks of {source.stem}"
        assert trainyard("init", stacks).exception is not None or stacks.exists()
        result = trainyard("--stacks", tmp_path, "import", source, "--name", source.stem, *forms)
        assert leaks(result) == [], source


def sources(written: Callable[..., Path]) -> Iterator[Path]:
    """Yield files of other tools with secrets in all values that are texts of the user."""
    values = {f"V{at}": each.text for at, each in enumerate(TEXTS)}
    tags = [{"Key": name, "Value": text} for name, text in values.items()]
    yield written("slurm.yaml", {**yaml.safe_load(cluster()), "Tags": tags, "Any": DOCUMENTS})
    yield written(
        "eks.yaml",
        {**yaml.safe_load(cluster_config()), "iam": DOCUMENTS, "cloudWatch": values},
    )
    parameters = {
        "Parameters": {
            "DbPassword": {"Type": "String", "Default": CHOSEN},
            **{name: {"Type": "String", "Default": text} for name, text in values.items()},
        },
        "Metadata": DOCUMENTS,
    }
    yield written("nodes.yaml", f"{batch_template()}\n{yaml.safe_dump(parameters)}")
    container = {
        "image": "nvcr.io/nvidia/pytorch:25.10",
        "command": [each.text for each in TEXTS],
        "environment": [{"name": n, "value": text} for n, text in values.items()],
        "resourceRequirements": [{"type": "GPU", "value": "8"}],
    }
    definition = {"jobDefinitionName": "train", "type": "container"}
    yield written("job.json", {**definition, "containerProperties": container, "tags": values})
    lines = [f"  {name} = {json.dumps(text)}" for name, text in values.items()]
    more = [f'variable "db_password" {{\n  default = "{CHOSEN}"\n}}\n']
    yield written("main.tf", "\n".join(["locals {", *lines, "}", *more]).replace("${", "$${"))


def test_a_list_of_stacks_names_no_secret_of_them(
    trainyard: Run, written: Callable[..., Path], tmp_path: Path
) -> None:
    written("Pulumi.mine.yaml", stack_content(planted(COMPLETE)))
    for form in ([], ["--json"]):
        assert leaks(trainyard("--stacks", tmp_path, "list", *form)) == []


def test_a_report_has_no_secret_of_a_stack_file(
    trainyard: Run, written: Callable[..., Path], tmp_path: Path
) -> None:
    raw = copy.deepcopy(COMPLETE)
    raw["tags"] = {"note": "password=hunter2-Planted", "db_password": CHOSEN}
    path = written("Pulumi.p5-cb.yaml", stack_content(raw))
    picture = tmp_path / "p5-cb.svg"
    result = trainyard("picture", "p5-cb", "--stack-file", path, "--output", picture)
    assert result.exit_code == 0, result.output
    assert leaks(result, picture) == []
