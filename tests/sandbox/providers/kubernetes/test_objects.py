"""Objects of a real API server through the `kubernetes` stand-in."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pulumi.runtime.proto import provider_pb2

from sandbox.kubernetes.api import ApiError, KubernetesApi
from sandbox.kubernetes.control_planes import ControlPlane
from sandbox.providers._protocol.values import UNKNOWN, to_struct
from sandbox.providers.kubernetes.servicer import KubernetesServicer
from tests.support.kubernetes import device_plugin
from tests.support.provider_plugin import Made, Plugin, RefusedError, urn

pytestmark = pytest.mark.kubernetes

CONFIG_MAP = "kubernetes:core/v1:ConfigMap"
PATH = "/api/v1/namespaces/default/configmaps/settings"
DAEMON_SET = "kubernetes:apps/v1:DaemonSet"
DEPLOYMENT = "kubernetes:apps/v1:Deployment"
POD = {
    "metadata": {"labels": {"app": "x"}},
    "spec": {"containers": [{"name": "c", "image": "pause"}]},
}


def gone(administrator: KubernetesApi, path: str) -> bool:
    try:
        administrator.get(path)
    except ApiError as error:
        return error.status == 404
    return False


def test_an_object_lives_from_up_to_destroy(
    plugin: Plugin, administrator: KubernetesApi, config_map: dict[str, Any]
) -> None:
    made = plugin.create(CONFIG_MAP, config_map)
    assert made.identifier == "default/settings"
    assert plugin.diff(CONFIG_MAP, made, config_map) == ([], [])
    found = plugin.read(CONFIG_MAP, made)
    assert found is not None
    assert found.inputs == made.inputs
    assert found.outputs == made.outputs

    changed = {**config_map, "data": {"b": "2"}}
    assert plugin.diff(CONFIG_MAP, made, changed) == (["data"], [])
    made = plugin.update(CONFIG_MAP, made, changed)
    assert administrator.get(PATH)["data"] == {"b": "2"}

    plugin.delete(CONFIG_MAP, made)
    assert gone(administrator, PATH)
    assert plugin.read(CONFIG_MAP, made) is None
    plugin.delete(CONFIG_MAP, made)  # what is gone already is no error


def test_a_daemon_set_is_made_changed_and_deleted_with_its_selector_replacing(
    plugin: Plugin,
) -> None:
    wanted = {k: v for k, v in device_plugin("efa").items() if k in {"metadata", "spec"}}
    made = plugin.create(DAEMON_SET, wanted)
    found = plugin.read(DAEMON_SET, made)
    assert found is not None
    assert found.inputs == made.inputs
    other = json.loads(json.dumps(wanted))
    other["spec"]["template"]["spec"]["containers"][0]["image"] = "other"
    assert plugin.diff(DAEMON_SET, made, other) == (["spec"], [])
    made = plugin.update(DAEMON_SET, made, other)
    other["spec"]["selector"]["matchLabels"] = {"a": "b"}
    _, replaces = plugin.diff(DAEMON_SET, made, other)
    assert replaces == ["spec.selector.matchLabels.a", "spec.selector.matchLabels.name"]
    plugin.delete(DAEMON_SET, made)


def test_an_object_that_keeps_its_name_is_deleted_before_it_is_replaced(plugin: Plugin) -> None:
    def deleted_first(metadata: dict[str, Any], after: dict[str, Any]) -> bool:
        olds, _ = plugin.check(CONFIG_MAP, {"metadata": metadata, "data": {"a": "1"}})
        news, _ = plugin.check(CONFIG_MAP, {"metadata": after, "data": {"a": "2"}}, olds)
        request = provider_pb2.DiffRequest(
            urn=urn(CONFIG_MAP), old_inputs=to_struct(olds), news=to_struct(news)
        )
        answer = plugin.servicer.Diff(request, None)
        assert answer.replaces
        return answer.deleteBeforeReplace

    assert deleted_first({"name": "x"}, {"name": "x"})
    assert not deleted_first({"name": "x"}, {"name": "y"})


def test_aws_auth_without_data_leaves_the_data_of_others_alone(
    plugin: Plugin, administrator: KubernetesApi
) -> None:
    """EKN-09: the package owns the existence of the ConfigMap, not its content."""
    path = "/api/v1/namespaces/kube-system/configmaps/aws-auth"
    theirs = {"metadata": {"name": "aws-auth"}, "data": {"mapRoles": "- rolearn: theirs\n"}}
    administrator.post("/api/v1/namespaces/kube-system/configmaps", theirs)
    ours = {
        "immutable": False,
        "metadata": {
            "name": "aws-auth",
            "namespace": "kube-system",
            "annotations": {"pulumi.com/patchForce": "true"},
        },
    }
    made = plugin.create(CONFIG_MAP, ours)
    assert administrator.get(path)["data"] == theirs["data"]
    tagged = {**ours, "metadata": {**ours["metadata"], "labels": {"a": "b"}}}
    made = plugin.update(CONFIG_MAP, made, tagged)
    assert administrator.get(path)["data"] == theirs["data"]
    assert administrator.get(path)["metadata"]["labels"] == {"a": "b"}
    plugin.delete(CONFIG_MAP, made)


def test_a_field_of_somebody_else_is_a_conflict_unless_it_is_forced(
    plugin: Plugin, administrator: KubernetesApi, config_map: dict[str, Any]
) -> None:
    theirs = {"metadata": {"name": "settings"}, "data": {"a": "theirs"}}
    administrator.post("/api/v1/namespaces/default/configmaps", theirs)
    with pytest.raises(RefusedError, match=r"conflict.*\.data\.a.*pulumi.com/patchForce"):
        plugin.create(CONFIG_MAP, config_map)
    forced = {"annotations": {"pulumi.com/patchForce": "true"}, **config_map["metadata"]}
    made = plugin.create(CONFIG_MAP, {**config_map, "metadata": forced})
    assert administrator.get(PATH)["data"] == {"a": "1"}
    plugin.delete(CONFIG_MAP, made)


def test_a_patch_gives_up_its_fields_and_leaves_the_object(
    plugin: Plugin, administrator: KubernetesApi, config_map: dict[str, Any]
) -> None:
    theirs = {"metadata": {"name": "settings"}, "data": {"b": "theirs"}}
    administrator.post("/api/v1/namespaces/default/configmaps", theirs)
    made = plugin.create(f"{CONFIG_MAP}Patch", {**config_map, "immutable": None})
    assert administrator.get(PATH)["data"] == {"a": "1", "b": "theirs"}
    plugin.delete(f"{CONFIG_MAP}Patch", made)
    assert administrator.get(PATH)["data"] == {"b": "theirs"}
    administrator.delete(PATH)


def test_a_patch_needs_a_name(plugin: Plugin) -> None:
    _, failures = plugin.check(f"{CONFIG_MAP}Patch", {"data": {}})
    assert "metadata.name" in failures


def test_a_name_is_made_once(plugin: Plugin) -> None:
    inputs, _ = plugin.check(CONFIG_MAP, {}, name="settings")
    again, _ = plugin.check(CONFIG_MAP, {}, inputs, name="settings")
    assert inputs["metadata"]["name"].startswith("settings-")
    assert again == inputs


def test_a_refresh_shows_what_somebody_changed(
    plugin: Plugin, administrator: KubernetesApi, config_map: dict[str, Any]
) -> None:
    made = plugin.create(CONFIG_MAP, config_map)
    administrator.patch(PATH, {"data": {"a": "theirs"}})
    found = plugin.read(CONFIG_MAP, made)
    assert found is not None
    assert found.inputs["data"] == {"a": "theirs"}
    plugin.delete(CONFIG_MAP, made)


def test_an_import_finds_what_a_program_would_write(
    plugin: Plugin, administrator: KubernetesApi
) -> None:
    there = {"metadata": {"name": "settings"}, "data": {"a": "1"}}
    administrator.post("/api/v1/namespaces/default/configmaps", there)
    found = plugin.read(CONFIG_MAP, Made("default/settings", {}, {}))
    assert found is not None
    assert found.inputs["metadata"] == {"name": "settings", "namespace": "default"}
    assert found.inputs["data"] == {"a": "1"}
    administrator.delete(PATH)


def test_a_preview_asks_the_api_server_and_makes_nothing(
    plugin: Plugin, administrator: KubernetesApi, config_map: dict[str, Any]
) -> None:
    foreseen = plugin.foreseen(CONFIG_MAP, config_map)
    assert foreseen["data"] == {"a": "1"}
    assert foreseen["metadata"]["uid"] == UNKNOWN
    assert gone(administrator, PATH)


@pytest.mark.parametrize("call", ["foreseen", "create"])
def test_a_field_that_does_not_exist_is_refused_already_in_the_preview(
    plugin: Plugin, config_map: dict[str, Any], call: str
) -> None:
    with pytest.raises(RefusedError, match=r"\.dataa: field not declared in schema"):
        getattr(plugin, call)(CONFIG_MAP, {**config_map, "dataa": {}})


def test_a_preview_accepts_a_namespace_that_is_still_to_be_made(
    plugin: Plugin, config_map: dict[str, Any]
) -> None:
    later = {**config_map, "metadata": {"name": "settings", "namespace": "later"}}
    assert plugin.foreseen(CONFIG_MAP, later)["data"] == {"a": "1"}
    with pytest.raises(RefusedError, match='"later" not found'):
        plugin.create(CONFIG_MAP, later)


def test_a_kind_that_the_api_server_does_not_have_is_named(plugin: Plugin) -> None:
    token = "kubernetes:example.com/v1:Widget"
    with pytest.raises(RefusedError, match=r"no kind Widget in example\.com/v1"):
        plugin.create(token, {})


def test_a_deployment_that_does_not_become_available_stays_in_the_state(
    plugin: Plugin, administrator: KubernetesApi
) -> None:
    spec = {"selector": {"matchLabels": {"app": "x"}}, "template": POD}
    annotations = {"pulumi.com/timeoutSeconds": "0.2"}
    metadata = {"name": "x", "namespace": "default", "annotations": annotations}
    with pytest.raises(RefusedError, match="it: not rolled out after 0 s"):
        plugin.create(DEPLOYMENT, {"metadata": metadata, "spec": spec})
    # The engine reads the id of what was made from it, so that destroy deletes it.
    assert b"default/x" in plugin.last.details["grpc-status-details-bin"]
    plugin.delete(DEPLOYMENT, Made("default/x", {}, {}))
    assert gone(administrator, "/apis/apps/v1/namespaces/default/deployments/x")


def test_a_secret_comes_back_as_a_secret(plugin: Plugin) -> None:
    token = "kubernetes:core/v1:Secret"
    inputs, _ = plugin.check(token, {"metadata": {"name": "s"}, "stringData": {"k": "v"}})
    request = provider_pb2.CreateRequest(urn=urn(token), properties=to_struct(inputs))
    answer = plugin.servicer.Create(request, None)
    assert answer.properties["data"]["4dabf18193072939515e22adb298388d"]
    plugin.delete(token, Made(answer.id, {}, {}))


def test_before_there_is_a_cluster_a_preview_repeats_the_inputs(config_map: dict[str, Any]) -> None:
    unknown = Plugin(KubernetesServicer(), kubeconfig=UNKNOWN)
    assert unknown.foreseen(CONFIG_MAP, config_map)["data"] == {"a": "1"}
    with pytest.raises(RefusedError, match="not configured with a kubeconfig"):
        unknown.create(CONFIG_MAP, config_map)


def test_a_control_plane_that_ended_is_an_error_without_the_token(
    control_plane: ControlPlane, config_map: dict[str, Any]
) -> None:
    text = control_plane.kubeconfig.read_text().replace(
        control_plane.endpoint, "https://127.0.0.1:9"
    )
    nobody = Plugin(KubernetesServicer(), kubeconfig=text)
    with pytest.raises(RefusedError, match="is the sandbox running") as refusal:
        nobody.create(CONFIG_MAP, config_map)
    assert control_plane.admin_token not in str(refusal.value)
