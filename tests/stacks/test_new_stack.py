"""From an empty directory to a user's cluster, without editing a file.

Once without a terminal, as in a script, up to the running cluster; once with prompts.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from tests.support.account import EFS, LUSTRE, VPC
from tests.support.sandbox import Sandbox
from tests.support.tracked import ROOT
from trainyard.components.account.reader import AccountReader, enabled_regions
from trainyard.engine.environment import process_environment
from trainyard.init.account_listing import list_account
from trainyard.sandbox.state import SandboxDirectory
from trainyard.stack_files.stacks_directory import VARIABLE

pytestmark = pytest.mark.sandbox

BLOCK, ODCR = "cr-0123456789abcdef0", "cr-00d00000000000005"
IN_NEW_VPC = "--kind eks --instance-type g4dn.8xlarge --vpc new"


def user_in(directory: Path, sandbox: Sandbox) -> Sandbox:
    """Return the sandbox for a user whose stack files are in a directory."""
    directory.mkdir()
    return replace(sandbox, settings={**sandbox.settings, VARIABLE: str(directory)})


def documented() -> list[str]:
    """Return the command of docs/init.md, for the account of the sandbox."""
    text = (ROOT / "docs" / "init.md").read_text(encoding="utf-8").replace("\\\n", "")
    (command,) = re.findall(r"^\./trainyard (init prod-a --kind .+)$", text, re.MULTILINE)
    return shlex.split(command.replace("--region us-west-2", "--sandbox"))


def cluster_of(path: Path) -> dict:
    return yaml.safe_load(path.read_text())["config"]["trainyard:cluster"]


def test_two_commands_lead_from_an_empty_directory_to_two_node_groups_with_lustre(
    own_sandbox: Sandbox, tmp_path: Path
) -> None:
    user = user_in(tmp_path / "mine", own_sandbox)
    before = {*user.inventory()}
    made = user.must(*documented())
    assert "./trainyard up prod-a --sandbox" in made.stdout
    user.without_preview().must("up", "prod-a", "--sandbox", "--yes")
    found = user.inventory()
    instances = [line for line in found if line.startswith("ec2:instance ")]
    for reservation in (BLOCK, ODCR):
        assert sum(f"reservation={reservation}" in line for line in instances) == 2
    new = [line for line in {*found} - before if line.startswith("fsx:file-system ")]
    assert len(new) == 1


def test_the_questions_lead_to_a_file_that_passes_the_checks_of_the_account(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    user = user_in(tmp_path / "mine", sandbox)
    # Kind, reservations, nodes of each, VPC, subnets, networks of the API (twice: the first is a
    # private one), file system and its size, key pair, yes.
    networks = ["10.0.0.0/8", "203.0.113.0/24, 198.51.100.7/32"]
    answers = ["", f"{BLOCK},{ODCR}", "1", "", "1", "", *networks, "new", "1200", "sandbox", "y"]
    said = user.typed("init", "prod-b", "--sandbox", answers=answers)
    assert "10.0.0.0/8: is no network of the internet" in " ".join(said.split())
    path = tmp_path / "mine" / "Pulumi.prod-b.yaml"
    found = cluster_of(path)
    sizes = [each["desired"] for each in found["architecture"]["node_groups"].values()]
    assert sizes == [1, 2]
    assert found["storage"]["fsx"]["storage_capacity_gib"] == 1200
    assert found["network"]["vpc_id"] == VPC
    networks = found["architecture"]["endpoint"]["public_access_cidrs"]
    assert networks == ["203.0.113.0/24", "198.51.100.7/32"]
    user.must("check", "prod-b", "--sandbox", "--live")

    before = user.inventory()
    declined = user.typed("up", "prod-b", "--sandbox", answers=["n"], exit_code=3)
    assert "create aws:eks:Cluster" in declined
    assert "up of prod-b; nothing was changed" in declined
    assert user.inventory() == before

    first = path.read_text()
    (command,) = re.findall(r"^#   \./trainyard (.+)$", first, re.MULTILINE)
    path.unlink()
    user.must(*shlex.split(command))
    assert path.read_text() == first


def test_the_preview_of_a_new_cluster_warns_of_no_open_api_and_no_missing_audit_log(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    user = user_in(tmp_path / "mine", sandbox)
    for name, networks in (("prod-e", "203.0.113.0/24"), ("prod-f", "0.0.0.0/0")):
        command = f"init {name} --from p5-cb --reservation {BLOCK} --api-networks {networks}"
        user.must(*command.split(), "--sandbox", "--yes")
        answer = json.loads(user.must("preview", name, "--sandbox", "--json").stdout)
        found = {each["rule"] for each in answer["findings"]}
        expected = {"eks-public-endpoint-restricted"} if networks == "0.0.0.0/0" else set()
        assert found & {"eks-public-endpoint-restricted", "eks-audit-log"} == expected


def test_nothing_is_written_when_the_account_contradicts_the_options(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    user = user_in(tmp_path / "mine", sandbox)
    options = f"--kind eks --reservation {BLOCK} --nodes 3 --key-pair nope --subnet"
    done = user.run("init", "prod-c", *options.split(), "subnet-0a000000000000002", "--sandbox")
    assert done.exit_code == 2
    for option in ("--nodes", "--key-pair", "--subnet"):
        assert f"\n  {option}\n" in done.stderr
    assert [*(tmp_path / "mine").iterdir()] == []


@pytest.mark.parametrize(
    "options",
    [
        "--kind slurm --reservation cr-00d00000000000004 --key-pair sandbox",
        f"--kind slurm --reservation {BLOCK} --file-system {EFS}",
        f"--kind batch --reservation {BLOCK}",
        f"{IN_NEW_VPC} --lustre-gib 1200 --api-networks 203.0.113.0/24",
        f"--kind eks --reservation {BLOCK} --api-networks private",
        "--kind network",
    ],
)
def test_a_stack_of_every_kind_passes_the_checks_of_the_account(
    sandbox: Sandbox, tmp_path: Path, options: str
) -> None:
    user = user_in(tmp_path / "mine", sandbox)
    user.must("init", "prod-d", *options.split(), "--sandbox")
    user.must("check", "prod-d", "--sandbox", "--live")


def test_the_listing_has_what_the_account_of_the_sandbox_has(sandbox: Sandbox) -> None:
    status = SandboxDirectory(sandbox.directory).read_status()
    assert status is not None
    with process_environment({**os.environ, **status.endpoint.environment}):
        reader = AccountReader(region="us-west-2")
        found = list_account(reader, ["trn1.32xlarge"])
        assert "us-west-2" in enabled_regions(reader)
    assert found.unreadable == ()
    assert VPC in found.vpcs
    assert found.subnets["subnet-0b000000000000002"].default_route == "nat"
    assert {BLOCK, ODCR} <= {each.reservation_id for each in found.reservations}
    assert found.key_pairs["sandbox"] == "ed25519"
    assert LUSTRE in {each.file_system_id for each in found.fsx}
    assert EFS in {each.file_system_id for each in found.efs}
    assert "usw2-az4" in found.offered_zone_ids["trn1.32xlarge"]
