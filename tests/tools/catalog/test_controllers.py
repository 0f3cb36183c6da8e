"""What the add-ons take from the releases of Kueue and JobSet."""

from __future__ import annotations

from typing import Any

from tools.catalog.controllers import kept, kept_of_kueue
from trainyard.components.catalog.kueue import JOBSET_RELEASE, KUEUE_RELEASE, released_objects


def named(kind: str, name: str, **content: Any) -> dict[str, Any]:
    return {"kind": kind, "metadata": {"name": name}, **content}


def hook(name: str, group: str) -> dict[str, Any]:
    return {"name": name, "rules": [{"apiGroups": [group]}]}


def test_roles_and_services_of_what_is_not_enabled_are_left_out() -> None:
    release = [
        named("ClusterRole", "kueue-manager-role"),
        named("ClusterRole", "kueue-rayjob-editor-role"),
        named("Service", "kueue-webhook-service"),
        named("Service", "kueue-visibility-server"),
        named("APIService", "v1beta2.visibility.kueue.x-k8s.io"),
        named("ConfigMap", "kueue-manager-config"),
    ]
    names = [each["metadata"]["name"] for each in kept_of_kueue(release)]
    assert names == ["kueue-manager-role", "kueue-webhook-service"]


def test_pods_of_other_workloads_do_not_depend_on_the_webhooks() -> None:
    """While the controller does not run, the API server refuses what a webhook must review."""
    hooks = [hook("mjob", "batch"), hook("mpod", ""), hook("mqueue", "kueue.x-k8s.io")]
    (found,) = kept_of_kueue([named("MutatingWebhookConfiguration", "kueue", webhooks=hooks)])
    assert [each["name"] for each in found["webhooks"]] == ["mjob", "mqueue"]


def test_a_schema_loses_its_documentation_and_no_property() -> None:
    described = {"type": "string", "description": "what it is"}
    schema = {"description": "of it", "properties": {"description": described}}
    stored = {"name": "v1beta2", "storage": True, "schema": schema}
    (found,) = kept(
        [
            named(
                "CustomResourceDefinition",
                "queues",
                spec={"versions": [{"name": "v1beta1", "storage": False}, stored]},
            )
        ]
    )
    assert found["spec"]["versions"] == [
        {**stored, "schema": {"properties": {"description": {"type": "string"}}}}
    ]


def test_the_file_has_the_kinds_of_the_queue_and_their_webhooks() -> None:
    objects = released_objects(KUEUE_RELEASE)
    kinds = {e["spec"]["names"]["kind"] for e in objects if e["kind"].endswith("Definition")}
    assert {"ResourceFlavor", "ClusterQueue", "LocalQueue", "Workload"} <= kinds
    names = {
        hook["name"]
        for each in objects
        if each["kind"].endswith("WebhookConfiguration")
        for hook in each["webhooks"]
    }
    assert {"mjob.kb.io", "vjob.kb.io", "vclusterqueue.kb.io", "vworkload.kb.io"} <= names
    assert {"mjobset.kb.io", "vjobset.kb.io"} <= names


def test_jobset_is_installed_as_it_was_released() -> None:
    objects = released_objects(JOBSET_RELEASE)
    kinds = {each["kind"] for each in objects}
    assert {"CustomResourceDefinition", "ConfigMap", "Deployment", "ClusterRole"} <= kinds
    pods = [
        hook
        for each in objects
        for hook in each.get("webhooks", [])
        if hook["rules"][0]["resources"] == ["pods"]
    ]
    # While the controller does not run, pods of anything else are created.
    assert pods
    label = {"key": "jobset.sigs.k8s.io/jobset-name", "operator": "Exists"}
    for each in pods:
        assert each["objectSelector"]["matchExpressions"] == [label]
