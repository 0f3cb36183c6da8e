"""Messages about a failed engine for a real stack file, and access to a half-created cluster."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from tests.support.api_server import answers, api_server
from trainyard.cli import options
from trainyard.components import clock
from trainyard.components.capacity.lookup import holder_filters
from trainyard.diagnosis import rollout
from trainyard.diagnosis.rollout import ClusterState
from trainyard.engine.engine_events import EngineError
from trainyard.engine.engine_failure import recorded_kubeconfig, why_it_failed
from trainyard.workspace.accounts import target_of

NOW = clock.now()
BLOCK = "cr-0123456789abcdef0"
GROUP = "urn:pulumi:s::trainyard::aws:autoscaling/group:Group::p5-cb-p5-nodes"
PLUGIN = "urn:pulumi:s::trainyard::t$kubernetes:apps/v1:DaemonSet::p5-cb-plugins-nvidia-daemon-set"
NOT_READY = "failed to fully initialize or become live: timed out waiting for the condition"
KUBECONFIG = '{"clusters": []}'


def exported(value: Any) -> dict[str, Any]:
    made = {"type": "pulumi:providers:kubernetes", "inputs": {"kubeconfig": value}}
    return {"deployment": {"resources": [{"type": "aws:ec2/vpc:Vpc"}, made]}}


@dataclass
class Workspace:
    """A workspace whose engine knows a cluster."""

    target: Any
    kubeconfig: str = KUBECONFIG

    @property
    def stack_file(self) -> Any:
        return self.target.stack_file

    @property
    def command(self) -> Any:
        return SimpleNamespace(output=lambda _: json.dumps(exported(self.kubeconfig)))


@pytest.fixture
def workspace(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    monkeypatch.setenv("TRAINYARD_SANDBOX", str(tmp_path))
    return Workspace(options.target("p5-cb", path=None, sandbox=True))


@pytest.fixture
def answered(credentials: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Let a service of the account give an answer to each of some calls."""
    stubs: list[Stubber] = []

    def answer(service: str, *answers: tuple[str, dict[str, Any], dict[str, Any]]) -> None:
        client = boto3.client(service, region_name="us-west-2")
        stub = Stubber(client)
        for call, given, said in answers:
            stub.add_response(call, said, given)
        stub.activate()
        stubs.append(stub)
        monkeypatch.setattr("boto3.Session.client", lambda _, asked, **__: {service: client}[asked])

    yield answer
    for each in stubs:
        each.assert_no_pending_responses()


def test_the_reservation_of_the_stack_file_is_asked_about(
    answered: Callable[..., None], workspace: Any
) -> None:
    block = {
        "CapacityReservationId": BLOCK,
        "State": "expired",
        "InstanceType": "p5.48xlarge",
        "TotalInstanceCount": 2,
        "AvailableInstanceCount": 0,
    }
    instances = {"Filters": holder_filters([BLOCK])}
    answered(
        "ec2",
        (
            "describe_capacity_reservations",
            {"CapacityReservationIds": [BLOCK]},
            {"CapacityReservations": [block]},
        ),
        ("describe_instances", instances, {"Reservations": []}),
    )
    error = EngineError(GROUP, "ReservationCapacityExceeded - The requested reservation")
    workspace.target = target_of(workspace.stack_file, sandbox=False)
    found = "\n".join(why_it_failed([error], workspace))
    said = f"EC2 launches no instances into {BLOCK} (2 x p5.48xlarge): it is expired"
    assert f"node group p5: reservation block: {said}" in found


def test_a_plugin_that_is_not_rolled_out_comes_with_its_pods_and_a_kubeconfig(
    workspace: Any,
) -> None:
    error = EngineError(PLUGIN, NOT_READY)
    with api_server() as server:
        server.said = answers("back-off")
        workspace.kubeconfig = server.kubeconfig
        found = "\n".join(why_it_failed([error], workspace))
    assert "on broken: pod plugin-broken does not run: CrashLoopBackOff: back-off" in found
    assert "--namespace kube-system logs plugin-broken --previous" in found
    path = Path(found.partition("--kubeconfig ")[2].split()[0])
    assert path.read_text(encoding="utf-8") == server.kubeconfig


def test_a_cluster_that_is_silent_then_is_said_to_be(
    workspace: Any,
) -> None:
    with api_server() as server:
        workspace.kubeconfig = server.kubeconfig
    error = EngineError(PLUGIN, NOT_READY)
    assert why_it_failed([error], workspace)[-1] == (
        "the state of the cluster cannot be read from its API server (NewConnectionError)"
    )


def test_an_object_that_exists_leads_to_the_commands_that_remove_or_adopt_it(
    workspace: Any,
) -> None:
    error = EngineError(PLUGIN, 'daemonsets.apps "nvidia-device-plugin-daemonset" already exists')
    assert why_it_failed([error], workspace) == [
        "the cluster has an object that this update would create, but the state does not have",
        "  to list the commands that delete or import it:  ./trainyard preview p5-cb --sandbox",
    ]


@pytest.mark.parametrize(
    "value",
    [KUBECONFIG, {"4dabf": "1b47", "plaintext": json.dumps(KUBECONFIG)}],
    ids=["text", "secret"],
)
def test_the_kubeconfig_is_read_from_the_state_however_it_is_kept(value: Any) -> None:
    assert json.loads(recorded_kubeconfig(exported(value)) or "") == json.loads(KUBECONFIG)


def test_a_stack_without_a_cluster_has_no_kubeconfig() -> None:
    assert recorded_kubeconfig({"deployment": {"resources": [{"type": "aws:ec2/vpc:Vpc"}]}}) is None
    assert recorded_kubeconfig({}) is None


def test_a_node_that_is_not_ready_says_what_its_kubelet_says() -> None:
    node = rollout.NodeState(
        "ip-1", "p5.48xlarge", ready=False, devices={}, not_ready_because="KubeletNotReady: no CNI"
    )
    state = ClusterState((node,), (), ())
    (said,) = rollout.nodes_not_ready(state, "kubectl")
    assert said.startswith("ip-1 has joined and is not Ready: KubeletNotReady: no CNI; more: ")
    assert said.endswith("kubectl describe node ip-1")


def test_a_failed_cluster_is_explained_with_the_complete_reasons(
    answered: Callable[..., None], workspace: Any
) -> None:
    completed = options.target("pc-gpu", path=None, sandbox=True).stack_file
    workspace.target = target_of(completed, sandbox=False)
    at = {"CreationTime": NOW, "StackName": "pc-gpu", "StackId": "arn:pc-gpu"}
    event = {
        "EventId": "1",
        "StackId": "arn:pc-gpu",
        "StackName": "pc-gpu",
        "Timestamp": NOW,
        "LogicalResourceId": "HeadNode",
        "ResourceType": "AWS::EC2::Instance",
        "ResourceStatus": "CREATE_FAILED",
        "ResourceStatusReason": "why",
    }
    answered(
        "cloudformation",
        ("list_stacks", {}, {"StackSummaries": [{**at, "StackStatus": "CREATE_FAILED"}]}),
        ("describe_stack_events", {"StackName": "arn:pc-gpu"}, {"StackEvents": [event]}),
    )
    cluster = "urn:pulumi:s::trainyard::t$aws:cloudformation/stack:Stack::pc-gpu-deployment"
    error = EngineError(cluster, "(truncated) why")
    found = why_it_failed([error], workspace)
    assert found[-2:] == [
        "in the CloudFormation stack pc-gpu:",
        "  HeadNode (AWS::EC2::Instance): why",
    ]
