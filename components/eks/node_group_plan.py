"""The plan of a node group, with the user data and the number of pods of its nodes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

import yaml
from typing_extensions import override

from trainyard.components.capacity.placement_review import reviewed_placement
from trainyard.components.capacity.plan import ONE_BY_ONE, PlacementPlan, SchedulePlan, UpdatePlan
from trainyard.components.capacity.purchase import OPEN_PURCHASE_OPTIONS, plan_on_demand
from trainyard.components.capacity.schedule import plan_schedule
from trainyard.components.capacity.update import plan_update
from trainyard.components.catalog.instance_types import INSTANCE_TYPES, InstanceType
from trainyard.components.catalog.neuron import NEURON_CORE, NEURON_DEVICE, neuron_cores
from trainyard.components.catalog.versions import (
    DEFAULT_KUBERNETES_VERSION,
    EKS_VERSIONS,
    AmiVariant,
    EksVersion,
    ami_type,
)
from trainyard.components.compute.interface_plan import InterfacePlan, plan_pool_interfaces
from trainyard.components.compute.node_pool_plan import (
    ImageSource,
    NodePoolPlan,
    RootVolumePlan,
    plan_root_volume,
)
from trainyard.components.config.eks import (
    AddonPolicy,
    EksStackConfig,
    NodeGroup,
    SystemNodeGroup,
    Taint,
)
from trainyard.components.config.problems import Review
from trainyard.components.config.reservations import CapacityBlock, Reservation
from trainyard.components.eks.addons.node_selection import INSTANCE_TYPE_LABEL
from trainyard.components.eks.label_plan import EFA_LABEL, PREFIX, plan_startup_taints
from trainyard.components.network.pool_place import PlanContext, PoolPlace

# Maximum pods per node.
#
# Sources:
#     https://github.com/awslabs/amazon-eks-ami/blob/main/nodeadm/internal/kubelet/eni_max_pods.go
#     (interfaces of the default network card * (IPv4 addresses each - 1) + 2) and
#     https://docs.aws.amazon.com/eks/latest/userguide/choosing-instance-type.html (110 or 250 pods)


# Pods on the host network, such as kube-proxy and VPC CNI, need no address of their own.
_PODS_WITHOUT_ADDRESS = 2
_MANY_VCPUS = 30
_MOST_PODS = 250
_MOST_PODS_OF_SMALL_TYPES = 110


def plan_maximum_pods(instance_type: InstanceType, interfaces: InterfacePlan | None) -> int | None:
    """Return the maximum number of pods on a node with EFA interfaces; None without EFA.

    VPC CNI uses only interfaces of card 0 for pods, and an `efa-only` interface there takes a slot
    without an address. The table in the AMI ignores this: it would allow 100 pods on a p5.48xlarge,
    49 of which would never get an address.
    """
    if interfaces is None:
        return None
    with_addresses = _interfaces_for_pods(instance_type, interfaces)
    fitting = with_addresses * (instance_type.ipv4_addresses_per_interface - 1)
    limit = _MOST_PODS if instance_type.vcpus > _MANY_VCPUS else _MOST_PODS_OF_SMALL_TYPES
    return min(fitting + _PODS_WITHOUT_ADDRESS, limit)


def pods_of_addresses(instance_type: InstanceType) -> int:
    """Return the maximum number of pods on a node without EFA, from the table in the AMI."""
    interfaces = instance_type.network_cards[0].maximum_interfaces
    return interfaces * (instance_type.ipv4_addresses_per_interface - 1) + _PODS_WITHOUT_ADDRESS


def _interfaces_for_pods(instance_type: InstanceType, interfaces: InterfacePlan) -> int:
    """Return the number of card 0 slots for interfaces with addresses, used or free."""
    efa_only = sum(i.network_card_index == 0 and not i.takes_address for i in interfaces.interfaces)
    return instance_type.network_cards[0].maximum_interfaces - efa_only


Context = PlanContext[EksStackConfig]
BLOCK_LABEL = f"{PREFIX}/capacity-block"
"""Label of nodes in one of `further_blocks`: the id of the block."""
HOPS_TO_NODE, HOPS_TO_POD = 1, 2
"""Hop limits of the metadata service that reach processes of the node with its host network, and
pods with a network of their own. https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html"""
SYSTEM_NODE_GROUP = "system"
"""Name of the node group for cluster services."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeGroupPlan(NodePoolPlan):
    """One EKS node group, managed or self-managed."""

    config: NodeGroup
    """The node group in the stack file. Its own resource reads from it the options that need no
    plan."""
    management: Literal["managed", "self-managed"]
    schedule: SchedulePlan
    root_volume: RootVolumePlan
    local_nvme: Literal["raid0", "none"]
    labels: dict[str, str]
    taints: tuple[Taint, ...]
    startup_taints: tuple[Taint, ...] = ()
    """Taints with which nodes register, and that something removes later."""
    maximum_pods: int | None
    """Kubelet setting; None uses the table in the AMI."""
    ami_type: str
    """EKS AMI type, such as `AL2023_x86_64_NVIDIA`."""
    ami_ssm_parameter: str
    """Versioned SSM parameter of the AMI id; for self-managed groups."""
    ami_release_version: str
    """Release version of the AMI, such as `1.35.6-20261112`; for managed groups."""
    iam_policies: tuple[str, ...]
    """Names of AWS managed policies of the node role, in addition to those that every node
    needs."""
    metadata_hop_limit: int
    """Hops that answers of the instance metadata service travel."""
    addon_policies: tuple[AddonPolicy, ...] = ()
    """Permissions of pods that use the node role."""
    update: UpdatePlan = ONE_BY_ONE
    """For managed groups."""

    @property
    @override
    def key(self) -> str:
        """Key in the stack file."""
        if self.name == SYSTEM_NODE_GROUP:
            return "architecture.system_node_group"
        return f"architecture.node_groups.{self.pool}"

    @property
    def first_taints(self) -> tuple[Taint, ...]:
        """All taints of a new node."""
        return (*self.taints, *self.startup_taints)

    @property
    def node_selector(self) -> dict[str, str]:
        """Labels that select its nodes."""
        return {INSTANCE_TYPE_LABEL: self.instance_type.name, **self.labels}

    @property
    @override
    def image(self) -> ImageSource:
        """The EKS-optimized AMI."""
        return ImageSource(parameter=self.ami_ssm_parameter)

    @property
    @override
    def nodes(self) -> int:
        """Desired size, now or when the Capacity Block starts."""
        return max(self.schedule.desired, self.schedule.scale_up_desired)

    @property
    @override
    def most_nodes(self) -> int:
        """The same: jobs do not change the size."""
        return self.nodes


