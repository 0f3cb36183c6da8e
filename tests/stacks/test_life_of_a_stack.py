"""The stack p5-cb in the sandbox, as a new user tries it: up twice, changed, refreshed, destroyed.

The commands run once, in the order of `live`, and only the first `up` has a preview; every test
asserts one claim about their results.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml
from kubernetes import client

from tests.stacks.conftest import digests
from tests.stacks.support.jobs_of_a_life import OTHER_TEAM, JobsOfALife
from tests.support.kubernetes import DEFAULT
from tests.support.planted_secret import reveals
from tests.support.processes import until
from tests.support.sandbox import Done, Sandbox, copied_stack_file
from tests.support.secret_forms import CHOSEN, WANDB, leaks_in, modes_in
from trainyard.components.secret_documents import LEFT_OUT

pytestmark = pytest.mark.sandbox

STACK = "p5-cb"
FOREIGN_ROLE = "arn:aws:iam::123456789012:role/somebody-elses-nodes"
FOREIGN_ENTRY = f"""\
# added by hand, with a comment
- rolearn: {FOREIGN_ROLE}
  username: system:node:{{{{EC2PrivateDNSName}}}}
  groups: [system:bootstrappers, "system:nodes"]
"""
SIZE = "architecture.node_groups.p5.desired"


@dataclass(slots=True)
class Life:
    """The results, by the name of the step."""

    done: dict[str, Done] = field(default_factory=dict[str, Done])
    changes: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])
    map_roles: dict[str, str] = field(default_factory=dict[str, str])
    inventory: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    nodes: dict[str, list[client.V1Node]] = field(default_factory=dict[str, "list[client.V1Node]"])
    daemon_sets: list[client.V1DaemonSet] = field(default_factory=list)
    outputs: dict[str, object] = field(default_factory=dict[str, object])
    kubeconfig_mode: int = 0
    jobs: JobsOfALife = field(init=False)


@pytest.fixture(scope="module")
def life(
    sandbox: Sandbox,
    tmp_path_factory: pytest.TempPathFactory,
    untouched: dict[str, str],
) -> Life:
    """Run the whole life of the stack, and record its state at every relevant step."""
    assert untouched, "taken before anything runs"
    life = Life()
    life.inventory["before"] = sandbox.inventory()
    _come_up(life, sandbox)
    _meet_a_foreign_entry(life, sandbox)
    _change(life, sandbox, tmp_path_factory.mktemp("copies"))
    life.jobs = JobsOfALife(sandbox, STACK)
    life.jobs.run()
    life.outputs = json.loads(sandbox.must("outputs", STACK, "--sandbox", "--json").stdout)
    life.done["destroy"] = sandbox.without_preview().must("destroy", STACK, "--sandbox", "--yes")
    life.inventory["after"] = sandbox.inventory()
    return life


def _come_up(life: Life, sandbox: Sandbox) -> None:
    life.done["up"] = sandbox.must("up", STACK, "--sandbox", "--yes")
    life.changes["up"] = sandbox.resource_changes(STACK)
    life.kubeconfig_mode = sandbox.kubeconfig(STACK).stat().st_mode & 0o777
    with sandbox.kubernetes(STACK) as api:
        life.nodes["up"] = client.CoreV1Api(api).list_node().items
        life.daemon_sets = client.AppsV1Api(api).list_namespaced_daemon_set("kube-system").items
    life.map_roles["up"] = _map_roles(sandbox)
    life.done["status"] = sandbox.must("status", STACK, "--sandbox")
    life.inventory["up"] = sandbox.inventory()


def _meet_a_foreign_entry(life: Life, sandbox: Sandbox) -> None:
    with sandbox.kubernetes(STACK) as api:
        body = {"data": {"mapRoles": FOREIGN_ENTRY + _map_roles(sandbox)}}
        client.CoreV1Api(api).patch_namespaced_config_map("aws-auth", "kube-system", body)
    life.map_roles["foreign"] = _map_roles(sandbox)
    _run(life, sandbox, "again", "up")


def _run(life: Life, sandbox: Sandbox, moment: str, command: str, *options: str | Path) -> None:
    at_once = sandbox.without_preview()
    life.done[moment] = at_once.must(command, STACK, "--sandbox", "--yes", *options)
    life.changes[moment] = sandbox.resource_changes(STACK)
    life.map_roles[moment] = _map_roles(sandbox)


def _change(life: Life, sandbox: Sandbox, directory: Path) -> None:
    smaller = copied_stack_file(directory / "smaller.yaml", {SIZE: 1})
    _run(life, sandbox, "smaller", "up", "--stack-file", smaller)
    with sandbox.kubernetes(STACK) as api:
        core = client.CoreV1Api(api)
        until(lambda: len(_p5(core.list_node().items)) == 1, "one p5 node is left")
        life.nodes["smaller"] = core.list_node().items
    tagged = copied_stack_file(directory / "tagged.yaml", {"tags": {"Team": "research"}})
    _run(life, sandbox, "tagged", "up", "--stack-file", tagged)
    _run(life, sandbox, "refresh", "refresh", "--stack-file", tagged)


def _map_roles(sandbox: Sandbox) -> str:
    with sandbox.kubernetes(STACK) as api:
        found = client.CoreV1Api(api).read_namespaced_config_map("aws-auth", "kube-system")
    return (found.data or {}).get("mapRoles", "")


def _p5(nodes: list[client.V1Node]) -> list[client.V1Node]:
    label = "node.kubernetes.io/instance-type"
    return [node for node in nodes if node.metadata.labels.get(label) == "p5.48xlarge"]


def _ready(node: client.V1Node) -> bool:
    return any(c.type == "Ready" and c.status == "True" for c in node.status.conditions)


def test_status_shows_the_summary_of_the_running_cluster(life: Life) -> None:
    said = life.done["status"].stdout
    for fact in (
        "p5-cb · SANDBOX",
        "2 x p5.48xlarge, self-managed",
        "Ready  nvidia.com/gpu: 8  vpc.amazonaws.com/efa: 32",
        "update succeeded, 20",
        "./trainyard job p5-cb nccl-tests --submit --wait --sandbox",
    ):
        assert fact in said
    assert "missing" not in said
    assert "Resources:" not in said


def test_the_cluster_comes_up_from_nothing(life: Life) -> None:
    assert set(life.changes["up"]) == {"create"}


def test_two_nodes_of_the_block_are_ready_with_every_device(life: Life) -> None:
    nodes = _p5(life.nodes["up"])
    assert [_ready(node) for node in nodes] == [True, True]
    allocatable = [node.status.allocatable for node in nodes]
    assert {a["nvidia.com/gpu"] for a in allocatable} == {"8"}
    assert {a["vpc.amazonaws.com/efa"] for a in allocatable} == {"32"}


def test_a_system_node_is_ready_without_devices(life: Life) -> None:
    (system,) = [n for n in life.nodes["up"] if n not in _p5(life.nodes["up"])]
    assert _ready(system)
    assert "nvidia.com/gpu" not in system.status.allocatable


def test_device_plugins_run_on_every_node_that_has_the_device(life: Life) -> None:
    """PR-26, PR-27. A rollout without desired pods counts as complete, so assert the number."""
    wanted = {d.metadata.name: d.status for d in life.daemon_sets}
    for name in ("nvidia-device-plugin-daemonset", "aws-efa-k8s-device-plugin"):
        assert (wanted[name].desired_number_scheduled, wanted[name].number_ready) == (2, 2), name


def test_the_summary_says_what_came_up(life: Life, sandbox: Sandbox) -> None:
    said = life.done["up"].stdout
    for fact in (
        "SANDBOX (emulated AWS, real Kubernetes)",
        f"Kubernetes {DEFAULT}",
        "2 x p5.48xlarge, self-managed",
        "nvidia.com/gpu: 8  vpc.amazonaws.com/efa: 32",
        "nvidia-device-plugin-daemonset  2 of 2 pods Running",
        str(sandbox.kubeconfig(STACK)),
        "0 unchanged",
    ):
        assert fact in said, fact


def test_the_kubeconfig_is_for_its_owner_only(life: Life) -> None:
    assert life.kubeconfig_mode == 0o600


def test_the_node_role_stands_in_aws_auth_once(life: Life) -> None:
    """PR-25."""
    entries = yaml.safe_load(life.map_roles["up"])
    (entry,) = [e for e in entries if "system:bootstrappers" in e["groups"]]
    assert entry["username"] == "system:node:{{EC2PrivateDNSName}}"
    assert [entry["rolearn"]] == life.outputs["aws_auth_role_arns"]


@pytest.mark.parametrize("moment", ["again", "refresh"])
def test_nothing_changes_without_a_change_in_the_stack_file(life: Life, moment: str) -> None:
    assert set(life.changes[moment]) == {"same"}


def test_the_same_command_says_that_nothing_changed(life: Life) -> None:
    assert "Resources: 0 changed, " in life.done["again"].stdout


@pytest.mark.parametrize("moment", ["again", "tagged", "refresh"])
def test_a_foreign_entry_of_aws_auth_survives_word_for_word(life: Life, moment: str) -> None:
    assert life.map_roles[moment] == life.map_roles["foreign"]
    assert FOREIGN_ENTRY in life.map_roles[moment]


def test_another_number_of_nodes_changes_the_auto_scaling_group_only(life: Life) -> None:
    changes = {kind: n for kind, n in life.changes["smaller"].items() if kind != "same"}
    assert changes == {"update": 1}
    assert len(_p5(life.nodes["smaller"])) == 1


def test_other_tags_and_as_many_nodes_as_before_replace_nothing(life: Life) -> None:
    assert set(life.changes["tagged"]) == {"update", "same"}


def test_a_job_is_submitted_and_followed_and_its_next_run_replaces_it(life: Life) -> None:
    """A job on pods that request every GPU and EFA interface of both nodes."""
    first, again = life.jobs.done["job"], life.jobs.done["verify"]
    assert first.stdout == "nccl-tests-p5\n"
    assert "nccl-tests-p5 has completed" in first.stderr
    assert "the sandbox runs no containers" in first.stderr
    assert "deleting the previous run" not in first.stderr
    assert "deleting the previous run of nccl-tests-p5" in again.stderr


def test_verify_judges_the_logs_of_the_tests_that_it_runs(life: Life) -> None:
    good, sockets = life.jobs.done["verify"], life.jobs.done["verify over sockets"]
    assert (good.exit_code, sockets.exit_code) == (0, 1), sockets.said
    results = [
        {each["name"]: each["result"] for each in json.loads(done.stdout)["stages"]}
        for done in (good, sockets)
    ]
    assert set(results[0].values()) <= {"pass", "skipped"}
    assert (results[0]["transport"], results[0]["bandwidth"]) == ("pass", "pass")
    assert results[1]["transport"] == "fail"


def test_outputs_hold_no_secret_unless_asked(life: Life) -> None:
    assert life.outputs["kubeconfig"] == "[secret]"
    assert life.outputs["cluster_name"] == STACK


def test_the_account_holds_the_cluster_while_it_is_up(life: Life) -> None:
    assert len(life.inventory["up"]) > len(life.inventory["before"]) + 20


def test_destroy_leaves_the_account_as_it_was(life: Life) -> None:
    assert life.inventory["after"] == life.inventory["before"]


def test_destroy_removes_the_kubeconfig(life: Life, sandbox: Sandbox) -> None:
    assert life.done["destroy"].exit_code == 0
    assert not sandbox.kubeconfig(STACK).exists()


def test_no_stack_file_is_touched(untouched: dict[str, str], life: Life) -> None:
    """`stack init` of a plain project writes a salt into the stack file."""
    assert life.done["destroy"].exit_code == 0
    assert digests() == untouched


def test_a_diagnosis_names_what_keeps_a_job_from_starting(life: Life) -> None:
    said = life.jobs.done["diagnose"].stdout
    assert said.count("is cordoned") == 2
    assert "pod default/waits-0-" in said
    assert "is Pending: Unschedulable" in said


def test_a_diagnosis_has_no_secret_of_a_job_and_nothing_of_another_team(life: Life) -> None:
    bundle = life.jobs.bundle
    assert leaks_in(bundle) == []
    assert modes_in(bundle) == {0}
    (waits,) = [
        each
        for each in json.loads((bundle / "kubernetes/pods.json").read_text("utf-8"))
        if each["metadata"]["name"].startswith("waits-0-")
    ]
    (container,) = waits["spec"]["containers"]
    assert container["image"] == "pytorch/pytorch:2.11.0"
    assert {"name": "HARMLESS", "value": LEFT_OUT} in container["env"]
    assert container["command"] == LEFT_OUT
    assert not [
        each for each in bundle.rglob("*.*") if OTHER_TEAM in each.read_text(encoding="utf-8")
    ]
    assert OTHER_TEAM not in life.jobs.done["diagnose"].said


def test_no_command_about_a_job_says_a_secret_of_it(life: Life) -> None:
    said = {name: done.said for name, done in life.jobs.done.items()}
    assert [name for name, text in said.items() if CHOSEN in text or WANDB in text] == []


def test_jobs_are_listed_and_one_that_waits_is_cancelled(life: Life) -> None:
    listed = {each["id"]: each["state"] for each in json.loads(life.jobs.done["jobs"].stdout)}
    assert listed == {
        "default/waits": "Pending",
        "default/train": "Complete",
        "default/broken": "Failed",
        "default/nccl-tests-p5": "Complete",
    }
    assert "cancelled default/waits (waits), which was Pending" in life.jobs.done["cancel"].said
    after = {each["id"]: each["state"] for each in json.loads(life.jobs.done["jobs after"].stdout)}
    assert after.get("default/waits", "Terminating") == "Terminating"


def test_a_program_is_restarted_after_a_failure_and_after_the_loss_of_a_node(life: Life) -> None:
    """The loss does not count: the limit is one restart, and both pods are replaced."""
    done = life.jobs.done["run"]
    assert "submitted train" in done.said
    assert done.stdout.splitlines() == ["train", "step 1", "resumed at step 1"]
    assert "train has completed" in done.said


def test_a_job_whose_secret_does_not_exist_is_not_submitted(life: Life) -> None:
    done = life.jobs.done["without the Secret"]
    assert done.exit_code == 1
    assert "the namespace default has no Secret hf; make it" in done.stderr


def test_a_job_has_the_name_of_its_secret_and_nothing_has_the_value(life: Life) -> None:
    done = life.jobs.done["secret"]
    assert done.exit_code == 0, done.said
    assert any("HF_TOKEN" in each and "'key': 'token'" in each for each in life.jobs.answers)
    assert reveals([*life.jobs.answers, *(each.said for each in life.jobs.done.values())]) == []
    assert life.jobs.revealed == []


def test_a_lost_node_is_replaced_in_the_reservation(life: Life) -> None:
    before, after = (life.jobs.instances[moment] for moment in ("before", "after"))
    assert (len(before), len(after), len(before & after)) == (2, 2, 1)


def test_a_program_that_fails_again_ends_the_command_at_the_limit_of_restarts(life: Life) -> None:
    done = life.jobs.done["broken"]
    assert done.exit_code == 7
    assert done.stderr.count("Error with exit code 7") == 2
    assert "FailedIndexes" in done.stderr
