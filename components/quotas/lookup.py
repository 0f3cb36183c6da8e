"""Read quotas, and what others use of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from botocore import xform_name

from trainyard.components.account.reader import AccountReader, AccountUnreachableError, Reading
from trainyard.components.catalog.quotas import (
    OPEN_ZFS_QUOTAS,
    QUOTAS,
    REGION,
    VcpuQuota,
    lustre_class,
    vcpu_quota,
)
from trainyard.components.tagging import CLUSTER_TAG, EKS_CLUSTER_TAG, PARALLELCLUSTER_TAG, tag_map

if TYPE_CHECKING:
    from trainyard.components.config.load import AnyStackConfig


# Count what counts towards quotas in an account, without what the stack itself has made.
#
# The stack's own objects have its tag, or one that EKS or ParallelCluster sets on what they make
# for its cluster. They are left out, so that an update of a stack that exists counts nothing twice.
#
# Sources of the tags:
#     https://docs.aws.amazon.com/eks/latest/userguide/eks-using-tags.html
#     https://docs.aws.amazon.com/parallelcluster/latest/ug/working-with-tags-v3.html


CLUSTER_TAGS = (
    CLUSTER_TAG,
    EKS_CLUSTER_TAG,
    f"aws:{EKS_CLUSTER_TAG}",
    PARALLELCLUSTER_TAG,
)
"""Keys of tags with the name of a stack's cluster. EKS and ParallelCluster add the last three."""

Use = Mapping[str, Mapping[str, float]]
"""Counts by quota and scope."""
_Objects = list[Mapping[str, Any]]


def use_of_others(reader: AccountReader, call: str, name: str) -> Use:
    """Return what others than the stack `name` use of the quotas of a call; empty if denied."""
    service, _, operation = call.partition(":")
    try:
        objects = _all(reader, service, operation)
        return {} if objects is None else _COUNTED[call](reader, objects, name)
    except (AccountUnreachableError, LookupError, TypeError) as error:
        # An answer of another shape; the check of the quota is skipped.
        reader.unreadable.append(f"{call}: {error}")
        return {}


def _all(reader: AccountReader, service: str, operation: str) -> _Objects | None:
    boto_name, key = _LISTS[f"{service}:{operation}"]
    client = reader.client(boto_name)
    method = xform_name(operation)
    call = f"{service}:{operation}"
    if client.can_paginate(method):
        pages = client.get_paginator(method).paginate(**_FILTERS.get(call, {}))
        answer = reader.ask_or_none(call, pages.build_full_result)
    else:
        answer = reader.ask_or_none(call, getattr(client, method))
    return None if answer is None else answer.get(key) or []


def is_own(tags: Mapping[str, str], name: str) -> bool:
    """Return whether tags are those of an object of the stack."""
    return any(tags.get(key) == name for key in CLUSTER_TAGS)


def _others(reader: AccountReader, objects: _Objects, name: str) -> _Objects:
    """Return what counts: objects of the account, and not those shared with it or of the stack."""
    account = reader.account_id() if any("OwnerId" in each for each in objects) else ""
    return [
        each
        for each in objects
        if each.get("OwnerId", account) == account
        and not is_own(tag_map(each.get("Tags") or each.get("tags")), name)
    ]


def _count(quota: str) -> Callable[[AccountReader, _Objects, str], Use]:
    def counted(reader: AccountReader, objects: _Objects, name: str) -> Use:
        return {quota: {REGION: len(_others(reader, objects, name))}}

    return counted


def _clusters(reader: AccountReader, objects: Iterable[Any], name: str) -> Use:
    del reader
    return {"eks-clusters": {REGION: sum(each != name for each in objects)}}


def _nat_gateways(reader: AccountReader, objects: _Objects, name: str) -> Use:
    """Count by zone, under its name and its id, because stack files can have either."""
    subnets = _all(reader, "ec2", "DescribeSubnets")
    if subnets is None:
        return {}
    zones = {each["SubnetId"]: each for each in subnets}
    counted: Counter[str] = Counter()
    for gateway in _others(reader, objects, name):
        zone = zones.get(gateway.get("SubnetId", ""))
        if zone is not None and gateway.get("State") in ("pending", "available", "deleting"):
            counted.update((zone["AvailabilityZone"], zone["AvailabilityZoneId"]))
    return {"nat-gateways": dict(counted)}


def _endpoints(reader: AccountReader, objects: _Objects, name: str) -> Use:
    kinds = [each.get("VpcEndpointType") for each in _others(reader, objects, name)]
    return {"gateway-endpoints": {REGION: kinds.count("Gateway")}}


def _addresses(reader: AccountReader, objects: _Objects, name: str) -> Use:
    """Count addresses of Amazon's pool, without those of ranges that the account has brought.

    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-byoip.html
    """
    pools = [each.get("PublicIpv4Pool", "amazon") for each in _others(reader, objects, name)]
    return {"elastic-ips": {REGION: pools.count("amazon")}}


