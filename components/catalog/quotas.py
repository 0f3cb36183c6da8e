"""Quotas of what a stack makes: codes in Service Quotas and AWS defaults; vCPUs of EC2.

Read in November 2026. Names, defaults and whether a quota can be raised:

- VPC: https://docs.aws.amazon.com/general/latest/gr/vpc-service.html
- Elastic IP addresses: https://docs.aws.amazon.com/general/latest/gr/ec2-service.html
- Launch templates:
  https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/launch-template-restrictions.html
- Placement groups:
  https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/limitations-placement-groups.html
- EBS: https://docs.aws.amazon.com/general/latest/gr/ebs-service.html
- Auto Scaling: https://docs.aws.amazon.com/general/latest/gr/as.html
- EKS: https://docs.aws.amazon.com/general/latest/gr/eks.html
- Batch, none of which can be raised:
  https://docs.aws.amazon.com/batch/latest/userguide/service_limits.html
- FSx: https://docs.aws.amazon.com/general/latest/gr/fsxn.html; for OpenZFS also
  https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/limits.html
- EFS: https://docs.aws.amazon.com/general/latest/gr/elasticfilesystem.html
- IAM: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html

Codes: `aws service-quotas list-aws-default-service-quotas --service-code SERVICE`. Those of the VPC
are also in the recorded answers of moto, those of IAM, EKS and EC2 in
https://docs.aws.amazon.com/eks/latest/best-practices/known_limits_and_service_quotas.html.

Families and units of the vCPU quotas, by instance family and market type:
https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-on-demand-instances.html#ec2-on-demand-instances-limits
and https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/using-spot-limits.html, whose links to the
Service Quotas console contain the codes; names and codes of all quotas are also in
https://docs.aws.amazon.com/general/latest/gr/ec2-service.html#limits_ec2. A reservation counts from
its creation, used or not, so its nodes are not counted again: InstanceLimitExceeded in
https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

REGION = ""
"""Scope of a quota of the whole region or account."""
IAM_QUOTA_REGION = "us-east-1"
"""Service Quotas has the quotas of IAM, which is global, in this region only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """One quota."""

    service: str
    """Code of the service in Service Quotas."""
    code: str
    """Empty for a quota that Service Quotas does not have."""
    title: str
    """Name in Service Quotas."""
    noun: str
    """What it counts, for messages: `VPCs`."""
    default: int
    adjustable: bool = True
    call: str | None
    """AWS call that counts what is in use. None for a quota of an object that the stack makes,
    such as endpoints of its VPC."""
    error: str | None = None
    """Error code of AWS for what exceeds the quota; None if AWS documents none."""
    at_least: str | None = None
    """Name of a quota that this one follows when it is raised."""
    refused: bool = True
    """Whether exceeding it stops `up`. If not, the count is an estimate, and a warning."""

    def increase_command(self, value: float, region: str) -> str:
        """Return the command that requests a higher value."""
        where = IAM_QUOTA_REGION if self.service == "iam" else region
        return (
            f"aws service-quotas request-service-quota-increase --service-code {self.service} "
            f"--quota-code {self.code} --desired-value {value:g} --region {where}"
        )


def _fsx(code: str, title: str, noun: str, default: int) -> Quota:
    return Quota(
        service="fsx",
        code=code,
        title=title,
        noun=noun,
        default=default,
        call="fsx:DescribeFileSystems",
        error="ServiceLimitExceeded",
    )


def _lustre(kind: str, files: str, capacity: str) -> dict[str, Quota]:
    name = kind.partition("_")[0] if kind.startswith("SCRATCH") else kind
    title = f"Lustre {name.capitalize()}"
    return {
        f"lustre-file-systems-{name}": _fsx(
            files, f"{title} file systems", f"{name} file systems", 100
        ),
        f"lustre-capacity-{name}": _fsx(
            capacity, f"{title} storage capacity", f"GiB of {name} file systems", 100_800
        ),
    }


