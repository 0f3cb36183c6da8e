"""The typical durations of `latencies.yaml`, by resource type, operation and inputs."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml

Operation = Literal["create", "update", "delete"]
DATA = Path(__file__).parent / "latencies.yaml"
WITH_STATUS = frozenset(
    {
        "aws:autoscaling/group:Group",
        "aws:batch/computeEnvironment:ComputeEnvironment",
        "aws:batch/jobQueue:JobQueue",
        "aws:cloudformation/stack:Stack",
        "aws:ec2/capacityBlockReservation:CapacityBlockReservation",
        "aws:ec2/natGateway:NatGateway",
        "aws:ec2/vpcEndpoint:VpcEndpoint",
        "aws:eks/addon:Addon",
        "aws:eks/cluster:Cluster",
        "aws:eks/nodeGroup:NodeGroup",
        "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation",
        "aws:fsx/lustreFileSystem:LustreFileSystem",
        "aws:fsx/openZfsFileSystem:OpenZfsFileSystem",
    }
)
"""Types that AWS creates after the call has returned, with a status meanwhile. For other types, the
model's time is that of the calls and of the provider's own waits."""
COMPONENTS = ("trainyard:", "eks:", "pulumi:")
"""Types without an object in AWS or Kubernetes: components and providers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """Durations of one kind of resource."""

    when: Mapping[str, Any]
    """Inputs that the resource must have; empty for any."""
    seconds: Mapping[str, float]
    """By operation; an omitted operation takes no time."""
    source: str
    """Source of the numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyModel:
    """Durations of AWS operations."""

    types: Mapping[str, tuple[Latency, ...]]
    """By type token; the first match applies."""
    otherwise: Latency
    """Durations of all other types."""

    def seconds(
        self, type_: str, inputs: Mapping[str, Any], operation: Operation = "create"
    ) -> float:
        """Return the duration of the operation on a resource with these inputs, in seconds."""
        if type_.startswith(COMPONENTS):
            return 0.0
        found = (each for each in self.types.get(type_, ()) if _fits(each.when, inputs))
        return next(found, self.otherwise).seconds.get(operation, 0.0)


def takes_time_in_sandbox(type_: str) -> bool:
    """Return whether `sandbox start --latency` applies to resources of the type."""
    return type_ in WITH_STATUS or type_.startswith("kubernetes:")


def _fits(when: Mapping[str, Any], inputs: Mapping[str, Any]) -> bool:
    return all(inputs.get(key) == value for key, value in when.items())


@functools.cache
def latency_model() -> LatencyModel:
    """Return the model of `latencies.yaml`."""
    content = yaml.safe_load(DATA.read_text(encoding="utf-8"))
    types = {
        type_: tuple(_latency(entry) for entry in entries)
        for type_, entries in content["types"].items()
    }
    return LatencyModel(types=types, otherwise=_latency(content["otherwise"]))


def _latency(entry: Mapping[str, Any]) -> Latency:
    operations = ("create", "update", "delete")
    return Latency(
        when=entry.get("when", {}),
        seconds={key: float(entry[key]) for key in operations if key in entry},
        source=entry["source"],
    )
