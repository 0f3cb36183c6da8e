"""The nodes of a ParallelCluster stack that a job runs on, and their shared directory.

Source:
    https://docs.aws.amazon.com/parallelcluster/latest/ug/slurm-workload-manager-v3.html
    https://github.com/aws/aws-parallelcluster-cookbook, `config_renderer.py` of the Slurm cookbook:
        the features of a node are `static` or `dynamic`, its instance type, the name of its compute
        resource, `efa` and `gpu`; so a job selects a compute resource with `--constraint`
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from trainyard.components.capacity.plan import CapacityPlan
from trainyard.components.catalog.instance_types import Accelerators
from trainyard.components.parallelcluster.plan import ParallelClusterPlan
from trainyard.components.parallelcluster.queue_plan import ComputeResourcePlan, QueuePlan
from trainyard.components.parallelcluster.storage_settings import STORAGE_TYPES
from trainyard.jobs.names import DCGM_LEVEL
from trainyard.jobs.nodes import KINDS, JobError, Manufacturer

HOME = "/home"
"""Directory of the head node on all nodes over NFS, for stacks without shared storage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlurmRequest:
    """The user's options for a job."""

    queue: str | None = None
    """Slurm partition; None selects the matching one."""
    compute_resource: str | None = None
    """None selects the matching one."""
    nodes: int | None = None
    """Number of nodes; None for the maximum of the compute resource."""
    scaling: Literal["strong", "weak"] = "strong"
    """Whether additional nodes share the global batch (strong) or increase it (weak)."""
    level: int = DCGM_LEVEL
    """Level of `dcgm-diag`, 1 to 4."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlurmNodes:
    """The nodes of a job, all in one compute resource."""

    queue: QueuePlan
    resource: ComputeResourcePlan
    """With several Capacity Blocks, that of the first one."""
    count: int
    blocks: tuple[ComputeResourcePlan, ...] = ()
    """Compute resources of the further blocks, of which Slurm can choose one instead."""

    @property
    def accelerators(self) -> Accelerators:
        """The accelerators of one node."""
        found = self.resource.instance_type.accelerators
        assert found is not None  # noqa: S101 - `choose_slurm_nodes` takes no other resource
        return found

    @property
    def efa_interfaces(self) -> int:
        """EFA interfaces of one node; 0 if EFA is disabled."""
        return self.resource.instance_type.efa_interfaces if self.resource.efa_enabled else 0

    @property
    def constraint(self) -> str | None:
        """Feature that only these nodes of the partition have; None if it has no other nodes.

        Of several features in brackets, all nodes of the job have the same one:
        https://slurm.schedmd.com/sbatch.html#OPT_constraint, "Matching OR".
        """
        if len(self.queue.compute_resources) == 1:
            return None
        names = [each.name for each in (self.resource, *self.blocks)]
        return f"[{'|'.join(names)}]" if self.blocks else self.resource.name

    @property
    def capacities(self) -> list[CapacityPlan]:
        """Capacity of the nodes, one for each of their Capacity Blocks."""
        return [each.capacity for each in (self.resource, *self.blocks)]

    @property
    def placement(self) -> str:
        """The lines of a batch script that select its nodes."""
        lines = [f"#SBATCH --partition={self.queue.name}"]
        if self.constraint:
            lines.append(f"#SBATCH --constraint={self.constraint}")
        return "\n".join(lines)

    @property
    def description(self) -> str:
        """The nodes as text, such as `4 x p5.48xlarge (compute-gpu/p5)`."""
        names = f"{self.queue.name}/{self.resource.name}"
        return f"{self.count} x {self.resource.instance_type.name} ({names})"


def choose_slurm_nodes(
    plan: ParallelClusterPlan, manufacturer: Manufacturer | None, request: SlurmRequest
) -> SlurmNodes:
    """Return the nodes of a job: the named compute resource, or the only one with such devices.

    The number of nodes is the requested one, or the maximum of the compute resource.

    Raises:
        JobError: there is no such compute resource, there are several and none is named, it is too
            small, or it has several nodes without EFA, which Neuron devices require to communicate.
    """
    queue, resource = _choose(plan, manufacturer, request)
    count = request.nodes or resource.maximum
    where = f"compute resource {queue.name}/{resource.name}"
    if count > resource.maximum:
        raise JobError(
            f"{where} has at most {resource.maximum} nodes, and the job wants {count}: it would "
            "wait for ever; ask for fewer with --nodes, or raise `maximum`"
        )
    blocks = tuple(
        each
        for each in queue.compute_resources
        if each.pool == resource.name and each is not resource
    )
    nodes = SlurmNodes(queue=queue, resource=resource, count=count, blocks=blocks)
    neuron = nodes.accelerators.manufacturer == "neuron"
    if neuron and count > 1 and not resource.efa_enabled:
        raise JobError(
            f"{where} has no EFA, and Neuron devices of several nodes communicate over EFA only; "
            "set `efa_enabled: true` on a type that has it, or ask for one node with --nodes 1"
        )
    return nodes


def _choose(
    plan: ParallelClusterPlan, manufacturer: Manufacturer | None, request: SlurmRequest
) -> tuple[QueuePlan, ComputeResourcePlan]:
    kind = KINDS[manufacturer]
    fitting = list(with_devices(plan, manufacturer))
    if not fitting:
        raise JobError(f"{plan.name} has no compute resource with {kind}, so the job has no nodes")
    named = [
        (queue, resource)
        for queue, resource in fitting
        if request.queue in (None, queue.name) and request.compute_resource in (None, resource.name)
    ]
    if not named:
        wanted = f"{request.queue or '*'}/{request.compute_resource or '*'}"
        raise JobError(
            f"{plan.name} has no compute resource {wanted!r} with {kind}; there is: "
            + _listed(fitting)
        )
    if len({(queue.name, resource.pool) for queue, resource in named}) > 1:
        raise JobError(
            f"{plan.name} has several compute resources with {kind}; name one with --queue and "
            f"--compute-resource: {_listed(named)}"
        )
    return named[0]


def with_devices(
    plan: ParallelClusterPlan, manufacturer: Manufacturer | None
) -> Iterator[tuple[QueuePlan, ComputeResourcePlan]]:
    """Yield the compute resources with accelerators of a manufacturer; None for any."""
    for queue in plan.queues:
        for resource in queue.compute_resources:
            accelerators = resource.instance_type.accelerators
            if accelerators and manufacturer in (None, accelerators.manufacturer):
                yield queue, resource


def _listed(found: list[tuple[QueuePlan, ComputeResourcePlan]]) -> str:
    return ", ".join(f"{queue.name}/{resource.name}" for queue, resource in found)


def shared_directory(plan: ParallelClusterPlan) -> str:
    """Return the directory that all nodes share: the stack's fastest storage, or `/home`."""
    mounted = {storage.type: storage.mount_directory for storage in reversed(plan.shared_storage)}
    found = next((mounted[kind] for kind in STORAGE_TYPES if kind in mounted), HOME)
    # ParallelCluster also accepts a directory without the leading slash.
    return f"/{found.strip('/')}"
