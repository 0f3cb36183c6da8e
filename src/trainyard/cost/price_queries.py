"""How the AWS Price List names the prices of the catalog.

Sources of the fields and usage types:
    https://docs.aws.amazon.com/aws-cost-management/latest/APIReference/API_pricing_GetProducts.html
    https://github.com/aws/karpenter-provider-aws, pkg/providers/pricing/pricing.go (instances)
    https://github.com/infracost/infracost, internal/resources/aws (other services)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One product of the Price List in a region."""

    service: str
    """Service code."""
    attributes: Mapping[str, str] = field(default_factory=dict[str, str])
    """Attributes that the product must have."""
    usage_type: str = ""
    """Usage type without the prefix of the region, such as `USW2-`; empty for any."""
    per: float = 1
    """Units of the catalog in a unit of the Price List: it has throughput in GiB/s."""


def _ebs(kind: str) -> Query:
    return Query(
        service="AmazonEC2", attributes={"productFamily": "Storage", "volumeApiName": kind}
    )


def _iops(kind: str, usage_type: str) -> Query:
    return Query(
        service="AmazonEC2",
        attributes={"productFamily": "System Operation", "volumeApiName": kind},
        usage_type=usage_type,
    )


def _lustre(usage_type: str) -> Query:
    return Query(
        service="AmazonFSx",
        attributes={"productFamily": "Storage", "fileSystemType": "Lustre"},
        usage_type=usage_type,
    )


def _open_zfs(family: str) -> Query:
    attributes = {"fileSystemType": "OpenZFS", "deploymentOption": "Single-AZ"}
    if family == "Storage":
        attributes["storageType"] = "SSD"
    return Query(service="AmazonFSx", attributes={"productFamily": family, **attributes})


def _nat(usage_type: str) -> Query:
    return Query(
        service="AmazonEC2", attributes={"productFamily": "NAT Gateway"}, usage_type=usage_type
    )


def _endpoint(usage_type: str) -> Query:
    return Query(
        service="AmazonVPC", attributes={"productFamily": "VpcEndpoint"}, usage_type=usage_type
    )


def _eks(usage_type: str) -> Query:
    return Query(
        service="AmazonEKS", attributes={"productFamily": "Compute"}, usage_type=usage_type
    )


QUERIES: Mapping[str, Query] = {
    "eks:cluster": _eks("AmazonEKS-Hours:perCluster"),
    # It is charged in addition to the cluster.
    "eks:extended-support": _eks("AmazonEKS-Hours:extendedSupport"),
    "vpc:nat-gateway": _nat("NatGateway-Hours"),
    "vpc:nat-gateway-data": _nat("NatGateway-Bytes"),
    "vpc:interface-endpoint": _endpoint("VpcEndpoint-Hours"),
    "vpc:interface-endpoint-data": _endpoint("VpcEndpoint-Bytes"),
    "vpc:public-ipv4": Query(service="AmazonVPC", usage_type="PublicIPv4:InUseAddress"),
    **{f"ebs:{kind}": _ebs(kind) for kind in ("gp2", "gp3", "io1", "io2", "st1", "sc1")},
    "ebs:standard": _ebs("standard"),
    "ebs:gp3-iops": _iops("gp3", "EBS:VolumeP-IOPS.gp3"),
    "ebs:io1-iops": _iops("io1", "EBS:VolumeP-IOPS.piops"),
    "ebs:io2-iops": _iops("io2", "EBS:VolumeP-IOPS.io2"),
    "ebs:gp3-throughput": Query(
        service="AmazonEC2",
        attributes={"productFamily": "Provisioned Throughput", "volumeApiName": "gp3"},
        usage_type="EBS:VolumeP-Throughput.gp3",
        per=1024,
    ),
    "fsx-lustre:SCRATCH_2": _lustre("Storage"),
    **{f"fsx-lustre:PERSISTENT_1:{n}": _lustre(f"Storage.SSD.{n}") for n in (50, 100, 200)},
    **{f"fsx-lustre:PERSISTENT_2:{n}": _lustre(f"Storage.SSD.{n}") for n in (125, 250, 500, 1000)},
    "fsx-openzfs:SINGLE_AZ_1": _open_zfs("Storage"),
    "fsx-openzfs:SINGLE_AZ_1:throughput": _open_zfs("Provisioned Throughput"),
    "efs:storage": Query(
        service="AmazonEFS",
        attributes={"productFamily": "Storage"},
        usage_type="TimedStorage-ByteHrs",
    ),
    "efs:provisioned-throughput": Query(
        service="AmazonEFS",
        attributes={"productFamily": "Provisioned Throughput"},
        usage_type="ProvisionedTP-MiBpsHrs",
    ),
    "cloudwatch:logs": Query(
        service="AmazonCloudWatch",
        attributes={"productFamily": "Data Payload"},
        usage_type="DataProcessing-Bytes",
    ),
    "cloudwatch:alarm": Query(
        service="AmazonCloudWatch",
        attributes={"productFamily": "Alarm", "alarmType": "Standard"},
        usage_type="CW:AlarmMonitorUsage",
    ),
    "ecr:storage": Query(
        service="AmazonECR",
        attributes={"productFamily": "EC2 Container Registry"},
        usage_type="TimedStorage-ByteHrs",
    ),
}
"""By key of the catalog, except instances. A dashboard has one price worldwide, and no region."""


def query_of(key: str) -> Query | None:
    """Return the query for a key of the catalog; None if the Price List is not asked for it."""
    service, _, name = key.partition(":")
    if service != "ec2":
        return QUERIES.get(key)
    return Query(
        service="AmazonEC2",
        attributes={
            "productFamily": "Compute Instance (bare metal)"
            if ".metal" in name
            else "Compute Instance",
            "tenancy": "Dedicated" if ".metal" in name else "Shared",
            "instanceType": name,
            "operatingSystem": "Linux",
            "preInstalledSw": "NA",
            "capacitystatus": "Used",
            "marketoption": "OnDemand",
        },
    )
