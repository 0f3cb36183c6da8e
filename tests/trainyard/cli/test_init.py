"""`init` without an account: the file lacks only ids, and bad input writes nothing."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.account import NOW, listing
from tests.support.tracked import ROOT
from trainyard.cli.command_line import command
from trainyard.commands.stack_file.init import Account, create_stack
from trainyard.components.architectures.preflight import Preflight
from trainyard.components.config.problems import ConfigError, Problem
from trainyard.init.design import InitRequest
from trainyard.init.examples import examples
from trainyard.stack_files import stacks_directory

EKS = ("prod-a", "--from", "p5-cb", "--region", "us-west-2")
NETWORKS = ("--api-networks", "203.0.113.0/24,198.51.100.7/32")


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory outside of the checkout, which records no stacks directory."""
    empty = tmp_path / "mine"
    empty.mkdir()
    monkeypatch.chdir(empty)
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    # With the variable, no stacks directory is remembered.
    monkeypatch.setenv(stacks_directory.VARIABLE, str(ROOT))
    return empty


def test_an_empty_directory_becomes_a_stacks_directory_with_the_file(trainyard, directory) -> None:
    result = trainyard("init", "prod-a", "--from", "dev", "--region", "us-west-2", *NETWORKS)
    assert result.exit_code == 0, result.output
    assert (directory / "Pulumi.prod-a.yaml").is_file()
    assert stacks_directory.is_stacks_directory(directory)
    assert "./trainyard up prod-a" in result.stdout


@pytest.mark.parametrize("example", [*examples()])
def test_every_example_passes_check_or_lacks_only_what_the_commands_set(
    trainyard, directory, example: str
) -> None:
    networks = NETWORKS if examples()[example].kind == "eks" else ()
    made = trainyard("init", "prod-a", "--from", example, "--region", "us-west-2", *networks)
    assert made.exit_code == 0, made.output
    assert "policies" not in cluster_of(directory)
    checked = trainyard("check", "prod-a", "--stack-file", directory / "Pulumi.prod-a.yaml")
    lacking = re.findall(r"trainyard:cluster\.[\w.\[\]-]+", made.stdout)
    assert checked.exit_code == (2 if lacking else 0)
    found = re.findall(r"^  (trainyard:cluster\S+)$", checked.stderr, re.MULTILINE)
    assert {each.partition("[")[0] for each in lacking} == {*found}


def test_it_says_which_commands_set_the_missing_ids(trainyard) -> None:
    result = trainyard("init", "prod-a", "--from", "p5-cb", "--region", "us-east-1", *NETWORKS)
    for key in ("network.vpc_id", "reservations.block.reservation_id"):
        command = f"pulumi config set --stack prod-a --path 'trainyard:cluster.{key}'"
        assert command in result.stdout
    assert "the account is not read: no AWS credentials found" in result.stderr


def test_given_ids_are_written_without_an_account(trainyard, directory) -> None:
    options = "--from p5-cb --region us-west-2 --vpc vpc-0123456789abcdef0 --nodes 4"
    ids = "--reservation cr-0123456789abcdef0 --reservation cr-0123456789abcdef1"
    result = trainyard("init", "prod-a", *options.split(), *ids.split(), *NETWORKS)
    assert result.exit_code == 0
    text = (directory / "Pulumi.prod-a.yaml").read_text()
    assert text.count("desired: 4") == 2
    for value in ("vpc-0123456789abcdef0", "cr-0123456789abcdef0", "cr-0123456789abcdef1"):
        assert value in text


def test_an_example_keeps_its_zones_in_its_own_region_only(trainyard, directory) -> None:
    for name, region, zones in (
        ("here", "us-west-2", "[usw2-az4]"),
        ("there", "us-east-1", "[use1-az4]"),
    ):
        trainyard("init", name, "--from", "pc-trn1", "--region", region)
        text = (directory / f"Pulumi.{name}.yaml").read_text()
        assert f"availability_zones: {zones}" in text


def test_the_command_in_the_file_makes_the_same_file_again(trainyard, directory) -> None:
    options = "--kind slurm --region eu-west-1 --instance-type p4d.24xlarge --nodes 3"
    trainyard("init", "prod-a", *options.split())
    path = directory / "Pulumi.prod-a.yaml"
    first = path.read_text()
    (command,) = re.findall(r"^#   \./trainyard (.+)$", first, re.MULTILINE)
    path.unlink()
    assert trainyard(*shlex.split(command)).exit_code == 0
    assert path.read_text() == first


def test_an_existing_file_is_never_overwritten(trainyard, directory) -> None:
    path = directory / "Pulumi.prod-a.yaml"
    stacks_directory.create(directory)
    path.write_text("mine")
    result = trainyard("init", "prod-a", "--from", "dev", "--region", "us-west-2", *NETWORKS)
    assert result.exit_code == 2
    assert "never overwrites a file" in result.stderr
    assert path.read_text() == "mine"


