"""An EKS cluster of the account as a stack file.

Sources:
    https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_LogGroup.html
    https://docs.aws.amazon.com/fsx/latest/APIReference/API_FileSystem.html
    https://docs.aws.amazon.com/fsx/latest/APIReference/API_LustreFileSystemConfiguration.html
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.components.config.eks import AddonPolicy
from trainyard.components.eks.cluster_review import control_plane_log_group
from trainyard.components.identity.addon_policies import managed_policies
from trainyard.components.tagging import tag_map
from trainyard.importing.draft import Draft, StackDraft, plain_name
from trainyard.importing.formats import format_named
from trainyard.importing.key_table import KeyTable
from trainyard.importing.live.answers import (
    CREATORS,
    KEYS_OF_ROLES,
    OWNER,
    Rewritten,
    Shapes,
    keys_of_shapes,
)
from trainyard.importing.live.eks.answers import FILE_SYSTEMS, GROUPS, LOG_GROUPS, template_of
from trainyard.importing.report import OutcomeTable, Reader, outcomes_beside
from trainyard.importing.source import Document, Location
from trainyard.importing.user_data import MARKS_OF_LABELS

_RETENTION = ("cloudWatch", "clusterLogging", "logRetentionInDays")


def _take_log_group(source: Reader, config: Rewritten, *, stack: str) -> None:
    """Set the retention to that of the log group.

    A group without one keeps logs forever, which EKS and not its owner has chosen: only the stack
    of the same name, which adopts it, keeps that.
    """
    for group in source.at(LOG_GROUPS).items():
        name = group.at("logGroupName")
        if group.at("retentionInDays").exists:
            config.take(_RETENTION, group.at("retentionInDays"))
        elif name.value == control_plane_log_group(stack):
            config.take(_RETENTION, name, lambda _: 0)


_EKSCTL_NAMES: Mapping[AddonPolicy, str] = {
    "autoscaler": "autoScaler",
    "cloudwatch": "cloudWatch",
    "ebs": "ebs",
    "fsx": "fsx",
}
_ACTIONS: Mapping[str, str] = {
    "autoscaling:SetDesiredCapacity": "autoScaler",
    "ec2:AttachVolume": "ebs",
    "fsx:CreateFileSystem": "fsx",
}
"""Add-on policy by an action that only it allows."""
_MANAGED = {
    name: _EKSCTL_NAMES[each] for each in _EKSCTL_NAMES for name in managed_policies([each])
}


def _role_of_profile(source: Reader, template: Reader | None) -> str:
    """Return the role of an instance profile in a launch template; empty if it is not known."""
    if template is None:
        return ""
    profile = template.at("LaunchTemplateData", "IamInstanceProfile")
    name = str(profile.at("Name").value or profile.at("Arn").value or "").rpartition("/")[2]
    for each in source.at("GetInstanceProfile").items():
        if name and each.at("InstanceProfileName").value == name:
            profile.implied("the stack creates the role and the instance profile")
            return str(each.at("RoleName").value)
    return ""


def _read_role(source: Reader, role: str, at: Location, config: Rewritten) -> None:
    """Read the policies of a role."""
    attached = _of_role(source, "ListAttachedRolePolicies", role)
    if not attached:
        return
    policies = (*at, "iam", "withAddonPolicies")
    config.put(policies, {})
    found: dict[str, Reader] = {}
    number = 0
    for policy in attached[0].at("AttachedPolicies").items():
        addon = _MANAGED.get(str(policy.at("PolicyName").value))
        if addon:
            found[addon] = policy
        else:
            config.take((*at, "iam", "attachPolicyARNs", number), policy.at("PolicyArn"))
            policy.at("PolicyName").implied("it is the name of the ARN")
            number += 1
    for policy in _of_role(source, "GetRolePolicy", role):
        for addon in _addons(policy.at("PolicyDocument").value):
            found.setdefault(addon, policy)
    for addon in _EKSCTL_NAMES.values():
        if addon in found:
            config.take((*policies, addon), found[addon], lambda _: True)


def _of_role(source: Reader, call: str, role: str) -> Sequence[Reader]:
    return [each for each in source.at(call).items() if each.at("RoleName").value == role]


def _addons(document: Any) -> Iterator[str]:
    """Yield the add-on policies whose actions a document allows."""
    for statement in _each(document.get("Statement") if isinstance(document, dict) else None):
        if isinstance(statement, dict) and statement.get("Effect") == "Allow":
            for action in _each(statement.get("Action")):
                if action in _ACTIONS:
                    yield _ACTIONS[action]


def _each(value: Any) -> list[Any]:
    """Return a value of a policy as a list: one alone needs none."""
    return value if isinstance(value, list) else [value]


_DATA = "LaunchTemplateData"
_ROOT_DEVICES = ("/dev/xvda", "/dev/sda1")
"""Root devices of Amazon Linux and Ubuntu."""
_VOLUME = {
    "VolumeSize": "volumeSize",
    "VolumeType": "volumeType",
    "Iops": "volumeIOPS",
    "Throughput": "volumeThroughput",
    "Encrypted": "volumeEncrypted",
    "KmsKeyId": "volumeKmsKeyID",
}
_METADATA = "every node requires IMDSv2, and pods reach the metadata only if they need it"


def _read_template(
    source: Reader, template: Reader, at: Location, name: str, config: Rewritten
) -> bool:
    """Read a launch template, and return whether its nodes launch into a reservation."""
    data = template.at(_DATA)
    kind = data.at("InstanceType")
    if (*at, "instanceTypes", 0) not in config.values:
        config.take((*at, "instanceType"), kind)
    kind.implied("the node group names the type")
    config.take((*at, "ssh", "publicKeyName"), data.at("KeyName"))
    _read_volumes(data.at("BlockDeviceMappings"), at, config)
    has_efa = _read_interfaces(data.at("NetworkInterfaces"), str(kind.value), at, name, config)
    market = data.at("InstanceMarketOptions", "MarketType")
    if market.value == "spot":
        config.take((*at, "spot"), market, lambda _: True)
    else:
        config.take((*at, "instanceMarketOptions", "marketType"), market)
    is_reserved = _read_target(data.at("CapacityReservationSpecification"), at, config)
    _read_placement(data.at("Placement", "GroupName"), at, config, is_reserved=is_reserved,
                    has_efa=has_efa)  # fmt: skip
    metadata = data.at("MetadataOptions")
    config.take(
        (*at, "disableIMDSv1"), metadata.at("HttpTokens"), lambda tokens: tokens == "required"
    )
    if metadata.at("HttpPutResponseHopLimit").value == 1:
        config.take((*at, "disablePodIMDS"), metadata.at("HttpPutResponseHopLimit"), lambda _: True)
    metadata.implied(_METADATA)
    said = data.at("UserData")
    said.at("nodeConfig").implied("the stack writes the NodeConfig")
    said.at("localStorage").implied("it is the default of `local_nvme`")
    return is_reserved


def _read_volumes(source: Reader, at: Location, config: Rewritten) -> None:
    for mapping in source.items():
        if mapping.at("DeviceName").value not in _ROOT_DEVICES:
            config.take((*at, "additionalVolumes"), mapping)
            continue
        mapping.at("DeviceName").implied("it is the root volume")
        volume = mapping.at("Ebs")
        for theirs, ours in _VOLUME.items():
            config.take((*at, ours), volume.at(theirs))
        if volume.at("DeleteOnTermination").flag is not False:
            volume.at("DeleteOnTermination").implied("the root volume is deleted with the node")


def _read_interfaces(
    source: Reader, instance_type: str, at: Location, name: str, config: Rewritten
) -> bool:
    """Read the interfaces, and return whether one carries EFA."""
    kinds = [str(each.at("InterfaceType").value) for each in source.items()]
    count = sum(kind.startswith("efa") for kind in kinds)
    if not count:
        return False
    known = INSTANCE_TYPES.get(instance_type)
    if known is not None and count < known.efa_interfaces:
        source.claim(
            "taken over better",
            f"nodes have {count} of the {known.efa_interfaces} EFA interfaces of {instance_type}; "
            "the stack uses all",
            ours=("architecture", "node_groups", name, "efa_enabled"),
        )
    config.take((*at, "efaEnabled"), source, lambda _: True)
    return True


def _read_target(source: Reader, at: Location, config: Rewritten) -> bool:
    reserved = (*at, "capacityReservation")
    target = source.at("CapacityReservationTarget")
    names = {
        "CapacityReservationId": "capacityReservationID",
        "CapacityReservationResourceGroupArn": "capacityReservationResourceGroupARN",
    }
    for theirs, ours in names.items():
        config.take((*reserved, "capacityReservationTarget", ours), target.at(theirs))
    preference = source.at("CapacityReservationPreference")
    if preference.value == "capacity-reservations-only" and target.exists:
        preference.implied("nodes launch in the reservation and nowhere else")
    else:
        config.take((*reserved, "capacityReservationPreference"), preference)
    return target.exists


def _read_placement(
    group: Reader, at: Location, config: Rewritten, *, is_reserved: bool, has_efa: bool
) -> None:
    # The configuration has the key, so that no group is assumed that eksctl would create.
    config.put((*at, "placement"), {})
    if is_reserved:
        group.dropped("nodes of a reservation launch into the placement group of the reservation")
    elif has_efa:
        group.implied("nodes with EFA launch into a cluster placement group of the stack")
    else:
        config.take((*at, "placement", "groupName"), group)


def _complete_nodes(source: Reader, template: Reader, name: str, cluster: Draft) -> None:
    """Set keys of a node group for which eksctl has none."""
    data = template.at(_DATA)
    nodes = cluster.section("architecture").section("node_groups").section(name)
    kinds = {str(each.at("InterfaceType").value) for each in data.at("NetworkInterfaces").items()}
    if "efa" in kinds and "efa-only" not in kinds:
        nodes.put("interface_layout", "efa")
    said = data.at("UserData")
    known = INSTANCE_TYPES.get(str(nodes.values.get("instance_type")))
    if known and known.local_nvme_disks and said.at("nodeConfig").value and not said.at(
        "localStorage"
    ).exists:  # fmt: skip
        nodes.put("local_nvme", "none")
    if name not in cluster.values.get("reservations", {}):
        return
    wanted = data.at("CapacityReservationSpecification", "CapacityReservationTarget")
    for each in source.at("DescribeCapacityReservations").items():
        identity = each.at("CapacityReservationId").value
        if identity == wanted.at("CapacityReservationId").value:
            _read_reservation(each, cluster.section("reservations").section(name), source)


def _read_reservation(found: Reader, reservation: Draft, source: Reader) -> None:
    group = found.at("PlacementGroupArn")
    if not group.exists or reservation.values.get("kind") != "odcr":
        return
    owner, _, name = str(group.value).partition(":placement-group/")
    if f":{owner.rpartition(':')[2]}:" in str(source.at("DescribeCluster", "arn").value):
        reservation.take("placement_group", group, change=lambda _: name)
    else:
        reservation.take("provenance", group, change=lambda _: "aws-assisted",
                         why="AWS owns the placement group")  # fmt: skip


Completion = Callable[[Draft], None]
"""Adds what eksctl has no key for to the stack file."""

_NOT_IN_NAMES = re.compile(r"[^0-9A-Za-z_-]+")
_ZONES = "nodes launch in every private subnet of the network"
_SIZES = {
    "MinSize": "minSize",
    "DesiredCapacity": "desiredCapacity",
    "MaxSize": "maxSize",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    """The answers about one node group."""

    source: Reader
    """The group itself."""
    at: Location
    """Its place in the eksctl configuration."""
    name: str
    template: Reader | None
    role: str
    """Name of the role of its nodes; empty if it is not known."""


def _read_node_groups(source: Reader, config: Rewritten) -> Completion:
    """Read all node groups, the one for services first."""
    taken: set[str] = set()
    managed = _groups(source, "DescribeNodegroup", "managedNodeGroups", taken)
    own = _groups(source, "DescribeAutoScalingGroups", "nodeGroups", taken)
    for group in managed:
        _read_managed(group, source, config)
    for group in own:
        _read_self_managed(group, source, config)

    def complete(cluster: Draft) -> None:
        architecture = cluster.section("architecture")
        named = architecture.values.get("node_groups", {})
        for group in (*managed, *own):
            if group.template and group.name in named:
                _complete_nodes(source, group.template, group.name, cluster)
        if any(_has_entry(source, group.role) for group in own):
            architecture.put("node_authorization", "access-entry")

    return complete


def _groups(source: Reader, call: str, kind: str, taken: set[str]) -> Sequence[_Group]:
    cluster = str(source.at("DescribeCluster", "name").value)
    found = [(each, _template(source, each)) for each in source.at(call).items()]
    names = [_name_of(each, template, cluster) for each, template in found]
    both = zip(found, names, strict=True)
    groups: list[_Group] = []
    # The eksctl conversion takes the first managed group that can run services for the system.
    for (group, template), name in sorted(both, key=lambda each: each[1] != "system"):
        role = str(group.at("nodeRole").value or "").rpartition("/")[2]
        unique = name if name not in taken else _own_name(group)
        taken.add(unique)
        groups.append(
            _Group(
                source=group,
                at=(kind, len(groups)),
                name=unique,
                template=template,
                role=role or _role_of_profile(source, template),
            )
        )
    return groups


def _template(source: Reader, group: Reader) -> Reader | None:
    wanted = template_of(group.value)
    if wanted is None:
        return None
    identity, version = wanted
    of_id = [
        each
        for each in source.at("DescribeLaunchTemplateVersions").items()
        if each.at("LaunchTemplateId").value == identity
    ]
    exact = [each for each in of_id if str(each.at("VersionNumber").value) == version]
    return next(iter([*exact, *of_id]), None)


def _name_of(group: Reader, template: Reader | None, cluster: str) -> str:
    """Return the name of a group: that of eksctl or of the nodes, without that of the cluster.

    The nodes of eksctl and of stacks are called `CLUSTER-GROUP-Node`.
    """
    tags = _tags(group, template)
    given = tags.get("alpha.eksctl.io/nodegroup-name", "")
    of_nodes = re.fullmatch(rf"{re.escape(cluster)}-(.+)-Node", tags.get("Name", ""))
    return given or (_as_name(of_nodes[1]) if of_nodes else _own_name(group))


def _own_name(group: Reader) -> str:
    own = group.at("nodegroupName").value or group.at("AutoScalingGroupName").value
    return _as_name(str(own))


def _as_name(text: str) -> str:
    return _NOT_IN_NAMES.sub("-", text).strip("-_")[:40]


def _tags(group: Reader, template: Reader | None) -> Mapping[str, str]:
    """Return the tags of a group and those with which its nodes launch."""
    found = dict(group.at("tags").value or {})
    found.update(tag_map(group.at("Tags").value))
    if template:
        for each in template.at("LaunchTemplateData", "TagSpecifications").items():
            if each.at("ResourceType").value == "instance":
                found.update(tag_map(each.at("Tags").value))
    return found


def _read_managed(group: _Group, source: Reader, config: Rewritten) -> None:
    given, at = group.source, group.at
    config.take((*at, "name"), given.at("nodegroupName"), lambda _: group.name)
    sizes = {"minSize": "minSize", "desiredSize": "desiredCapacity", "maxSize": "maxSize"}
    for theirs, ours in sizes.items():
        config.take((*at, ours), given.at("scalingConfig", theirs))
    for index, each in enumerate(given.at("instanceTypes").items()):
        config.take((*at, "instanceTypes", index), each)
    config.take((*at, "volumeSize"), given.at("diskSize"))
    _read_image(given.at("amiType"), at, config)
    kind = given.at("capacityType")
    if kind.value == "SPOT":
        config.take((*at, "spot"), kind, lambda _: True)
    elif kind.value == "CAPACITY_BLOCK":
        kind.implied("the launch template and the reservation say so")
    _read_labels(given.at("labels"), at, config)
    for index, taint in enumerate(given.at("taints").items()):
        for key in ("key", "value"):
            config.take((*at, "taints", index, key), taint.at(key))
        config.take((*at, "taints", index, "effect"), taint.at("effect"), _effect)
    config.take((*at, "ssh", "publicKeyName"), given.at("remoteAccess", "ec2SshKey"))
    repair = given.at("nodeRepairConfig")
    for key in ("enabled", "maxParallelNodesRepairedCount"):
        config.take((*at, "nodeRepairConfig", key), repair.at(key))
    _read_rest(group, [*given.at("subnets").items()], source, config)


def _read_self_managed(group: _Group, source: Reader, config: Rewritten) -> None:
    given, at = group.source, group.at
    config.take((*at, "name"), given.at("AutoScalingGroupName"), lambda _: group.name)
    for theirs, ours in _SIZES.items():
        config.take((*at, ours), given.at(theirs))
    mixed = given.at("MixedInstancesPolicy")
    for index, each in enumerate(mixed.at("LaunchTemplate", "Overrides").items()):
        config.take((*at, "instancesDistribution", "instanceTypes", index), each.at("InstanceType"))
    for key in ("OnDemandBaseCapacity", "OnDemandPercentageAboveBaseCapacity"):
        ours = f"{key[0].lower()}{key[1:]}"
        config.take((*at, "instancesDistribution", ours), mixed.at("InstancesDistribution", key))
    if group.template:
        said = group.template.at("LaunchTemplateData", "UserData")
        _read_labels(said.at("labels"), at, config)
        for index, taint in enumerate(said.at("taints").items()):
            for key in ("key", "value", "effect"):
                config.take((*at, "taints", index, key), taint.at(key))
    zones = given.at("VPCZoneIdentifier")
    _read_rest(group, [zones] if zones.exists else [], source, config)


def _effect(effect: str) -> str:
    """Return an effect of the EKS API (`NO_SCHEDULE`) as Kubernetes spells it."""
    return "".join(part.capitalize() for part in str(effect).split("_"))


def _read_image(source: Reader, at: Location, config: Rewritten) -> None:
    kind = str(source.value)
    family = "AmazonLinux2023" if kind.startswith("AL2023") else ""
    if kind.startswith("AL2_"):
        family = "AmazonLinux2"
    if family:
        config.take((*at, "amiFamily"), source, lambda _: family)


def _read_labels(source: Reader, at: Location, config: Rewritten) -> None:
    for key, value in source.entries():
        if key.startswith(MARKS_OF_LABELS):
            value.dropped("EKS, eksctl or the kubelet sets it")
        else:
            config.take((*at, "labels", key), value)


def _read_rest(group: _Group, subnets: Sequence[Reader], source: Reader, config: Rewritten) -> None:
    """Read launch template, subnets and role."""
    is_reserved = False
    if group.template:
        is_reserved = _read_template(source, group.template, group.at, group.name, config)
    _read_subnets(group, subnets, source, config, is_reserved=is_reserved)
    _read_role(source, group.role, group.at, config)


def _read_subnets(
    group: _Group,
    sources: Sequence[Reader],
    source: Reader,
    config: Rewritten,
    *,
    is_reserved: bool,
) -> None:
    """Read the subnets, each with its own answer, or all as one text with commas."""
    named = [(each, part) for each in sources for part in str(each.value).split(",")]
    routes = {
        each.at("SubnetId").value: each.at("DefaultRoute").value
        for each in source.at("DescribeSubnets").items()
    }
    private = {subnet for subnet, route in routes.items() if route != "internet-gateway"}
    ids = {subnet for _, subnet in named}
    if ids and not ids & private:
        _claim_all(sources, "taken over better", "nodes launch in private subnets")
    elif len(ids) > 1 and (is_reserved or ids == private):
        _claim_all(
            sources, "implied", "nodes launch in the zone of the reservation" if is_reserved else
            _ZONES
        )  # fmt: skip
    else:
        for index, (each, subnet) in enumerate(named):
            config.take((*group.at, "subnets", index), each, lambda _, found=subnet: found)


def _claim_all(sources: Sequence[Reader], fate: Any, why: str) -> None:
    for each in sources:
        each.claim(fate, why)


def _has_entry(source: Reader, role: str) -> bool:
    """Return whether an access entry lets the nodes of a role join."""
    return any(
        entry.at("type").value == "EC2_LINUX"
        and str(entry.at("principalArn").value).rpartition("/")[2] == role
        for entry in source.at("DescribeAccessEntry").items()
    )


_SETTINGS = {
    "DeploymentType": "deployment_type",
    "PerUnitStorageThroughput": "per_unit_storage_throughput",
    "DataCompressionType": "compression",
    "WeeklyMaintenanceStartTime": "weekly_maintenance",
}
_S3 = {
    "ImportPath": "import_path",
    "ExportPath": "export_path",
    "AutoImportPolicy": "auto_import",
}
_LONGEST_NAME = 30
_KEPT = "an adopted file system keeps it"


def _read_storage(source: Reader, cluster: Draft) -> None:
    """Read file systems into `storage`: adopted, or as existing ones that the stack mounts."""
    for system in source.at(FILE_SYSTEMS).items():
        identity = str(system.at("FileSystemId").value)
        named = plain_name(tag_map(system.at("Tags").value).get("Name", identity))
        name = named[:_LONGEST_NAME].rstrip("-") or identity
        storage = cluster.section("storage")
        entry = storage.section(identity if storage.has(name) else name, system)
        why = _why_not(system, cluster.values["network"])
        if why:
            entry.put("kind", "existing-fsx-lustre")
            entry.take("file_system_id", system.at("FileSystemId"))
            _take_group(system, entry)
            source.report.notes.append(f"{identity} is mounted and not adopted: {why}")
            system.unsupported(f"the stack mounts it and does not own it: {why}")
        else:
            _read_adopted(system, entry)
            source.report.notes.append(
                f"{identity} becomes part of the stack with the next `up`: if it is not for this "
                f"cluster, remove storage.{entry.at[-1]}; if another tool has it, remove it there "
                "first, without deleting it"
            )


def _why_not(system: Reader, network: Mapping[str, Any]) -> str:
    owner = system.at(OWNER).value
    if owner:
        return f"it is part of {owner}, which would go on to change it, or delete it"
    if system.at("StorageType").value == "INTELLIGENT_TIERING":
        return "stacks have no file systems with Intelligent-Tiering"
    subnet = system.at("SubnetIds", 0).value
    if subnet not in network.get("private_subnet_ids", ()):
        return f"its subnet {subnet} is no private subnet of the stack"
    return ""


def _take_group(system: Reader, entry: Draft) -> None:
    first, *others = [*system.at(GROUPS).items()] or [system.at(GROUPS)]
    if first.value:
        entry.take("security_group_id", first)
    for each in others:
        each.implied("the stack adds its rules to the first group")


def _read_adopted(system: Reader, entry: Draft) -> None:
    entry.put("kind", "fsx-lustre")
    adopt, lustre = entry.section("adopt", system), system.at("LustreConfiguration")
    adopt.take("file_system_id", system.at("FileSystemId"))
    _take_group(system, adopt)
    entry.take("subnet_id", system.at("SubnetIds", 0))
    entry.take("storage_capacity_gib", system.at("StorageCapacity"))
    entry.take("storage_type", system.at("StorageType"))
    for theirs, ours in _SETTINGS.items():
        entry.take(ours, lustre.at(theirs))
    for theirs, ours in _S3.items():
        entry.take(ours, lustre.at("DataRepositoryConfiguration", theirs))
    if system.at("StorageType").value == "HDD":
        entry.take("drive_cache", lustre.at("DriveCacheType"))
    if lustre.at("EfaEnabled").value is True:
        entry.take("efa_enabled", lustre.at("EfaEnabled"))
    if lustre.at("MetadataConfiguration", "Mode").value == "USER_PROVISIONED":
        entry.take("metadata_iops", lustre.at("MetadataConfiguration", "Iops"))
    if lustre.at("AutomaticBackupRetentionDays").value:
        entry.take("backup_retention_days", lustre.at("AutomaticBackupRetentionDays"))
        entry.take("backup_time", lustre.at("DailyAutomaticBackupStartTime"))
    system.implied(_KEPT)


_SHAPES: Shapes = {
    "DescribeCluster": ("eks", "DescribeCluster", "cluster"),
    "DescribeNodegroup": ("eks", "DescribeNodegroup", "nodegroup"),
    "DescribeAddon": ("eks", "DescribeAddon", "addon"),
    "DescribeAccessEntry": ("eks", "DescribeAccessEntry", "accessEntry"),
    "ListFargateProfiles": ("eks", "ListFargateProfiles", "fargateProfileNames"),
    "ListPodIdentityAssociations": ("eks", "ListPodIdentityAssociations", "associations"),
    "ListIdentityProviderConfigs": (
        "eks",
        "ListIdentityProviderConfigs",
        "identityProviderConfigs",
    ),
    "DescribeAutoScalingGroups": ("autoscaling", "DescribeAutoScalingGroups", "AutoScalingGroups"),
    "DescribeLaunchTemplateVersions": (
        "ec2",
        "DescribeLaunchTemplateVersions",
        "LaunchTemplateVersions",
    ),
    "DescribeLogGroups": ("logs", "DescribeLogGroups", "logGroups"),
    "DescribeFileSystems": ("fsx", "DescribeFileSystems", "FileSystems"),
    "DescribeCapacityReservations": ("ec2", "DescribeCapacityReservations", "CapacityReservations"),
}
_TEMPLATE_DATA = "DescribeLaunchTemplateVersions.LaunchTemplateData"
_ADDED = {
    **dict.fromkeys(("DescribeNodegroup", "DescribeAddon", "DescribeAccessEntry"), "sections"),
    **KEYS_OF_ROLES,
    "DescribeFileSystems.SecurityGroupIds": "list",
    "DescribeFileSystems.OwnerStack": "text",
    # A backup or an update has the file system again.
    "DescribeFileSystems.AdministrativeActions": "anys",
    **{
        f"DescribeFileSystems.{kind}Configuration": "any"
        for kind in ("Ontap", "OpenZFS", "Windows")
    },
    "DescribeVpcs": "sections",
    "DescribeVpcs.VpcId": "text",
    "DescribeVpcs.Tags": "sections",
    "DescribeVpcs.Tags.Key": "text",
    "DescribeVpcs.Tags.Value": "text",
    "DescribeSubnets": "sections",
    "DescribeSubnets.SubnetId": "text",
    "DescribeSubnets.DefaultRoute": "text",
    # A summary: the user data can have secrets.
    f"{_TEMPLATE_DATA}.UserData": "section",
    f"{_TEMPLATE_DATA}.UserData.labels": "map",
    f"{_TEMPLATE_DATA}.UserData.taints": "sections",
    f"{_TEMPLATE_DATA}.UserData.taints.key": "text",
    f"{_TEMPLATE_DATA}.UserData.taints.value": "text",
    f"{_TEMPLATE_DATA}.UserData.taints.effect": "text",
    f"{_TEMPLATE_DATA}.UserData.localStorage": "text",
    f"{_TEMPLATE_DATA}.UserData.nodeConfig": "boolean",
    f"{_TEMPLATE_DATA}.UserData.scripts": "integer",
}
"""Keys that the program adds to the answers, or writes differently (`answers.py`)."""
KEYS = KeyTable(lambda: keys_of_shapes(_SHAPES, _ADDED))
OUTCOMES = OutcomeTable(outcomes_beside(__file__))
WORDS: Mapping[str, str] = {}
_DEFAULT_SERVICES = ("10.100.0.0/16", "172.20.0.0/16")
"""https://docs.aws.amazon.com/eks/latest/APIReference/API_KubernetesNetworkConfigRequest.html"""


