"""An EKS cluster of the account as a stack file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from trainyard.components.tagging import tag_map
from trainyard.importing.draft import StackDraft
from trainyard.importing.formats import format_named
from trainyard.importing.key_table import KeyTable
from trainyard.importing.live.answers import CREATORS
from trainyard.importing.live.eks.fates import FATES as FATES
from trainyard.importing.live.eks.log_group import take_log_group
from trainyard.importing.live.eks.node_groups import read_node_groups
from trainyard.importing.live.eks.storage import read_storage
from trainyard.importing.reader import Reader
from trainyard.importing.rewritten import Rewritten
from trainyard.importing.source import Document

KEYS = KeyTable(Path(__file__).with_name("keys.txt"))
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
    take_log_group(source, config, stack=stack.name)
    _read_network(source, cluster.at("resourcesVpcConfig"), config)
    _note_owner_of_vpc(source, cluster)
    for index, addon in enumerate(source.at("DescribeAddon").items()):
        _read_addon(addon, ("addons", index), config)
    complete = read_node_groups(source, config)
    for entry in source.at("DescribeAccessEntry").items():
        if entry.at("type").value not in (None, "STANDARD"):
            entry.implied("nodes of the stack have their own access entries")
    config.convert(source, stack)
    complete(stack.cluster)
    read_storage(source, stack.cluster)


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
