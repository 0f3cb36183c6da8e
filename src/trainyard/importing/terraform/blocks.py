"""The blocks of a document, and where clusters and node groups have their values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from typing_extensions import override

from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.importing.draft import Draft, plain_name
from trainyard.importing.key_table import KeyTable, ShapeProblem, keys_beside
from trainyard.importing.report import Reader, whole
from trainyard.importing.source import Location, Node, child, text_of
from trainyard.importing.terraform import versions
from trainyard.importing.terraform.values import is_known, is_unknown


@dataclass(frozen=True)
class BlockKeys(KeyTable):
    """The keys of blocks, of which a later module or provider than the known ones has others."""

    @override
    def problems(self, root: Node) -> list[ShapeProblem]:
        """Return the problems of a document, in the order of its lines."""
        provider = versions.is_known(_provider_constraint(root), versions.LAST_PROVIDER)
        found: list[ShapeProblem] = []
        for problem in super().problems(root):
            block = child(root, problem.location[0])
            section = "" if block is None else block.section
            unsure = ""
            if problem.key != "unknown-key" or block is None:
                pass
            elif section.startswith("aws_"):
                unsure = "" if provider else _shown(versions.LAST_PROVIDER, "of the provider")
            elif not versions.is_known(versions.wanted_version(block), versions.LAST_MODULE):
                unsure = _shown(versions.LAST_MODULE, "of the module")
            found.append(replace(problem, unsure=unsure))
        return found


def _shown(version: tuple[int, ...], of_what: str) -> str:
    return f"version {'.'.join(map(str, version))} {of_what}, the last one that is known here"


def _provider_constraint(root: Node) -> str:
    """Return the constraint of the AWS provider in the blocks `terraform`; empty without one."""
    for node in root.value.values():
        providers = child(node, "required_providers")
        providers = child(providers, 0) or providers  # a block is a list of one
        version = child(child(providers, "aws"), "version")
        if node.section == "terraform" and version is not None and not version.tag:
            return str(version.value)
    return ""


KEYS = BlockKeys(keys_beside(__file__))
"""A section is a module (`eks`), a resource (`aws_eks_cluster`), or a kind of other blocks."""
COMPUTED = frozenset(
    {
        *("arn", "id", "owner_id", "status", "status_reason", "created_at", "modified_at"),
        *("latest_version", "default_version", "ecs_cluster_arn", "resources", "dns_name"),
        *("mount_name", "network_interface_ids", "revision", "arn_prefix", "placement_group_id"),
        *("default_network_acl_id", "default_route_table_id", "default_security_group_id"),
        *("main_route_table_id", "dhcp_options_id", "ipv6_association_id", "vpc_id"),
        *("ipv6_cidr_block_association_id", "association_id", "access_entry_arn"),
        *("associated_at", "external_id", "created_date", "reservation_type"),
    }
)
"""Attributes of resources that AWS sets, or that name an object of the same VPC."""


_REFERENCE = re.compile(
    r"\$\{(?P<address>(?:module\.[\w-]+(?:\[[^\]]+\])?\.)*?"
    r"(?:module\.[\w-]+|[a-z]\w*\.[\w-]+)(?:\[[^\]]+\])?)\.(?P<attribute>\w+)"
    r"(?:\[(?P<index>\d+)\])?\}"
)
_KEY = re.compile(r'\[(?:\d+|"(?:[^"\\]|\\.)*")\]')
_LOAD_BALANCERS = "kubernetes.io/role/elb"
"""Tag of public subnets: https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html"""
_ANY = ("this", "main", "default")
"""Labels of the only block of its type in a module."""


@dataclass(frozen=True, slots=True)
class Reference:
    """An attribute of a block, which is known after deployment."""

    address: str
    attribute: str
    index: int | None
    """Index in a list, such as that of a subnet."""


def _reference_of(value: Any) -> Reference | None:
    """Return what a value refers to, if it is nothing but a reference."""
    match = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        return None
    index = int(match["index"]) if match["index"] else None
    return Reference(match["address"], match["attribute"], index)


@dataclass(frozen=True)
class Blocks:
    """The blocks of a document."""

    root: Reader

    def of(self, *sections: str) -> Iterator[Reader]:
        """Yield the blocks of sections, in the order of the document."""
        if len(sections) == 1:
            yield from self._by_section.get(sections[0], ())
            return
        for _, block in self._all:
            if block.node is not None and block.node.section in sections:
                yield block

    def first(self, *sections: str) -> Reader | None:
        """Return the first block of sections."""
        return next(self.of(*sections), None)

    def named(self, value: Any, *sections: str) -> Reader | None:
        """Return the block to which a value refers, or that has it as its id, ARN or name.

        Args:
            value: The value.
            sections: Sections of the block; any without one.
        """
        found = _reference_of(value)
        if found is not None:
            at = self.root.at(found.address)
            is_wanted = at.node is not None and (not sections or at.node.section in sections)
            return at if at.exists and is_wanted else None
        if not isinstance(value, str):
            return None
        named = (
            block
            for block in self._by_name.get(value, ())
            if block.node is not None and (not sections or block.node.section in sections)
        )
        return next(named, None)

    @cached_property
    def _all(self) -> Sequence[tuple[str, Reader]]:
        return [*self.root.entries()]

    @cached_property
    def _by_section(self) -> Mapping[str, Sequence[Reader]]:
        found: dict[str, list[Reader]] = {}
        for _, block in self._all:
            if block.node is not None:
                found.setdefault(block.node.section, []).append(block)
        return found

    @cached_property
    def _by_name(self) -> Mapping[str, Sequence[Reader]]:
        """The blocks by their ids, ARNs and names; ids come first."""
        found: dict[str, list[Reader]] = {}
        for key in ("id", "arn", "name"):
            for _, block in self._all:
                value = None if block.node is None else child(block.node, key)
                if value is not None and isinstance(value.value, str):
                    found.setdefault(value.value, []).append(block)
        return found


_IN_STACK = {
    "nvidia-device-plugin": "the stack installs the NVIDIA device plugin itself",
    "gpu-operator": (
        "the stack installs the NVIDIA device plugin itself, and its nodes have the driver; if you "
        "need other parts of the operator, install it with `devicePlugin.enabled=false`, "
        "`driver.enabled=false` and `toolkit.enabled=false`"
    ),
    "aws-efa-k8s-device-plugin": "the stack installs the EFA device plugin itself",
    "neuron-helm-chart": "the stack installs the Neuron device plugin and scheduler itself",
    "aws-neuron-device-plugin": "the stack installs the Neuron device plugin itself",
    "aws-fsx-csi-driver": (
        "the stack installs the driver itself, as an add-on of EKS: set `addons.fsx_csi_driver`"
    ),
    "aws-ebs-csi-driver": (
        "the stack installs the driver itself, as an add-on of EKS: set `addons.ebs_csi_driver`"
    ),
    "cluster-autoscaler": (
        "node groups of a stack have fixed sizes and the tags that it reads; nodes that it takes "
        "away are missing in jobs, so run it only for node groups without a reservation"
    ),
}
"""Charts that a stack replaces, and by what."""
_ORDER = (
    "leave it out of what you apply to the cluster of the stack, where two of each would run on a "
    "node: 1. `./trainyard up`, 2. move the workloads, 3. remove the release with the old cluster"
)
_RELEASE = "helm_release."
_OF_BLUEPRINTS = re.compile("eks-(?:blueprints|data)-addons")
"""Modules that install charts by inputs such as `enable_aws_efa_k8s_device_plugin`:
https://github.com/aws-ia/terraform-aws-eks-blueprints-addons and
https://github.com/aws-ia/terraform-aws-eks-data-addons"""


