"""The network of a Terraform cluster: a VPC that is created with it, or an existing one."""

from __future__ import annotations

from collections.abc import Sequence

from trainyard.importing.draft import Draft, StackDraft
from trainyard.importing.placeholders import id_for, is_id
from trainyard.importing.reader import Reader
from trainyard.importing.terraform.blocks import Blocks, reference_of
from trainyard.importing.terraform.source_keys import Source, take
from trainyard.importing.terraform.vpc_resources import ONE_OF_EACH_KIND, is_public, read_resources

VPCS = ("vpc", "aws_vpc")
"""Sections of VPCs: of the module and of the resource."""
_EXISTING = "an existing VPC is used as it is"
_NOTHING = (
    "the files have no VPC, no EKS cluster and nothing of AWS Batch, so only the report helps: "
    "name the directory that uses them as a module, or the state of Terraform"
)
_VALUES = (
    "copy the file into the directory of the module that has the variables, and import the copy"
)


def read_network(blocks: Blocks, cluster: Source, stack: StackDraft) -> Reader | None:
    """Read the network of a cluster, and return the VPC that the stack creates, if it does."""
    network = stack.cluster.section("network", cluster.reader)
    ids = _subnet_ids(cluster)
    vpc = _new_vpc(blocks, [cluster.at("vpc_id").value, *(each.value for each in ids)])
    if vpc is not None:
        for each in (cluster.at("vpc_id"), cluster.at("subnet_ids")):
            each.claim("taken over", "the stack creates the VPC", ours=network.at)
        _read_new(vpc, blocks, network, stack)
        if network.values.get("nat_gateways") == "none":
            # Which images and services nodes reach is a question of the add-ons of the stack.
            stack.own |= {(*network.at, "nat_gateways"), (*network.at, "interface_endpoints")}
        return vpc
    _read_existing(blocks, cluster, ids, network)
    return None


def read_network_stack(blocks: Blocks, stack: StackDraft) -> None:
    """Read the only VPC, or the first, as a stack with a network for others."""
    architecture = stack.cluster.section("architecture")
    architecture.put("kind", "network")
    architecture.put("efa_security_group", value=False)
    architecture.put("lustre_security_group", value=False)
    found = [*blocks.of(*VPCS)]
    if not found:
        stack.needs_network()
        blocks.root.report.notes.append(_read_values(blocks) or _NOTHING)
        return
    vpc, *others = found
    for other in others:
        other.unsupported("a stack has one VPC: import the others from directories of their own")
    network = stack.cluster.section("network", vpc)
    if is_id(vpc.at("id").value, "vpc"):
        vpc.report.notes.append(
            "the VPC exists, and the stack creates another one; to use it, set `network` of other "
            f"stacks to `kind: existing-vpc` with vpc_id: {vpc.at('id').value}"
        )
    _read_new(vpc, blocks, network, stack)


def _read_values(blocks: Blocks) -> str:
    """Report values of variables alone, and return what to do with them; empty for other files."""
    if any(".tfvars" not in name for name, _ in blocks.root.entries()):
        return ""
    for _, values in blocks.root.entries():
        values.unsupported(_VALUES)
    return f"the directory has values of variables only, and not the module: {_VALUES}"


def _read_new(vpc: Reader, blocks: Blocks, network: Draft, stack: StackDraft) -> None:
    network.put("kind", "new-vpc")
    if vpc.node is not None and vpc.node.section == "vpc":
        _read_module(vpc, network, stack)
    else:
        read_resources(vpc, blocks, network, stack)


def _subnet_ids(cluster: Source) -> list[Reader]:
    return [*cluster.at("subnet_ids").items(), *cluster.at("control_plane_subnet_ids").items()]


def _new_vpc(blocks: Blocks, values: Sequence[object]) -> Reader | None:
    """Return the module or resource of the VPC to which a cluster refers, directly or by subnet.

    A VPC in a state has an id: it exists, and the stack uses it.
    """
    for value in values:
        found = blocks.named(value)
        if found is None or found.node is None:
            continue
        if found.node.section == "aws_subnet":
            found = blocks.named(found.at("vpc_id").value)
        if found is None or found.node is None or is_id(found.at("id").value, "vpc"):
            continue
        if found.node.section in VPCS:
            return found
    if not any(is_id(value, prefix) for value in values for prefix in ("vpc", "subnet")):
        planned = blocks.first("aws_vpc")
        if planned is not None and not planned.at("id").exists and not any(values):
            return planned  # a plan does not say which subnets a cluster will have
    return None


