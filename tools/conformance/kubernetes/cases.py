"""The recorded calls: all kinds that the program creates, and all changes of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tools.conformance.kubernetes.inputs import (
    ACCOUNT,
    BINDING,
    CLASS,
    CLUSTER_BINDING,
    CLUSTER_ROLE,
    CONFIG_MAP,
    CONFIG_MAPS,
    DAEMON_SET,
    NAMESPACE,
    PLUGIN,
    ROLE,
    SECRET,
    SERVICE,
    SETTINGS,
    SKIPPED_SERVICE,
    STORAGE_CLASS,
    changed,
    in_system,
    labelled,
    pod,
    wanted,
    workload,
)
from tools.conformance.kubernetes.object_cases import (
    a_config_map_with_other_data,
    a_field_that_others_took_over,
    a_name_of_its_own,
    a_patch_of_an_object_of_others,
    a_patch_of_nothing,
    an_import,
    an_object_that_exists,
    an_object_that_others_changed,
    an_object_that_others_deleted,
    an_object_that_was_made_unheard,
    another_name_or_namespace,
    aws_auth_without_data,
)
from tools.conformance.kubernetes.plugin import Values
from tools.conformance.kubernetes.workload_cases import (
    a_daemon_set_on_a_node,
    a_daemon_set_that_does_not_run,
    a_daemon_set_without_nodes,
    a_deployment,
    a_deployment_without_nodes,
    a_volume_and_its_claim,
)
from tools.conformance.kubernetes.world import World

Case = Callable[[World], None]


def life(token: str, inputs: Values, after: Values) -> Case:
    """Return a case: create, refresh, update and delete an object, each after a preview."""

    def case(world: World) -> None:
        stack = world.stack()
        for preview in (True, False):
            stack.up(token, inputs, preview=preview)
        stack.up(token, inputs)
        stack.refresh(token)
        stack.up(token, inputs)
        for preview in (True, False):
            stack.up(token, after, preview=preview)
        stack.up(token, after)
        stack.up(token, inputs)
        stack.destroy(token)

    return case


def a_field_that_does_not_exist(world: World) -> None:
    """The provider drops it silently."""
    stack = world.stack()
    for preview in (True, False):
        stack.up(CONFIG_MAP, {**SETTINGS, "dataa": {"a": "1"}}, preview=preview)
    world.remove(f"{CONFIG_MAPS}/settings")


def what_the_api_server_refuses(world: World) -> None:
    """Invalid values, and a kind and a namespace that do not exist."""
    stack = world.stack()
    unknown_kind = "kubernetes:example.com/v1:Widget"
    for preview in (True, False):
        stack.up(CONFIG_MAP, changed(SETTINGS, "metadata.name", "A B"), "name", preview=preview)
        invalid = changed(PLUGIN, "spec.template.metadata.labels", {"name": "other"})
        stack.up(DAEMON_SET, invalid, "labels", preview=preview)
    later = changed(SETTINGS, "metadata.namespace", "later")
    stack.up(CONFIG_MAP, later, preview=True)
    stack.up(unknown_kind, wanted(unknown_kind, {"name": "w"}), preview=True)
    stack.up("kubernetes:core/v1:ConfigMapList", {"items": []})


def a_binding_to_another_role(world: World) -> None:
    """A change of an immutable field, such as the role of a binding, replaces the object."""
    stack = world.stack()
    stack.up(BINDING, CLUSTER_BINDING)
    stack.up(BINDING, changed(CLUSTER_BINDING, "roleRef.name", "other"))
    stack.destroy(BINDING)
    stack.up(STORAGE_CLASS, CLASS)
    stack.up(STORAGE_CLASS, changed(CLASS, "parameters", {"type": "HDD"}))
    stack.destroy(STORAGE_CLASS)
    replicas = "kubernetes:apps/v1:ReplicaSet"
    inputs = workload(replicas, in_system("replicas"), pod(), replicas=0)
    stack.up(replicas, inputs)
    other = changed(inputs, "spec.selector.matchLabels", {"name": "other"})
    stack.up(replicas, other, preview=True)
    stack.destroy(replicas)


def a_cluster_that_is_gone(world: World) -> None:
    """Nothing can be read, changed or deleted, unless the user declares the cluster deleted."""
    made = world.stack()
    made.up(CONFIG_MAP, SETTINGS)
    for environment in ({}, {"PULUMI_K8S_DELETE_UNREACHABLE": "true"}):
        gone = world.stack(kubeconfig=world.kubeconfig_to_nowhere, environment=environment)
        gone.resources = dict(made.resources)
        for preview in (True, False):
            gone.up(CONFIG_MAP, SETTINGS, "new", preview=preview)
            gone.up(CONFIG_MAP, labelled(SETTINGS), preview=preview)
        gone.up(CONFIG_MAP, SETTINGS)
        gone.refresh(CONFIG_MAP)
        gone.resources = dict(made.resources)
        gone.destroy(CONFIG_MAP)
    made.destroy(CONFIG_MAP)


def a_provider_with_another_cluster(world: World) -> None:
    """Another API server replaces the provider; another token does not."""
    stack = world.stack()
    here = {"kubeconfig": world.kubeconfig}
    token = world.kubeconfig.replace(world.control_plane.admin_token, "renewed")
    nowhere = {"kubeconfig": world.kubeconfig_to_nowhere}
    urn = "urn:pulumi:recording::trainyard::pulumi:providers:kubernetes::p"
    for news in (here, {"kubeconfig": token}, nowhere, {**here, "enableServerSideApply": "true"}):
        request = {"urn": urn, "id": "1", "olds": here, "old_inputs": here, "news": news}
        stack.plugin.call("CheckConfig", {"urn": urn, "news": news})
        stack.plugin.call("DiffConfig", request)


CASES: Mapping[str, Case] = {
    "provider": a_provider_with_another_cluster,
    "config-map": life(CONFIG_MAP, SETTINGS, labelled(SETTINGS)),
    "config-map-data": a_config_map_with_other_data,
    "config-map-unnamed": a_name_of_its_own,
    "service-account": life("kubernetes:core/v1:ServiceAccount", ACCOUNT, labelled(ACCOUNT)),
    "cluster-role": life(ROLE, CLUSTER_ROLE, changed(CLUSTER_ROLE, "rules.0.verbs", ["list"])),
    "cluster-role-binding": life(BINDING, CLUSTER_BINDING, labelled(CLUSTER_BINDING)),
    "service": life(SERVICE, SKIPPED_SERVICE, changed(SKIPPED_SERVICE, "spec.ports.0.port", 12346)),
    "storage-class": life(STORAGE_CLASS, CLASS, labelled(CLASS)),
    "namespace": life("kubernetes:core/v1:Namespace", NAMESPACE, labelled(NAMESPACE)),
    "secret": life("kubernetes:core/v1:Secret", SECRET, labelled(SECRET)),
    "exists": an_object_that_exists,
    "renamed": another_name_or_namespace,
    "aws-auth": aws_auth_without_data,
    "patch": a_patch_of_an_object_of_others,
    "patch-of-nothing": a_patch_of_nothing,
    "conflict": a_field_that_others_took_over,
    "changed-by-others": an_object_that_others_changed,
    "deleted-by-others": an_object_that_others_deleted,
    "import": an_import,
    "made-unheard": an_object_that_was_made_unheard,
    "daemon-set": a_daemon_set_without_nodes,
    "daemon-set-on-a-node": a_daemon_set_on_a_node,
    "daemon-set-time-out": a_daemon_set_that_does_not_run,
    "deployment": a_deployment,
    "deployment-time-out": a_deployment_without_nodes,
    "volume-and-claim": a_volume_and_its_claim,
    "unknown-field": a_field_that_does_not_exist,
    "refused": what_the_api_server_refuses,
    "fixed-by-the-api": a_binding_to_another_role,
    "unreachable": a_cluster_that_is_gone,
}
"""Cases by name, which is also the name of the recording's file."""