def charts_of(blocks: Blocks) -> Iterator[tuple[Reader, str]]:
    """Yield charts that a stack replaces, also those of the modules of EKS Blueprints, and why."""
    for address, block in blocks.root.entries():
        if _RELEASE in address:
            named = f"{block.at('chart').value} {block.at('name').value}"
            chart = next((each for each in _IN_STACK if each in named), None)
            if chart is not None:
                yield block, f"{_IN_STACK[chart]}; {_ORDER}"
        elif _OF_BLUEPRINTS.search(str(block.at("source").value)):
            for key, value in block.entries():
                chart = key.removeprefix("enable_").replace("_", "-")
                if key.startswith("enable_") and value.flag is not False and chart in _IN_STACK:
                    yield value, f"{_IN_STACK[chart]}; {_ORDER}"


_FROM_STATE = (
    "the files do not have {number} values, such as {example}: a plan or a state has them; "
    "`terraform plan -out tfplan && terraform show -json tfplan > plan.json` prints one, and "
    "`./trainyard import plan.json` reads it"
)


def missing_note(blocks: Blocks) -> list[str]:
    """Return what to say once of the values that a plan or a state has, and the files do not."""
    missing = [
        claim.location
        for claim in blocks.root.report.claims.values()
        if claim.fate == "not supported" and claim.ours
    ]
    if not missing or any(blocks.of("shown", "computed", "empty")):
        return []
    return [_FROM_STATE.format(number=len(missing), example=text_of(missing[0]))]


