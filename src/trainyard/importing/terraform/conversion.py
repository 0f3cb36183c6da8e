"""A Terraform directory as a stack file."""

from __future__ import annotations

import re

from trainyard.importing.batch_jobs.conversion import WORDS as JOB_WORDS
from trainyard.importing.draft import StackDraft
from trainyard.importing.key_table import KeyTable
from trainyard.importing.reader import Reader
from trainyard.importing.report import Report
from trainyard.importing.source import Document
from trainyard.importing.terraform import keys
from trainyard.importing.terraform.batch import read_environments
from trainyard.importing.terraform.blocks import Blocks, address_of
from trainyard.importing.terraform.cluster import read_cluster
from trainyard.importing.terraform.fates import FATES as FATES
from trainyard.importing.terraform.network import VPCS, read_network_stack
from trainyard.importing.terraform.values import is_known

KEYS: KeyTable = keys.KEYS
WORDS = {
    **JOB_WORDS,
    "instance_type": "instance_types",
    "efa_enabled": "enable_efa_support",
    "availability_zone": "subnet_ids",
    "availability_zones": "azs",
    "subnet_id": "subnet_ids",
    "purchase_option": "capacity_reservation_specification",
    "reservation_id": "capacity_reservation_id",
    "group_arn": "capacity_reservation_resource_group_arn",
    "minimum": "min_size",
    "desired": "desired_size",
    "maximum": "max_size",
    "size_gib": "volume_size",
    "throughput_mibps": "throughput",
    "auto_repair": "node_repair_config",
    "node_monitoring_agent": "eks-node-monitoring-agent",
    "private_subnet_ids": "subnet_ids",
    "public_subnet_ids": "subnet_ids",
    "nat_gateways": "enable_nat_gateway",
    "node_groups": "eks_managed_node_groups",
    "system_node_group": "eks_managed_node_groups",
    "storage_capacity_gib": "storage_capacity",
    "private_subnet_cidrs": "private_subnets",
    "public_subnet_cidrs": "public_subnets",
    "secondary_cidrs": "secondary_cidr_blocks",
}
_ARN = re.compile(r"arn:[\w-]+:[a-z0-9-]+:(?P<region>[a-z0-9-]+):")
_CLUSTERS = ("eks", "aws_eks_cluster")
_GROUPS = ("eks-managed-node-group", "self-managed-node-group", "aws_eks_node_group")
_OF_BATCH = ("aws_batch_compute_environment", "aws_batch_job_definition")
MARKS = (*_CLUSTERS, *_GROUPS, *_OF_BATCH, *VPCS)
"""Sections by which a document is one to read."""


def name_of(document: Document) -> str:
    """Return the name of the cluster, otherwise that of the directory."""
    blocks = Blocks(Reader(document.root, (), Report()))
    for block in blocks.of(*_CLUSTERS):
        for key in ("name", "cluster_name"):
            given = block.at(key)
            if is_known(given):
                return str(given.value)
    directory = document.path if document.path.is_dir() else document.path.parent
    return directory.resolve().name if document.path.suffix != ".json" else document.path.stem


def convert(source: Reader, stack: StackDraft) -> None:
    """Read the first cluster of a document into a stack file; the others are reported."""
    blocks = Blocks(source)
    stack.cluster.put("name", stack.name)
    _read_region(blocks, stack)
    clusters = list(blocks.of(*_CLUSTERS))
    cluster = clusters[0] if clusters else blocks.first(*_GROUPS)
    if cluster is not None:
        for other in clusters[1:]:
            other.unsupported(
                f"a stack has one cluster, and this one is {address_of(cluster)}: move the other "
                "one to a directory of its own, and import that"
            )
        read_cluster(cluster, blocks, stack)
    elif blocks.first(*_OF_BATCH) is not None:
        read_environments(blocks, stack)
    else:
        read_network_stack(blocks, stack)


def _read_region(blocks: Blocks, stack: StackDraft) -> None:
    """Read the region of the provider; a state has it in its ARNs."""
    for provider in blocks.of("provider"):
        if provider.location == ("provider.aws",) and provider.at("region").exists:
            stack.take_region(provider.at("region"))
            return
    for block in blocks.of(*MARKS):
        found = _ARN.match(str(block.at("arn").value))
        if found is not None:
            stack.region = found["region"]
            block.at("arn").claim("taken over", "it has `aws:region` of the stack file")
            return
