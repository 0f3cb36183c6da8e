"""`import` writes a stack file with a report, and `lint` checks without writing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.support import live_answers
from tests.support.import_sources import QUEUE, batch, cluster
from tests.support.live_answers import FILE_SYSTEM, OTHER, PRIVATE, PUBLIC, file_system, managed
from tests.support.tracked import ROOT
from tests.trainyard.importing.live.support.live_batch import LiveAccount
from trainyard.cli.app import app
from trainyard.stack_files import stacks_directory
from trainyard.stack_files.stack_files import find_stack_file


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "cluster.yaml"
    path.write_text(cluster(head="Ssh: {KeyName: mine}\n"), encoding="utf-8")
    return path


@pytest.fixture
def stacks(tmp_path: Path) -> Path:
    directory = tmp_path / "stacks"
    stacks_directory.create(directory)
    return directory


def run(*arguments: str | Path, account: LiveAccount | None = None):
    """Run a command; `account` stands for the account in the region of the command."""

    def reader(*, region: str) -> LiveAccount:
        assert account is not None
        account.region = region
        return account

    obj = reader if account is not None else None
    return CliRunner().invoke(app, list(map(str, arguments)), obj=obj)


def test_a_stack_file_is_written_that_check_accepts_with_the_vpc(source: Path, stacks: Path):
    done = run("--stacks", stacks, "import", source, "--name", "prod-a", "--all")
    assert done.exit_code == 0, done.output
    assert "taken over (" in done.stdout
    assert (
        "HeadNode.InstanceType: m5.8xlarge -> architecture.head_node.instance_type" in done.stdout
    )
    assert "trainyard:cluster.network.vpc_id" in done.stdout
    path = stacks / "Pulumi.prod-a.yaml"
    written = find_stack_file("prod-a", path=path)
    assert (written.region, written.architecture) == ("us-west-2", "parallelcluster")
    text = path.read_text(encoding="utf-8")
    assert f"#   ./trainyard import {source} --name prod-a\n" in text
    complete = text.replace("      kind: existing-vpc\n", "      kind: existing-vpc\n"
                            "      vpc_id: vpc-0123456789abcdef0\n")  # fmt: skip
    path.write_text(complete, encoding="utf-8")
    checked = run("--stacks", stacks, "check", "prod-a")
    assert checked.stdout.startswith("prod-a: ok")


def test_a_key_that_is_set_better_has_the_reason_as_a_comment(tmp_path: Path, stacks: Path):
    source = tmp_path / "cluster.yaml"
    volume = "LocalStorage: {RootVolume: {Size: 10}}\n"
    source.write_text(cluster(head=volume), encoding="utf-8")
    run("--stacks", stacks, "import", source)
    text = (stacks / "Pulumi.cluster.yaml").read_text(encoding="utf-8")
    above = text.partition("          size_gib: 20\n")[0].splitlines()[-2:]
    assert " ".join(line.strip("# ") for line in above) == (
        "HeadNode.LocalStorage.RootVolume.Size of the source: "
        "the AMIs of ParallelCluster need more."
    )


def test_the_report_as_json_has_every_field(source: Path, stacks: Path):
    done = run("--stacks", stacks, "import", source, "--json")
    (stack,) = json.loads(done.stdout)["stacks"]
    assert stack["stack_file"] == str(stacks / "Pulumi.cluster.yaml")
    assert stack["fields"][0] == {
        "field": "Region",
        "line": 1,
        "value": "us-west-2",
        "fate": "taken over",
        "why": "it is `aws:region` of the stack file",
    }
    assert len(stack["fields"]) == 14
    assert "AllowedIps is missing" in stack["notes"][0]
    assert not stack["check"]["ok"]


def test_nothing_is_written_for_a_file_with_an_unknown_key(source: Path, stacks: Path):
    source.write_text(cluster().replace("MaxCount", "MaxCounts"), encoding="utf-8")
    done = run("--stacks", stacks, "import", source)
    assert done.exit_code == 2
    assert f"{source}, line 13" in done.stderr
    assert "`MaxCount`" in done.stderr
    assert list(stacks.glob("Pulumi.*.yaml")) == []


def test_a_stack_file_is_never_overwritten(source: Path, stacks: Path):
    run("--stacks", stacks, "import", source)
    again = run("--stacks", stacks, "import", source)
    assert again.exit_code == 2
    assert "`import` never overwrites a file" in again.stderr


def test_clusters_of_the_same_name_are_imported_one_by_one(source: Path, stacks: Path):
    named = run("--stacks", stacks, "import", source, source, "--name", "one")
    assert (named.exit_code, "one by one" in named.stderr) == (2, True)
    assert run("--stacks", stacks, "import", source, source).exit_code == 2


def test_lint_prints_findings_as_compilers_do_and_exits_as_check_does(source: Path):
    assert run("lint", source).stdout.startswith(f"{source}: ok: ")
    source.write_text(cluster(QUEUE.replace("p5.48xlarge", "c5.large")), encoding="utf-8")
    done = run("lint", source)
    assert done.exit_code == 2
    assert done.stdout.startswith(f"{source}:13: error A1: Scheduling.SlurmQueues[0].")


def test_lint_passes_a_file_with_warnings_only(source: Path):
    source.write_text(cluster().replace("alinux2023", "centos7"), encoding="utf-8")
    done = run("lint", source)
    assert (done.exit_code, ": note E4: " in done.stdout) == (0, True)


def test_lint_as_sarif_has_the_text_of_the_rule(source: Path):
    source.write_text(cluster(QUEUE.replace("p5.48xlarge", "c5.large")), encoding="utf-8")
    (found,) = json.loads(run("lint", source, "--sarif").stdout)["runs"]
    (result,) = found["results"]
    assert result["ruleId"] == "A1"
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 13}
    (rule,) = found["tool"]["driver"]["rules"]
    assert rule["shortDescription"]["text"] == "EFA is on only for instance types that have it."
    assert found["automationDetails"]["id"] == "trainyard/lint/"


def test_lint_leaves_out_the_findings_of_ignored_rules(source: Path):
    source.write_text(cluster(QUEUE.replace("p5.48xlarge", "c5.large")), encoding="utf-8")
    assert run("lint", source, "--ignore", "B1").exit_code == 2
    assert run("lint", source, "--ignore", "B1", "--ignore", "A1").stdout.startswith(
        f"{source}: ok"
    )


def test_lint_refuses_to_ignore_a_rule_that_does_not_exist(source: Path):
    done = run("lint", source, "--ignore", "a1")
    assert done.exit_code == 2
    assert "there is no rule 'a1'; did you mean A1? `./trainyard explain`" in done.stderr


def test_lint_says_that_a_file_is_missing_also_if_it_skips_others(tmp_path: Path):
    done = run("lint", "--skip-others", tmp_path / "missing.yaml")
    assert done.exit_code == 2
    assert f"{tmp_path}/missing.yaml does not exist" in done.stdout


def test_lint_answers_for_a_file_that_it_cannot_read_and_judges_the_others(
    source: Path, tmp_path: Path
):
    broken = tmp_path / "broken.yaml"
    broken.write_text("a: [\n", encoding="utf-8")
    done = run("lint", broken, source, "--json")
    assert done.exit_code == 2
    (finding,) = json.loads(done.stdout)
    assert (finding["rule"], finding["file"]) == ("schema/unreadable", str(broken))


@pytest.fixture
def account(credentials: None) -> LiveAccount:
    """An account with one EKS cluster, `train`."""
    clusters = {"train": {"cluster": live_answers.cluster()}}
    answers = {
        "eks:DescribeCluster": lambda name: clusters.get(name),
        "eks:ListNodegroups": {"nodegroups": ["services"]},
        "eks:DescribeNodegroup": {"nodegroup": managed()},
        "fsx:DescribeFileSystems": {"FileSystems": [file_system()]},
        "ec2:DescribeNetworkInterfaces": {
            "NetworkInterfaces": [{"Groups": [{"GroupId": "sg-0123456789abcdef0"}]}]
        },
    }
    account = LiveAccount(answers, {PUBLIC: "internet-gateway", PRIVATE: "nat", OTHER: "nat"})
    account.region = ""  # the command has it
    return account


def test_a_cluster_of_the_account_is_written_with_a_report_by_call(
    account: LiveAccount, stacks: Path
):
    arguments = ("import", "--live", "train", "--region", "us-west-2")
    done = run("--stacks", stacks, *arguments, "--all", account=account)
    assert done.exit_code == 0, done.output
    assert "    DescribeCluster.version: 1.36 -> architecture.kubernetes_version" in done.stdout
    text = (stacks / "Pulumi.train.yaml").read_text(encoding="utf-8")
    assert "#   ./trainyard import --live train --region us-west-2\n" in text
    assert run("--stacks", stacks, "check", "train").stdout.startswith("train: ok")


def test_a_file_system_is_adopted_with_a_note_and_in_the_command_of_the_stack_file(
    account: LiveAccount, stacks: Path
):
    arguments = ("import", "--live", "train", "--region", "us-west-2", "--adopt")
    done = run("--stacks", stacks, *arguments, account=account)
    assert done.exit_code == 0, done.output
    assert f"{FILE_SYSTEM} becomes part of the stack with the next `up`" in (
        " ".join(done.stdout.split())
    )
    text = (stacks / "Pulumi.train.yaml").read_text(encoding="utf-8")
    assert "--live train --region us-west-2 --adopt\n" in text
    assert f"file_system_id: {FILE_SYSTEM}\n" in text


def test_a_cluster_that_the_region_does_not_have_is_refused(account: LiveAccount, stacks: Path):
    arguments = ("import", "--live", "other", "--region", "us-west-2", "--kind", "eks")
    done = run("--stacks", stacks, *arguments, account=account)
    assert done.exit_code == 2
    assert "us-west-2 has no eks cluster 'other' that this account can see" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "name files, or a cluster of the account with --live; "),
        ((str(ROOT / "README.md"), "--live", "train"), "with --live, not both"),
        ((str(ROOT / "README.md"), "--sandbox"), "--sandbox is for --live"),
        ((str(ROOT / "README.md"), "--kind", "eks"), "--kind is for --live"),
        ((str(ROOT / "README.md"), "--adopt"), "--adopt is for --live"),
        (("--live", "train", "--kind", "ecs"), "--kind is one of eks"),
    ],
)
def test_options_of_a_live_cluster_are_not_those_of_files(arguments: tuple[str, ...], said: str):
    done = run("import", *arguments)
    assert done.exit_code == 2
    assert said in done.stderr


def test_values_of_a_parameter_file_are_in_the_report_and_the_command(tmp_path: Path, stacks: Path):
    source, values = tmp_path / "batch.yaml", tmp_path / "values.json"
    parameters = "Parameters: {Most: {Type: Number}}\n"
    source.write_text(batch("MaxvCpus: !Ref Most", more=parameters), encoding="utf-8")
    values.write_text('{"Parameters": {"Most": "384"}}', encoding="utf-8")
    done = run("--stacks", stacks, "import", source, "--parameters", values, "--all")
    assert done.exit_code == 0, done.output
    assert f"{values}, line 1: Parameters.Most: 384 -> architecture." in done.stdout
    text = (stacks / "Pulumi.batch.yaml").read_text(encoding="utf-8")
    assert f"--parameters {values}" in text.replace("\n#", "")
    assert "maximum: 2\n" in text
    assert run("lint", source, values).stdout.startswith(f"{source}: ok")


def test_a_file_without_parameters_is_refused_as_a_parameter_file(source: Path, stacks: Path):
    done = run("--stacks", stacks, "import", source, "--parameters", source)
    assert (done.exit_code, "is no parameter file" in done.stderr) == (2, True)