QUOTAS: Mapping[str, Quota] = {
    "vpcs": Quota(
        service="vpc",
        code="L-F678F1CE",
        title="VPCs per Region",
        noun="VPCs",
        default=5,
        call="ec2:DescribeVpcs",
        error="VpcLimitExceeded",
    ),
    "internet-gateways": Quota(
        service="vpc",
        code="L-A4707A72",
        title="Internet gateways per Region",
        noun="internet gateways",
        default=5,
        call="ec2:DescribeInternetGateways",
        error="InternetGatewayLimitExceeded",
        # https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html#vpc-limits-gateways
        at_least="vpcs",
    ),
    "nat-gateways": Quota(
        service="vpc",
        code="L-FE5A380F",
        title="NAT gateways per Availability Zone",
        noun="NAT gateways",
        default=5,
        call="ec2:DescribeNatGateways",
        error="NatGatewayLimitExceeded",
    ),
    "elastic-ips": Quota(
        service="ec2",
        code="L-0263D0A3",
        title="EC2-VPC Elastic IPs",
        noun="Elastic IP addresses",
        default=5,
        call="ec2:DescribeAddresses",
        error="AddressLimitExceeded",
    ),
    "gateway-endpoints": Quota(
        service="vpc",
        code="L-1B52E74A",
        title="Gateway VPC endpoints per Region",
        noun="gateway endpoints",
        default=20,
        call="ec2:DescribeVpcEndpoints",
        error="VpcEndpointLimitExceeded",
    ),
    "interface-endpoints": Quota(
        service="vpc",
        code="L-29B6F2EB",
        title="Interface VPC endpoints per VPC",
        noun="interface endpoints",
        default=50,
        call=None,
        error="VpcEndpointLimitExceeded",
    ),
    "security-groups": Quota(
        service="vpc",
        code="L-E79EC296",
        title="VPC security groups per Region",
        noun="security groups",
        default=2500,
        call="ec2:DescribeSecurityGroups",
        error="SecurityGroupLimitExceeded",
    ),
    "launch-templates": Quota(
        service="ec2",
        code="L-FB451C26",
        title="Launch templates",
        noun="launch templates",
        default=5000,
        call="ec2:DescribeLaunchTemplates",
    ),
    "placement-groups": Quota(
        service="ec2",
        code="",
        title="Placement groups per Region",
        noun="placement groups",
        default=500,
        adjustable=False,
        call="ec2:DescribePlacementGroups",
    ),
    "gp3-storage": Quota(
        service="ebs",
        code="L-7A658B76",
        title="Storage for General Purpose SSD (gp3) volumes, in TiB",
        noun="TiB of gp3 volumes",
        default=50,
        call="ec2:DescribeVolumes",
        error="VolumeLimitExceeded",
        refused=False,
    ),
    "auto-scaling-groups": Quota(
        service="autoscaling",
        code="L-CDE20ADC",
        title="Auto Scaling groups per region",
        noun="Auto Scaling groups",
        default=500,
        call="autoscaling:DescribeAutoScalingGroups",
        error="LimitExceeded",
    ),
    "eks-clusters": Quota(
        service="eks",
        code="L-1194D53C",
        title="Clusters",
        noun="EKS clusters",
        default=100,
        call="eks:ListClusters",
        error="ResourceLimitExceededException",
    ),
    "managed-node-groups": Quota(
        service="eks",
        code="L-6D54EA21",
        title="Managed node groups per cluster",
        noun="managed node groups",
        default=30,
        call=None,
        error="ResourceLimitExceededException",
    ),
    "nodes-per-managed-node-group": Quota(
        service="eks",
        code="L-BD136A63",
        title="Nodes per managed node group",
        noun="nodes of one managed node group",
        default=450,
        call=None,
        error="ResourceLimitExceededException",
    ),
    "compute-environments": Quota(
        service="batch",
        code="L-144F0CA5",
        title="Compute environment limit",
        noun="compute environments",
        default=50,
        adjustable=False,
        call="batch:DescribeComputeEnvironments",
    ),
    "job-queues": Quota(
        service="batch",
        code="L-4CEA37AD",
        title="Job queue limit",
        noun="job queues",
        default=50,
        adjustable=False,
        call="batch:DescribeJobQueues",
    ),
    **_lustre("SCRATCH", "L-C48231E5", "L-AD2FC696"),
    **_lustre("PERSISTENT_1", "L-9AFA1F09", "L-C8640C82"),
    **_lustre("PERSISTENT_2", "L-FD6F2F22", "L-8F1B9C74"),
    "open-zfs-file-systems": _fsx(
        "L-59D0763F", "OpenZFS file systems", "OpenZFS file systems", 100
    ),
    "open-zfs-capacity": _fsx(
        # 262,144 in us-east-1, us-east-2 and us-west-2.
        "L-88479C21",
        "OpenZFS SSD storage capacity",
        "GiB of OpenZFS file systems",
        65_536,
    ),
    "open-zfs-throughput": _fsx(
        "L-4EDE4065", "OpenZFS throughput capacity", "MB/s of OpenZFS file systems", 10_240
    ),
    "open-zfs-iops": _fsx(
        "L-E24B4DE4", "OpenZFS disk IOPS", "IOPS of OpenZFS file systems", 400_000
    ),
    "efs-file-systems": Quota(
        service="elasticfilesystem",
        code="L-848C634D",
        title="File systems per account",
        noun="EFS file systems",
        default=1000,
        call="elasticfilesystem:DescribeFileSystems",
        error="FileSystemLimitExceeded",
    ),
    "iam-roles": Quota(
        service="iam",
        code="L-FE177D64",
        title="Roles per account",
        noun="IAM roles",
        default=1000,
        call="iam:GetAccountSummary",
        error="LimitExceeded",
        refused=False,
    ),
    "iam-instance-profiles": Quota(
        service="iam",
        code="L-6E65F259",
        title="Instance profiles per account",
        noun="instance profiles",
        default=1000,
        call="iam:GetAccountSummary",
        error="LimitExceeded",
        refused=False,
    ),
}
"""Every quota, by the name that plans and checks use."""
OPEN_ZFS_QUOTAS = tuple(name for name in QUOTAS if name.startswith("open-zfs-"))
"""File systems, GiB, MB/s and IOPS."""