def _name_in_address(block: Reader) -> str:
    """Return the name of a block for the stack file: its key, its label, or that of its module."""
    address = address_of(block)
    keys = re.findall(r'\["([^"]+)"\]', address)
    label = _label_of(block)
    if keys:
        return keys[-1] if label in _ANY else f"{label}-{keys[-1]}"
    modules = module_of(address)
    return modules[-1] if label in _ANY and modules else label


def _label_of(block: Reader) -> str:
    """Return the last label of a block: `private` of `aws_subnet.private[0]`."""
    return without_keys(address_of(block)).split(".")[-1]


def without_keys(address: str) -> str:
    """Return an address without the keys of `count` and `for_each`."""
    return _KEY.sub("", address)


def module_of(address: str) -> tuple[str, ...]:
    """Return the names of the modules in an address."""
    return tuple(re.findall(r"(?:^|\.)module\.([\w-]+)", without_keys(address)))


def address_of(block: Reader) -> str:
    """Return the address of a block."""
    return str(block.location[0])


Paths = Mapping[str, Sequence[Location]]
"""Places of a value, by the name that the conversion uses."""

CLUSTER_MODULE: Paths = {
    # Version 21 dropped the prefix `cluster_`: docs/UPGRADE-21.0.md of the module.
    "name": (("name",), ("cluster_name",)),
    "version": (("kubernetes_version",), ("cluster_version",)),
    "public_access": (("endpoint_public_access",), ("cluster_endpoint_public_access",)),
    "private_access": (("endpoint_private_access",), ("cluster_endpoint_private_access",)),
    "public_cidrs": (("endpoint_public_access_cidrs",), ("cluster_endpoint_public_access_cidrs",)),
    "log_types": (("enabled_log_types",), ("cluster_enabled_log_types",)),
    "log_retention": (("cloudwatch_log_group_retention_in_days",),),
    "key": (
        ("encryption_config", "provider_key_arn"),
        ("cluster_encryption_config", "provider_key_arn"),
    ),
    "family": (("ip_family",), ("cluster_ip_family",)),
    "creator": (("enable_cluster_creator_admin_permissions",),),
}
CLUSTER_RESOURCE: Paths = {
    "public_access": (("vpc_config", 0, "endpoint_public_access"),),
    "private_access": (("vpc_config", 0, "endpoint_private_access"),),
    "public_cidrs": (("vpc_config", 0, "public_access_cidrs"),),
    "log_types": (("enabled_cluster_log_types",),),
    "key": (("encryption_config", 0, "provider", 0, "key_arn"),),
    "family": (("kubernetes_network_config", 0, "ip_family"),),
    "creator": (("access_config", 0, "bootstrap_cluster_creator_admin_permissions"),),
    "authentication_mode": (("access_config", 0, "authentication_mode"),),
    "subnet_ids": (("vpc_config", 0, "subnet_ids"),),
    "vpc_id": (("vpc_config", 0, "vpc_id"),),
}
_NODE_GROUP_RESOURCE: Paths = {
    "name": (("node_group_name",), ("node_group_name_prefix",)),
    "min_size": (("scaling_config", 0, "min_size"),),
    "max_size": (("scaling_config", 0, "max_size"),),
    "desired_size": (("scaling_config", 0, "desired_size"),),
    "taints": (("taint",),),
    "node_repair_config": (("node_repair_config", 0),),
    "key_name": (("remote_access", 0, "ec2_ssh_key"),),
}
_AUTO_SCALING_GROUP: Paths = {
    "name": (("name_prefix",), ("name",)),
    "desired_size": (("desired_capacity",),),
    "subnet_ids": (("vpc_zone_identifier",),),
}
_LAUNCH_CONFIGURATION: Paths = {
    "instance_types": (("instance_type",),),
    "name": (),
}
_LAUNCH_TEMPLATE: Paths = {
    "capacity_reservation_specification": (("capacity_reservation_specification", 0),),
    "instance_market_options": (("instance_market_options", 0),),
    "placement": (("placement", 0),),
    "instance_types": (("instance_type",),),
    # These describe the template, not the node group.
    "name": (),
    "tags": (),
}


