"""`check` and `preview` as data for CI: JSON, SARIF and exit codes."""

from __future__ import annotations

import copy
import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.trainyard.cli.conftest import COMPLETE
from trainyard.checks.check_result import CheckResult
from trainyard.components.config.problems import ConfigError, Problem
from trainyard.deployment import preview_findings
from trainyard.engine.engine_process import PulumiCommand
from trainyard.stack_files.stack_files import StackFile
from trainyard.workspace.target import Target

RECORDED = Path(__file__).parents[1] / "findings" / "recorded"
ENGINE = """\
import sys
log = sys.argv[sys.argv.index("--event-log") + 1]
open(log, "w").write(open({events!r}).read())
print("the engine's display")
sys.exit({exit_code})
"""


def wrong(path: str, value: object) -> dict[str, Any]:
    """Return the complete cluster with another value at a path."""
    cluster = copy.deepcopy(COMPLETE)
    *parents, last = path.split(".")
    place = cluster
    for parent in parents:
        place = place[parent]
    place[last] = value
    return cluster


def results_of(text: str) -> list[dict[str, Any]]:
    (run,) = json.loads(text)["runs"]
    return run["results"]


def test_check_as_sarif_names_rule_and_line_of_each_problem(trainyard, stack_file) -> None:
    path = stack_file(wrong("reservations.block.reservation_id", "cr-short"))
    result = trainyard("check", "p5-cb", "--sarif", "--stack-file", path)
    assert result.exit_code == 2
    (found,) = results_of(result.stdout)
    assert (found["ruleId"], found["level"]) == ("schema/reservations.*.reservation_id", "error")
    line = found["locations"][0]["physicalLocation"]["region"]["startLine"]
    assert "cr-short" in path.read_text().splitlines()[line - 1]


def test_check_as_sarif_is_one_document_for_several_stacks(trainyard) -> None:
    result = trainyard("check", "p5-cb", "p5-cb-managed", "--sarif")
    assert result.exit_code == 2
    stacks = {each["properties"]["stack"] for each in results_of(result.stdout)}
    assert stacks == {"p5-cb", "p5-cb-managed"}


@pytest.mark.parametrize(
    ("stacks", "category"),
    [(["p5-cb"], "trainyard/check/p5-cb/"), (["p5-cb", "dev"], "trainyard/check/")],
)
def test_checks_of_different_stacks_do_not_replace_one_another(trainyard, stacks, category) -> None:
    """Code scanning replaces the results of a category, which is the part before the last slash."""
    (run,) = json.loads(trainyard("check", *stacks, "--sandbox", "--sarif").stdout)["runs"]
    assert run["automationDetails"] == {"id": category}


def test_check_as_sarif_of_a_stack_that_passes_has_no_errors(trainyard) -> None:
    result = trainyard("check", "p5-cb", "--sandbox", "--sarif")
    assert result.exit_code == 0
    assert "error" not in {each["level"] for each in results_of(result.stdout)}


def test_what_is_refused_does_not_hide_what_is_warned_of(tmp_path: Path) -> None:
    """Code scanning closes results that a later document of the same category does not contain."""
    problem = Problem(path="trainyard:cluster.network.vpc_id", problem="is not there", remedy="x")
    result = CheckResult(
        stack_file=StackFile("c", tmp_path / "Pulumi.c.yaml", {}),
        error=ConfigError([problem], stack_file="Pulumi.c.yaml"),
        stage="preflight",
        notes=("no one uses it",),
        warnings=("not checked: x",),
    )
    assert [each.level for each in result.findings()] == ["error", "note", "warning"]
    assert [each["rule"] for each in result.as_json()["problems"]] == ["preflight/network.vpc_id"]


def test_a_problem_as_json_says_which_stage_found_it_by_which_rule(trainyard, stack_file) -> None:
    path = stack_file(wrong("architecture.node_groups.p5.instance_type", "p5.49xlarge"))
    result = trainyard("check", "p5-cb", "--json", "--stack-file", path)
    assert result.exit_code == 2
    (answer,) = json.loads(result.stdout)
    (problem,) = answer["problems"]
    assert problem["rule"] == "plan/architecture.node_groups.*.instance_type"
    assert problem["stage"] == "plan"
    assert "p5.49xlarge" in path.read_text().splitlines()[problem["line"] - 1]


@pytest.mark.parametrize("command", ["check", "preview"])
def test_one_answer_has_one_form(trainyard, command) -> None:
    result = trainyard(command, "p5-cb", "--json", "--sarif", "--sandbox")
    assert result.exit_code == 2
    assert "alternative output formats" in result.stderr


@pytest.mark.parametrize("form", ["--json", "--sarif"])
def test_a_preview_of_a_wrong_stack_file_answers_with_its_problems(
    trainyard, stack_file, form
) -> None:
    path = stack_file(wrong("reservations.block.reservation_id", "cr-short"))
    result = trainyard("preview", "p5-cb", form, "--stack-file", path)
    assert result.exit_code == 2
    if form == "--sarif":
        rules = [each["ruleId"] for each in results_of(result.stdout)]
    else:
        answer = json.loads(result.stdout)
        assert answer["ok"] is False
        rules = [each["rule"] for each in answer["findings"]]
    assert rules == ["schema/reservations.*.reservation_id"]


class Previewed:
    """A workspace whose engine writes a recorded event log."""

    def __init__(self, target: Target, engine: Path) -> None:
        self.target, self.stack_file = target, target.stack_file
        self.command = PulumiCommand(engine, engine.parent, {})
        self.scratch = engine.parent

    def arguments(self) -> list[str]:
        return ["--stack", self.target.stack]