def test_without_a_terminal_every_missing_option_is_listed(trainyard, directory) -> None:
    result = trainyard("init", "prod-a")
    assert result.exit_code == 2
    for option in ("--kind", "--region", "--instance-type", "--api-networks"):
        assert f"\n  {option}\n" in result.stderr
    assert [*directory.iterdir()] == []


def test_a_reservation_makes_an_instance_type_unnecessary(trainyard) -> None:
    result = trainyard("init", "prod-a", "--kind", "eks", "--reservation", "cr-0123456789abcdef0")
    assert result.exit_code == 2
    assert "--instance-type" not in result.stderr


def test_the_region_of_the_environment_is_the_default(
    trainyard, directory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_REGION", "us-east-2")
    assert trainyard("init", "prod-a", "--from", "p5-cb", *NETWORKS).exit_code == 0
    assert "aws:region: us-east-2" in (directory / "Pulumi.prod-a.yaml").read_text()


def test_contradictions_are_refused_together_and_nothing_is_written(trainyard, directory) -> None:
    options = "--from p5-cb --kind slurm --region us-west-2 --lustre-gib 100 --nodes 0"
    result = trainyard("init", "prod-a", *options.split())
    assert result.exit_code == 2
    for option in ("--kind", "--lustre-gib", "--nodes"):
        assert f"\n  {option}\n" in result.stderr
    assert [*directory.iterdir()] == []


def test_options_that_only_the_account_explains_are_refused_without_it(trainyard) -> None:
    options = "--kind eks --region us-west-2 --reservation cr-0123456789abcdef0 "
    options += "--subnet subnet-0b000000000000002 --file-system fs-0f5c0000000000001"
    result = trainyard("init", "prod-a", *options.split())
    assert result.exit_code == 2
    for option in ("--reservation", "--subnet", "--file-system"):
        assert f"\n  {option}\n" in result.stderr


def test_a_profile_that_does_not_exist_is_refused(trainyard, directory) -> None:
    options = "--kind eks --region us-west-2 --instance-type p4d.24xlarge --profile no-such"
    result = trainyard("init", "prod-a", *options.split())
    assert result.exit_code == 2
    assert "no-such" in result.stderr
    assert [*directory.iterdir()] == []


@pytest.mark.usefixtures("credentials")
def test_an_account_that_denies_its_networks_counts_as_unread(directory, capsys) -> None:
    denied = listing(unreadable=("ec2:DescribeVpcs: UnauthorizedOperation",))
    request = InitRequest(
        name="prod-a", example="p5-cb", region="us-west-2", api_networks=("203.0.113.0/24",)
    )
    create_stack(request, yes=False, account=Account(listing=lambda *_: denied))
    assert "AWS denies ec2:DescribeVpcs: UnauthorizedOperation" in capsys.readouterr().err
    assert "vpc_id" not in (directory / "Pulumi.prod-a.yaml").read_text()


@pytest.mark.usefixtures("credentials")
def test_what_the_account_refuses_is_not_written(directory) -> None:
    problem = Problem(path="trainyard:cluster.name", problem="is taken", remedy="rename it")
    refused = Preflight(
        account_id="",
        caller_arn="",
        region="us-west-2",
        plan=None,
        rows=(),
        problems=(problem,),
        warnings=(),
    )
    account = Account(listing=lambda *_: listing(), problems=lambda _: refused, now=lambda: NOW)
    request = InitRequest(
        name="prod-a",
        kind="eks",
        region="us-west-2",
        reservations=("cr-0123456789abcdef0",),
        api_networks=("203.0.113.0/24",),
    )
    with pytest.raises(ConfigError, match=r"trainyard:cluster\.name\n +problem: is taken"):
        create_stack(request, yes=False, account=account)
    assert [*directory.iterdir()] == []


def cluster_of(directory: Path) -> dict[str, Any]:
    text = (directory / "Pulumi.prod-a.yaml").read_text(encoding="utf-8")
    return yaml.safe_load(text)["config"]["trainyard:cluster"]


@pytest.mark.parametrize("yes", [(), ("--yes",)])
def test_without_the_networks_of_the_api_nothing_is_written_and_the_fix_is_named(
    trainyard, directory, yes
) -> None:
    result = trainyard("init", *EKS, *yes)
    assert result.exit_code == 2
    (said,) = re.findall(r"^  --api-networks\n(?:    .*\n?)+", result.stderr, re.MULTILINE)
    assert "is missing" in said
    assert "`--api-networks 203.0.113.0/24`" in said
    assert "`--api-networks private`" in said
    assert [*directory.iterdir()] == []


def test_the_networks_are_written_and_the_audit_log_is_on(trainyard, directory) -> None:
    result = trainyard("init", *EKS, *NETWORKS)
    assert result.exit_code == 0, result.output
    found = cluster_of(directory)
    assert found["architecture"]["endpoint"] == {
        "public_access_cidrs": ["203.0.113.0/24", "198.51.100.7/32"]
    }
    assert found["architecture"]["log_types"] == ["audit"]
    assert "policies" not in found
    assert "0.50 USD for each GB" in result.stdout


def test_a_private_api_is_written_and_init_says_where_commands_then_run(
    trainyard, directory
) -> None:
    result = trainyard("init", *EKS, "--api-networks", "private")
    assert result.exit_code == 0, result.output
    found = cluster_of(directory)
    assert found["architecture"]["endpoint"]["public_access"] is False
    assert "public_access_cidrs" not in found["architecture"]["endpoint"]
    assert "policies" not in found
    said = " ".join(result.stdout.split())
    assert "a host in the VPC, or in a network that is connected to it" in said
    for name in ("up", "run", "jobs", "verify", "kubectl"):
        assert f"`{name}`" in said
    assert "docs/init.md#who-can-reach-the-kubernetes-api" in said


def test_a_private_api_in_a_vpc_that_does_not_exist_yet_is_refused(trainyard, directory) -> None:
    result = trainyard(
        *("init", "prod-a", "--from", "dev", "--region", "us-west-2"),
        *("--api-networks", "private"),
    )
    assert result.exit_code == 2
    assert "contradicts the new VPC" in result.stderr
    assert [*directory.iterdir()] == []


def test_every_network_has_to_be_typed_and_the_rule_stays_with_its_warning(
    trainyard, directory
) -> None:
    result = trainyard("init", *EKS, "--api-networks", "0.0.0.0/0")
    assert result.exit_code == 0, result.output
    found = cluster_of(directory)
    assert found["architecture"]["endpoint"] == {"public_access_cidrs": ["0.0.0.0/0"]}
    assert found["policies"] == {
        "eks-public-endpoint-restricted": {"enforcement_level": "advisory"}
    }
    assert "every network can reach the Kubernetes API" in result.stdout


def test_all_wrong_networks_are_refused_at_once_and_nothing_is_written(
    trainyard, directory
) -> None:
    wrong = {
        "203.0.113.7": "use 203.0.113.7/32",
        "198.51.100.7/24": "use 198.51.100.0/24, or 198.51.100.7/32",
        "10.0.0.0/8": "use `private`",
        "2001:db8::/32": "IPv4",
        "office": "such as 203.0.113.0/24",
    }
    result = trainyard("init", *EKS, "--api-networks", ",".join(wrong), "--nodes", "0")
    assert result.exit_code == 2
    assert "\n  --nodes\n" in result.stderr
    said = re.findall(r"^  --api-networks\n(?:    .*\n?)+", result.stderr, re.MULTILINE)
    for (network, fix), paragraph in zip(wrong.items(), said, strict=True):
        assert f"found:   {network}\n" in paragraph
        assert fix in paragraph
    assert [*directory.iterdir()] == []


def test_the_command_in_the_file_of_an_eks_cluster_makes_the_same_file_again(
    trainyard, directory
) -> None:
    trainyard("init", *EKS, *NETWORKS)
    path = directory / "Pulumi.prod-a.yaml"
    first = path.read_text()
    (command,) = re.findall(r"^#   \./trainyard (.+)$", first, re.MULTILINE)
    path.unlink()
    assert trainyard(*shlex.split(command)).exit_code == 0
    assert path.read_text() == first


def test_the_page_describes_every_option() -> None:
    page = (ROOT / "docs" / "init.md").read_text(encoding="utf-8")
    options = {name for each in command("init").params for name in each.opts if "--" in name}
    undescribed = {name for name in options - {"--help"} if f"| `{name}" not in page}
    assert undescribed == set()


def test_in_the_checkout_the_directory_has_to_be_named(
    trainyard, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    command = ["init", "prod-a", "--from", "dev", "--region", "us-west-2", *NETWORKS]
    result = trainyard(*command)
    assert result.exit_code == 2
    assert "--stacks" in result.stderr
    result = trainyard(*command, "--yes")
    assert result.exit_code == 0
    written = tmp_path / "home" / "trainyard-stacks" / "Pulumi.prod-a.yaml"
    assert written.is_file()
    assert f"{written}: based on dev" in result.stdout
    assert f"cd {written.parent}" in result.stdout


def test_the_directory_of_the_variable_is_made(trainyard, monkeypatch, tmp_path: Path) -> None:
    chosen = tmp_path / "team" / "stacks"
    monkeypatch.setenv(stacks_directory.VARIABLE, str(chosen))
    result = trainyard("init", "prod-a", "--from", "dev", "--region", "us-west-2", *NETWORKS)
    assert result.exit_code == 0, result.output
    assert (chosen / "Pulumi.prod-a.yaml").is_file()
    assert stacks_directory.is_stacks_directory(chosen)
