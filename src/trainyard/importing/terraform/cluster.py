"""An EKS cluster of Terraform: the module `terraform-aws-modules/eks/aws`, or `aws_eks_cluster`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.components.catalog.versions import DEFAULT_KUBERNETES_VERSION, EKS_VERSIONS
from trainyard.components.eks.log_group_plan import control_plane_log_group
from trainyard.importing.draft import Draft, StackDraft
from trainyard.importing.eks_addons import take_addon
from trainyard.importing.log_retention import take_retention
from trainyard.importing.reader import Reader
from trainyard.importing.terraform.blocks import Blocks
from trainyard.importing.terraform.capacity import imply_reservations
from trainyard.importing.terraform.groups import groups_of
from trainyard.importing.terraform.network import read_network
from trainyard.importing.terraform.node_groups import read_node_groups
from trainyard.importing.terraform.source_keys import CLUSTER_MODULE, CLUSTER_RESOURCE, Source, take
from trainyard.importing.terraform.storage import read_storage
from trainyard.importing.terraform.values import is_unknown

_LOG_TYPES = ["audit", "api", "authenticator"]
"""Default of the module: `enabled_log_types` in its `variables.tf`."""


def read_cluster(cluster: Reader, blocks: Blocks, stack: StackDraft) -> None:
    """Read an EKS cluster into a stack file."""
    is_module = cluster.node is not None and cluster.node.section == "eks"
    source = Source([(cluster, CLUSTER_MODULE if is_module else CLUSTER_RESOURCE)])
    source.at("name").claim("taken over", ours=("name",))
    for key, value in cluster.at("tags").entries():
        if value.node is not None and is_unknown(value.node):
            take(stack.cluster.section("tags"), key, value)
        else:
            stack.take_tag(key, value.value, value)
    vpc = read_network(blocks, source, stack)
    architecture = stack.cluster.section("architecture")
    architecture.put("kind", "eks")
    _read_version(source.at("version"), architecture)
    _read_access(source, architecture)
    _read_endpoint(source, architecture, is_module=is_module)
    if not take(architecture, "log_types", source.at("log_types")) and is_module:
        architecture.put("log_types", list(_LOG_TYPES))
    _read_log_group(source, blocks, architecture)
    take(architecture, "secrets_key_arn", source.at("key"))
    _read_addons(cluster, blocks, architecture)
    groups = list(groups_of(cluster, blocks))
    read_node_groups(groups, architecture, stack, blocks, vpc)
    read_storage(blocks, stack)
    imply_reservations(blocks)
    _imply_defaults(source)


def _read_version(source: Reader, architecture: Draft) -> None:
    if str(source.value) in EKS_VERSIONS:
        architecture.take("kubernetes_version", source, change=str)
    elif source.node is not None and source.node.tag:
        take(architecture, "kubernetes_version", source)
    else:
        architecture.better(
            "kubernetes_version",
            source,
            DEFAULT_KUBERNETES_VERSION,
            f"Kubernetes {source.value} is not in standard support, or no AMI of it is pinned; "
            f"stacks have {', '.join(EKS_VERSIONS)}",
            rule="H5",
        )


def _read_access(source: Source, architecture: Draft) -> None:
    mode = source.at("authentication_mode")
    take(architecture, "authentication_mode", mode)
    if mode.value == "API":
        architecture.put("node_authorization", "access-entry")
    creator = source.at("creator")
    creator.claim(
        "implied" if creator.flag is not False else "taken over better",
        "the principal that creates the cluster administers it",
    )


def _read_endpoint(source: Source, architecture: Draft, *, is_module: bool) -> None:
    endpoint = architecture.section("endpoint")
    public, private = source.at("public_access"), source.at("private_access")
    if not take(endpoint, "public_access", public) and is_module and not public.exists:
        # `endpoint_public_access` in `variables.tf` of the module, since version 19.
        endpoint.put("public_access", value=_major(source) == 18)
    take(endpoint, "private_access", private)
    cidrs = source.at("public_cidrs")
    if cidrs.value and endpoint.values.get("public_access") is not False:
        take(endpoint, "public_access_cidrs", cidrs)
    cidrs.dropped("the endpoint is not public")
    if not endpoint.values:
        del architecture.values["endpoint"]


def _read_log_group(source: Source, blocks: Blocks, architecture: Draft) -> None:
    take_retention(architecture, source.at("log_retention"))
    name = control_plane_log_group(str(source.at("name").value))
    for group in blocks.of("aws_cloudwatch_log_group"):
        if group.at("name").value == name:
            take_retention(architecture, group.at("retention_in_days"))
            if group.at("kms_key_id").value:
                group.at("kms_key_id").unsupported(
                    "the log group is encrypted with the key of CloudWatch Logs"
                )
            group.implied("the stack creates the log group of its control plane")


def _major(source: Source) -> int | None:
    match = re.search(r"\d+", str(source.reader.at("version").value))
    return int(match[0]) if match else None


def _addons_of(cluster: Reader, blocks: Blocks) -> Iterator[tuple[str, Reader]]:
    """Yield the name and the place of each add-on."""
    for key in ("addons", "cluster_addons"):
        for name, each in cluster.at(key).entries():
            yield str(each.at("name").value or name), each
    for block in blocks.of("aws_eks_addon"):
        yield str(block.at("addon_name").value), block


def _read_addons(cluster: Reader, blocks: Blocks, architecture: Draft) -> None:
    for name, each in _addons_of(cluster, blocks):
        version = each.at("addon_version")
        if not take_addon(name, each, named=each, version=version, architecture=architecture):
            continue
        each.at("most_recent").implied("the stack pins a version that it was tested with")
        for key in ("before_compute", "preserve", "resolve_conflicts_on_update", "timeouts"):
            each.at(key).implied("the stack installs its add-ons in the order that they need")
        each.at("resolve_conflicts_on_create").implied(
            "the stack overwrites fields that others have changed"
        )
        for key in ("service_account_role_arn", "pod_identity_association"):
            each.at(key).implied("the stack gives the add-on the role that it needs")
        each.at("configuration_values").unsupported(
            f"after `up`, set it with `aws eks update-addon --cluster-name CLUSTER --addon-name "
            f"{name} --configuration-values`"
        )
    if not architecture.values.get("addons", True):
        del architecture.values["addons"]


def _imply_defaults(source: Source) -> None:
    family = source.at("family")
    if str(family.value).lower() == "ipv4":
        family.implied("pods have IPv4 addresses")
    irsa = source.at("enable_irsa")
    irsa.claim(
        "implied" if irsa.flag is not False else "taken over better",
        "every cluster has an OIDC provider, so that pods can have roles",
    )
