"""aws-auth is deleted or broken while nodes run, and at the end the whole cluster is deleted.

The commands run once, in the order of `fates`. The ways to lose access are those of people who edit
the ConfigMap by hand; the answers that the nodes get are those of the API server and of
aws-iam-authenticator's own mapper.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client

from tests.stacks.test_authorization_migration import WORKERS
from tests.support.processes import until
from tests.support.sandbox import Done, Sandbox, copied_stack_file
from tests.support.tracked import ROOT

pytestmark = pytest.mark.sandbox

STACK = "p5-cb"
NODES = 2
"""One of the system group, which has an access entry, and one that aws-auth lets in."""
FATES: dict[str, tuple[Callable[[str], str | None], str]] = {
    "deleted": (lambda _: None, "the ConfigMap kube-system/aws-auth does not exist"),
    "with a path": (
        lambda text: text.replace(":role/", ":role/teams/vision/"),
        "with its path, which never matches a caller",
    ),
    "other groups": (
        lambda text: text.replace("system:nodes", "system:node"),
        "without system:nodes",
    ),
    "not YAML": (
        lambda text: f"{text}- broken: [\n",
        "is not YAML: line",
    ),
}
"""What happens to `mapRoles` (None: the ConfigMap is deleted), and the cause that is named."""


@dataclass(slots=True)
class Seen:
    """The results, by fate."""

    status: dict[str, Done] = field(default_factory=dict[str, Done])
    up: dict[str, Done] = field(default_factory=dict[str, Done])
    diagnosis: dict[str, str] = field(default_factory=dict[str, str])
    nodes: dict[str, str] = field(default_factory=dict[str, str])
    """The message of the kubelet of the node that is not Ready."""
    healed: dict[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """The commands that were run as printed."""
    unreachable: str = ""
    gone: str = ""
    left: list[str] = field(default_factory=list[str])


class Stack:
    """The stack in one sandbox."""

    def __init__(self, sandbox: Sandbox, files: Path) -> None:
        self.sandbox = sandbox
        self.files = files
        change = {
            "architecture.node_groups": {"workers": WORKERS},
            "architecture.addons": {"pod_identity_agent": False},
            "reservations": {},
        }
        self.file = copied_stack_file(files / "lost.yaml", change)

    def run(self, command: str, *options: str) -> Done:
        """Run a command for the stack, whether or not it succeeds."""
        return self.sandbox.run(command, STACK, "--sandbox", "--stack-file", self.file, *options)

    def nodes(self) -> dict[str, Any]:
        """Return the condition `Ready` of every node."""
        with self.sandbox.kubernetes(STACK) as api:
            nodes = client.CoreV1Api(api).list_node().items
        return {
            node.metadata.name: each
            for node in nodes
            for each in node.status.conditions or []
            if each.type == "Ready"
        }

    def unready(self) -> list[Any]:
        """Return the conditions of the nodes that are not Ready."""
        return [each for each in self.nodes().values() if each.status != "True"]

    def all_ready(self) -> bool:
        """Return whether every node is Ready."""
        return len(self.nodes()) == NODES and not self.unready()

    def break_map(self, fate: Callable[[str], str | None]) -> None:
        """Change `mapRoles` as by hand, or delete the ConfigMap."""
        with self.sandbox.kubernetes(STACK) as api:
            core = client.CoreV1Api(api)
            text = (core.read_namespaced_config_map("aws-auth", "kube-system").data or {})[
                "mapRoles"
            ]
            broken = fate(text)
            if broken is None:
                core.delete_namespaced_config_map("aws-auth", "kube-system")
            else:
                assert broken != text
                core.patch_namespaced_config_map(
                    "aws-auth", "kube-system", {"data": {"mapRoles": broken}}
                )

    def heal(self, command: str) -> None:
        """Run a printed command, with an editor that takes the broken words out."""
        first, *words = shlex.split(command)
        if first == "./trainyard":
            assert "--stack-file" in words
            done = self.sandbox.run(*words, "--yes")
            assert done.exit_code == 0, done.said
            return
        editor = self.files / "editor"
        editor.write_text("#!/bin/sh\nsed -i 's/- broken: \\[//' \"$1\"\n", encoding="utf-8")
        editor.chmod(0o700)
        environment = {**os.environ, "KUBE_EDITOR": str(editor)}
        subprocess.run([first, *words], check=True, env=environment, cwd=ROOT, timeout=60)


@pytest.fixture(scope="module")
def seen(sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """Break and heal the map in every way, delete the cluster, and destroy the rest."""
    before = sandbox.inventory()
    files = tmp_path_factory.mktemp("lost")
    stack = Stack(sandbox.without_preview(), files)
    found = Seen()
    done = stack.run("up", "--yes")
    try:
        assert done.exit_code == 0, done.said
        for name, (fate, _) in FATES.items():
            _suffer(stack, found, name, fate)
        _delete_cluster(stack)
        found.unreachable = stack.run("destroy", "--yes").said
        destroyed = stack.run("destroy", "--yes", "--cluster-gone")
        assert destroyed.exit_code == 0, destroyed.said
    except BaseException:
        stack.run("destroy", "--yes")
        raise
    found.gone = destroyed.said
    found.left = [line for line in sandbox.inventory() if line not in before]
    return found


def _suffer(stack: Stack, found: Seen, name: str, fate: Callable[[str], str | None]) -> None:
    stack.break_map(fate)
    until(lambda: bool(stack.unready()), f"a node that is not Ready: {name}")
    found.nodes[name] = stack.unready()[0].message
    found.status[name] = stack.run("status")
    directory = stack.files / name.replace(" ", "-")
    stack.run("diagnose", "--output", str(directory))
    found.diagnosis[name] = (directory / "summary.md").read_text(encoding="utf-8")
    impatient = Stack(
        Sandbox(
            stack.sandbox.directory,
            {**stack.sandbox.settings, "TRAINYARD_WAIT_SECONDS": "1"},
            stack.sandbox.module,
            stack.sandbox.is_warm,
        ),
        stack.files,
    )
    found.up[name] = impatient.run("up", "--yes")
    commands = _first_commands(found.status[name])
    found.healed[name] = commands
    for command in commands:
        stack.heal(command)
    until(stack.all_ready, f"Ready nodes: {name}")


def _first_commands(done: Done) -> list[str]:
    """Return the first two commands below the panel, whose lines have a border."""
    lines = (line.strip() for line in done.stdout.splitlines() if "│" not in line)
    return [line for line in lines if "./trainyard" in line or "kubectl" in line][:2]


def _delete_cluster(stack: Stack) -> None:
    """Delete the node groups and the cluster, as with the AWS CLI."""
    eks = stack.sandbox.aws("eks")
    for group in eks.list_nodegroups(clusterName=STACK)["nodegroups"]:
        eks.delete_nodegroup(clusterName=STACK, nodegroupName=group)
        eks.get_waiter("nodegroup_deleted").wait(clusterName=STACK, nodegroupName=group)
    eks.delete_cluster(name=STACK)
    eks.get_waiter("cluster_deleted").wait(name=STACK)


@pytest.mark.parametrize("fate", FATES)
def test_status_names_the_cause_and_the_commands(seen: Seen, fate: str) -> None:
    cause = " ".join(seen.status[fate].stdout.replace("│", "").split())
    assert seen.status[fate].exit_code == 0
    assert "node group workers: the cluster refuses the kubelets (" in cause
    assert ("(Forbidden)" if fate == "other groups" else "(Unauthorized)") in cause
    assert FATES[fate][1] in cause
    assert len(seen.healed[fate]) == 2
    assert seen.healed[fate][1].startswith("./trainyard up")


@pytest.mark.parametrize("fate", FATES)
def test_up_and_diagnose_name_the_same(seen: Seen, fate: str) -> None:
    assert seen.up[fate].exit_code != 0
    for said in (seen.up[fate].said, seen.diagnosis[fate]):
        assert FATES[fate][1] in " ".join(said.split())
    for command in seen.healed[fate]:
        assert command in seen.diagnosis[fate]


def test_the_node_group_with_an_access_entry_is_not_touched(seen: Seen) -> None:
    """An access entry takes precedence: the node of the system group stays Ready."""
    for said in seen.diagnosis.values():
        assert "node group system" not in said.partition("## Files")[0]


def test_the_kubelet_says_nothing_more(seen: Seen) -> None:
    assert set(seen.nodes.values()) == {"Kubelet stopped posting node status."}


def test_a_deleted_cluster_is_named_with_the_way_out(seen: Seen) -> None:
    assert "it was deleted outside Pulumi" in seen.unreachable
    assert f"./trainyard destroy {STACK}" in seen.unreachable
    assert "--cluster-gone" in seen.unreachable


def test_destroy_of_a_stack_without_its_cluster_leaves_nothing(seen: Seen) -> None:
    assert "its Kubernetes objects are treated as deleted" in seen.gone
    assert seen.left == []
