"""The answers of AWS about an EKS cluster and its nodes.

Sources:
    https://docs.aws.amazon.com/eks/latest/APIReference/API_Operations.html
    https://docs.aws.amazon.com/eks/latest/userguide/self-managed-nodes.html (tag of the groups)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from trainyard.components.account.reader import AccountReader
from trainyard.components.eks.cluster_review import control_plane_log_group
from trainyard.components.named.lookup import LOG_GROUP_CALLS, log_group_named
from trainyard.components.network.lookup import look_up_subnets
from trainyard.components.tagging import tag_map
from trainyard.importing.live.answers import (
    LAUNCH_TEMPLATES,
    OWNER,
    owner_of,
    read_attached,
    read_inline,
    read_profiles,
    read_templates,
)
from trainyard.importing.user_data import summary

Answer = Mapping[str, Any]

LOG_GROUPS = "DescribeLogGroups"
FILE_SYSTEMS = "DescribeFileSystems"
GROUPS = "SecurityGroupIds"
"""Key that the program adds to an answer, as `OWNER`."""
_LISTS: Mapping[str, tuple[str, str]] = {
    "ListNodegroups": ("list_nodegroups", "nodegroups"),
    "ListAddons": ("list_addons", "addons"),
    "ListAccessEntries": ("list_access_entries", "accessEntries"),
    "ListFargateProfiles": ("list_fargate_profiles", "fargateProfileNames"),
    "ListPodIdentityAssociations": ("list_pod_identity_associations", "associations"),
    "ListIdentityProviderConfigs": ("list_identity_provider_configs", "identityProviderConfigs"),
}
"""Method and key of the answer, by the call that lists objects of a cluster."""
_LISTED_ONLY = (
    "ListFargateProfiles",
    "ListPodIdentityAssociations",
    "ListIdentityProviderConfigs",
)
"""Lists whose objects are not described."""
_DESCRIBED: Mapping[str, tuple[str, str, str, str]] = {
    "DescribeNodegroup": ("ListNodegroups", "describe_nodegroup", "nodegroupName", "nodegroup"),
    "DescribeAddon": ("ListAddons", "describe_addon", "addonName", "addon"),
    "DescribeAccessEntry": (
        "ListAccessEntries",
        "describe_access_entry",
        "principalArn",
        "accessEntry",
    ),
}
"""List, method, argument and key of the answer, by the call that describes an object of a list."""


def read_cluster(reader: AccountReader, name: str) -> Answer | None:
    """Return `DescribeCluster` of a cluster, or None if the region has none of this name."""
    answer = reader.ask("eks:DescribeCluster", reader.eks.describe_cluster, name=name)
    return answer["cluster"] if answer else None


def read_answers(
    reader: AccountReader, cluster: Answer, *, with_file_systems: bool = False
) -> dict[str, Any]:
    """Return the answers about a cluster by call; lists of objects have one entry for each."""
    place = cluster["resourcesVpcConfig"]
    node_groups = list(_described(reader, cluster, "DescribeNodegroup"))
    scaling_groups = list(_self_managed(reader, cluster["name"], node_groups))
    launched = filter(None, map(template_of, [*node_groups, *scaling_groups]))
    wanted = (("LaunchTemplateId", *each) for each in launched)
    templates = list(read_templates(reader, wanted, summary))
    profiles = list(read_profiles(reader, _profile_names(templates)))
    roles = dict.fromkeys(_roles(node_groups, profiles))
    subnets = {*place["subnetIds"], *_subnets(node_groups, scaling_groups)}
    found: dict[str, Any] = {
        "DescribeCluster": cluster,
        "DescribeNodegroup": node_groups,
        "DescribeAddon": list(_described(reader, cluster, "DescribeAddon")),
        "DescribeAccessEntry": list(_access_entries(reader, cluster)),
        **{call: _listed(reader, cluster, call) for call in _LISTED_ONLY},
        "DescribeAutoScalingGroups": scaling_groups,
        LAUNCH_TEMPLATES: templates,
        "DescribeCapacityReservations": list(_reservations(reader, templates)),
        "GetInstanceProfile": profiles,
        "ListAttachedRolePolicies": [read_attached(reader, role) for role in roles],
        "GetRolePolicy": [policy for role in roles for policy in read_inline(reader, role)],
        LOG_GROUPS: list(_log_group(reader, cluster)),
        FILE_SYSTEMS: list(_file_systems(reader, str(place["vpcId"]))) if with_file_systems else [],
        "DescribeVpcs": list(_vpc(reader, place)),
        "DescribeSubnets": [
            {"SubnetId": each.subnet_id, "DefaultRoute": each.default_route}
            for each in look_up_subnets(reader, subnets).values()
        ],
    }
    return {call: answer for call, answer in found.items() if answer}


def _vpc(reader: AccountReader, config: Answer) -> Iterator[Answer]:
    wanted = [str(config["vpcId"])]
    answer = reader.ask("ec2:DescribeVpcs", reader.ec2.describe_vpcs, VpcIds=wanted)
    for each in (answer or {}).get("Vpcs", []):
        yield {"VpcId": each["VpcId"], "Tags": each.get("Tags") or []}


def _listed(reader: AccountReader, cluster: Answer, call: str) -> list[Any]:
    method, key = _LISTS[call]
    pages = reader.pages(f"eks:{call}", getattr(reader.eks, method), clusterName=cluster["name"])
    return [each for page in pages for each in page[key]]


def _described(reader: AccountReader, cluster: Answer, call: str) -> Iterator[Answer]:
    """Yield the objects of a kind, each of which EKS lists by its name and describes by a call."""
    listing, method, argument, key = _DESCRIBED[call]
    for name in _listed(reader, cluster, listing):
        of = {"clusterName": cluster["name"], argument: name}
        found = reader.ask(f"eks:{call}", getattr(reader.eks, method), **of)
        if found:
            yield found[key]


def _access_entries(reader: AccountReader, cluster: Answer) -> Iterator[Answer]:
    if (cluster.get("accessConfig") or {}).get("authenticationMode") == "CONFIG_MAP":
        return  # EKS refuses the call
    yield from _described(reader, cluster, "DescribeAccessEntry")


def _roles(node_groups: Iterable[Answer], profiles: Iterable[Answer]) -> Iterator[str]:
    for each in node_groups:
        yield str(each["nodeRole"]).rpartition("/")[2]
    for each in profiles:
        yield each["RoleName"]


def _self_managed(
    reader: AccountReader, name: str, node_groups: Sequence[Answer]
) -> Iterator[Answer]:
    """Yield the Auto Scaling groups with the tag of the cluster that EKS does not own."""
    managed = {
        group["name"]
        for each in node_groups
        for group in (each.get("resources") or {}).get("autoScalingGroups") or ()
    }
    tag = f"kubernetes.io/cluster/{name}"
    do = reader.client("autoscaling").describe_auto_scaling_groups
    for page in reader.pages(
        "autoscaling:DescribeAutoScalingGroups",
        do,
        next_key="NextToken",
        Filters=[{"Name": "tag-key", "Values": [tag]}],
    ):
        for each in page["AutoScalingGroups"]:
            keys = {one["Key"] for one in each.get("Tags") or ()}
            # An endpoint may ignore a filter.
            if tag in keys and each["AutoScalingGroupName"] not in managed:
                yield each


def _profile_names(templates: Iterable[Answer]) -> Iterator[str]:
    """Yield the instance profiles in launch templates."""
    for each in templates:
        given = each["LaunchTemplateData"].get("IamInstanceProfile") or {}
        yield given.get("Name") or str(given.get("Arn", "")).rpartition("/")[2]


def _subnets(node_groups: Iterable[Answer], scaling_groups: Iterable[Answer]) -> Iterator[str]:
    for each in node_groups:
        yield from each.get("subnets") or ()
    for each in scaling_groups:
        yield from filter(None, str(each.get("VPCZoneIdentifier") or "").split(","))


def _reservations(reader: AccountReader, templates: Iterable[Answer]) -> Iterator[Answer]:
    for template in templates:
        wanted = template["LaunchTemplateData"].get("CapacityReservationSpecification") or {}
        target = wanted.get("CapacityReservationTarget") or {}
        if "CapacityReservationId" in target:
            answer = reader.ask(
                "ec2:DescribeCapacityReservations",
                reader.ec2.describe_capacity_reservations,
                CapacityReservationIds=[target["CapacityReservationId"]],
            )
            yield from (answer or {}).get("CapacityReservations", [])


def _log_group(reader: AccountReader, cluster: Answer) -> Iterator[Answer]:
    """Yield the log group of a cluster that sends logs, if there is one."""
    logging = (cluster.get("logging") or {}).get("clusterLogging") or []
    if not any(each.get("enabled") and each.get("types") for each in logging):
        return
    name, do = control_plane_log_group(cluster["name"]), reader.client("logs").describe_log_groups
    answer = reader.ask(LOG_GROUP_CALLS[0], do, logGroupNamePrefix=name)
    found = log_group_named(name, answer)
    if found is not None:
        yield found


def _file_systems(reader: AccountReader, vpc_id: str) -> Iterator[Answer]:
    """Yield the available Lustre file systems of a VPC, each with its groups and its owner."""
    do = reader.fsx.describe_file_systems
    for page in reader.pages("fsx:DescribeFileSystems", do, next_key="NextToken"):
        for each in page["FileSystems"]:
            kind, where, state = each["FileSystemType"], each.get("VpcId"), each.get("Lifecycle")
            if (kind, where, state) != ("LUSTRE", vpc_id, "AVAILABLE"):
                continue
            groups = _security_groups(reader, each.get("NetworkInterfaceIds") or [])
            yield {**each, GROUPS: groups, OWNER: owner_of(reader, tag_map(each.get("Tags")))}


def _security_groups(reader: AccountReader, interfaces: list[str]) -> list[str]:
    """Return the security groups of the interfaces, which FSx does not return."""
    answer = reader.ask(
        "ec2:DescribeNetworkInterfaces",
        reader.ec2.describe_network_interfaces,
        Filters=[{"Name": "network-interface-id", "Values": interfaces}],
    )
    found = (answer or {}).get("NetworkInterfaces", [])
    return sorted({group["GroupId"] for each in found for group in each.get("Groups", [])})


def template_of(group: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return id and version of the launch template of a node group, or None without one."""
    mixed = ((group.get("MixedInstancesPolicy") or {}).get("LaunchTemplate") or {}).get(
        "LaunchTemplateSpecification"
    )
    given = group.get("launchTemplate") or group.get("LaunchTemplate") or mixed
    if not given:
        return None
    found = given.get("id") or given.get("LaunchTemplateId")
    version = given.get("version") or given.get("Version") or "$Default"
    return (str(found), str(version)) if found else None
