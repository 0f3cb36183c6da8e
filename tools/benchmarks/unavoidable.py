"""The chain of waits that no program can shorten, by architecture.

EKS: the network, the control plane in it, nodes that join it and are Ready; then the driver of a
file system that pods mount, whose controllers need a node. Lustre and its link to S3 are created in
parallel. The NAT gateway and the roles are not part of the chain.

ParallelCluster and Batch: the network with its egress, because nodes start as soon as their cluster
or compute environment exists, and a node that reaches no AWS service ends; for ParallelCluster also
the file systems that the cluster file names by id. A network stack: its network.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from tools.benchmarks.stack_graph import Step

Link = Callable[[Step], bool]


def _of_type(*types: str) -> Link:
    return lambda step: step.type in types


def _is_subnet(*, public: bool) -> Link:
    subnet = _of_type("aws:ec2/subnet:Subnet")
    return lambda step: subnet(step) and step.inputs.get("mapPublicIpOnLaunch", False) is public


def _is_driver(step: Step) -> bool:
    named = str(step.inputs.get("addonName", ""))
    return step.type == "aws:eks/addon:Addon" and named.endswith("-csi-driver")


VPC = _of_type("aws:ec2/vpc:Vpc")
FURTHER_NETWORK = _of_type("aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation")
PRIVATE_SUBNET = _is_subnet(public=False)
PUBLIC_SUBNET = _is_subnet(public=True)
NAT_GATEWAY = _of_type("aws:ec2/natGateway:NatGateway")
ENDPOINT = _of_type("aws:ec2/vpcEndpoint:VpcEndpoint")
CONTROL_PLANE = _of_type("aws:eks/cluster:Cluster")
NODES = _of_type("aws:eks/nodeGroup:NodeGroup", "aws:autoscaling/group:Group")
LUSTRE = _of_type("aws:fsx/lustreFileSystem:LustreFileSystem")
DATA_REPOSITORY = _of_type("aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation")
OPEN_ZFS = _of_type("aws:fsx/openZfsFileSystem:OpenZfsFileSystem")
SLURM_CLUSTER = _of_type("aws:cloudformation/stack:Stack")
ROLE = _of_type("aws:iam/role:Role")
INSTANCE_PROFILE = _of_type("aws:iam/instanceProfile:InstanceProfile")
COMPUTE_ENVIRONMENT = _of_type("aws:batch/computeEnvironment:ComputeEnvironment")
JOB_QUEUE = _of_type("aws:batch/jobQueue:JobQueue")

NETWORK = (VPC, FURTHER_NETWORK, PRIVATE_SUBNET)
WAY_OUT = (VPC, FURTHER_NETWORK, PUBLIC_SUBNET, NAT_GATEWAY)
"""A NAT gateway is in a public subnet."""
CHAINS: Sequence[tuple[Link, Sequence[Sequence[Link]]]] = (
    (
        CONTROL_PLANE,
        [
            (*NETWORK, CONTROL_PLANE, NODES, _is_driver),
            (*NETWORK, LUSTRE, DATA_REPOSITORY),
        ],
    ),
    (
        SLURM_CLUSTER,
        [(*WAY_OUT, SLURM_CLUSTER), (*NETWORK, OPEN_ZFS, SLURM_CLUSTER)],
    ),
    (
        COMPUTE_ENVIRONMENT,
        [
            (*WAY_OUT, COMPUTE_ENVIRONMENT, JOB_QUEUE),
            (ROLE, INSTANCE_PROFILE, COMPUTE_ENVIRONMENT, JOB_QUEUE),
        ],
    ),
    (VPC, [WAY_OUT, (*NETWORK, ENDPOINT)]),
)
"""How an architecture is identified, and its chains; the longest of them counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """The unavoidable chain of one stack."""

    links: tuple[Step, ...]
    """The slowest of each kind; kinds that the stack does not have are left out."""

    @property
    def seconds(self) -> float:
        """The sum along the chain."""
        return sum(step.seconds for step in self.links)


def unavoidable_chain(steps: Iterable[Step]) -> Chain:
    """Return the longest unavoidable chain of a stack.

    Raises:
        ValueError: no architecture has these steps.
    """
    known = list(steps)
    for sign, chains in CHAINS:
        if any(map(sign, known)):
            return max((_chain(known, links) for links in chains), key=lambda c: c.seconds)
    raise ValueError("no control plane, cluster, compute environment or network among the steps")


def _chain(steps: Sequence[Step], links: Sequence[Link]) -> Chain:
    slowest = [
        max((step for step in steps if link(step)), key=lambda step: step.seconds, default=None)
        for link in links
    ]
    return Chain(links=tuple(step for step in slowest if step is not None))