def name_of(document: Document) -> str:
    """Return the name of the cluster."""
    return str(document.at("DescribeCluster", "name") or "")


def convert(source: Reader, stack: StackDraft) -> None:
    """Read the answers about a cluster into a stack file."""
    config, cluster = Rewritten(format_named("eksctl")), source.at("DescribeCluster")
    config.put(("kind",), "ClusterConfig")
    _read_cluster(cluster, config)
    _take_log_group(source, config, stack=stack.name)
    _read_network(source, cluster.at("resourcesVpcConfig"), config)
    _note_owner_of_vpc(source, cluster)
    for index, addon in enumerate(source.at("DescribeAddon").items()):
        _read_addon(addon, ("addons", index), config)
    complete = _read_node_groups(source, config)
    for entry in source.at("DescribeAccessEntry").items():
        if entry.at("type").value not in (None, "STANDARD"):
            entry.implied("nodes of the stack have their own access entries")
    config.convert(source, stack)
    complete(stack.cluster)
    _read_storage(source, stack.cluster)


def _read_cluster(cluster: Reader, config: Rewritten) -> None:
    config.take(("metadata", "name"), cluster.at("name"))
    config.take(("metadata", "version"), cluster.at("version"))
    for key, value in cluster.at("tags").entries():
        config.take(("metadata", "tags", key), value)
    access = cluster.at("accessConfig")
    for key in ("authenticationMode", "bootstrapClusterCreatorAdminPermissions"):
        config.take(("accessConfig", key), access.at(key))
    logs = ("cloudWatch", "clusterLogging", "enableTypes")
    for entry in cluster.at("logging", "clusterLogging").items():
        # EKS answers one entry for the types that are enabled, and one for the others.
        if entry.at("enabled").flag is True:
            config.take(logs, entry.at("types"))
            entry.at("enabled").implied("the types are enabled")
    for encrypted in cluster.at("encryptionConfig").items():
        config.take(("secretsEncryption", "keyARN"), encrypted.at("provider", "keyArn"))
    config.take(("autoModeConfig", "enabled"), cluster.at("computeConfig", "enabled"))
    network = cluster.at("kubernetesNetworkConfig")
    config.take(("kubernetesNetworkConfig", "ipFamily"), network.at("ipFamily"))
    _imply_defaults(cluster, network)


