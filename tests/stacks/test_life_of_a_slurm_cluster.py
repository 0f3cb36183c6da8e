"""The stack pc-gpu in the sandbox: rolled back, up twice, jobs in its Slurm, smaller, destroyed.

The commands run once, in the order of `life`; every test asserts one claim about their results.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.planted_secret import DIGEST, VALUE, files_with_value
from tests.support.sandbox import Done, Sandbox, copied_stack_file
from tests.support.secret_forms import (
    CHOSEN,
    PLANTED_ARGUMENTS,
    PLANTED_OPTIONS,
    leaks_in,
    modes_in,
)
from tests.support.verifications_of_a_life import MINIMUM_GB_PER_SECOND, schedule_of_a_bad_node

pytestmark = [pytest.mark.sandbox, pytest.mark.parallelcluster]

STACK = "pc-gpu"
RESOURCE = "architecture.queues.compute-gpu.compute_resources.distributed-ml"
HEAD = "architecture.head_node"
NODES = [f"compute-gpu-st-distributed-ml-{each}" for each in range(1, 5)]
# What a program sees of its secret: that it has the value, and that no process of this machine has
# it among its arguments, and Slurm in no answer and no file.
LOOK = """\
printf %s "$HF_TOKEN" | sha256sum
value() { printf %s "$HF_TOKEN"; }
if grep -lzF -f <(value) /proc/[0-9]*/cmdline 2> /dev/null; then echo "in a process"; fi
if scontrol show job "$SLURM_JOB_ID" | grep -F -f <(value); then echo "in an answer"; fi
grep -rlF -D skip -f <(value) "$HOME/.." | grep -v /.secrets/ && echo "in a file"
echo "looked"
"""
RANKS = 'echo "rank $RANK of $WORLD_SIZE"'
# Protected objects would outlive the stack, and here the account must be restored.
NOTHING_KEPT = {"storage.fsx.deletion_protection": False, "storage.apps.deletion_protection": False}
SMALLER = {
    f"{RESOURCE}.minimum": 3,
    f"{RESOURCE}.maximum": 3,
    "architecture.slurm.queue_update_strategy": "TERMINATE",
}


@dataclass(slots=True)
class Life:
    """The results, by the name of the step."""

    done: dict[str, Done] = field(default_factory=dict[str, Done])
    changes: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])
    inventory: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    outputs: dict[str, Any] = field(default_factory=dict[str, Any])
    cluster_config: dict[str, Any] = field(default_factory=dict[str, Any])
    revealed: list[Path] = field(default_factory=list[Path])
    """Files of the sandbox with the value of a secret, but the one of its user."""
    deployed_config: str = ""
    bundle: Path = field(init=False)
    """The directory of the diagnosis."""
    planned_config: str = ""


@pytest.fixture(scope="module")
def life(sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Life:
    """Run the whole life of the stack, and record its state at every relevant step."""
    life, copies = Life(), tmp_path_factory.mktemp("copies")
    life.inventory["before"] = sandbox.inventory()
    try:
        _live(life, sandbox, copies)
    finally:
        # Even after a failure, restore the account for other tests.
        life.done["destroy"] = sandbox.without_preview().run("destroy", STACK, "--sandbox", "--yes")
    life.inventory["after"] = sandbox.inventory()
    return life


def _live(life: Life, sandbox: Sandbox, copies: Path) -> None:
    at_once = sandbox.without_preview()

    def up(moment: str, change: dict[str, Any]) -> Done:
        path = copied_stack_file(copies / f"{moment}.yaml", NOTHING_KEPT | change, STACK)
        user = sandbox if moment == "up" else at_once
        done = user.run("up", STACK, "--sandbox", "--yes", "--stack-file", path)
        life.done[moment] = done
        life.changes[moment] = sandbox.resource_changes(STACK)
        life.inventory[moment] = sandbox.inventory()
        return done

    faults = copies / "faults.yaml"
    faults.write_text("[{happens: node-never-joins, node_group: distributed-ml}]", encoding="utf-8")
    sandbox.must("sandbox", "faults", faults)
    up("rolled back by ParallelCluster", {})
    sandbox.must("sandbox", "faults", "--clear")
    for moment in ("up", "again"):
        assert up(moment, {}).exit_code == 0, life.done[moment].said
    life.done["refresh"] = at_once.must("refresh", STACK, "--sandbox", "--yes")
    life.changes["refresh"] = sandbox.resource_changes(STACK)
    life.outputs = json.loads(sandbox.must("outputs", STACK, "--sandbox", "--json").stdout)
    _run_jobs(life, sandbox)
    life.done["verify without a log"] = sandbox.run("verify", STACK, "--sandbox")
    schedule_of_a_bad_node(sandbox, copies, NODES, efa=4, gpus=8)
    for moment in ("verify slow", "verify good"):
        threshold = ("--minimum-bandwidth", MINIMUM_GB_PER_SECOND)
        life.done[moment] = sandbox.run("verify", STACK, "--sandbox", *threshold)
    sandbox.must("sandbox", "faults", "--clear")
    artifact = sandbox.must("artifact", STACK, "cluster-config", "--sandbox")
    life.bundle = sandbox.directory / "bundle"
    life.done["diagnose"] = sandbox.must("diagnose", STACK, "--sandbox", "--output", life.bundle)
    life.cluster_config = yaml.safe_load(artifact.stdout)
    path = copied_stack_file(copies / "planned.yaml", NOTHING_KEPT, STACK)
    options = ("--planned", "--sandbox", "--stack-file", path)
    life.planned_config = sandbox.must("artifact", STACK, "cluster-config", *options).stdout
    life.deployed_config = artifact.stdout
    up("another head node", {f"{HEAD}.instance_type": "m5.4xlarge"})
    up("smaller", SMALLER)


def _run_jobs(life: Life, sandbox: Sandbox) -> None:
    """Run programs on the nodes, look at them, and end one."""

    def run(name: str, *command: str) -> Done:
        return sandbox.run("run", STACK, "--sandbox", "--name", name, *command)

    life.done["run"] = run("ranks", "--nodes", "2", "--", "bash", "-c", RANKS)
    assert life.done["run"].exit_code == 0, life.done["run"].said
    alone = ("--nodes", "1", "--launcher", "none")
    life.done["a program that fails"] = run("fails", *alone, "--", "sh", "-c", "exit 7")
    slept = ("sh", "-c", "sleep 600", "sh", *PLANTED_ARGUMENTS)
    endless = run("endless", *alone, "--detach", *PLANTED_OPTIONS, "--", *slept).stdout.strip()
    life.done["cancel"] = sandbox.must("cancel", STACK, endless, "--sandbox")
    life.done["jobs"] = sandbox.must("jobs", STACK, "--sandbox", "--json")
    life.done["logs"] = sandbox.must("logs", STACK, "ranks", "--sandbox")
    life.done["verify"] = sandbox.must("verify", STACK, "--inventory", "--sandbox", "--json")
    secret = ("--secret", "HF_TOKEN=~/.secrets/hf", *alone, "--", "bash", "-c", LOOK)
    life.done["without the file"] = run("secret", *secret)
    # The home directory on the head node of the sandbox.
    file = sandbox.directory / "slurm" / STACK / "home" / ".secrets" / "hf"
    file.parent.mkdir()
    file.write_text(f"{VALUE}\n", encoding="utf-8")
    file.chmod(0o640)
    life.done["readable by others"] = run("secret", *secret)
    file.chmod(0o600)
    life.done["secret"] = run("secret", *secret)
    life.revealed = files_with_value(sandbox.directory, kept_in="/.secrets/")


def _nodes(lines: list[str], kind: str) -> list[str]:
    return [line for line in lines if f"parallelcluster:node-type:{kind}" in line]


def test_what_only_parallelcluster_can_see_ends_with_its_own_reason(life: Life) -> None:
    done = life.done["rolled back by ParallelCluster"]
    assert done.exit_code == 1
    assert "StaticNodeBootstrapFailure" in done.said
    assert f"./trainyard up {STACK} --sandbox" in done.stderr


def test_a_cluster_that_is_rolled_back_leaves_nothing_in_the_account(life: Life) -> None:
    assert life.inventory["rolled back by ParallelCluster"] == life.inventory["before"]


def test_the_next_up_brings_it_up(life: Life) -> None:
    assert life.outputs["cluster_status"] == "CREATE_COMPLETE"
    assert life.outputs["compute_fleet_status"] == "RUNNING"


def test_the_static_nodes_run_in_the_reservation(life: Life) -> None:
    """PCx-03, PCx-05."""
    reservation = life.cluster_config["Scheduling"]["SlurmQueues"][0]["CapacityReservationTarget"]
    nodes = _nodes(life.inventory["up"], "Compute")
    assert len(nodes) == 4
    target = f"reservation={reservation['CapacityReservationId']}"
    assert all("type=p4de.24xlarge" in node and target in node for node in nodes)


@pytest.mark.parametrize(
    ("moment", "says"),
    [
        ("without the file", "there is no secret in "),
        ("readable by others", "has the mode 640, so that others may read the secret"),
    ],
)
def test_a_job_without_its_secret_is_not_submitted(life: Life, moment: str, says: str) -> None:
    done = life.done[moment]
    assert done.exit_code == 1
    assert says in done.stderr
    assert "submitted secret" not in done.stderr


def test_a_program_gets_its_secret_and_nobody_else_does(life: Life) -> None:
    """Not in the list of processes, answers and files of Slurm, the job's files or logs."""
    done = life.done["secret"]
    assert done.exit_code == 0, done.said
    assert done.stdout.splitlines()[1:] == [f"{DIGEST}  -", "looked"]
    assert life.revealed == []
    assert [each for each in life.done.values() if VALUE in each.said] == []