def version_of(config: EksStackConfig) -> EksVersion:
    """Return the Kubernetes version of a stack.

    A version that is not pinned is refused separately. The plan continues with the default, to
    report further problems.
    """
    wanted = config.architecture.kubernetes_version
    return EKS_VERSIONS.get(wanted, EKS_VERSIONS[DEFAULT_KUBERNETES_VERSION])


def plan_system_node_group(context: Context) -> NodeGroupPlan | None:
    """Return the plan of the system node group, or None if its instance type is unknown.

    The group is managed, uses On-Demand Instances and spans every private subnet: cluster services
    must not depend on the capacity for workloads.
    """
    group: SystemNodeGroup = context.config.architecture.system_node_group
    instance_type = INSTANCE_TYPES.get(group.instance_type)
    if instance_type is None:
        return None
    variant, version = ami_variant(instance_type), version_of(context.config)
    return NodeGroupPlan(
        name=SYSTEM_NODE_GROUP,
        config=NodeGroup.model_construct(**dict(group)),
        management="managed",
        instance_type=instance_type,
        capacity=plan_on_demand(),
        placement=PlacementPlan(group="none", reason="cluster services run in every zone"),
        schedule=plan_schedule(group, None, context.now, instance_type=group.instance_type),
        interfaces=None,
        subnets=context.network.private_names,
        root_volume=plan_root_volume(group.root_volume),
        local_nvme="none",
        labels=dict(group.labels),
        taints=(),
        maximum_pods=None,
        ami_type=ami_type(variant, instance_type.architecture),
        ami_ssm_parameter=version.ami_ssm_parameter(variant, instance_type.architecture),
        ami_release_version=version.ami_release_version,
        iam_policies=group.iam_policies,
        addon_policies=group.addon_policies,
        metadata_hop_limit=plan_metadata_hop_limit(group, context.config),
    )


