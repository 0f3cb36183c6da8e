"""Errors of pulumi-kubernetes, distinguished by their messages."""

from __future__ import annotations

import pytest

from trainyard.diagnosis.engine_failures import FailedStack, advice
from trainyard.diagnosis.known_errors import exists_already, is_unreachable, is_unready_daemon_set
from trainyard.engine.engine_events import EngineError
from trainyard.stack_files.stack_files import find_stack_file
from trainyard.workspace.accounts import target_of

PLUGIN = "urn:pulumi:s::trainyard::t$kubernetes:apps/v1:DaemonSet::p5-cb-plugins-nvidia-daemon-set"
CLAIM = "urn:pulumi:s::trainyard::t$kubernetes:core/v1:PersistentVolumeClaim::p5-cb-claim"
EXISTS = (
    f'resource "{PLUGIN}" was not successfully created by the Kubernetes API server: '
    'daemonsets.apps "nvidia-device-plugin-daemonset" already exists\n\n'
    "The resource already exists in the cluster. This can happen when:\n\n"
    "  - Renaming a Pulumi resource: use an alias to preserve the identity"
)
CANNOT_READ = (
    "failed to read resource state due to unreachable cluster. If the cluster was deleted, you can "
    "remove this resource from Pulumi state by rerunning the operation with the "
    'PULUMI_K8S_DELETE_UNREACHABLE environment variable set to "true"'
)
CANNOT_DELETE = CANNOT_READ.replace(
    "failed to read resource state due to unreachable cluster",
    "configured Kubernetes cluster is unreachable",
)
CANNOT_CREATE = (
    "configured Kubernetes cluster is unreachable: unable to load schema information from the API "
    "server: Get https://0123.gr7.us-west-2.eks.amazonaws.com: dial tcp: lookup: no such host"
)
CANCELLED = "failed to run remediation: context canceled"
TIMED_OUT = [
    (
        f'resource "{PLUGIN}" was successfully created, but the Kubernetes API server reported '
        "that it failed to fully initialize or become live: timed out waiting for the condition"
    ),
    "Resource 'nvidia-device-plugin-daemonset' was created but failed to initialize",
]
NOT_LIVE = (
    'the Kubernetes API server reported that "kube-system/x" failed to fully initialize or become '
    "live: "
)
CONFLICT = f"{NOT_LIVE}server-side apply field conflict detected, see https://www.pulumi.com"
NOT_READY = "more: docs/troubleshooting.md#was-created-but-failed-to-initialize"
STACK = FailedStack(
    cluster="c",
    target=target_of(find_stack_file("p5-cb"), sandbox=False),
    pool_of=lambda _: None,
)


@pytest.mark.parametrize("message", TIMED_OUT)
def test_a_daemon_set_that_is_not_ready_is_told_from_every_other_failure(message: str) -> None:
    error = EngineError(PLUGIN, message)
    assert is_unready_daemon_set(error)
    assert advice([error], STACK) == [
        "p5-cb-plugins-nvidia-daemon-set: its pods did not become ready on every node in time",
        NOT_READY,
    ]


@pytest.mark.parametrize(
    "message",
    [EXISTS, CANNOT_READ, CANNOT_DELETE, CANNOT_CREATE, CONFLICT, CANCELLED, "the sky fell"],
)
def test_nothing_is_said_of_the_pods_of_a_daemon_set_that_failed_otherwise(message: str) -> None:
    error = EngineError(PLUGIN, message)
    assert not is_unready_daemon_set(error)
    unreachable = "more: docs/troubleshooting.md#configured-kubernetes-cluster-is-unreachable"
    assert advice([error], STACK) == ([unreachable] if is_unreachable(error) else [])


def test_what_has_no_pods_is_not_said_to_have_some() -> None:
    error = EngineError(CLAIM, f"{NOT_LIVE}Timeout occurred polling for 'claim'")
    assert not is_unready_daemon_set(error)
    assert advice([error], STACK) == ["p5-cb-claim: it did not become ready in time", NOT_READY]


@pytest.mark.parametrize("message", [CANNOT_READ, CANNOT_DELETE, CANNOT_CREATE])
def test_an_unreachable_cluster_is_known_by_the_providers_words(message: str) -> None:
    assert is_unreachable(EngineError(PLUGIN, message))
    assert not is_unreachable(EngineError("", message))
    assert not exists_already(EngineError(PLUGIN, message))


def test_an_object_that_exists_is_known_by_the_api_servers_words() -> None:
    assert exists_already(EngineError(PLUGIN, EXISTS))
    assert not is_unreachable(EngineError(PLUGIN, EXISTS))
    assert not exists_already(EngineError(PLUGIN, "'x' timed out waiting to be Ready"))
