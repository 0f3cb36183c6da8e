"""The EKS architecture: a control plane, a system node group and node groups for the work."""

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import override

from components.catalog.versions import DEFAULT_KUBERNETES_VERSION
from components.config.base import (
    ClientCidr,
    Form,
    InstanceTypeName,
    KmsKeyArn,
    KubernetesVersion,
    NodePoolName,
    StrictModel,
    Text,
)
from components.config.eks_addons import Addons
from components.config.node_pool import KeyName, NodePool, NodeSizes, PolicyName, RootVolume
from components.config.pools import OwnNodes, Pool, pool_of
from components.config.stack import Architecture

# https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set
_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?"
_KEY = Form(
    pattern=rf"(?:[a-z0-9](?:[a-z0-9.-]{{0,251}}[a-z0-9])?/)?{_NAME}",
    expected="a Kubernetes label key: an optional DNS name and `/`, then at most 63 characters",
    example="example.com/team",
)
_VALUE = Form(
    pattern=rf"(?:{_NAME})?",
    expected="a Kubernetes label value: at most 63 letters, digits, `-`, `_` and `.`",
    example="vision",
)
LabelKey = Annotated[str, _KEY]
LabelValue = Annotated[Text, _VALUE]
AddonPolicy = Literal["autoscaler", "cloudwatch", "ebs", "fsx"]


class Taint(StrictModel):
    """A taint: only pods that tolerate it run on the nodes."""

    key: LabelKey
    """Key, such as `nvidia.com/gpu`."""
    value: LabelValue = ""
    """Value; may be empty."""
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]
    """What becomes of pods that do not tolerate it."""


class NodeGroup(NodePool, NodeSizes):
    """An EKS node group for the work."""

    management: Literal["managed", "self-managed"] = "managed"
    """`managed`: EKS owns the Auto Scaling group. `self-managed`: the stack does. Changing it
    replaces the node group."""
    labels: dict[LabelKey, LabelValue] = Field(default_factory=dict)
    """Labels of the nodes, by key."""
    taints: tuple[Taint, ...] = ()
    """Taints of the nodes."""
    addon_policies: tuple[AddonPolicy, ...] = ()
    """What pods on the nodes may do with the nodes' own role: scale Auto Scaling groups
    (`autoscaler`), write metrics and logs (`cloudwatch`), attach EBS volumes (`ebs`), mount and
    make FSx file systems (`fsx`). A role of the pods' own (`addons`) allows less to fewer."""
    iam_policies: tuple[PolicyName, ...] = ()
    """Further AWS managed policies of the node role, by name."""
    auto_repair: bool = False
    """Whether EKS replaces nodes of a managed group that the node monitoring agent finds broken."""
    ssh_key_name: KeyName | None = None
    """Key pair for SSH; without one nodes are reached through Session Manager."""


class SystemNodeGroup(NodeSizes):
    """The managed node group for cluster services such as CoreDNS: on demand, every zone."""

    instance_type: InstanceTypeName = "c5.2xlarge"
    """EC2 instance type without accelerators."""
    minimum: Annotated[int, Field(ge=1)] = 1
    """Fewest nodes."""
    desired: Annotated[int, Field(ge=1)] = 1
    """Nodes wanted now."""
    maximum: Annotated[int, Field(ge=1)] = 2
    """Most nodes."""
    root_volume: RootVolume = RootVolume(size_gib=80)
    """The root volume."""
    labels: dict[LabelKey, LabelValue] = Field(default_factory=dict)
    """Labels of the nodes, by key."""
    addon_policies: tuple[AddonPolicy, ...] = ("autoscaler", "cloudwatch")
    """What pods on the nodes may do with the nodes' own role; as for node groups."""
    iam_policies: tuple[PolicyName, ...] = ()
    """Further AWS managed policies of the node role, by name."""


class Endpoint(StrictModel):
    """Who reaches the Kubernetes API."""

    public_access: bool = True
    """Whether the API answers on the internet."""
    private_access: bool = True
    """Whether the API answers inside the VPC; nodes then need no internet for it."""
    public_access_cidrs: Annotated[tuple[ClientCidr, ...], Field(min_length=1)] = ("0.0.0.0/0",)
    """Networks that may use the public endpoint."""


class EksArchitecture(Architecture):
    """A cluster on Amazon EKS."""

    POOL_NOUN = PLACE_NOUN = "node group"
    ACCEPTS_SHARES = False

    kind: Literal["eks"]
    """Amazon EKS."""
    kubernetes_version: KubernetesVersion = DEFAULT_KUBERNETES_VERSION
    """Kubernetes minor version of control plane and nodes, in quotes."""
    authentication_mode: Literal["CONFIG_MAP", "API_AND_CONFIG_MAP", "API"] = "API_AND_CONFIG_MAP"
    """Where EKS looks up who may enter: the `aws-auth` ConfigMap, access entries, or both. Modes
    move one way, from `CONFIG_MAP` over `API_AND_CONFIG_MAP` to `API`."""
    node_authorization: Literal["aws-auth", "access-entry"] = "aws-auth"
    """How nodes of self-managed groups are let in; EKS itself lets in managed ones."""
    endpoint: Endpoint = Endpoint.defaults()
    """From where the Kubernetes API is reached."""
    log_types: tuple[
        Literal["api", "audit", "authenticator", "controllerManager", "scheduler"], ...
    ] = ()
    """Control-plane logs that go to CloudWatch."""
    secrets_key_arn: KmsKeyArn | None = None
    """KMS key that encrypts Kubernetes secrets, besides the key of AWS's own that always does. It
    can be added to a cluster, never changed or removed."""
    addons: Addons = Addons.defaults()
    """What runs beside the work."""
    system_node_group: SystemNodeGroup = SystemNodeGroup.defaults()
    """Nodes for cluster services."""
    node_groups: dict[NodePoolName, NodeGroup]
    """Node groups for the work, by name."""

    @override
    def pools(self) -> tuple[Pool, ...]:
        """Return the node groups."""
        return tuple(
            pool_of(
                "architecture.node_groups",
                name,
                group,
                wanted=group.desired,
                wanted_key="desired",
                least=0,
                maximum=group.maximum,
            )
            for name, group in self.node_groups.items()
        )

    @override
    def own_nodes(self) -> tuple[OwnNodes, ...]:
        """Return the system nodes, which launch in every zone."""
        return (
            OwnNodes(
                key="architecture.system_node_group",
                instance_type=self.system_node_group.instance_type,
                zone_remedy="give another type, or other zones",
            ),
        )

    @override
    def key_names(self) -> frozenset[str]:
        """Return the names of the key pairs in the stack file."""
        named = (group.ssh_key_name for group in self.node_groups.values())
        return frozenset(name for name in named if name is not None)