def _volumes(reader: AccountReader, objects: _Objects, name: str) -> Use:
    sizes = (each["Size"] for each in _others(reader, objects, name))
    return {"gp3-storage": {REGION: sum(sizes) / 1024}}


def _file_systems(reader: AccountReader, objects: _Objects, name: str) -> Use:
    found: dict[str, dict[str, float]] = {quota: {REGION: 0} for quota in OPEN_ZFS_QUOTAS}
    for kind in ("SCRATCH", "PERSISTENT_1", "PERSISTENT_2"):
        found[f"lustre-file-systems-{kind}"] = {REGION: 0}
        found[f"lustre-capacity-{kind}"] = {REGION: 0}
    for each in _others(reader, objects, name):
        if each["FileSystemType"] == "OPENZFS":
            settings = each.get("OpenZFSConfiguration", {})
            iops = settings.get("DiskIopsConfiguration", {}).get("Iops", 0)
            sizes = (each.get("StorageCapacity", 0), settings.get("ThroughputCapacity", 0), iops)
            for quota, amount in zip(OPEN_ZFS_QUOTAS, (1, *sizes), strict=True):
                found[quota][REGION] += amount
        elif each["FileSystemType"] == "LUSTRE":
            kind = lustre_class(each.get("LustreConfiguration", {}).get("DeploymentType", ""))
            if f"lustre-file-systems-{kind}" in found:
                found[f"lustre-file-systems-{kind}"][REGION] += 1
                found[f"lustre-capacity-{kind}"][REGION] += each.get("StorageCapacity", 0)
    return found


def _iam(reader: AccountReader, objects: Any, name: str) -> Use:
    """Return the totals of the account, with what the stack has: IAM lists no tags."""
    del reader, name
    if not objects:
        return {}
    return {
        "iam-roles": {REGION: objects.get("Roles", 0)},
        "iam-instance-profiles": {REGION: objects.get("InstanceProfiles", 0)},
    }


_LISTS = {
    "ec2:DescribeVpcs": ("ec2", "Vpcs"),
    "ec2:DescribeSubnets": ("ec2", "Subnets"),
    "ec2:DescribeInternetGateways": ("ec2", "InternetGateways"),
    "ec2:DescribeNatGateways": ("ec2", "NatGateways"),
    "ec2:DescribeAddresses": ("ec2", "Addresses"),
    "ec2:DescribeVpcEndpoints": ("ec2", "VpcEndpoints"),
    "ec2:DescribeSecurityGroups": ("ec2", "SecurityGroups"),
    "ec2:DescribeLaunchTemplates": ("ec2", "LaunchTemplates"),
    "ec2:DescribePlacementGroups": ("ec2", "PlacementGroups"),
    "ec2:DescribeVolumes": ("ec2", "Volumes"),
    "autoscaling:DescribeAutoScalingGroups": ("autoscaling", "AutoScalingGroups"),
    "eks:ListClusters": ("eks", "clusters"),
    "batch:DescribeComputeEnvironments": ("batch", "computeEnvironments"),
    "batch:DescribeJobQueues": ("batch", "jobQueues"),
    "fsx:DescribeFileSystems": ("fsx", "FileSystems"),
    "elasticfilesystem:DescribeFileSystems": ("efs", "FileSystems"),
    "iam:GetAccountSummary": ("iam", "SummaryMap"),
}
"""boto3's name of the service and the key of the answer, by call."""
_FILTERS: Mapping[str, Mapping[str, Any]] = {
    "ec2:DescribeVolumes": {"Filters": [{"Name": "volume-type", "Values": ["gp3"]}]},
}
_COUNTED: Mapping[str, Callable[[AccountReader, Any, str], Use]] = {
    "ec2:DescribeVpcs": _count("vpcs"),
    "ec2:DescribeInternetGateways": _count("internet-gateways"),
    "ec2:DescribeNatGateways": _nat_gateways,
    "ec2:DescribeAddresses": _addresses,
    "ec2:DescribeVpcEndpoints": _endpoints,
    "ec2:DescribeSecurityGroups": _count("security-groups"),
    "ec2:DescribeLaunchTemplates": _count("launch-templates"),
    "ec2:DescribePlacementGroups": _count("placement-groups"),
    "ec2:DescribeVolumes": _volumes,
    "autoscaling:DescribeAutoScalingGroups": _count("auto-scaling-groups"),
    "eks:ListClusters": _clusters,
    "batch:DescribeComputeEnvironments": _count("compute-environments"),
    "batch:DescribeJobQueues": _count("job-queues"),
    "fsx:DescribeFileSystems": _file_systems,
    "elasticfilesystem:DescribeFileSystems": _count("efs-file-systems"),
    "iam:GetAccountSummary": _iam,
}
"""How the answer of each call is counted."""