@pytest.fixture
def previewed(trainyard, stack_file, tmp_path, monkeypatch):
    """Run `preview` with an engine that writes a recorded log and ends with an exit code."""

    def run(log: str, exit_code: int, *arguments: str):
        engine = tmp_path / "pulumi"
        program = ENGINE.format(events=str(RECORDED / f"{log}.jsonl"), exit_code=exit_code)
        (tmp_path / "engine.py").write_text(program)
        script = shlex.join([sys.executable, str(tmp_path / "engine.py")])
        engine.write_text(f'#!/bin/sh\nexec {script} "$@"\n')
        engine.chmod(0o755)
        monkeypatch.setattr(
            preview_findings, "open_workspace", lambda target, _: Previewed(target, engine)
        )
        return trainyard("preview", "p5-cb", "--stack-file", stack_file(COMPLETE), *arguments)

    return run


def test_a_preview_with_a_mandatory_violation_fails(previewed) -> None:
    result = previewed("refused", 255, "--json")
    assert result.exit_code == 1
    answer = json.loads(result.stdout)
    assert (answer["stack"], answer["ok"], answer["changes"]) == ("p5-cb", False, {"create": 5})
    errors = {each["rule"] for each in answer["findings"] if each["level"] == "error"}
    assert errors == {
        "capacity-block-no-placement-group",
        "odcr-aws-assisted-no-placement-group",
    }
    assert "the preview of p5-cb failed; nothing was changed" in result.stderr


def test_a_preview_with_advice_alone_succeeds(previewed) -> None:
    assert previewed("refused", 0, "--json").exit_code == 0


def test_a_preview_as_sarif_describes_the_rules_of_the_pack(previewed) -> None:
    result = previewed("refused", 255, "--sarif")
    assert result.exit_code == 1
    (run,) = json.loads(result.stdout)["runs"]
    rules = {rule["id"]: rule for rule in run["tool"]["driver"]["rules"]}
    assert "B7" in rules["capacity-block-no-placement-group"]["properties"]["tags"]
    assert run["automationDetails"]["id"] == "trainyard/preview/p5-cb/"
    assert run["invocations"] == [{"executionSuccessful": True}]


def test_a_program_that_breaks_is_a_preview_that_could_not_do_its_work(previewed) -> None:
    (run,) = json.loads(previewed("broken", 255, "--sarif").stdout)["runs"]
    assert run["invocations"] == [{"executionSuccessful": False}]
    (broken,) = [each for each in run["results"] if each["ruleId"] == "engine/error"]
    assert "the program broke" in broken["message"]["text"]


def test_the_engines_display_does_not_mix_with_the_document(previewed, capfd) -> None:
    result = previewed("refused", 0, "--json")
    json.loads(result.stdout)
    assert "the engine's display" in capfd.readouterr().err


@pytest.mark.parametrize("form", ["--json", "--sarif"])
@pytest.mark.parametrize("command", ["check", "preview"])
def test_a_file_that_is_not_yaml_is_a_finding_in_a_document(
    trainyard, tmp_path: Path, command: str, form: str
) -> None:
    path = tmp_path / "broken.yaml"
    path.write_text("config:\n  a: [1\n  b: 2\n", encoding="utf-8")
    result = trainyard(command, "p5-cb", form, "--stack-file", path)
    assert result.exit_code == 2
    (rule, line) = rule_and_line(result.stdout, form, command)
    assert rule == "schema/unreadable"
    assert line == 3


def rule_and_line(text: str, form: str, command: str) -> tuple[str, int]:
    if form == "--sarif":
        (found,) = results_of(text)
        line = found["locations"][0]["physicalLocation"]["region"]["startLine"]
        return found["ruleId"], line
    answer = json.loads(text)
    (found,) = answer[0]["problems"] if command == "check" else answer["findings"]
    return found["rule"], found["line"]


@pytest.mark.parametrize("form", ["--json", "--sarif"])
def test_a_stack_that_does_not_exist_hides_no_answer_for_another(trainyard, form: str) -> None:
    result = trainyard("check", "no-such-stack", "p5-cb", form)
    assert result.exit_code == 2
    if form == "--json":
        assert [each["stack"] for each in json.loads(result.stdout)] == ["no-such-stack", "p5-cb"]
    else:
        stacks = {each["properties"]["stack"] for each in results_of(result.stdout)}
        assert stacks == {"no-such-stack", "p5-cb"}


@pytest.mark.parametrize("form", ["--json", "--sarif"])
def test_missing_credentials_are_a_finding(trainyard, stack_file, form: str) -> None:
    path = stack_file(copy.deepcopy(COMPLETE))
    result = trainyard("check", "p5-cb", "--live", form, "--stack-file", path)
    assert result.exit_code == 2
    assert rule_and_line(result.stdout, form, "check")[0] == "preflight/unreachable"
    assert "no AWS credentials" in result.stdout


def test_a_pasted_secret_is_in_no_output(trainyard, stack_file) -> None:
    token = "hf_" + "aBcD" * 9
    path = stack_file(wrong("reservations.block.reservation_id", token))
    for form in ((), ("--json",), ("--sarif",)):
        result = trainyard("check", "p5-cb", *form, "--stack-file", path)
        assert result.exit_code == 2
        assert token not in result.stdout + result.stderr
        assert "secret" in result.stdout + result.stderr
