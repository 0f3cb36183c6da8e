"""Objects whose create a kill left unanswered are imported by id: the provider adopts nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.pulumi_workspace import Workspace
from trainyard.engine.engine_process import PulumiCommand
from trainyard.sandbox.kubernetes.api import KubernetesApi
from trainyard.sandbox.kubernetes.control_planes import ControlPlane
from trainyard.workspace.recovery.recover import recover
from trainyard.workspace.recovery.timeouts import Timeouts

pytestmark = [pytest.mark.engine, pytest.mark.kubernetes]

PROGRAM = """
import os
from pathlib import Path

import pulumi
import pulumi_kubernetes as kubernetes

provider = kubernetes.Provider("c-kubernetes", kubeconfig=Path(os.environ["CONFIG"]).read_text())
inside = pulumi.ResourceOptions(provider=provider)
metadata = {"name": "taken-up", "namespace": "default", "labels": {"a": os.environ["LABEL"]}}
labels = {"name": "taken-up"}
kubernetes.core.v1.ServiceAccount("account", metadata=metadata, opts=inside)
kubernetes.core.v1.ConfigMap("settings", metadata=metadata, data={"a": "1"}, opts=inside)
container = {"name": "c", "image": "pause", "resources": {"limits": {"memory": "1024Mi"}}}
kubernetes.apps.v1.DaemonSet(
    "plugin",
    metadata=metadata,
    spec={
        "selector": {"match_labels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
    },
    opts=inside,
)
"""
PATHS = {
    "account": "/api/v1/namespaces/default/serviceaccounts/taken-up",
    "settings": "/api/v1/namespaces/default/configmaps/taken-up",
    "plugin": "/apis/apps/v1/namespaces/default/daemonsets/taken-up",
}
AT_ONCE = Timeouts(settle=0, poll=0, limit=60)


def unheard(checkpoint: dict[str, Any]) -> dict[str, Any]:
    """Return the state of an engine that was killed while it created all objects of the cluster."""
    inner = checkpoint["checkpoint"]["latest"]
    made = [each for each in inner["resources"] if each["type"].startswith("kubernetes:")]
    inner["resources"] = [each for each in inner["resources"] if each not in made]
    begun = [{k: v for k, v in each.items() if k not in {"id", "outputs"}} for each in made]
    inner["pending_operations"] = [{"type": "creating", "resource": each} for each in begun]
    return checkpoint


def test_what_exists_is_taken_up_and_what_does_not_is_made(
    workspace: Workspace, control_plane: ControlPlane, administrator: KubernetesApi
) -> None:
    workspace.write("__main__.py", PROGRAM)
    workspace.variables |= {"CONFIG": str(control_plane.kubeconfig), "LABEL": "1"}
    workspace.run("up", "--yes", "--skip-preview")
    made = {name: administrator.get(path)["metadata"]["uid"] for name, path in PATHS.items()}
    # Not with `stack import`, which drops pending operations.
    state = workspace.directory / "state" / ".pulumi" / "stacks" / "example" / "test.json"
    state.write_text(json.dumps(unheard(json.loads(state.read_text()))))
    administrator.delete(PATHS["settings"])

    command = PulumiCommand(workspace.engine.executable, workspace.directory, workspace.environment)
    told: list[str] = []
    recover(command, stack="test", region="us-west-2", timeouts=AT_ONCE, report=told.append)
    said = workspace.run("up", "--yes", "--skip-preview")

    assert "1 created" in said, said
    kept = {name: administrator.get(path)["metadata"]["uid"] for name, path in PATHS.items()}
    assert [name for name, uid in made.items() if kept[name] != uid] == ["settings"]
    workspace.variables["LABEL"] = "2"
    assert "3 updated" in workspace.run("up", "--yes", "--skip-preview")
    workspace.run("destroy", "--yes", "--skip-preview")
