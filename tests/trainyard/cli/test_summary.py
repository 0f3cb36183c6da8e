"""The closing panel shows the created cluster, its location and the next steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.kubernetes import DEFAULT
from trainyard.cli.closing_panel import Summary
from trainyard.diagnosis.rollout import ClusterState, DaemonSetState, NodeState
from trainyard.schedulers.kubernetes.summary import ReachedCluster, next_commands, print_summary
from trainyard.stack_files.stack_files import find_stack_file
from trainyard.workspace.accounts import AwsAccount, target_of

KUBECONFIG = Path("p5-cb.kubeconfig")
ROLE = "arn:aws:iam::123456789012:role/p5-cb-p5-node"


def summary(*, sandbox: bool = True, plugins: Sequence[str] = ("nvidia", "efa")) -> Summary:
    return Summary(
        target=target_of(find_stack_file("p5-cb"), sandbox=sandbox),
        outputs={
            "cluster_name": "p5-cb",
            "cluster_version": DEFAULT,
            "cluster_endpoint": "https://127.0.0.1:6443",
            "node_groups": {
                "p5": {"instance_type": "p5.48xlarge", "management": "self-managed", "desired": 2}
            },
            "aws_auth_role_arns": [ROLE],
            "device_plugins": list(plugins),
            "notes": ["node group p5: the block ends on 2026-11-27"],
        },
        changes={"create": 60, "same": 0},
    )


def reached(*, mapped: tuple[str, ...] = (ROLE,)) -> ReachedCluster:
    return ReachedCluster(
        state=ClusterState(
            nodes=(
                NodeState(
                    "ip-10-0-144-10",
                    "p5.48xlarge",
                    ready=True,
                    devices={"nvidia.com/gpu": "8", "vpc.amazonaws.com/efa": "32"},
                ),
            ),
            daemon_sets=(DaemonSetState("aws-efa-k8s-device-plugin", 2, 2),),
            aws_auth_roles=mapped,
        ),
        kubeconfig=KUBECONFIG,
        kubectl=AwsAccount().kubectl_command(KUBECONFIG),
    )


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]):

    def show(value: Summary, cluster: ReachedCluster | None = None) -> str:
        print_summary(value, cluster or reached())
        return capsys.readouterr().out

    return show


@pytest.mark.parametrize(
    "fact",
    [
        "SANDBOX (emulated AWS, real Kubernetes)",
        "https://127.0.0.1:6443",
        f"Kubernetes {DEFAULT}",
        "2 x p5.48xlarge, self-managed",
        "Ready  nvidia.com/gpu: 8  vpc.amazonaws.com/efa: 32",
        "aws-efa-k8s-device-plugin  2 of 2 pods Running",
        ROLE,
        "the block ends on 2026-11-27",
        "Resources: 60 changed (60 create), 0 unchanged",
        "kubectl --kubeconfig p5-cb.kubeconfig get nodes",
    ],
)
def test_the_panel_says(printed, fact: str) -> None:
    assert fact in printed(summary())


def test_a_role_that_is_not_in_aws_auth_stands_out(printed) -> None:
    assert f"{ROLE}  (missing)" in printed(summary(), reached(mapped=()))


def test_an_account_is_never_called_a_sandbox(printed) -> None:
    assert "SANDBOX" not in printed(summary(sandbox=False))


def test_a_kubeconfig_in_a_directory_with_a_space_is_quoted() -> None:
    command = AwsAccount().kubectl_command(Path("/my work/p5-cb.kubeconfig"))
    assert command == "kubectl --kubeconfig '/my work/p5-cb.kubeconfig'"


def test_every_command_to_try_next_goes_to_the_same_place() -> None:
    commands = next_commands(summary(), reached())
    ours = [c for c in commands if c.startswith("./trainyard ") and "p5-cb" in c]
    assert ours
    assert all("--sandbox" in command for command in ours)
    assert not [c for c in next_commands(summary(sandbox=False), reached()) if "sandbox" in c]


@pytest.mark.parametrize(
    ("plugins", "job"),
    [
        pytest.param(["nvidia", "efa"], "nccl-tests", id="gpus"),
        pytest.param(["neuron", "efa"], "nccom-tests", id="trainium"),
        pytest.param([], None, id="no-accelerators"),
    ],
)
def test_the_job_to_try_next_is_the_one_for_the_accelerators(plugins, job) -> None:
    commands = next_commands(summary(plugins=plugins), reached())
    jobs = [command.split()[3] for command in commands if command.startswith("./trainyard job")]
    assert jobs == ([job] if job else [])


def test_a_stack_with_several_gpu_node_groups_has_a_job_for_each() -> None:
    """Without `--group`, the nodes to test would be ambiguous."""
    found = summary()
    p5 = found.outputs["node_groups"]["p5"]
    system = {"instance_type": "c5.2xlarge", "management": "managed", "desired": 1}
    groups = {"p5": p5, "p4d": p5 | {"instance_type": "p4d.24xlarge"}, "small": system}
    several = replace(found, outputs={**found.outputs, "node_groups": groups})
    jobs = [c for c in next_commands(several, reached()) if c.startswith("./trainyard job")]
    assert jobs == [
        "./trainyard job p5-cb nccl-tests --group p5 --submit --wait --sandbox",
        "./trainyard job p5-cb nccl-tests --group p4d --submit --wait --sandbox",
    ]


@pytest.mark.parametrize(
    ("verification", "closed", "says", "command"),
    [
        ("", False, "Ready  nvidia", "job p5-cb nccl-tests --submit --wait"),
        ("", True, "Ready, not verified, closed to jobs  nvidia", "verify p5-cb"),
        ("verify failed (pairs)", True, "Ready, verify failed (pairs), closed", "verify p5-cb"),
        ("verify passed", False, "Ready, verify passed  nvidia", "job p5-cb nccl-tests"),
    ],
)
def test_nodes_that_have_not_passed_verify_are_shown(
    printed, verification: str, closed: bool, says: str, command: str
) -> None:
    cluster = reached()
    node = replace(cluster.state.nodes[0], verification=verification, closed=closed)
    cluster = replace(cluster, state=replace(cluster.state, nodes=(node,)))
    text = printed(summary(), cluster)
    assert says in text
    assert f"./trainyard {command}" in text
