"""An eksctl `ClusterConfig` as a stack file."""

from __future__ import annotations

from pathlib import Path

from trainyard.components.catalog.versions import DEFAULT_KUBERNETES_VERSION, EKS_VERSIONS
from trainyard.importing.draft import Draft, StackDraft
from trainyard.importing.eksctl.addons import read_addons
from trainyard.importing.eksctl.fates import FATES as FATES
from trainyard.importing.eksctl.network import read_network
from trainyard.importing.eksctl.node_groups import read_node_groups
from trainyard.importing.key_table import KeyTable
from trainyard.importing.log_retention import take_retention
from trainyard.importing.reader import Reader
from trainyard.importing.source import Document

KEYS = KeyTable(Path(__file__).with_name("keys.txt"))
WORDS = {
    "instance_type": "instanceType",
    "efa_enabled": "efaEnabled",
    "availability_zone": "availabilityZones",
    "availability_zones": "availabilityZones",
    "subnet_id": "subnets",
    "purchase_option": "capacityReservation",
    "reservation_id": "capacityReservationID",
    "group_arn": "capacityReservationResourceGroupARN",
    "placement": "placement.groupName",
    "minimum": "minSize",
    "desired": "desiredCapacity",
    "maximum": "maxSize",
    "size_gib": "volumeSize",
    "iops": "volumeIOPS",
    "throughput_mibps": "volumeThroughput",
    "kubernetes_version": "metadata.version",
    "log_retention_days": "cloudWatch.clusterLogging.logRetentionInDays",
    "auto_repair": "nodeRepairConfig.enabled",
    "node_monitoring_agent": "eks-node-monitoring-agent",
    "authentication_mode": "authenticationMode",
    "private_subnet_ids": "vpc.subnets.private",
    "public_subnet_ids": "vpc.subnets.public",
    "nat_gateways": "vpc.nat.gateway",
    "node_groups": "managedNodeGroups",
    "system_node_group": "managedNodeGroups",
    "interface_endpoints": "privateCluster.additionalEndpointServices",
}
_LOG_TYPES = ("api", "audit", "authenticator", "controllerManager", "scheduler")


def name_of(document: Document) -> str:
    """Return the name of the cluster."""
    return str(document.at("metadata", "name") or "")


def convert(source: Reader, stack: StackDraft) -> None:
    """Read a cluster configuration into a stack file."""
    cluster = stack.cluster
    cluster.put("name", stack.name)
    source.at("kind").implied("the stack is an EKS cluster")
    source.at("apiVersion").implied("the stack is an EKS cluster")
    metadata = source.at("metadata")
    metadata.at("name").claim("taken over", ours=("name",))
    stack.take_region(metadata.at("region"))
    for key, value in metadata.at("tags").entries():
        stack.take_tag(key, value.value, value)
    read_network(source, stack)
    architecture = cluster.section("architecture")
    architecture.put("kind", "eks")
    _read_version(metadata.at("version"), architecture)
    mode = source.at("accessConfig", "authenticationMode")
    architecture.take("authentication_mode", mode)
    if mode.value == "API":
        architecture.put("node_authorization", "access-entry")
    _read_endpoint(source, architecture)
    logs = source.at("cloudWatch", "clusterLogging")
    _read_logs(logs.at("enableTypes"), architecture)
    take_retention(architecture, logs.at("logRetentionInDays"))
    architecture.take("secrets_key_arn", source.at("secretsEncryption", "keyARN"))
    read_addons(source.at("addons"), architecture)
    read_node_groups(source, architecture, cluster)
    if source.at("privateCluster", "enabled").flag is True and source.at("nodeGroups").value:
        # Its image is in a public registry, which the nodes of a private cluster do not reach.
        architecture.section("addons").put("node_termination_handler", value=False)
    _imply_defaults(source)


def _read_version(source: Reader, architecture: Draft) -> None:
    if not source.exists:
        return
    if str(source.value) in EKS_VERSIONS:
        architecture.take("kubernetes_version", source, change=str)
        return
    architecture.better(
        "kubernetes_version",
        source,
        DEFAULT_KUBERNETES_VERSION,
        f"Kubernetes {source.value} is not in standard support, or no AMI of it is pinned; stacks "
        f"have {', '.join(EKS_VERSIONS)}",
        rule="H5",
    )


def _read_endpoint(source: Reader, architecture: Draft) -> None:
    endpoint = architecture.section("endpoint")
    given = source.at("vpc", "clusterEndpoints")
    endpoint.take_flag("public_access", given.at("publicAccess"))
    endpoint.take_flag("private_access", given.at("privateAccess"))
    if source.at("privateCluster", "enabled").flag is True:
        endpoint.take(
            "public_access", source.at("privateCluster", "enabled"), change=lambda _: False
        )
    endpoint.take("public_access_cidrs", source.at("vpc", "publicAccessCIDRs"))
    if not endpoint.values:
        del architecture.values["endpoint"]


def _read_logs(source: Reader, architecture: Draft) -> None:
    values = source.value if isinstance(source.value, list) else []
    if {"*", "all"} & set(map(str, values)):
        architecture.take("log_types", source, change=lambda _: list(_LOG_TYPES))
    else:
        architecture.take("log_types", source)


def _imply_defaults(source: Reader) -> None:
    """Record settings that every stack has."""
    oidc = source.at("iam", "withOIDC")
    if oidc.flag is False:
        oidc.claim("taken over better", "every cluster has an OIDC provider, so that pods can "
                   "have roles")  # fmt: skip
    oidc.implied("every cluster has an OIDC provider")
    creator = source.at("accessConfig", "bootstrapClusterCreatorAdminPermissions")
    if creator.flag is not False:
        creator.implied("the principal that creates the cluster administers it")
    for keys in (("autoModeConfig", "enabled"), ("privateCluster", "enabled")):
        if source.at(*keys).flag is False:
            source.at(*keys).implied("the stack has none")
    family = source.at("kubernetesNetworkConfig", "ipFamily")
    if str(family.value).lower() == "ipv4":
        family.implied("pods have IPv4 addresses")
