"""A cluster is upgraded to the next Kubernetes version as by a user, and goes back after its nodes.

It runs the stack's program at a time at which both versions are in standard support: later, a new
cluster of the older one is refused.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client, config

from tests.stacks.support.foreign_program import foreign_program
from tests.support.kubernetes import DEFAULT, PREVIOUS
from tests.support.processes import until
from tests.support.sandbox import Sandbox
from tests.support.tracked import ROOT
from trainyard.components.catalog.versions import EKS_VERSIONS

pytestmark = pytest.mark.sandbox

NAME = "upgraded"
PROGRAM = f"""\
import sys

sys.path.insert(0, {str(ROOT / "src")!r})

from datetime import UTC, datetime

import pulumi

from trainyard.components.architectures.prepare import prepare
from trainyard.components.architectures.lookup import look_up
from trainyard.components.architectures.build import build
from trainyard.components.config.load import load_stack_config
from trainyard.components.config.problems import ConfigError

NOW = datetime(2026, 11, 21, tzinfo=UTC)
FILE = "Pulumi.{NAME}.yaml"
config = load_stack_config(pulumi.Config("trainyard").require_object("cluster"), stack_file=FILE)
facts = look_up(config, region="us-west-2")
try:
    ready = prepare(config, facts, stack_file=FILE, region="us-west-2", now=NOW)
except ConfigError as error:
    pulumi.log.error(str(error))
    sys.exit(32)
for output, value in build(ready.plan).items():
    pulumi.export(output, value)
"""
STACK = {
    "name": NAME,
    "network": {
        "kind": "existing-vpc",
        "vpc_id": "vpc-0123456789abcdef0",
        "public_subnet_ids": ["subnet-0a000000000000001", "subnet-0b000000000000001"],
        "private_subnet_ids": ["subnet-0a000000000000002", "subnet-0b000000000000002"],
    },
    "architecture": {"kind": "eks", "kubernetes_version": PREVIOUS, "node_groups": {}},
}
VERSION = "trainyard:cluster.architecture.kubernetes_version"
LOG_TYPE = "trainyard:cluster.architecture.log_types[0]"
LOGS = f"/aws/eks/{NAME}/cluster"


def kubelets(kubeconfig: Path) -> list[str]:
    """Return the kubelets' versions of the nodes that are Ready."""
    with config.new_client_from_config(str(kubeconfig)) as api:
        nodes = client.CoreV1Api(api).list_node().items
    ready = [
        node
        for node in nodes
        if any(c.type == "Ready" and c.status == "True" for c in node.status.conditions or [])
    ]
    return [node.status.node_info.kubelet_version for node in ready]


def clusters(sandbox: Sandbox) -> str:
    """Return the clusters in the output of `sandbox status`."""
    status = json.loads(sandbox.must("sandbox", "status", "--json").stdout)
    return ", ".join(status["clusters"])


def update_times(eks: Any, **about: str) -> list[Any]:
    """Return the time of each version update of a cluster, add-on or node group."""
    ids = eks.list_updates(name=NAME, **about)["updateIds"]
    updates = [eks.describe_update(name=NAME, updateId=each, **about)["update"] for each in ids]
    assert all(update["status"] == "Successful" for update in updates)
    return [u["createdAt"] for u in updates if u["type"] in {"VersionUpdate", "AddonUpdate"}]


def test_control_plane_then_addons_then_nodes_and_back_only_after_them(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """EKX-02, EKX-10: workloads of the cluster survive; the old node is removed at the end.

    The log group that EKS has created, if an earlier version of the program turned on the logs,
    becomes part of the stack, and is deleted after EKS has written to it for the last time.
    """
    before, eks, logs = sandbox.inventory(), sandbox.aws("eks"), sandbox.aws("logs")
    run = foreign_program(
        sandbox, tmp_path, PROGRAM, stack=NAME, config={"trainyard:cluster": STACK}
    )
    must(run, "up", "--yes", "--skip-preview")
    monkeypatch.setenv("PATH", str(sandbox.directory / "bin"), prepend=os.pathsep)
    kubeconfig = tmp_path / "kubeconfig"
    shown = must(run, "stack", "output", "kubeconfig", "--show-secrets")
    kubeconfig.write_text(shown)
    kubeconfig.chmod(0o600)
    until(lambda: kubelets(kubeconfig) == [kubelet(PREVIOUS)], "the node of the previous version")
    assert f"{NAME} (Kubernetes {PREVIOUS}, emulated by {DEFAULT}." in clusters(sandbox)
    with config.new_client_from_config(str(kubeconfig)) as api:
        kept = client.V1ConfigMap(metadata=client.V1ObjectMeta(name="kept"))
        client.CoreV1Api(api).create_namespaced_config_map("default", kept)

    logs.create_log_group(logGroupName=LOGS)
    must(run, "config", "set", "--path", LOG_TYPE, "audit")
    must(run, "config", "set", "--path", VERSION, DEFAULT)
    must(run, "up", "--yes", "--skip-preview")
    (adopted,) = logs.describe_log_groups(logGroupNamePrefix=LOGS)["logGroups"]
    assert adopted["retentionInDays"] == 90
    assert logs.list_tags_for_resource(resourceArn=adopted["arn"].removesuffix(":*"))["tags"] == {}
    assert eks.describe_cluster(name=NAME)["cluster"]["version"] == DEFAULT
    until(lambda: kubelets(kubeconfig) == [kubelet(DEFAULT)], "the node of the new version alone")
    assert "emulated" not in clusters(sandbox)
    with config.new_client_from_config(str(kubeconfig)) as api:
        client.CoreV1Api(api).read_namespaced_config_map("kept", "default")
    (group,) = eks.list_nodegroups(clusterName=NAME)["nodegroups"]
    (control_plane,) = update_times(eks)
    (kube_proxy,) = update_times(eks, addonName="kube-proxy")
    (nodes,) = update_times(eks, nodegroupName=group)
    (coredns,) = update_times(eks, addonName="coredns")
    assert control_plane <= kube_proxy <= nodes <= coredns
    assert must(run, "preview", "--expect-no-changes")

    must(run, "config", "set", "--path", VERSION, PREVIOUS)
    back = run("preview")
    assert back.returncode != 0
    assert f"EKS takes it back to {PREVIOUS} until" in back.stdout + back.stderr
    gone = must(run, "destroy", "--yes", "--skip-preview")
    order = [position(gone, f"{NAME}-system-node-group"), position(gone, f"{NAME}-eks-vpc-cni")]
    assert order == sorted(order), "the nodes lost their network before they were drained"
    assert sandbox.inventory() == before


def position(said: str, name: str) -> int:
    """Return the engine's line about the deletion of a resource."""
    lines = said.splitlines()
    return next(i for i, line in enumerate(lines) if f" {name} deleted" in line)


def kubelet(version: str) -> str:
    return "v" + EKS_VERSIONS[version].ami_release_version.partition("-")[0]


def must(run: Callable[..., Any], *arguments: str) -> str:
    done = run(*arguments)
    assert done.returncode == 0, f"{arguments}:\n{done.stdout}\n{done.stderr}"
    return done.stdout
