"""How long AWS takes, and how the sandbox takes as long."""

from unittest import mock

import pytest
from pulumi.runtime.proto import provider_pb2

from sandbox.latency import pace
from sandbox.latency.model import latency_model
from sandbox.latency.pace import VARIABLE, as_long_as_aws
from sandbox.providers.aws.registry import RESOURCE_TYPES
from sandbox.providers.kubernetes.cluster import Cluster
from sandbox.providers.kubernetes.servicer import KubernetesServicer

ENDPOINT, GROUP = "aws:ec2/vpcEndpoint:VpcEndpoint", "aws:autoscaling/group:Group"


@pytest.fixture
def slept(monkeypatch):
    """Return the seconds that were slept, by a clock that moves by nothing else."""
    seconds: list[float] = []
    monkeypatch.setattr(pace.time, "sleep", seconds.append)
    monkeypatch.setattr(pace.time, "monotonic", lambda: 100.0)
    return seconds


@pytest.mark.parametrize(
    ("type_", "inputs", "seconds"),
    [
        ("aws:eks/cluster:Cluster", {}, 540),
        (ENDPOINT, {"vpcEndpointType": "Interface"}, 60),
        (ENDPOINT, {"vpcEndpointType": "Gateway"}, 8),
        (GROUP, {"waitForCapacityTimeout": "0"}, 15),
        (GROUP, {"waitForCapacityTimeout": "20m"}, 45),
        ("aws:iam/rolePolicy:RolePolicy", {}, 1),
        ("trainyard:network:Vpc", {}, 0),
        ("pulumi:providers:kubernetes", {}, 0),
    ],
)
def test_a_resource_takes_what_its_type_and_inputs_say(type_, inputs, seconds):
    assert latency_model().seconds(type_, inputs) == seconds


def test_every_number_is_of_a_known_type_and_has_its_source():
    for type_, entries in latency_model().types.items():
        assert type_ in RESOURCE_TYPES or type_.startswith("kubernetes:")
        for entry in entries:
            assert entry.seconds["create"] > 0
            assert len(entry.source) > 10
        # What fits always comes last: what stood after it would never count.
        assert [bool(entry.when) for entry in entries] == [True] * (len(entries) - 1) + [False]


def test_the_sandbox_takes_its_share_of_awss_time(slept, monkeypatch):
    monkeypatch.setenv(VARIABLE, "0.1")
    with as_long_as_aws("aws:eks/cluster:Cluster", {}, "create"):
        pass
    assert slept == [54.0]


@pytest.mark.parametrize("scale", [None, "", "0"])
def test_without_a_scale_nobody_waits(slept, monkeypatch, scale):
    monkeypatch.delenv(VARIABLE, raising=False)
    if scale is not None:
        monkeypatch.setenv(VARIABLE, scale)
    with as_long_as_aws("aws:eks/cluster:Cluster", {}, "create"):
        pass
    assert slept == []


def test_what_is_refused_is_refused_at_once(slept, monkeypatch):
    monkeypatch.setenv(VARIABLE, "1")
    with pytest.raises(RuntimeError), as_long_as_aws("aws:eks/cluster:Cluster", {}, "create"):
        raise RuntimeError("refused")
    assert slept == []


def test_a_kubernetes_object_is_gone_when_its_pods_would_be(slept, monkeypatch):
    """As a Deployment of the model; what has no entry of its own takes a second."""
    monkeypatch.setenv(VARIABLE, "1")
    servicer = KubernetesServicer()
    servicer.cluster = mock.create_autospec(Cluster)
    for type_ in ("kubernetes:apps/v1:Deployment", "kubernetes:core/v1:ServiceAccount"):
        urn = f"urn:pulumi:dev::trainyard::{type_}::plugin"
        request = provider_pb2.DeleteRequest(id="kube-system/plugin", urn=urn)
        servicer.Delete(request, mock.Mock())
    assert slept == [5.0, 1.0]
