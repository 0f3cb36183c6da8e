"""The EKS architecture: a control plane, a system node group and node groups for workloads."""

from typing import Annotated, Literal, Self

from pydantic import Field
from typing_extensions import override

from trainyard.components.catalog.versions import DEFAULT_KUBERNETES_VERSION
from trainyard.components.config.base import (
    ClientCidr,
    EffectiveWith,
    Form,
    InstanceTypeName,
    KmsKeyArn,
    KubernetesVersion,
    NodePoolName,
    StrictModel,
    Switch,
    Text,
)
from trainyard.components.config.monitoring import GroupRetentionDays
from trainyard.components.config.node_pool import (
    BlockPools,
    KeyName,
    NodePool,
    NodeSizes,
    OwnNodes,
    PolicyName,
    Pool,
    RootVolume,
    pool_of,
)
from trainyard.components.config.stack import Architecture, PlacedStackConfig, StackConfig

AddonName = Literal[
    "vpc-cni",
    "kube-proxy",
    "coredns",
    "eks-pod-identity-agent",
    "aws-ebs-csi-driver",
    "aws-fsx-csi-driver",
    "eks-node-monitoring-agent",
    "amazon-cloudwatch-observability",
]
AddonVersion = Annotated[
    str,
    Form(
        pattern=r"v\d+\.\d+\.\d+-eksbuild\.\d+",
        expected="the version of an EKS add-on",
        example="v1.22.4-eksbuild.3",
        where=(
            "a version that `aws eks describe-addon-versions --addon-name NAME` lists, or remove "
            "the key, which leaves the version that the program pins"
        ),
    ),
]


class Addons(StrictModel):
    """Add-ons of the cluster. The VPC CNI, kube-proxy and CoreDNS are always installed."""

    versions: dict[AddonName, AddonVersion] = Field(default_factory=dict)
    """Versions that override the versions pinned by the program, by add-on."""
    pod_identity_agent: bool = True
    """Whether to install the EKS Pod Identity Agent, which gives pods their own IAM roles. The
    drivers below get their roles through it."""
    ebs_csi_driver: bool = False
    """Whether to install the EBS CSI driver, with which pods mount EBS volumes."""
    fsx_csi_driver: bool = False
    """Whether to install the FSx for Lustre CSI driver. Always installed if `storage` has such a
    file system."""
    node_monitoring_agent: bool = False
    """Whether to install the node monitoring agent, which reports GPU, network and kernel faults as
    node conditions. Node groups with `auto_repair` need it."""
    cloudwatch_observability: bool = False
    """Whether to install the CloudWatch Observability add-on, which sends metrics of nodes, GPUs,
    Neuron devices and EFA, and the logs of nodes and pods, to CloudWatch. AWS charges for both. Its
    agent needs instance metadata: `metadata_hop_limit` of nodes becomes 2."""
    log_retention_days: Annotated[
        GroupRetentionDays,
        EffectiveWith(
            (
                Switch("cloudwatch_observability"),
                Switch("/monitoring.node_metrics", ("cloudwatch",)),
            ),
            why="the add-on whose logs it keeps is not installed",
        ),
    ] = 30
    """Days to keep the logs of `cloudwatch_observability`. 0 keeps them forever. `destroy` deletes
    them."""
    node_termination_handler: bool = True
    """Whether to drain nodes of self-managed node groups before EC2 stops or terminates them: Spot
    interruptions, scheduled events, the end of a Capacity Block. EKS drains nodes of managed node
    groups itself."""
    kueue: bool = False
    """Whether to install Kueue, a queue for jobs. It starts a job when all of its nodes are free.
    The quota is what the planned nodes with accelerators offer. `run` and `job` submit to the
    queue."""
    jobset: bool = False
    """Whether to install JobSet, which restarts all pods of a job together when one of them fails.
    `run` submits JobSets then, except for jobs with `minimum_nodes`."""
    neuron_scheduler: bool = True
    """Whether to install the Neuron scheduler if the cluster has Neuron devices. It allocates
    directly connected devices to pods with `schedulerName: my-scheduler`. Pods that use whole nodes
    do not need it."""
    efa_device_plugin: bool = True
    """Whether to install the EFA device plugin, which lets pods request the resource
    `vpc.amazonaws.com/efa`."""
    efa_dra_driver: bool = False
    """Whether a driver for Dynamic Resource Allocation, which you install, allocates EFA devices.
    The driver and the device plugin cannot run on the same node: set `efa_device_plugin` to false.
    """


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
# https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_LaunchTemplateInstanceMetadataOptionsRequest.html
MetadataHopLimit = Annotated[int, Field(ge=1, le=64)]


