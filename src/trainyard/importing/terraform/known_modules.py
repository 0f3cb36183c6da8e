"""The public modules whose inputs are read, and the outputs that say what an input says.

https://registry.terraform.io/modules/terraform-aws-modules/eks/aws
https://registry.terraform.io/modules/terraform-aws-modules/vpc/aws
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from trainyard.importing.source import Node
from trainyard.importing.terraform.syntax import Block
from trainyard.importing.terraform.values import node_of, unknown

_SOURCE = re.compile(
    r"(?:.*[/:])?terraform-aws-modules/(?:terraform-aws-)?(?P<name>eks|vpc)(?:/aws)?(?:\.git)?"
    r"(?://modules/(?P<sub>[\w-]+))?(?:\?.*)?"
)
"""An address of the registry, or of the repository in Git."""
_LOCAL_SUB = re.compile(
    r"\.{1,2}/(?:.*/)?modules/(?P<sub>(?:eks|self)-managed-node-group|fargate-profile|karpenter"
    r"|hybrid-node-role|capability|aws-auth|vpc-endpoints)"
)
_LONGEST_SOURCE = 2_000
_OF_EKS = {"cluster_name", "cluster_version", "kubernetes_version", "eks_managed_node_groups"}
"""Inputs by which a copy of the module in a local directory is recognized."""
_INPUTS: Mapping[str, tuple[str, ...]] = {
    "cluster_name": ("name", "cluster_name"),
    "cluster_version": ("kubernetes_version", "cluster_version"),
    "vpc_cidr_block": ("cidr",),
    "name": ("name",),
    "azs": ("azs",),
}
"""Inputs by the outputs that have their values."""
_SUBNETS = ("private", "public", "intra", "database", "elasticache", "redshift", "outpost")


def section_of(block: Block, values: Mapping[str, Node]) -> str:
    """Return the section of the key table that has the inputs of a module; empty without one."""
    source = str(values["source"].value) if "source" in values else ""
    if len(source) > _LONGEST_SOURCE:
        return ""
    match = _SOURCE.fullmatch(source) or _LOCAL_SUB.fullmatch(source)
    if match is not None:
        return match["sub"] or match["name"]
    directory = block.file.parent / source
    is_copy = source.startswith("../..") and not (directory / "versions.tf").is_file()
    is_source = (directory / "modules" / "eks-managed-node-group").is_dir()
    return "eks" if is_source or (is_copy and _OF_EKS & values.keys()) else ""


def outputs(section: str, values: Mapping[str, Node], address: str) -> dict[str, Node]:
    """Return the outputs of a known module that its inputs tell."""
    found: dict[str, Node] = {}
    for output, inputs in _INPUTS.items():
        given = next((values[each] for each in inputs if each in values), None)
        if given is not None and section:
            found[output] = given
    for family in _SUBNETS if section == "vpc" else ():
        cidrs = values.get(f"{family}_subnets")
        if cidrs is None or not isinstance(cidrs.value, list):
            continue
        name = f"{family}_subnets"
        ids = [
            unknown(f"{address}.{name}[{number}]", cidrs.line, cidrs.file)
            for number in range(len(cidrs.value))
        ]
        found[name] = node_of(ids, cidrs.line, cidrs.file)
        found[f"{name}_cidr_blocks"] = cidrs
    return found
