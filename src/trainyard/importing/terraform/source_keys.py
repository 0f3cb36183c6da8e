"""Where modules and resources have what the conversion reads, under one name for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trainyard.importing.cloudformation.values import whole
from trainyard.importing.draft import Draft
from trainyard.importing.reader import Reader
from trainyard.importing.source import Location, text_of
from trainyard.importing.terraform.values import is_unknown

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
NODE_GROUP_RESOURCE: Paths = {
    "name": (("node_group_name",), ("node_group_name_prefix",)),
    "min_size": (("scaling_config", 0, "min_size"),),
    "max_size": (("scaling_config", 0, "max_size"),),
    "desired_size": (("scaling_config", 0, "desired_size"),),
    "taints": (("taint",),),
    "node_repair_config": (("node_repair_config", 0),),
    "key_name": (("remote_access", 0, "ec2_ssh_key"),),
}
AUTO_SCALING_GROUP: Paths = {
    "name": (("name_prefix",), ("name",)),
    "desired_size": (("desired_capacity",),),
    "subnet_ids": (("vpc_zone_identifier",),),
}
LAUNCH_CONFIGURATION: Paths = {
    "instance_types": (("instance_type",),),
    "name": (),
}
LAUNCH_TEMPLATE: Paths = {
    "capacity_reservation_specification": (("capacity_reservation_specification", 0),),
    "instance_market_options": (("instance_market_options", 0),),
    "placement": (("placement", 0),),
    "instance_types": (("instance_type",),),
    # These describe the template, not the node group.
    "name": (),
    "tags": (),
}


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