class Taint(StrictModel):
    """A Kubernetes taint: only pods that tolerate it are scheduled on the nodes."""

    key: LabelKey
    """Key, such as `nvidia.com/gpu`."""
    value: LabelValue = ""
    """Value. Can be empty."""
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]
    """Effect on pods that do not tolerate the taint."""


class NodeGroup(NodePool, NodeSizes):
    """An EKS node group for workloads."""

    management: Literal["managed", "self-managed"] = "managed"
    """Who owns the Auto Scaling group: EKS (`managed`) or the stack (`self-managed`). Changing it
    replaces the node group."""
    labels: dict[LabelKey, LabelValue] = Field(default_factory=dict)
    """Labels of the nodes, by key."""
    taints: tuple[Taint, ...] = ()
    """Taints of the nodes."""
    addon_policies: tuple[AddonPolicy, ...] = ()
    """Permissions of the node role, which all pods on the nodes can use: scale Auto Scaling groups
    (`autoscaler`), write metrics and logs (`cloudwatch`), attach EBS volumes (`ebs`), mount and
    create FSx file systems (`fsx`). Drivers and agents of `addons` need none of them, because they
    have IAM roles of their own."""
    iam_policies: tuple[PolicyName, ...] = ()
    """Names of AWS managed policies to attach to the node role in addition to the required ones."""
    metadata_hop_limit: MetadataHopLimit | None = None
    """Hops to the instance metadata service, which gives out the credentials of the node role. With
    1, pods that are not on the host network do not reach it; with 2, all pods do. If omitted, 2 for
    nodes with `addon_policies` or `iam_policies` and in a cluster with the CloudWatch Observability
    add-on, and 1 for all others."""
    auto_repair: bool = False
    """Whether EKS replaces unhealthy nodes of a managed node group. Requires the add-on
    `node_monitoring_agent`. `./trainyard repair` replaces those of any group."""
    maximum_parallel_repairs: Annotated[int, Field(ge=1)] = 1
    """How many nodes `auto_repair` and `./trainyard repair` replace at the same time."""
    ssh_key_name: KeyName | None = None
    """EC2 key pair for SSH. If omitted, use Session Manager to connect to nodes."""


class SystemNodeGroup(NodeSizes):
    """The managed node group for services such as CoreDNS: On-Demand nodes in every zone."""

    instance_type: InstanceTypeName = "c5.2xlarge"
    """EC2 instance type without accelerators."""
    minimum: Annotated[int, Field(ge=1)] = 1
    """Minimum number of nodes."""
    desired: Annotated[int, Field(ge=1)] = 1
    """Desired number of nodes."""
    maximum: Annotated[int, Field(ge=1)] = 2
    """Maximum number of nodes."""
    root_volume: RootVolume = RootVolume(size_gib=80)
    """The root volume."""
    labels: dict[LabelKey, LabelValue] = Field(default_factory=dict)
    """Labels of the nodes, by key."""
    addon_policies: tuple[AddonPolicy, ...] = ("autoscaler",)
    """Permissions of the node role, with the same values as for node groups. The Cluster
    Autoscaler, which you install, runs on these nodes."""
    iam_policies: tuple[PolicyName, ...] = ()
    """Names of AWS managed policies to attach to the node role in addition to the required ones."""
    metadata_hop_limit: MetadataHopLimit | None = None
    """Hops to the instance metadata service, as for node groups."""


MAXIMUM_PUBLIC_NETWORKS = 40
"""https://docs.aws.amazon.com/eks/latest/userguide/service-quotas.html, "Public endpoint access
CIDR ranges per cluster", which is not adjustable."""


class Endpoint(StrictModel):
    """Endpoints of the Kubernetes API server."""

    public_access: bool = True
    """Whether the API server has a public endpoint."""
    private_access: bool = True
    """Whether the API server has a private endpoint in the VPC. Nodes then need no internet access
    to reach it."""
    public_access_cidrs: Annotated[
        tuple[ClientCidr, ...],
        Field(min_length=1, max_length=MAXIMUM_PUBLIC_NETWORKS),
        EffectiveWith((Switch("public_access"),), why="there is no public endpoint"),
    ] = ("0.0.0.0/0",)
    """CIDR blocks that can access the public endpoint."""


