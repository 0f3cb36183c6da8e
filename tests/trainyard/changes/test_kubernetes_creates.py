"""Objects that an update would create in a cluster, and the commands for those that exist."""

from __future__ import annotations

import shlex

import pytest

from tests.support.steps import (
    API,
    CLUSTER,
    DAEMON_SET,
    PARENT,
    PLUGIN,
    PROVIDER,
    STACK,
    URN,
    created,
    event,
    steps,
)
from trainyard.changes.kubernetes_creates import existing_cluster, kubernetes_creates
from trainyard.deployment.guarded_update import existing


def test_a_create_is_named_as_the_cluster_and_the_state_name_it() -> None:
    (found,) = kubernetes_creates(steps(created(PLUGIN)))
    assert found.identifier == "kube-system/nvidia-device-plugin-daemonset"
    assert found.delete_command() == (
        "delete daemonset.v1.apps --namespace kube-system nvidia-device-plugin-daemonset"
    )
    assert shlex.split(found.import_command(stack="p5-cb")) == [
        *("pulumi", "import", "--stack", "p5-cb"),
        *("--parent", f"parent={PARENT}", "--provider", f"provider={PROVIDER}"),
        *("--protect=false", "--generate-code=false", "--yes"),
        *(DAEMON_SET, "p5-cb-plugins-nvidia-daemon-set"),
        "kube-system/nvidia-device-plugin-daemonset",
    ]


def test_a_parent_that_the_update_makes_cannot_be_imported_under() -> None:
    component = event("create", PARENT, "trainyard:runtime:NvidiaDevicePlugin", new={})
    (found,) = kubernetes_creates(steps(component, created(PLUGIN)))
    assert found.parent == ""


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(event("update", URN, DAEMON_SET, new={"inputs": PLUGIN}), id="is there"),
        pytest.param(
            event("create-replacement", URN, DAEMON_SET, new={"inputs": PLUGIN}), id="new"
        ),
        pytest.param(
            created(PLUGIN, URN.replace("Set::", "SetPatch::"), f"{DAEMON_SET}Patch"), id="a patch"
        ),
        pytest.param(created({**PLUGIN, "metadata": {}}), id="a name that nobody knows"),
        pytest.param(
            created(
                {
                    **PLUGIN,
                    "metadata": {"name": "x-1", "annotations": {"pulumi.com/autonamed": "true"}},
                }
            ),
            id="a name of the provider's",
        ),
        pytest.param(created({}, f"{STACK}::aws:ec2/vpc:Vpc::v", "aws:ec2/vpc:Vpc"), id="of AWS"),
    ],
)
def test_what_cannot_exist_already_is_not_looked_for(line: str) -> None:
    assert list(kubernetes_creates(steps(line))) == []


@pytest.mark.parametrize(
    ("operation", "name"), [("same", "p5-cb"), ("update", "p5-cb"), ("create", ""), ("delete", "")]
)
def test_only_a_cluster_that_stays_is_asked(operation: str, name: str) -> None:
    line = event(
        operation, f"{STACK}::{CLUSTER}::p5-cb-eks-eksCluster", CLUSTER, old={"id": "p5-cb"}
    )
    assert existing_cluster(steps(line)) == name


def test_objects_are_looked_for_where_their_kind_has_them() -> None:
    volume = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "data"}}
    custom = {"apiVersion": "a.example/v1", "kind": "Own", "metadata": {"name": "x"}}
    other = {**PLUGIN, "metadata": {"name": "other", "namespace": "kube-system"}}
    wanted = kubernetes_creates(
        steps(
            created(PLUGIN),
            created(other, f"{URN}-2"),
            created(
                volume,
                f"{STACK}::kubernetes:core/v1:PersistentVolume::v",
                "kubernetes:core/v1:PersistentVolume",
            ),
            created(
                custom, f"{STACK}::kubernetes:a.example/v1:Own::o", "kubernetes:a.example/v1:Own"
            ),
        )
    )
    found = existing(wanted, API.get)
    assert [each.identifier for each in found] == [
        "kube-system/nvidia-device-plugin-daemonset",
        "data",
    ]
    assert found[1].delete_command() == "delete persistentvolume data"