def is_public(subnet: Reader, blocks: Blocks) -> bool:
    """Return whether a subnet is public, as far as the files say."""
    block = blocks.named(subnet.value, "aws_subnet")
    if block is None:
        found = _reference_of(subnet.value)
        return found is not None and "public" in found.attribute
    if block.at("map_public_ip_on_launch").flag is True:
        return True
    if _LOAD_BALANCERS in (block.at("tags").value or {}):
        return True
    routes = [*_routes(block, blocks)]
    if routes:
        return any(_leads_to_internet(each, blocks) for each in routes)
    return "public" in _label_of(block).lower()


def _routes(subnet: Reader, blocks: Blocks) -> list[Reader]:
    tables = [
        table
        for each in blocks.of("aws_route_table_association")
        if blocks.named(each.at("subnet_id").value) == subnet
        and (table := blocks.named(each.at("route_table_id").value)) is not None
    ]
    own = [route for each in tables for route in each.at("route").items()]
    return own + [
        each
        for each in blocks.of("aws_route")
        if blocks.named(each.at("route_table_id").value) in tables
    ]


def _leads_to_internet(route: Reader, blocks: Blocks) -> bool:
    gateway = route.at("gateway_id").value
    if str(gateway).startswith("igw-"):
        return True
    return blocks.named(gateway, "aws_internet_gateway") is not None


@dataclass(frozen=True, slots=True)
class Source:
    """A module or a resource, with what it takes values from where it has none itself."""

    layers: Sequence[tuple[Reader, Paths]]

    def at(self, name: str, *keys: str | int) -> Reader:
        """Return the place of a value: the first that has one, otherwise the first place."""
        places = [
            reader.at(*path)
            for reader, paths in self.layers
            for path in paths.get(name, ((name,),))
        ]
        found = next((each for each in places if each.exists), places[0])
        for key in keys:
            # Modules have an object where a resource has a block, which is a list of one.
            found = found.at(0) if isinstance(found.value, list) and key != 0 else found
            found = found.at(key)
        return found

    @property
    def reader(self) -> Reader:
        """The module or the resource itself."""
        return self.layers[0][0]


def take(
    draft: Draft,
    key: str,
    source: Reader,
    *,
    example: Any = None,
    change: Callable[[Any], Any] | None = None,
) -> bool:
    """Set a key to the value of the source, if the files have it, and return whether they do.

    Args:
        draft: Section of the stack file.
        key: Its key.
        source: Place of the value.
        example: Value with which the rest can be checked, if the key needs one.
        change: Changes the value into that of the stack file.
    """
    if not source.exists:
        return False
    if source.node is not None and is_unknown(source.node):
        if example is not None:
            draft.needs(key, example)
        source.claim(
            "not supported",
            f"the files do not have its value: set `{text_of((*draft.at, key))}` in the stack file",
            ours=(*draft.at, key),
        )
        return False
    return draft.take(key, source, change=change)


def take_number(draft: Draft, key: str, source: Reader, *, example: int | None = None) -> bool:
    """Set a key to a whole number as `take` does; Terraform also takes a text that is one."""
    number = whole(source)
    change = None if number is None else lambda _: number
    return take(draft, key, source, example=example, change=change)


_DEFAULT_TYPE = "t3.medium"
"""Of managed node groups, by the API of EKS: `CreateNodegroup`, `instanceTypes`."""
_SELF_MANAGED_TYPE = "m6i.large"
"""`instance_type` in `modules/self-managed-node-group/variables.tf` of the module."""
_EFA_TYPES = ("efa", "efa-only")
_OF_A_CLUSTER = ("kubernetes.io/cluster/", "k8s.io/cluster/")
"""Begin of the tag by which EKS and its AMI know nodes: `self-managed-node-group/main.tf` of the
module, and https://docs.aws.amazon.com/eks/latest/userguide/launch-workers.html"""
_TEMPLATES: Sequence[Location] = (
    ("launch_template", 0, "id"),
    ("launch_template", 0, "name"),
    (
        *("mixed_instances_policy", 0, "launch_template", 0, "launch_template_specification", 0),
        "launch_template_id",
    ),
)
"""Places of the launch template in a node group or an Auto Scaling group."""


