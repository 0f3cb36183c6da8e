"""Add-ons, drivers and device plugins of an EKS cluster."""

from typing import Annotated, Literal

from pydantic import Field

from trainyard.components.config.base import Form, StrictModel
from trainyard.components.config.monitoring import GroupRetentionDays

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
    log_retention_days: GroupRetentionDays = 30
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
