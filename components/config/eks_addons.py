"""What runs in an EKS cluster beside the work: add-ons, drivers and plugins."""

from typing import Annotated, Literal

from pydantic import Field

from components.config.base import Form, StrictModel

AddonName = Literal[
    "vpc-cni",
    "kube-proxy",
    "coredns",
    "eks-pod-identity-agent",
    "aws-ebs-csi-driver",
    "aws-fsx-csi-driver",
    "eks-node-monitoring-agent",
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
    """Add-ons of the cluster. The VPC CNI, kube-proxy and CoreDNS are always there."""

    versions: dict[AddonName, AddonVersion] = Field(default_factory=dict)
    """Versions other than the ones that the program pins, by add-on."""
    pod_identity_agent: bool = True
    """Whether pods can have IAM roles of their own; the drivers below get theirs through it."""
    ebs_csi_driver: bool = False
    """Whether pods can have EBS volumes."""
    fsx_csi_driver: bool = False
    """Whether pods can mount FSx for Lustre; on wherever `storage` holds such a file system."""
    node_monitoring_agent: bool = False
    """Whether faults of nodes (GPU, network, kernel) become conditions of the node. Node groups
    with `auto_repair` need it."""
    node_termination_handler: bool = True
    """Whether nodes of self-managed groups are drained before EC2 takes them: spot interruptions,
    scheduled events, the end of a Capacity Block. EKS itself drains managed groups."""
    neuron_scheduler: bool = True
    """Whether, where there are Neuron devices, pods that name the scheduler `my-scheduler` get
    devices that are wired to one another. Pods that take whole nodes do not need it."""
    efa_device_plugin: bool = True
    """Whether the EFA device plugin makes `vpc.amazonaws.com/efa` a resource that pods ask for."""
    efa_dra_driver: bool = False
    """Whether EFA is handed out by a driver for Dynamic Resource Allocation that you install; the
    two cannot serve one node, so `efa_device_plugin` must then be false."""
