"""The answers of AWS about an EKS cluster and its nodes.

Sources:
    https://docs.aws.amazon.com/eks/latest/APIReference/API_Operations.html
    https://docs.aws.amazon.com/eks/latest/userguide/self-managed-nodes.html (tag of the groups)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from components.account.lookup import AccountReader
from tools.importing.live import launch_templates
from tools.importing.live.eks.log_group import CALL as LOG_GROUPS
from tools.importing.live.eks.log_group import read_log_group
from tools.importing.live.eks.storage import CALL, read_file_systems
from tools.importing.live.roles import read_attached, read_inline, read_profiles
from tools.importing.user_data import summary

Answer = Mapping[str, Any]


def read_cluster(reader: AccountReader, name: str) -> Answer | None:
    """Return `DescribeCluster` of a cluster, or None if the region has none of this name."""
    answer = reader.ask("eks:DescribeCluster", reader.eks.describe_cluster, name=name)
    return answer["cluster"] if answer else None


def read_answers(
    reader: AccountReader, cluster: Answer, *, with_file_systems: bool = False
) -> dict[str, Any]:
    """Return the answers about a cluster by call; lists of objects have one entry for each."""
    eks, name = reader.eks, cluster["name"]
    of = {"clusterName": name}
    groups = [
        reader.ask("eks:DescribeNodegroup", eks.describe_nodegroup, **of, nodegroupName=each)
        for each in _listed(reader, "eks:ListNodegroups", eks.list_nodegroups, "nodegroups", of)
    ]
    node_groups = [each["nodegroup"] for each in groups if each]
    addons = [
        reader.ask("eks:DescribeAddon", eks.describe_addon, **of, addonName=each)
        for each in _listed(reader, "eks:ListAddons", eks.list_addons, "addons", of)
    ]
    scaling_groups = list(_self_managed(reader, name, node_groups))
    launched = filter(None, map(template_of, [*node_groups, *scaling_groups]))
    wanted = (("LaunchTemplateId", *each) for each in launched)
    templates = list(launch_templates.read_templates(reader, wanted, summary))
    profiles = list(read_profiles(reader, _profile_names(templates)))
    roles = dict.fromkeys(
        [
            *(str(each["nodeRole"]).rpartition("/")[2] for each in node_groups),
            *(each["RoleName"] for each in profiles),
        ]
    )
    subnets = {*cluster["resourcesVpcConfig"]["subnetIds"], *_subnets(node_groups, scaling_groups)}
    found: dict[str, Any] = {
        "DescribeCluster": cluster,
        "DescribeNodegroup": node_groups,
        "DescribeAddon": [each["addon"] for each in addons if each],
        "DescribeAccessEntry": list(_access_entries(reader, cluster)),
        "ListFargateProfiles": _listed(
            reader, "eks:ListFargateProfiles", eks.list_fargate_profiles, "fargateProfileNames", of
        ),
        "ListPodIdentityAssociations": _listed(
            reader,
            "eks:ListPodIdentityAssociations",
            eks.list_pod_identity_associations,
            "associations",
            of,
        ),
        "ListIdentityProviderConfigs": _listed(
            reader,
            "eks:ListIdentityProviderConfigs",
            eks.list_identity_provider_configs,
            "identityProviderConfigs",
            of,
        ),
        "DescribeAutoScalingGroups": scaling_groups,
        launch_templates.CALL: templates,
        "DescribeCapacityReservations": list(_reservations(reader, templates)),
        "GetInstanceProfile": profiles,
        "ListAttachedRolePolicies": [read_attached(reader, role) for role in roles],
        "GetRolePolicy": [policy for role in roles for policy in read_inline(reader, role)],
        LOG_GROUPS: list(read_log_group(reader, cluster)),
        CALL: list(read_file_systems(reader, str(cluster["resourcesVpcConfig"]["vpcId"])))
        if with_file_systems
        else [],
        "DescribeVpcs": list(_vpc(reader, cluster["resourcesVpcConfig"])),
        "DescribeSubnets": [
            {"SubnetId": each.subnet_id, "DefaultRoute": each.default_route}
            for each in reader.subnets(subnets).values()
        ],
    }
    return {call: answer for call, answer in found.items() if answer}


def _vpc(reader: AccountReader, config: Answer) -> Iterator[Answer]:
    wanted = [str(config["vpcId"])]
    answer = reader.ask("ec2:DescribeVpcs", reader.ec2.describe_vpcs, VpcIds=wanted)
    for each in (answer or {}).get("Vpcs", []):
        yield {"VpcId": each["VpcId"], "Tags": each.get("Tags") or []}


def _listed(
    reader: AccountReader, call: str, do: Any, key: str, arguments: Mapping[str, Any]
) -> list[Any]:
    return [each for page in reader.pages(call, do, **arguments) for each in page[key]]


def _access_entries(reader: AccountReader, cluster: Answer) -> Iterator[Answer]:
    if (cluster.get("accessConfig") or {}).get("authenticationMode") == "CONFIG_MAP":
        return  # EKS refuses the call
    of, eks = {"clusterName": cluster["name"]}, reader.eks
    for principal in _listed(
        reader, "eks:ListAccessEntries", eks.list_access_entries, "accessEntries", of
    ):
        found = reader.ask(
            "eks:DescribeAccessEntry", eks.describe_access_entry, **of, principalArn=principal
        )
        if found:
            yield found["accessEntry"]


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


def template_of(group: Answer) -> tuple[str, str] | None:
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
