"""What the program has to know of a self-managed add-on.

EKS installs the add-ons of `trainyard.components.eks.addons.eks_managed` itself. Of a self-managed
one, the program defines the Kubernetes objects:
https://docs.aws.amazon.com/eks/latest/userguide/eks-add-ons.html
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from trainyard.components.config.eks import EksStackConfig, Taint
from trainyard.components.eks.node_group_plan import NodeGroupPlan
from trainyard.components.runtime.workload_plan import WorkloadPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class AddonTarget:
    """The cluster and the nodes that an add-on is installed for."""

    region: str
    kubernetes_version: str
    """Minor version of the cluster, such as `1.35`."""
    instance_types: Sequence[str]
    """EC2 instance types of the node groups that it serves."""
    taints: Sequence[Taint]
    """Taints of the node groups with devices."""
    groups: Sequence[NodeGroupPlan] = ()
    """The node groups that it serves."""
    elsewhere: Sequence[NodeGroupPlan] = ()
    """The other node groups."""
    plugins: Collection[str] = ()
    """The planned add-ons, which include the device plugins."""

    @property
    def other_types(self) -> frozenset[str]:
        """EC2 instance types of the node groups that it does not serve."""
        return frozenset(group.instance_type.name for group in self.elsewhere)

    @property
    def accelerated_groups(self) -> list[NodeGroupPlan]:
        """The node groups with accelerators."""
        return [group for group in self.groups if group.instance_type.accelerators]


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfManagedAddon:
    """One self-managed add-on."""

    name: str
    """Its name in the plan and in logical names, which cannot change."""
    component: str
    """Last part of its type token, which cannot change."""
    parent: Literal["plugins", "services"] = "services"
    """The component that installs it: `DevicePlugins` or `ClusterServices`."""
    serves: Callable[[NodeGroupPlan], bool]
    """Whether a node group needs it. It is installed if at least one does."""
    enabled: Callable[[EksStackConfig], bool] = lambda _: True
    """Whether the stack file allows it."""
    option: str | None = None
    """Key of the stack file that turns it off if it is false."""
    workloads: Callable[[AddonTarget], Sequence[WorkloadPlan]]
    on_system_nodes: bool = False
    """Whether its pods wait for the system nodes instead of the nodes that it serves."""
    public_image: str | None = None
    """Name of the software, for messages, if nodes pull its image from a public registry. None for
    images in the registries of EKS, and for an add-on that is only installed with another one."""
    daemon_set: str | None = None
    """DaemonSet that runs on every node that it serves."""
    devices: tuple[str, ...] = ()
    """Kubernetes resources that it provides to pods."""
    drains: bool = False
    """Whether it drains nodes that Auto Scaling terminates, so that the termination must wait."""


def has_accelerators(manufacturer: Literal["nvidia", "neuron"]) -> Callable[[NodeGroupPlan], bool]:
    """Return a function that tells whether the nodes of a group have such accelerators."""

    def has(group: NodeGroupPlan) -> bool:
        accelerators = group.instance_type.accelerators
        return accelerators is not None and accelerators.manufacturer == manufacturer

    return has