class EksArchitecture(Architecture):
    """A cluster on Amazon EKS."""

    POOL_NOUN = PLACE_NOUN = "node group"
    ACCEPTS_SHARES = False
    BLOCK_STARTS = "the nodes launch and join the cluster"
    BLOCK_DRAINS = "the nodes are drained and scaled in"
    CAN_REQUIRE_VERIFICATION = True

    kind: Literal["eks"]
    """Amazon EKS."""
    kubernetes_version: KubernetesVersion = DEFAULT_KUBERNETES_VERSION
    """Kubernetes minor version of the control plane and the nodes, in quotes."""
    authentication_mode: Literal["CONFIG_MAP", "API_AND_CONFIG_MAP", "API"] = "API_AND_CONFIG_MAP"
    """Source of the IAM principals that can access the cluster: the `aws-auth` ConfigMap, access
    entries, or both. You can only change it from `CONFIG_MAP` to `API_AND_CONFIG_MAP`, and from
    there to `API`."""
    node_authorization: Literal["aws-auth", "access-entry"] = "aws-auth"
    """How nodes of self-managed node groups are authorized to join the cluster. EKS authorizes
    nodes of managed node groups itself."""
    endpoint: Endpoint = Endpoint.defaults()
    """Endpoints of the Kubernetes API server."""
    log_types: tuple[
        Literal["api", "audit", "authenticator", "controllerManager", "scheduler"], ...
    ] = ()
    """Types of control plane logs to send to CloudWatch Logs. `destroy`, and the removal of the
    last type, delete the log group with its logs."""
    log_retention_days: Annotated[
        GroupRetentionDays | None,
        EffectiveWith((Switch("log_types"),), why="the control plane sends no logs"),
    ] = None
    """Days to keep the logs of `log_types`. 0 keeps them forever. If omitted, 90 for a new log
    group; one that exists already keeps all logs that it has."""
    secrets_key_arn: KmsKeyArn | None = None
    """KMS key that encrypts Kubernetes secrets, in addition to the AWS owned key that EKS always
    uses. You can add it to an existing cluster, but you cannot change or remove it."""
    addons: Addons = Addons.defaults()
    """Add-ons, drivers and device plugins of the cluster."""
    system_node_group: SystemNodeGroup = SystemNodeGroup.defaults()
    """Nodes for cluster services."""
    node_groups: dict[NodePoolName, NodeGroup]
    """Node groups for workloads, by name."""

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
                at_once=group.desired,
                at_once_keys=("minimum", "desired"),
            )
            for name, group in self.node_groups.items()
        )

    @override
    def in_every_block(self, blocks: BlockPools) -> Self:
        """Return the architecture with a node group for each of `further_blocks`."""
        groups = blocks.expand("architecture.node_groups", self.node_groups, NodePoolName)
        return self.model_copy(update={"node_groups": groups})

    @override
    def own_nodes(self) -> tuple[OwnNodes, ...]:
        """Return the nodes of the system node group, which launch in every zone."""
        return (
            OwnNodes(
                key="architecture.system_node_group",
                instance_type=self.system_node_group.instance_type,
                zone_remedy="use another instance type, or other zones",
            ),
        )

    @override
    def key_names(self) -> frozenset[str]:
        """Return the names of the key pairs in the stack file."""
        named = (group.ssh_key_name for group in self.node_groups.values())
        return frozenset(name for name in named if name is not None)


class GivenEksStack(StackConfig):
    """A stack file whose architecture is EKS."""

    architecture: EksArchitecture  # pyright: ignore[reportIncompatibleVariableOverride] - frozen
    """What runs in the network."""


class EksStackConfig(PlacedStackConfig):
    """A stack whose architecture is EKS."""

    architecture: EksArchitecture  # pyright: ignore[reportIncompatibleVariableOverride] - frozen
    """What runs in the network."""

    @property
    def uses_cloudwatch_observability(self) -> bool:
        """Whether the stack has the CloudWatch Observability add-on."""
        return (
            self.architecture.addons.cloudwatch_observability or self.node_metrics == "cloudwatch"
        )