def test_the_planned_configuration_is_the_deployed_one(life: Life) -> None:
    assert life.planned_config == life.deployed_config


def test_the_head_node_is_there_and_the_summary_says_how_to_get_in(life: Life) -> None:
    """PC-03."""
    (head,) = _nodes(life.inventory["up"], "HeadNode")
    assert "type=m5.8xlarge" in head
    assert life.outputs["head_node"]["instance_id"] in head
    assert f"aws ssm start-session --target {head.split()[1]}" in life.done["up"].stdout


@pytest.mark.parametrize("moment", ["again", "refresh"])
def test_nothing_changes_without_a_change_in_the_stack_file(life: Life, moment: str) -> None:
    assert set(life.changes[moment]) == {"same"}


def test_the_same_command_says_that_nothing_changed(life: Life) -> None:
    assert "Resources: 0 changed, " in life.done["again"].stdout


def test_what_parallelcluster_never_changes_is_refused_before_anything_is(life: Life) -> None:
    done = life.done["another head node"]
    assert done.exit_code == 2
    assert f"{HEAD}.instance_type" in done.stderr
    assert life.inventory["another head node"] == life.inventory["again"]


def test_a_smaller_queue_is_an_update_of_the_same_cluster(life: Life) -> None:
    assert life.done["smaller"].exit_code == 0, life.done["smaller"].said
    assert life.changes["smaller"].get("update") == 1
    assert set(life.changes["smaller"]) <= {"update", "same"}
    assert len(_nodes(life.inventory["smaller"], "Compute")) == 3
    head_before, head_after = (_nodes(life.inventory[m], "HeadNode") for m in ("up", "smaller"))
    assert head_before == head_after