def plan_node_group(
    name: str, group: NodeGroup, context: Context, review: Review
) -> NodeGroupPlan | None:
    """Return the plan of a node group, or None if problems make a plan impossible.

    This function records only a placement that contradicts the capacity.
    `trainyard.components.eks.node_group_review` records all other problems.
    """
    config = context.config
    instance_type = INSTANCE_TYPES.get(group.instance_type)
    options = {*OPEN_PURCHASE_OPTIONS, *config.reservations}
    if instance_type is None or group.purchase_option not in options:
        return None
    reservation = config.reservations.get(group.purchase_option)
    place = context.place(f"architecture.node_groups.{name}")
    placement = reviewed_placement(
        place.key, group, instance_type, reservation, review, one_zone=place.one_zone
    )
    if placement is None:
        return None
    interfaces = plan_pool_interfaces(group, instance_type)
    variant, version = ami_variant(instance_type), version_of(context.config)
    return NodeGroupPlan(
        name=name,
        config=group,
        management=group.management,
        instance_type=instance_type,
        capacity=context.capacity(group.purchase_option, place),
        placement=placement,
        schedule=_schedule(group, reservation, context.now),
        interfaces=interfaces,
        subnets=place.subnets,
        root_volume=plan_root_volume(group.root_volume),
        local_nvme=group.local_nvme if instance_type.local_nvme_disks else "none",
        labels={**group.labels, **_block_label(name, group, reservation)},
        taints=group.taints,
        startup_taints=plan_startup_taints(config, instance_type),
        maximum_pods=plan_maximum_pods(instance_type, interfaces),
        ami_type=ami_type(variant, instance_type.architecture),
        ami_ssm_parameter=version.ami_ssm_parameter(variant, instance_type.architecture),
        ami_release_version=version.ami_release_version,
        iam_policies=group.iam_policies,
        addon_policies=group.addon_policies,
        metadata_hop_limit=plan_metadata_hop_limit(group, config),
        update=_update(group, context, place),
        ssh_key_name=group.ssh_key_name,
    )


def plan_metadata_hop_limit(group: NodeGroup | SystemNodeGroup, config: EksStackConfig) -> int:
    """Return the hop limit of a node group: pods reach the metadata service only if they need it.

    They need it for permissions of the node role that are not those of a node, and for the agent of
    the CloudWatch Observability add-on: without instance id and type it sends no metrics, and its
    policy does not allow `ec2:DescribeInstances`. No other pod that the stack creates needs it: the
    VPC CNI, the Pod Identity agent, the node monitoring agent, the EFA device plugin, and the node
    termination handler are on the host network, and the CSI drivers read the node's labels instead.

    Sources:
        https://docs.aws.amazon.com/eks/latest/best-practices/identity-and-access-management.html:
            restrict access to the instance profile
        https://github.com/aws/amazon-cloudwatch-agent/issues/249 and
            https://github.com/aws/amazon-cloudwatch-agent/issues/1101: the agent
        https://docs.aws.amazon.com/aws-managed-policy/latest/reference/CloudWatchAgentServerPolicy.html
        https://github.com/kubernetes-sigs/aws-ebs-csi-driver, `DefaultMetadataSources`, and
            https://github.com/kubernetes-sigs/aws-fsx-csi-driver, `NewMetadataService`
        https://github.com/aws/eks-node-monitoring-agent, `templates/daemonset.yaml`
    """
    if group.metadata_hop_limit is not None:
        return group.metadata_hop_limit
    pods_use_role = bool(group.addon_policies or group.iam_policies)
    return HOPS_TO_POD if pods_use_role or config.uses_cloudwatch_observability else HOPS_TO_NODE