def _read_existing(blocks: Blocks, cluster: Source, ids: Sequence[Reader], network: Draft) -> None:
    network.put("kind", "existing-vpc")
    vpc_id = cluster.at("vpc_id")
    network.take_id("vpc_id", vpc_id, "vpc")
    if not network.has("vpc_id"):
        network.needs("vpc_id", id_for("vpc"))
    public = [each for each in ids if _is_public(blocks, each)]
    network.take_ids("private_subnet_ids", [each for each in ids if each not in public], "subnet")
    network.take_ids("public_subnet_ids", public, "subnet")
    if not ids and cluster.at("subnet_ids").exists:
        cluster.at("subnet_ids").unsupported(
            "the files do not have the ids: set `network.private_subnet_ids` in the stack file"
        )
    if not network.has("private_subnet_ids"):
        network.needs("private_subnet_ids", [id_for("subnet", 1), id_for("subnet", 2)])
    if not network.has("public_subnet_ids"):
        network.put("public_subnet_ids", [])
    for block in blocks.of("aws_vpc", "aws_subnet", "vpc"):
        block.implied(_EXISTING)


def _is_public(blocks: Blocks, subnet: Reader) -> bool:
    block = blocks.named(subnet.value)
    if block is not None and block.node is not None and block.node.section == "aws_subnet":
        return is_public(block, blocks)
    found = reference_of(subnet.value)
    return found is not None and "public" in found.attribute


def _read_module(vpc: Reader, network: Draft, stack: StackDraft) -> None:
    """Read `terraform-aws-modules/vpc/aws`, with its defaults."""
    zones = vpc.at("azs")
    count = len(zones.value) if isinstance(zones.value, list) else 3
    example = [f"{stack.region or 'us-east-1'}{letter}" for letter in "abcdefgh"[: max(count, 2)]]
    if not take(network, "availability_zones", zones, example=example):
        network.needs("availability_zones", example)
    if not take(network, "cidr", vpc.at("cidr")):
        network.put("cidr", "10.0.0.0/16")
    take(network, "secondary_cidrs", vpc.at("secondary_cidr_blocks"))
    take(network, "flow_logs", vpc.at("enable_flow_log"))
    _read_cidrs(vpc.at("private_subnets"), "private_subnet_cidrs", count, network)
    public = vpc.at("public_subnets")
    _read_cidrs(public, "public_subnet_cidrs", count, network)
    _read_gateways(vpc, network, has_public=bool(public.value))
    for family in ("intra", "database", "elasticache", "redshift", "outpost"):
        vpc.at(f"{family}_subnets").unsupported(ONE_OF_EACH_KIND)


def _read_cidrs(source: Reader, key: str, zones: int, network: Draft) -> None:
    listed = list(source.items())
    if not listed:
        source.unsupported(f"the files do not have its value: set `network.{key}` if you need it")
        return
    if len(listed) < zones:
        source.unsupported(f"the stack has a subnet in each zone: set `network.{key}`")
        return
    for each in listed[zones:]:
        each.unsupported(ONE_OF_EACH_KIND)
    if any(each.node is not None and each.node.tag for each in listed[:zones]):
        source.unsupported(f"the files do not have its value: set `network.{key}` if you need it")
        return
    network.put(key, [each.value for each in listed[:zones]])
    for number, each in enumerate(listed[:zones]):
        each.claim("taken over", ours=(*network.at, key, number))


def _read_gateways(vpc: Reader, network: Draft, *, has_public: bool) -> None:
    enabled, single = vpc.at("enable_nat_gateway"), vpc.at("single_nat_gateway")
    of_zones = vpc.at("one_nat_gateway_per_az")
    if enabled.flag is not True or not has_public:
        gateways = "none"
    else:
        # Without either, the module creates one in each private subnet.
        gateways = "single" if single.flag is True else "one-per-zone"
    network.put("nat_gateways", gateways)
    if not has_public:
        network.put("public_subnets", value=False)
    for each in (enabled, single, of_zones):
        each.claim("taken over", ours=(*network.at, "nat_gateways"))
