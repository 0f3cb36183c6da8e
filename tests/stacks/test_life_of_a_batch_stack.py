"""The lives of a network stack, and of the stack batch-trn1 in that network, in the sandbox.

The commands run once, in the order of `life`; every test asserts one claim about their results.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.support.planted_secret import VALUE, files_with_value, reveals
from tests.support.processes import until
from tests.support.remains import normalised
from tests.support.sandbox import Done, Sandbox, copied_stack_file
from tests.support.secret_forms import (
    CHOSEN,
    PLANTED_ARGUMENTS,
    PLANTED_OPTIONS,
    leaks_in,
    modes_in,
)
from tests.support.tracked import ROOT
from trainyard.components.secret_documents import LEFT_OUT

pytestmark = pytest.mark.sandbox

NETWORK, STACK = "vpc-multi-az", "batch-trn1"
# The zone of the Trainium nodes, and that of the Capacity Block of p5-cb.
ZONES = {"network.availability_zones": ["usw2-az4", "usw2-az1"]}
UNPROTECTED = {"architecture.deletion_protection": False, "tags": {"Team": "research"}}
IN_NETWORK: dict[str, Any] = {"network": {"kind": "stack-reference", "stack": NETWORK}}
NODES = "architecture.compute_environments.trn1"
DEFINITION = "architecture.job_definitions.nccom-tests"
CHANGED = {f"{NODES}.instance_type": "trn1n.32xlarge", f"{NODES}.root_volume.size_gib": 300}
LOGS = ROOT / "tests" / "trainyard" / "verify" / "logs"
FAULTS = """\
- {happens: container-succeeds, job: 'nccom-tests*', index: 0, log: good.log, after_seconds: 2}
- {happens: container-fails, job: broken, index: 0, log: failed.log, exit_code: 7}
"""
SUPPORTED_BY_NETWORK = ("p5-cb", "pc-gpu")
"""Stacks of the other architectures that the network suits."""


@dataclass(slots=True)
class Life:
    """The results, by the name of the step."""

    done: dict[str, Done] = field(default_factory=dict[str, Done])
    changes: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])
    inventory: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    outputs: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    deleted: list[str] = field(default_factory=list[str])
    """Ids of the rules of a security group that were deleted outside Pulumi."""
    bundle: Path = field(init=False)
    """The directory of the diagnosis of a failed job."""
    answers: list[object] = field(default_factory=list[object])
    """What Batch and IAM say about a job with a secret, and the log."""
    revealed: list[Path] = field(default_factory=list[Path])
    """Files of the sandbox with the value of the secret."""


@dataclass(frozen=True, slots=True)
class Commands:
    """Runs commands on copies of stack files, and keeps their output and results."""

    life: Life
    sandbox: Sandbox
    copies: Path

    def run(self, moment: str, command: str, stack: str, change: dict[str, Any]) -> Done:
        """Run a command on a changed copy of a stack file, whether or not it succeeds."""
        path = copied_stack_file(self.copies / f"{moment}.yaml", change, stack)
        yes = [] if command == "preview" else ["--yes"]
        # `destroy` is refused before it would have a preview.
        user = self.sandbox if moment == "up" else self.sandbox.without_preview()
        done = user.run(command, stack, "--sandbox", *yes, "--stack-file", path)
        self.life.done[moment] = done
        return done

    def up(self, moment: str, stack: str, change: dict[str, Any]) -> None:
        """Bring up a copy of a stack file; fail if that does not succeed."""
        done = self.run(moment, "up", stack, change)
        assert done.exit_code == 0, done.said
        outputs = self.sandbox.must("outputs", stack, "--sandbox", "--json").stdout
        self.life.outputs[moment] = json.loads(outputs)
        self.life.changes[moment] = self.sandbox.resource_changes(stack)
        self.life.inventory[moment] = self.sandbox.inventory()

    def refresh(self, moment: str, stack: str, change: dict[str, Any]) -> None:
        """Refresh a copy of a stack file; fail if that does not succeed."""
        done = self.run(moment, "refresh", stack, change)
        assert done.exit_code == 0, done.said
        self.life.changes[moment] = self.sandbox.resource_changes(stack)


@pytest.fixture(scope="module")
def life(sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Life:
    """Run both lives, and record their state at every relevant step."""
    life = Life()
    commands = Commands(life, sandbox, tmp_path_factory.mktemp("copies"))
    life.inventory["before"] = sandbox.inventory()
    try:
        _make_the_network(commands)
        _live_in_it(commands)
        commands.up("network unprotected", NETWORK, ZONES | UNPROTECTED)
        commands.run("destroy of an inhabited network", "destroy", NETWORK, ZONES | UNPROTECTED)
        life.inventory["inhabited"] = sandbox.inventory()
    finally:
        # Even after a failure, restore the account for other tests.
        for stack in (STACK, NETWORK):
            at_once = sandbox.without_preview()
            life.done[f"destroy {stack}"] = at_once.run("destroy", stack, "--sandbox", "--yes")
    life.inventory["after"] = sandbox.inventory()
    return life


def _make_the_network(commands: Commands) -> None:
    commands.run("without its network", "preview", STACK, IN_NETWORK)
    commands.up("network", NETWORK, ZONES)
    commands.run("destroy of a protected network", "destroy", NETWORK, ZONES)
    commands.life.inventory["protected"] = commands.sandbox.inventory()
    for stack in SUPPORTED_BY_NETWORK:
        commands.run(f"preview of {stack}", "preview", stack, IN_NETWORK)


def _live_in_it(commands: Commands) -> None:
    for moment in ("up", "again"):
        commands.up(moment, STACK, IN_NETWORK)
    commands.up("changed", STACK, IN_NETWORK | CHANGED)
    commands.refresh("refresh", STACK, IN_NETWORK | CHANGED)
    commands.life.deleted = _deleted_by_hand(commands)
    commands.refresh("refresh of what is gone", STACK, IN_NETWORK | CHANGED)
    commands.up("made anew", STACK, IN_NETWORK | CHANGED)
    job = ("job", STACK, "nccom-tests", "--submit", "--wait", "--sandbox")
    commands.life.done["job"] = commands.sandbox.run(*job)
    bundle = commands.copies / "bundle"
    wanted = ("diagnose", STACK, "--sandbox", "--output", bundle)
    commands.life.done["diagnose"] = commands.sandbox.must(*wanted)
    commands.life.done["jobs"] = commands.sandbox.must("jobs", STACK, "--sandbox", "--json")
    _run_with_faults(commands)
    _run_with_a_secret(commands)
    # Batch terminates the idle nodes of the job.
    until(lambda: not _nodes(commands.sandbox), "the nodes of the job are gone")


def _run_with_a_secret(commands: Commands) -> None:
    """Run a program with a secret of Secrets Manager, and look for the value."""
    sandbox, life = commands.sandbox, commands.life
    secrets = sandbox.aws("secretsmanager")
    arn = secrets.create_secret(Name="team/hf", SecretString=VALUE)["ARN"]
    run = ("run", STACK, "--sandbox", "--name", "secret", "--secret", f"HF_TOKEN={arn}")
    life.done["secret of no definition"] = sandbox.run(*run, "--", "train.py")
    secret = {f"{DEFINITION}.secrets": {"HF_TOKEN": arn}}
    path = copied_stack_file(
        commands.copies / "with a secret.yaml", IN_NETWORK | CHANGED | secret, STACK
    )
    with_secret = (*run, "--stack-file", path, "--", "train.py")
    life.done["secret before up"] = sandbox.run(*with_secret)
    commands.up("with a secret", STACK, IN_NETWORK | CHANGED | secret)
    life.done["secret"] = sandbox.run(*with_secret)
    (role,) = [
        each
        for each in sandbox.aws("iam").list_roles()["Roles"]
        if each.get("Description") == "Reads the secrets of an AWS Batch job"
    ]
    (policy,) = sandbox.aws("iam").list_role_policies(RoleName=role["RoleName"])["PolicyNames"]
    sandbox.aws("iam").delete_role_policy(RoleName=role["RoleName"], PolicyName=policy)
    life.done["secret without the policy"] = sandbox.run(*with_secret)
    batch = sandbox.aws("batch")
    submitted = [
        done.stdout.split()[0]
        for done in (life.done["secret"], life.done["secret without the policy"])
    ]
    life.answers = [
        batch.describe_jobs(jobs=[*submitted, *(f"{each}#0" for each in submitted)]),
        batch.describe_job_definitions(),
        sandbox.must("jobs", STACK, "--sandbox", "--json").said,
        sandbox.must("diagnose", STACK, "--sandbox", "--output", commands.copies / "of a secret"),
    ]
    places = (sandbox.directory, commands.copies)
    life.revealed = [each for place in places for each in files_with_value(place, kept_in="\0")]
    secrets.delete_secret(SecretId=arn, ForceDeleteWithoutRecovery=True)
    commands.up("without the secret", STACK, IN_NETWORK | CHANGED)


def _run_with_faults(commands: Commands) -> None:
    """Run a program and a test whose containers do what a schedule says."""
    user, done = commands.sandbox, commands.life.done
    schedule = commands.copies / "faults.yaml"
    log = (LOGS / "trn1-two-nodes.log").read_text(encoding="utf-8")
    (schedule.parent / "good.log").write_text(log, encoding="utf-8")
    (schedule.parent / "failed.log").write_text("RuntimeError\n", encoding="utf-8")
    schedule.write_text(FAULTS, encoding="utf-8")
    user.must("sandbox", "faults", schedule)
    done["verify"] = user.run("verify", STACK, "--sandbox", "--json")
    done["broken"] = user.run("run", STACK, "--sandbox", "--name", "broken", *PLANTED_OPTIONS,
                              "--", "train.py", *PLANTED_ARGUMENTS)  # fmt: skip
    commands.life.bundle = commands.copies / "bundle of a failed job"
    done["diagnose failed"] = user.must(
        "diagnose", STACK, "--sandbox", "--output", commands.life.bundle
    )
    user.must("sandbox", "faults", "--clear")


def _nodes(sandbox: Sandbox) -> list[str]:
    instances = [each for each in sandbox.inventory() if each.startswith("ec2:instance ")]
    return [each for each in instances if f"Name:{STACK}-" in each]


def _deleted_by_hand(commands: Commands) -> list[str]:
    """Delete the job queue and the rules of the nodes' security group; return the rules' ids."""
    made = commands.life.outputs["changed"]
    batch, ec2 = (commands.sandbox.aws(service) for service in ("batch", "ec2"))
    (queue,) = [each["jobQueueName"] for each in batch.describe_job_queues()["jobQueues"]]
    batch.update_job_queue(jobQueue=queue, state="DISABLED")
    batch.delete_job_queue(jobQueue=queue)
    group = made["security_group_ids"]["nodes"]
    found = ec2.describe_security_group_rules(Filters=[{"Name": "group-id", "Values": [group]}])
    for rule in found["SecurityGroupRules"]:
        direction = "egress" if rule["IsEgress"] else "ingress"
        revoke = getattr(ec2, f"revoke_security_group_{direction}")
        revoke(GroupId=group, SecurityGroupRuleIds=[rule["SecurityGroupRuleId"]])
    return [rule["SecurityGroupRuleId"] for rule in found["SecurityGroupRules"]]


def _only(lines: list[str], kind: str) -> str:
    (line,) = [each for each in lines if each.startswith(f"{kind} ")]
    return line


def test_a_network_that_is_not_up_is_named_with_the_command_that_brings_it_up(life: Life) -> None:
    done = life.done["without its network"]
    assert done.exit_code == 2
    assert "trainyard:cluster.network.stack" in done.stderr
    assert f"./trainyard up {NETWORK}" in done.stderr


def test_a_protected_network_outlives_destroy_untouched(life: Life) -> None:
    done = life.done["destroy of a protected network"]
    assert f"nothing of {NETWORK} was destroyed" in done.stdout
    assert "trainyard:cluster.architecture.deletion_protection" in done.stdout
    assert life.inventory["protected"] == life.inventory["network"]


@pytest.mark.parametrize("stack", SUPPORTED_BY_NETWORK)
def test_clusters_of_the_other_architectures_live_in_it_too(life: Life, stack: str) -> None:
    """VPCM-22: they read the outputs that the network exports."""
    assert life.done[f"preview of {stack}"].exit_code == 0, life.done[f"preview of {stack}"].said


def test_the_stack_comes_up_from_nothing_under_the_policy_pack(life: Life) -> None:
    assert set(life.changes["up"]) == {"create"}
    assert "checked by the policy pack trainyard@" in life.done["up"].said


def test_its_nodes_are_in_the_private_subnet_of_their_zone(life: Life) -> None:
    network, stack = life.outputs["network"], life.outputs["up"]
    assert stack["vpc_id"] == network["vpc_id"]
    environment = _only(life.inventory["up"], "batch:compute-environment")
    assert f"subnets={network['private_subnet_ids'][0]} " in f"{environment} "


@pytest.mark.parametrize("moment", ["again", "refresh"])
def test_nothing_changes_without_a_change_in_the_stack_file(life: Life, moment: str) -> None:
    assert set(life.changes[moment]) == {"same"}


def test_the_same_command_says_that_nothing_changed(life: Life) -> None:
    assert "Resources: 0 changed, " in life.done["again"].stdout


def test_another_instance_type_and_template_are_updates_of_the_same_environment(life: Life) -> None:
    """BAT-15, pain 9: the template by number, so that Batch sees that it changed."""
    assert set(life.changes["changed"]) == {"update", "same"}
    before, after = (
        life.outputs[moment]["compute_environments"]["trn1"] for moment in ("up", "changed")
    )
    assert after["arn"] == before["arn"]
    assert (before["instance_type"], after["instance_type"]) == ("trn1.32xlarge", "trn1n.32xlarge")
    environment = _only(life.inventory["changed"], "batch:compute-environment")
    assert "trn1n.32xlarge" in environment


def test_what_was_deleted_outside_pulumi_is_forgotten_and_made_anew(life: Life) -> None:
    """Security group rules and the queue, which the provider can no longer read."""
    said = life.done["refresh of what is gone"].stderr
    assert life.deleted
    for each in (*life.deleted, "job-queue/"):
        assert each in said
    before, after = (
        normalised(life.inventory[moment], life.inventory["before"])
        for moment in ("changed", "made anew")
    )
    assert after == before


def test_a_submitted_job_succeeds(life: Life) -> None:
    done = life.done["job"]
    assert done.exit_code == 0, done.said
    job_id = done.stdout.strip()
    assert f"{job_id} is SUCCEEDED" in done.stderr
    (listed,) = json.loads(life.done["jobs"].stdout)
    assert (listed["id"], listed["state"], listed["has_ended"]) == (job_id, "SUCCEEDED", True)
    assert listed["started"] <= listed["ended"]


def test_verify_judges_the_log_of_the_test_that_it_runs(life: Life) -> None:
    done = life.done["verify"]
    assert done.exit_code == 0, done.said
    results = {each["name"]: each["result"] for each in json.loads(done.stdout)["stages"]}
    # nccom-test does not count wrong values.
    assert (results["test"], results["values"]) == ("pass", "skipped")


def test_a_program_that_fails_ends_the_command_after_its_log(life: Life) -> None:
    done = life.done["broken"]
    assert done.exit_code == 7
    assert done.stdout.splitlines()[1:] == ["RuntimeError"]
    assert "failed: Essential container in task exited" in done.stderr


def test_a_diagnosis_has_the_job_and_finds_nothing_wrong(life: Life) -> None:
    assert "Nothing that is wrong was found." in life.done["diagnose"].stdout
    assert "Not read" not in life.done["diagnose"].stdout


def test_neither_a_diagnosis_nor_a_command_has_a_secret_of_a_job(life: Life) -> None:
    assert leaks_in(life.bundle) == []
    assert modes_in(life.bundle) == {0}
    assert [name for name, done in life.done.items() if CHOSEN in done.said] == []
    assert "is FAILED" in life.done["diagnose failed"].stdout
    (jobs,) = life.bundle.glob("jobs/*-failed.json")
    text = jobs.read_text(encoding="utf-8")
    assert '"name": "HARMLESS"' in text
    assert LEFT_OUT in text


def test_a_network_that_others_live_in_is_not_destroyed(life: Life) -> None:
    """AWS would delete its routes and gateways before refusing the VPC, and cut off the others."""
    done = life.done["destroy of an inhabited network"]
    assert done.exit_code == 2
    assert life.outputs["up"]["security_group_ids"]["nodes"] in done.stderr
    assert f"./trainyard destroy {STACK} --sandbox" in done.stderr
    assert life.inventory["inhabited"] == life.inventory["network unprotected"]


def test_destroy_leaves_the_account_as_it_was(life: Life) -> None:
    for stack in (STACK, NETWORK):
        done = life.done[f"destroy {stack}"]
        assert done.exit_code == 0, done.said
    assert life.inventory["after"] == life.inventory["before"]


def test_a_secret_that_the_job_would_not_get_is_refused(life: Life) -> None:
    done = life.done["secret of no definition"]
    assert done.exit_code == 2
    assert "role may read no others; set them in the stack file" in done.stderr
    done = life.done["secret before up"]
    assert done.exit_code == 1
    assert "does not have the secrets of the stack file yet; deploy it" in done.stderr


def test_a_job_gets_its_secret_with_a_role_that_may_read_it(life: Life) -> None:
    done = life.done["secret"]
    assert done.exit_code == 0, done.said
    done = life.done["secret without the policy"]
    assert done.exit_code == 1
    assert "is not authorized to perform: secretsmanager:GetSecretValue" in done.stderr


def test_the_value_of_a_secret_is_in_no_answer_state_bundle_or_log(life: Life) -> None:
    assert life.revealed == []
    assert reveals([*life.answers, *(each.said for each in life.done.values())]) == []