def _block_label(name: str, group: NodeGroup, reservation: Reservation | None) -> Mapping[str, str]:
    """Return the label of nodes in one of `further_blocks`.

    The nodes of the first block have none, so that they stay as they are when blocks are added.
    """
    if isinstance(reservation, CapacityBlock) and group.pool_named(name) != name:
        return {BLOCK_LABEL: reservation.reservation_id}
    return {}


def labeled_without_efa(groups: Iterable[NodeGroupPlan]) -> list[NodeGroupPlan]:
    """Return the groups, with a label on those without EFA whose type another group has with EFA.

    The device plugin and the exporter of EFA stay off nodes with the label. Other groups have none,
    so that their nodes stay as they are.
    """
    planned = list(groups)
    with_efa = {group.instance_type.name for group in planned if group.interfaces is not None}
    return [
        replace(group, labels={EFA_LABEL: "false", **group.labels})
        if group.interfaces is None and group.instance_type.name in with_efa
        else group
        for group in planned
    ]


def ami_variant(instance_type: InstanceType) -> AmiVariant:
    """Return the EKS-optimized AMI variant with the drivers for a type's accelerators."""
    return instance_type.accelerators.manufacturer if instance_type.accelerators else "standard"


def _schedule(group: NodeGroup, reservation: Reservation | None, now: datetime) -> SchedulePlan:
    return plan_schedule(
        group,
        reservation if isinstance(reservation, CapacityBlock) else None,
        now,
        instance_type=group.instance_type,
        managed=group.management == "managed",
    )


def _update(group: NodeGroup, context: Context, place: PoolPlace) -> UpdatePlan:
    config = context.config
    sharing = (
        other
        for other in config.architecture.node_groups.values()
        if other.purchase_option == group.purchase_option
    )
    return plan_update(
        config.reservations.get(group.purchase_option),
        nodes_at_most=sum(other.maximum for other in sharing),
        zones=1 if place.one_zone else len(place.subnets),
        training=group.is_training,
    )


# User data for nodes with the EKS-optimized AL2023 AMI, which `nodeadm` reads at boot.
#
# Sources:
#     https://awslabs.github.io/amazon-eks-ami/nodeadm/doc/api/ (`node.eks.aws/v1alpha1`)
#     https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html#launch-template-user-data


_BOUNDARY = "trainyard-node"


def render_self_managed_user_data(
    plan: NodeGroupPlan,
    *,
    cluster_name: str,
    endpoint: str,
    certificate_authority: str,
    service_cidr: str,
) -> str:
    """Return the user data of a self-managed node, as plain text.

    It contains the cluster (`certificate_authority` is base64, as EKS returns it) and the labels
    and taints with which the kubelet registers the node.
    """
    kubelet = _kubelet(plan)
    flags = [*_label_flag(plan.labels), *_taint_flag(plan.first_taints)]
    if flags:
        kubelet["flags"] = flags
    cluster = {
        "name": cluster_name,
        "apiServerEndpoint": endpoint,
        "certificateAuthority": certificate_authority,
        "cidr": service_cidr,
    }
    return _multipart({"cluster": cluster, **_spec(plan, kubelet)})


def render_managed_user_data(plan: NodeGroupPlan) -> str:
    """Return the user data of a node in a managed node group, as plain text.

    EKS adds a document with the cluster and labels, and `nodeadm` merges both. EKS sets the taints
    of the group itself when a node has joined.
    """
    kubelet = _kubelet(plan)
    if plan.startup_taints:
        taints = [taint.model_dump() for taint in plan.startup_taints]
        kubelet["config"] = {**kubelet.get("config", {}), "registerWithTaints": taints}
    return _multipart(_spec(plan, kubelet))


