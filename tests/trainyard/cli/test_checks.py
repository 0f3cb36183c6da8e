"""`check` answers only from schema and plan, and reports all problems at once."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from typing import Any

import pytest

from tests.support import batch, network_stack
from tests.support.parallelcluster import RAW_P4DE
from tests.support.tracked import ROOT
from tests.trainyard.cli.conftest import COMPLETE
from trainyard.stack_files.stack_files import stack_names


def test_a_complete_stack_file_passes(trainyard, stack_file) -> None:
    result = trainyard("check", "p5-cb", "--stack-file", stack_file(COMPLETE))
    assert (result.exit_code, result.output.splitlines()[0]) == (0, "p5-cb: ok")


def test_the_tracked_stack_file_passes_with_the_ids_of_the_sandbox(trainyard) -> None:
    assert trainyard("check", "p5-cb", "--sandbox").exit_code == 0


def test_refuses_the_tracked_file_until_the_user_filled_it_in(trainyard) -> None:
    result = trainyard("check", "p5-cb")
    assert result.exit_code == 2
    for key in ("network.vpc_id", "reservations.block.reservation_id"):
        assert f"pulumi config set --stack p5-cb --path 'trainyard:cluster.{key}'" in result.stderr


def test_refuses_an_unknown_stack_with_the_nearest_name(trainyard) -> None:
    result = trainyard("check", "p5cb")
    assert result.exit_code == 2
    assert "did you mean p5-cb?" in result.stderr


def test_problems_are_data_with_json(trainyard, stack_file) -> None:
    cluster = copy.deepcopy(COMPLETE)
    cluster["reservations"]["block"]["reservation_id"] = "cr-short"
    result = trainyard("check", "p5-cb", "--json", "--stack-file", stack_file(cluster))
    assert result.exit_code == 2
    (answer,) = json.loads(result.stdout)
    assert [p["path"] for p in answer["problems"]] == [
        "trainyard:cluster.reservations.block.reservation_id"
    ]


def without_ids(**pool: object) -> dict[str, Any]:
    """Return a cluster without the four ids that only the user knows."""
    cluster = copy.deepcopy(COMPLETE)
    for key in ("vpc_id", "public_subnet_ids", "private_subnet_ids"):
        del cluster["network"][key]
    del cluster["reservations"]["block"]["reservation_id"]
    cluster["architecture"]["node_groups"]["p5"] |= pool
    return cluster


FOUR_IDS = {
    "network.vpc_id",
    "network.public_subnet_ids",
    "network.private_subnet_ids",
    "reservations.block.reservation_id",
}
GROUP = "architecture.node_groups.p5.placement.group"


def test_missing_ids_do_not_hide_what_the_plan_refuses(trainyard, stack_file) -> None:
    cluster = without_ids(placement={"group": "create"})
    result = trainyard("check", "p5-cb", "--json", "--stack-file", stack_file(cluster))
    assert result.exit_code == 2
    (answer,) = json.loads(result.stdout)
    said = {each["path"].removeprefix("trainyard:cluster."): each for each in answer["problems"]}
    assert said.keys() == {*FOUR_IDS, GROUP}
    assert "supports no placement group" in said[GROUP]["problem"]


def test_a_finding_of_the_plan_has_that_stage_beside_those_of_the_schema(
    trainyard, stack_file
) -> None:
    cluster = without_ids(placement={"group": "create"})
    result = trainyard("check", "p5-cb", "--sarif", "--stack-file", stack_file(cluster))
    rules = {each["ruleId"] for each in json.loads(result.stdout)["runs"][0]["results"]}
    assert {each.partition("/")[0] for each in rules} == {"schema", "plan"}
    assert {each for each in rules if each.startswith("plan/")} == {
        "plan/architecture.node_groups.*.placement.group"
    }


@pytest.mark.parametrize("key", ["reservation_id", "vpc_id"])
def test_a_wrong_id_and_an_unknown_key_do_not_hide_it_either(
    trainyard, stack_file, key: str
) -> None:
    cluster = copy.deepcopy(COMPLETE)
    cluster["architecture"]["node_groups"]["p5"] |= {"placement": {"group": "create"}, "colour": 1}
    section = cluster["network"] if key == "vpc_id" else cluster["reservations"]["block"]
    section[key] = "cr-short"
    result = trainyard("check", "p5-cb", "--json", "--stack-file", stack_file(cluster))
    (answer,) = json.loads(result.stdout)
    ends = {each["path"].rpartition(".")[2] for each in answer["problems"]}
    assert ends == {key, "colour", "group"}


def test_a_missing_id_does_not_hide_a_contradiction(trainyard, stack_file) -> None:
    cluster = without_ids(placement={"group": "existing"})
    result = trainyard("check", "p5-cb", "--stack-file", stack_file(cluster))
    assert "4 problems" not in result.stderr
    assert "node_groups.p5.placement.name" in result.stderr


@pytest.mark.parametrize("stack", stack_names())
def test_what_is_assumed_for_a_missing_value_is_not_refused(trainyard, stack) -> None:
    (answer,) = json.loads(trainyard("check", stack, "--json").stdout)
    assert all(each["problem"].startswith("is missing") for each in answer.get("problems", ()))


def test_refuses_a_rule_that_the_policy_pack_does_not_have(trainyard, stack_file) -> None:
    settings = {"ebs-encryption": {"enforcement_level": "advisory"}}
    result = trainyard(
        "check", "p5-cb", "--stack-file", stack_file(COMPLETE | {"policies": settings})
    )
    assert result.exit_code == 2
    assert "trainyard:cluster.policies.ebs-encryption" in result.stderr
    assert "rename it to `ebs-encrypted`" in result.stderr


def test_refuses_keys_beside_the_cluster_object(trainyard, stack_file) -> None:
    path = stack_file(COMPLETE, **{"trainyard:name": "other"})
    result = trainyard("check", "p5-cb", "--stack-file", path)
    assert result.exit_code == 2
    assert "trainyard:name" in result.stderr


def test_refuses_one_file_for_two_stacks(trainyard, stack_file) -> None:
    result = trainyard("check", "p5-cb", "other", "--stack-file", stack_file(COMPLETE))
    assert result.exit_code == 2


def test_refuses_to_ask_an_account_without_credentials(trainyard, stack_file) -> None:
    result = trainyard("check", "p5-cb", "--live", "--stack-file", stack_file(COMPLETE))
    assert result.exit_code == 2
    assert "no AWS credentials found" in result.stderr
    assert "--sandbox" in result.stderr


def test_a_wrong_file_is_refused_before_the_account_is_asked(trainyard, stack_file) -> None:
    result = trainyard("check", "p5-cb", "--live", "--stack-file", stack_file({"name": "p5-cb"}))
    assert result.exit_code == 2
    assert "credentials" not in result.stderr


@pytest.mark.parametrize(
    ("cluster", "other"),
    [
        pytest.param(COMPLETE, "trainyard.components.parallelcluster.queue_plan", id="eks"),
        pytest.param(RAW_P4DE, "trainyard.components.eks.node_group_plan", id="parallelcluster"),
    ],
)
def test_check_imports_no_planner_of_another_architecture(stack_file, cluster, other) -> None:
    program = (
        "import sys\n"
        "from trainyard.cli.app import app\n"
        "app(['check', 'p5-cb', '--stack-file', sys.argv[1]], standalone_mode=False)\n"
        "heavy = {'pulumi', 'boto3', 'botocore', 'rich', sys.argv[2]}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    command = [sys.executable, "-c", program, str(stack_file(cluster)), other]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[0] == "p5-cb: ok"
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("cluster", "own"),
    [
        pytest.param(COMPLETE, ["eks"], id="eks"),
        pytest.param(RAW_P4DE, ["parallelcluster"], id="parallelcluster"),
        pytest.param(batch.RAW, ["batch"], id="batch"),
        pytest.param(network_stack.NETWORK_RAW, ["network_stack"], id="network"),
    ],
)
def test_check_imports_no_models_of_another_architecture(stack_file, cluster, own) -> None:
    """Every stack has a network, so the module of that name belongs to no architecture."""
    program = (
        "import sys\n"
        "from trainyard.cli.app import app\n"
        "app(['check', 'p5-cb', '--stack-file', sys.argv[1]], standalone_mode=False)\n"
        "print(*sorted(m.rpartition('.')[2] for m in sys.argv[2:] if m in sys.modules))\n"
    )
    modules = ("eks", "parallelcluster", "batch", "network_stack", "given_stack")
    named = [f"trainyard.components.config.{name}" for name in modules]
    command = [sys.executable, "-c", program, str(stack_file(cluster)), *named]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[0] == "p5-cb: ok"
    assert done.stdout.splitlines()[-1].split() == own


def test_a_parallelcluster_stack_file_passes(trainyard, stack_file) -> None:
    result = trainyard("check", "pc-p4de", "--stack-file", stack_file(RAW_P4DE))
    assert (result.exit_code, result.output.splitlines()[0]) == (0, "pc-p4de: ok")


@pytest.mark.parametrize("stack", [name for name in stack_names() if name.startswith("pc-")])
def test_every_parallelcluster_stack_passes_with_the_ids_of_the_sandbox(trainyard, stack) -> None:
    assert trainyard("check", stack, "--sandbox").exit_code == 0


def test_refuses_a_stack_file_without_a_region(trainyard, stack_file) -> None:
    path = stack_file(COMPLETE)
    path.write_text(path.read_text().replace("aws:region", "aws:profile"))
    result = trainyard("check", "p5-cb", "--stack-file", path)
    assert result.exit_code == 2
    assert "set `aws:region` in" in result.stderr


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "---\n", "config:\n", "{}\n"])
@pytest.mark.parametrize("command", ["check", "plan", "cost"])
def test_a_file_without_content_lacks_everything(trainyard, tmp_path, command, text) -> None:
    path = tmp_path / "Pulumi.empty.yaml"
    path.write_text(text, encoding="utf-8")
    result = trainyard(command, "empty", "--stack-file", str(path))
    assert result.exit_code == 2
    assert "trainyard:cluster.architecture" in result.stderr