# Read the quotas that a stack can exceed, and what others use of them.
#
# Sources:
#     https://docs.aws.amazon.com/servicequotas/2019-06-24/apireference/API_ListServiceQuotas.html
#     (a quota without an applied value is not listed)
#     https://docs.aws.amazon.com/servicequotas/2019-06-24/apireference/API_GetAWSDefaultServiceQuota.html
#     https://docs.aws.amazon.com/IAM/latest/APIReference/API_GetAccountSummary.html


LIST_QUOTAS = "servicequotas:ListServiceQuotas"
DEFAULT_QUOTA = "servicequotas:GetAWSDefaultServiceQuota"
_IAM_VALUES = {"iam-roles": "RolesQuota", "iam-instance-profiles": "InstanceProfilesQuota"}
"""Keys of the quotas in GetAccountSummary."""


def quota_readings(reader: AccountReader, names: Collection[str], stack: str) -> Iterator[Reading]:
    """Yield the readings of quotas, by name in the catalog, and of their use."""
    quotas = {name: QUOTAS[name] for name in names}
    services = sorted({each.service for each in quotas.values() if each.code} - {"iam"})
    for service in services:
        codes = {each.code: name for name, each in quotas.items() if each.service == service}
        codes.pop("", None)
        yield lambda service=service, codes=codes: {"quota_values": _values(reader, service, codes)}
    if "iam" in {each.service for each in quotas.values()}:
        yield lambda: {"quota_values": _iam_values(reader)}
    without_code = {name: float(each.default) for name, each in quotas.items() if not each.code}
    if without_code:
        yield lambda: {"quota_values": without_code}
    for call in sorted({each.call for each in quotas.values() if each.call}):
        yield lambda call=call: {"quota_use": use_of_others(reader, call, stack)}
    within = {name: {REGION: 0.0} for name, each in quotas.items() if each.call is None}
    yield lambda: {"quota_use": within}


def _values(reader: AccountReader, service: str, codes: Mapping[str, str]) -> dict[str, float]:
    client = reader.client("service-quotas")
    pages = client.get_paginator("list_service_quotas").paginate(ServiceCode=service)
    answer = reader.ask_or_none(LIST_QUOTAS, pages.build_full_result)
    if answer is None:
        return {}
    applied = {each["QuotaCode"]: each["Value"] for each in answer.get("Quotas", [])}
    found: dict[str, float] = {}
    for code, name in codes.items():
        value = applied[code] if code in applied else _default(reader, client, service, code)
        if value is not None:
            found[name] = value
    return found


def _default(reader: AccountReader, client: Any, service: str, code: str) -> float | None:
    answer = reader.ask_or_none(
        DEFAULT_QUOTA,
        client.get_aws_default_service_quota,
        ServiceCode=service,
        QuotaCode=code,
    )
    return answer["Quota"]["Value"] if answer else None


def _iam_values(reader: AccountReader) -> dict[str, float]:
    call = "iam:GetAccountSummary"
    answer = reader.ask_or_none(call, reader.client("iam").get_account_summary)
    summary = (answer or {}).get("SummaryMap", {})
    return {name: summary[key] for name, key in _IAM_VALUES.items() if key in summary}


GET_QUOTA = "servicequotas:GetServiceQuota"


GET_DEFAULT_QUOTA = "servicequotas:GetAWSDefaultServiceQuota"


def vcpu_quotas_of(config: AnyStackConfig) -> tuple[VcpuQuota, ...]:
    """Return the quotas that apply to nodes outside reservations, and to created reservations."""
    created = {name for name, each in config.reservations.items() if each.is_created}
    bought = [
        (
            pool.instance_type,
            "on-demand" if pool.purchase_option in created else pool.purchase_option,
        )
        for pool in config.pools()
    ]
    bought += [(nodes.instance_type, "on-demand") for nodes in config.architecture.own_nodes()]
    found = [
        vcpu_quota(name.partition(".")[0], option)
        for name, option in bought
        if option == "on-demand" or option == "spot"
    ]
    return tuple(dict.fromkeys(quota for quota in found if quota is not None))


def look_up_vcpu_quota(reader: AccountReader, quota: VcpuQuota) -> dict[str, float]:
    """Return the applied value of a quota, by its code; empty if it cannot be read."""
    client = reader.client("service-quotas")
    asked = {"ServiceCode": "ec2", "QuotaCode": quota.code}
    answer = reader.ask_or_none(GET_QUOTA, client.get_service_quota, **asked)
    denied = any(line.startswith(f"{GET_QUOTA}:") for line in reader.unreadable)
    if answer is None and not denied:  # never changed from the AWS default
        default = client.get_aws_default_service_quota
        answer = reader.ask_or_none(GET_DEFAULT_QUOTA, default, **asked)
    return {quota.code: answer["Quota"]["Value"]} if answer else {}
