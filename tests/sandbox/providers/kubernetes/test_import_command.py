"""A manually created object is adopted with the command of the refusal."""

from __future__ import annotations

import json
import shlex

import pytest

from tests.support.pulumi_workspace import Workspace
from trainyard.changes.kubernetes_creates import kubernetes_creates
from trainyard.changes.steps import steps_of_events
from trainyard.sandbox.kubernetes.api import KubernetesApi
from trainyard.sandbox.kubernetes.control_planes import ControlPlane

pytestmark = [pytest.mark.engine, pytest.mark.kubernetes]

PROGRAM = """
import os
from pathlib import Path

import pulumi
import pulumi_kubernetes as kubernetes

provider = kubernetes.Provider("c-kubernetes", kubeconfig=Path(os.environ["CONFIG"]).read_text())
parent = pulumi.ComponentResource("trainyard:runtime:Plugin", "c-plugin")
if "WITH_PLUGIN" in os.environ:
    kubernetes.core.v1.ServiceAccount(
        "c-plugin-account",
        metadata={"name": "adopted", "namespace": "default", "labels": {"wanted": "1"}},
        opts=pulumi.ResourceOptions(parent=parent, provider=provider),
    )
"""
PATH = "/api/v1/namespaces/default/serviceaccounts"


def test_the_printed_command_adopts_the_object_and_the_next_update_changes_it_in_place(
    workspace: Workspace, control_plane: ControlPlane, administrator: KubernetesApi
) -> None:
    workspace.write("__main__.py", PROGRAM)
    workspace.variables["CONFIG"] = str(control_plane.kubeconfig)
    workspace.run("up", "--yes", "--skip-preview")
    by_hand = administrator.post(PATH, {"metadata": {"name": "adopted"}})
    workspace.variables |= {"WITH_PLUGIN": "1", "PULUMI_DEBUG_COMMANDS": "true"}

    log = workspace.directory / "events"
    workspace.run("preview", "--event-log", str(log))
    (found,) = kubernetes_creates(steps_of_events(log.read_text().splitlines()))
    assert found.identifier == "default/adopted"
    program, *arguments = shlex.split(found.import_command(stack="test"))
    assert program == "pulumi"
    workspace.run(*arguments)

    workspace.run("up", "--yes", "--skip-preview")
    adopted = administrator.get(f"{PATH}/adopted")
    assert adopted["metadata"]["uid"] == by_hand["metadata"]["uid"]
    assert adopted["metadata"]["labels"]["wanted"] == "1"
    exported = json.loads(workspace.run("stack", "export"))["deployment"]["resources"]
    (kept,) = [each for each in exported if each["urn"].endswith("::c-plugin-account")]
    assert kept["parent"].endswith("::c-plugin")
    assert not kept.get("protect")
    workspace.run("up", "--yes", "--skip-preview", "--expect-no-changes")
    workspace.run("destroy", "--yes", "--skip-preview")
