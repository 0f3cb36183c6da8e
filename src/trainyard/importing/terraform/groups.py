"""The node groups of a Terraform cluster: what they are, and where their values are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.importing.draft import plain_name
from trainyard.importing.reader import Reader
from trainyard.importing.source import Location
from trainyard.importing.terraform.blocks import Blocks, name_in_address
from trainyard.importing.terraform.source_keys import (
    AUTO_SCALING_GROUP,
    LAUNCH_CONFIGURATION,
    LAUNCH_TEMPLATE,
    NODE_GROUP_RESOURCE,
    Paths,
    Source,
)
from trainyard.importing.terraform.values import is_known

DEFAULT_TYPE = "t3.medium"
"""Of managed node groups, by the API of EKS: `CreateNodegroup`, `instanceTypes`."""
SELF_MANAGED_TYPE = "m6i.large"
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
        return str(given or (DEFAULT_TYPE if self.management == "managed" else SELF_MANAGED_TYPE))

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
        layers = [(block, NODE_GROUP_RESOURCE), *_template_of(block, blocks)]
        name = _name_of(block, "node_group_name_prefix", _name_of(block, "node_group_name"))
        yield Group(name, "managed", Source(layers))
    for block in blocks.of("aws_autoscaling_group"):
        if any(str(each.at("key").value).startswith(_OF_A_CLUSTER) for each in _tags(block)):
            layers = [(block, AUTO_SCALING_GROUP), *_template_of(block, blocks)]
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
            yield template, LAUNCH_TEMPLATE
            return
    configuration = block.at("launch_configuration").value
    template = blocks.named(configuration, "aws_launch_configuration")
    if template is not None:
        yield template, LAUNCH_CONFIGURATION


def _name_of(block: Reader, key: str, other: str = "") -> str:
    given = block.at(key)
    return str(given.value).strip("-") if is_known(given) else other or name_in_address(block)