def _imply_defaults(cluster: Reader, network: Reader) -> None:
    if network.at("serviceIpv4Cidr").value in _DEFAULT_SERVICES:
        network.at("serviceIpv4Cidr").implied("it is one of the two defaults of EKS")
    for source in (
        network.at("elasticLoadBalancing", "enabled"),
        cluster.at("storageConfig", "blockStorage", "enabled"),
        cluster.at("zonalShiftConfig", "enabled"),
        cluster.at("deletionProtection"),
    ):
        if source.flag is False:
            source.implied("the stack has none")
    if cluster.at("controlPlaneScalingConfig", "tier").value == "standard":
        cluster.at("controlPlaneScalingConfig").implied("it is the default of EKS")


def _read_network(source: Reader, vpc: Reader, config: Rewritten) -> None:
    config.take(("vpc", "id"), vpc.at("vpcId"))
    given = {each.value: each for each in vpc.at("subnetIds").items()}
    routes = {
        str(each.at("SubnetId").value): each.at("DefaultRoute")
        for each in source.at("DescribeSubnets").items()
    }
    counts = {"private": 0, "public": 0}
    for subnet in sorted(routes, key=lambda each: (each not in given, each)):
        family = "public" if routes[subnet].value == "internet-gateway" else "private"
        at = ("vpc", "subnets", family, counts[family])
        counts[family] += 1
        config.take(at, given.get(subnet, routes[subnet]), lambda _, found=subnet: found)
    access = ("vpc", "clusterEndpoints")
    config.take((*access, "publicAccess"), vpc.at("endpointPublicAccess"))
    config.take((*access, "privateAccess"), vpc.at("endpointPrivateAccess"))
    if vpc.at("endpointPublicAccess").flag is True:
        config.take(("vpc", "publicAccessCIDRs"), vpc.at("publicAccessCidrs"))
    vpc.at("publicAccessCidrs").dropped("the cluster has no public endpoint")


def _note_owner_of_vpc(source: Reader, cluster: Reader) -> None:
    """Warn that the VPC is deleted with the cluster, if both have the same creator."""
    for vpc in source.at("DescribeVpcs").items():
        tags, own = tag_map(vpc.at("Tags").value), cluster.at("tags").value or {}
        creator = next((each for each in CREATORS if each in tags), None)
        if creator and tags[creator] == own.get(creator):
            source.report.notes.append(
                f"{vpc.at('VpcId').value} was created with the cluster ({creator} "
                f"{tags[creator]}), and is deleted with it: use the stack in this VPC only as "
                "long as you keep both, or set `network` to `kind: new-vpc`"
            )


def _read_addon(addon: Reader, at: tuple[str, int], config: Rewritten) -> None:
    config.take((*at, "name"), addon.at("addonName"))
    config.take((*at, "serviceAccountRoleARN"), addon.at("serviceAccountRoleArn"))
    config.take((*at, "podIdentityAssociations"), addon.at("podIdentityAssociations"))
    config.take((*at, "configurationValues"), addon.at("configurationValues"))
    addon.at("addonVersion").implied(
        "the stack pins a version that it was tested with; `addons.versions` sets another"
    )