def _spec(plan: NodeGroupPlan, kubelet: Mapping[str, Any]) -> dict[str, Any]:
    spec: dict[str, Any] = {}
    if kubelet:
        spec["kubelet"] = dict(kubelet)
    if plan.local_nvme == "raid0":
        spec["instance"] = {"localStorage": {"strategy": "RAID0"}}
    return spec


def _kubelet(plan: NodeGroupPlan) -> dict[str, Any]:
    if plan.maximum_pods is None:
        return {}
    return {"config": {"maxPods": plan.maximum_pods}}


def _label_flag(labels: Mapping[str, str]) -> list[str]:
    if not labels:
        return []
    return ["--node-labels=" + ",".join(f"{key}={value}" for key, value in labels.items())]


def _taint_flag(taints: tuple[Taint, ...]) -> list[str]:
    if not taints:
        return []
    spelled = (f"{taint.key}={taint.value}:{taint.effect}" for taint in taints)
    return ["--register-with-taints=" + ",".join(spelled)]


def _multipart(spec: Mapping[str, Any]) -> str:
    document = {"apiVersion": "node.eks.aws/v1alpha1", "kind": "NodeConfig", "spec": dict(spec)}
    # One line per value: a folded certificate is harder to compare.
    text = yaml.safe_dump(document, sort_keys=False, width=float("inf"))
    return "\n".join(
        [
            "MIME-Version: 1.0",
            f'Content-Type: multipart/mixed; boundary="{_BOUNDARY}"',
            "",
            f"--{_BOUNDARY}",
            "Content-Type: application/node.eks.aws",
            "",
            f"---\n{text}",
            f"--{_BOUNDARY}--",
            "",
        ]
    )


# Properties of a node role's access entry, and how to recognize the role by its name.
#
# Source: https://docs.aws.amazon.com/eks/latest/userguide/creating-access-entries.html


EC2_LINUX = "EC2_LINUX"
"""Entry type for nodes. EKS sets its user name and groups."""
NODE_GROUP = "system:nodes"
"""Kubernetes group that EKS assigns to this entry type."""


def role_logical_name(cluster_name: str, group: str) -> str:
    """Return the logical name of a node group's role; the physical one begins with it."""
    return f"{cluster_name}-{group}-role"


def is_node_role_of(arn: str, cluster_name: str, group: str) -> bool:
    """Return whether an ARN is that of the role that the stack creates for a node group.

    Pulumi appends a hyphen and seven hexadecimal digits to the logical name.
    """
    name = re.escape(role_logical_name(cluster_name, group))
    return re.fullmatch(rf"arn:[^:]+:iam::\d+:role/(?:.*/)?{name}-[0-9a-f]{{7}}", arn) is not None


def entry_fault(entry_type: str, groups: Collection[str]) -> str | None:
    """Return why an access entry does not let nodes join, or None if it does."""
    if entry_type != EC2_LINUX:
        return f"is of type {entry_type}, not {EC2_LINUX}"
    if NODE_GROUP not in groups:
        return f"puts its callers in {', '.join(groups) or 'no group'}, not in {NODE_GROUP}"
    return None


NVIDIA_GPU = "nvidia.com/gpu"
EFA = "vpc.amazonaws.com/efa"


def node_devices(group: NodeGroupPlan, plugins: Collection[str]) -> dict[str, int]:
    """Return the number of devices per node, by the resource name that pods request.

    `plugins` are the installed plugins, as named in the plan. Devices without a plugin are omitted.
    """
    devices: dict[str, int] = {}
    accelerators = group.instance_type.accelerators
    if accelerators and accelerators.manufacturer in plugins:
        if accelerators.manufacturer == "nvidia":
            devices[NVIDIA_GPU] = accelerators.count
        else:
            devices[NEURON_DEVICE] = accelerators.count
            devices[NEURON_CORE] = neuron_cores(accelerators.model, accelerators.count)
    if group.interfaces and "efa" in plugins:
        devices[EFA] = group.interfaces.efa_interfaces
    return devices