class Group:
    """A node group with its name and who manages it."""

    def __init__(self, name: str, management: str, source: Source, inputs: str = "") -> None:
        self.name = plain_name(name)
        self.management = management
        self.source = source
        self.inputs = inputs
        """Input of the module that has it; empty for a block of its own."""

    @property
    def instance_type(self) -> str:
        """The first instance type, or the default."""
        types = list(self.source.at("instance_types").items())
        single = self.source.at("instance_type")
        given = types[0].value if types else single.value or self.source.at("instance_types").value
        return str(given or (_DEFAULT_TYPE if self.management == "managed" else _SELF_MANAGED_TYPE))

    @property
    def has_efa(self) -> bool:
        """Whether its nodes have EFA interfaces."""
        source = self.source
        listed = source.at("network_interfaces").items()
        return source.at("enable_efa_support").flag is True or any(
            each.at("interface_type").value in _EFA_TYPES for each in listed
        )

    @property
    def is_for_services(self) -> bool:
        """Whether it can be the system node group: no accelerators, EFA, Spot or reservation."""
        source = self.source
        reserved = source.at("capacity_reservation_specification", "capacity_reservation_target")
        market = source.at("instance_market_options", "market_type")
        if self.has_efa or reserved.value or market.value or source.at("taints").value:
            return False
        found = INSTANCE_TYPES.get(self.instance_type)
        is_on_demand = source.at("capacity_type").value in (None, "ON_DEMAND")
        return is_on_demand and found is not None and found.accelerators is None


def groups_of(cluster: Reader, blocks: Blocks) -> Iterator[Group]:
    """Yield the node groups of a cluster, of its module and of resources."""
    for kind, management in (("eks", "managed"), ("self", "self-managed")):
        inputs = "eks_managed_node_groups" if kind == "eks" else "self_managed_node_groups"
        defaults = cluster.at(inputs.removesuffix("s") + "_defaults")
        for name, each in cluster.at(inputs).entries():
            source = Source([(each, {}), (defaults, {})])
            yield Group(_name_of(each, "name", name), management, source, inputs)
        for block in blocks.of(f"{kind}-managed-node-group"):
            yield Group(_name_of(block, "name"), management, Source([(block, {})]))
    for block in blocks.of("aws_eks_node_group"):
        layers = [(block, _NODE_GROUP_RESOURCE), *_template_of(block, blocks)]
        name = _name_of(block, "node_group_name_prefix", _name_of(block, "node_group_name"))
        yield Group(name, "managed", Source(layers))
    for block in blocks.of("aws_autoscaling_group"):
        if any(str(each.at("key").value).startswith(_OF_A_CLUSTER) for each in _tags(block)):
            layers = [(block, _AUTO_SCALING_GROUP), *_template_of(block, blocks)]
            name = _name_of(block, "name_prefix", _name_of(block, "name"))
            yield Group(name, "self-managed", Source(layers))


def _tags(block: Reader) -> Iterator[Reader]:
    yield from block.at("tag").items()
    yield from block.at("tags").items()


def _template_of(block: Reader, blocks: Blocks) -> Iterator[tuple[Reader, Paths]]:
    """Yield the launch template, or the launch configuration, of a group."""
    for place in _TEMPLATES:
        template = blocks.named(block.at(*place).value, "aws_launch_template")
        if template is not None:
            template.at("id").implied("the stack writes the launch template")
            block.at(place[0]).implied("the stack writes the launch template")
            yield template, _LAUNCH_TEMPLATE
            return
    configuration = block.at("launch_configuration").value
    template = blocks.named(configuration, "aws_launch_configuration")
    if template is not None:
        yield template, _LAUNCH_CONFIGURATION


def _name_of(block: Reader, key: str, other: str = "") -> str:
    given = block.at(key)
    return str(given.value).strip("-") if is_known(given) else other or _name_in_address(block)