def test_destroy_leaves_the_account_as_it_was(life: Life) -> None:
    assert life.done["destroy"].exit_code == 0, life.done["destroy"].said
    assert life.inventory["after"] == life.inventory["before"]


def test_a_diagnosis_says_what_it_cannot_read(life: Life) -> None:
    said = life.done["diagnose"].stdout
    assert "- slurm/*.log: the head node of the sandbox has no logs of ParallelCluster" in said
    assert said.count("\n- ") == 1


def test_neither_a_diagnosis_nor_a_command_has_a_secret_of_a_job(life: Life) -> None:
    assert leaks_in(life.bundle) == []
    assert modes_in(life.bundle) == {0}
    assert "endless" in (life.bundle / "slurm/jobs.txt").read_text(encoding="utf-8")
    assert [name for name, done in life.done.items() if CHOSEN in done.said] == []


def test_a_program_runs_on_all_accelerators_of_its_nodes_and_its_log_is_shown(life: Life) -> None:
    ranks = sorted(f"rank {each} of 16" for each in range(16))
    assert sorted(life.done["run"].stdout.splitlines()[1:]) == ranks
    assert sorted(life.done["logs"].stdout.splitlines()) == ranks
    assert "programs run here as your user, without GPUs" in life.done["run"].stderr


def test_a_program_that_fails_gives_its_exit_code(life: Life) -> None:
    assert life.done["a program that fails"].exit_code == 7, life.done["a program that fails"].said


def test_jobs_are_listed_and_ended(life: Life) -> None:
    jobs = json.loads(life.done["jobs"].stdout)
    assert {each["name"]: each["state"] for each in jobs} == {
        "ranks": "COMPLETED",
        "fails": "FAILED",
        "endless": "CANCELLED",
    }


def test_the_nodes_in_slurm_are_as_planned(life: Life) -> None:
    stages = json.loads(life.done["verify"].stdout)["stages"]
    (inventory,) = [each for each in stages if each["name"] == "inventory"]
    assert (inventory["result"], inventory["reason"][:12]) == ("pass", "4 of 4 nodes")


def test_a_test_of_accelerators_needs_a_recorded_log(life: Life) -> None:
    done = life.done["verify without a log"]
    assert done.exit_code == 2
    assert "give a recorded log to nccl-tests with `./trainyard sandbox faults FILE`" in done.stderr


def test_a_verification_names_the_slow_node_until_it_is_good(life: Life) -> None:
    slow, good = life.done["verify slow"], life.done["verify good"]
    assert (slow.exit_code, good.exit_code) == (1, 0), slow.said + good.said
    least = f"{MINIMUM_GB_PER_SECOND:g} GB/s"
    assert f"fail     bandwidth  1.25 GB/s at 16 GiB, less than {least}" in slow.stdout
    assert f"fail     pairs      the cause is {NODES[-1]}: " in slow.stdout
    assert "drain the bad nodes with --drain\n" in slow.stderr
    assert "jobs that the fault schedule names run no program" in slow.stderr
    assert f"pass     bandwidth  5.75 GB/s at 16 GiB, at least {least}" in good.stdout