def lustre_class(deployment_type: str) -> str:
    """Return the class of a deployment type in the quotas: `SCRATCH_1` and `_2` share one."""
    return "SCRATCH" if deployment_type.startswith("SCRATCH") else deployment_type


# EC2 vCPU quotas, by instance family and market type.
#
# Read in November 2026. Families and units of the quotas:
# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-on-demand-instances.html#ec2-on-demand-instances-limits
# and https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/using-spot-limits.html, whose links to the
# Service Quotas console contain the codes; names and codes of all quotas are also in
# https://docs.aws.amazon.com/general/latest/gr/ec2-service.html#limits_ec2. A reservation counts
# from its creation, used or not, so its nodes are not counted again: InstanceLimitExceeded in
# https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html


@dataclass(frozen=True, slots=True)
class VcpuQuota:
    """One EC2 quota."""

    code: str
    name: str
    """Name in Service Quotas."""


_LETTERS = re.compile(r"[a-z]+")
_G_AND_VT = VcpuQuota("L-DB2E81BA", "Running On-Demand G and VT instances")
_ON_DEMAND = {
    "p": VcpuQuota("L-417A185B", "Running On-Demand P instances"),
    "g": _G_AND_VT,
    "gr": _G_AND_VT,
    "vt": _G_AND_VT,
    "dl": VcpuQuota("L-6E869C2A", "Running On-Demand DL instances"),
    "f": VcpuQuota("L-74FC7D96", "Running On-Demand F instances"),
    "hpc": VcpuQuota("L-F7808C92", "Running On-Demand HPC instances"),
    "u": VcpuQuota("L-43DA4232", "Running On-Demand High Memory instances"),
    "x": VcpuQuota("L-7295265B", "Running On-Demand X instances"),
    "trn": VcpuQuota("L-2C3B7624", "Running On-Demand Trn instances"),
    "inf": VcpuQuota("L-1945791B", "Running On-Demand Inf instances"),
}
_STANDARD = VcpuQuota(
    "L-1216C47A", "Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances"
)
_SPOT_G_AND_VT = VcpuQuota("L-3819A6DF", "All G and VT Spot Instance Requests")
_SPOT = {
    "g": _SPOT_G_AND_VT,
    "gr": _SPOT_G_AND_VT,
    "vt": _SPOT_G_AND_VT,
    "dl": VcpuQuota("L-85EED4F7", "All DL Spot Instance Requests"),
    "f": VcpuQuota("L-88CF9481", "All F Spot Instance Requests"),
    "x": VcpuQuota("L-E3A00192", "All X Spot Instance Requests"),
    "trn": VcpuQuota("L-6B0D517C", "All Trn Spot Instance Requests"),
    "inf": VcpuQuota("L-B5D1601B", "All Inf Spot Instance Requests"),
}
_SPOT_P = {
    **dict.fromkeys(
        ("p2", "p3", "p4"), VcpuQuota("L-7212CCBC", "All P4, P3 and P2 Spot Instance Requests")
    ),
    "p5": VcpuQuota("L-C4BD4855", "All P5 Spot Instance Requests"),
}
_SPOT_STANDARD = VcpuQuota(
    "L-34B43A08", "All Standard (A, C, D, H, I, M, R, T, Z) Spot Instance Requests"
)
_STANDARD_LETTERS = frozenset(("a", "c", "d", "h", "i", "im", "is", "m", "r", "t", "z"))


def vcpu_quota(family: str, market: Literal["on-demand", "spot"]) -> VcpuQuota | None:
    """Return the quota of an instance family (`p5en`), or None if it is not documented."""
    found = _LETTERS.match(family)
    letters = found.group() if found else ""
    if market == "spot" and letters == "p":
        return _SPOT_P.get(family[:2])
    named = _ON_DEMAND if market == "on-demand" else _SPOT
    if letters in named:
        return named[letters]
    if letters in _STANDARD_LETTERS:
        return _STANDARD if market == "on-demand" else _SPOT_STANDARD
    return None
