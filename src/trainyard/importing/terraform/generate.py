"""Generate `keys.txt` from the variables of the modules and the schema of the provider.

Clone terraform-aws-modules/terraform-aws-eks and terraform-aws-modules/terraform-aws-vpc, save the
output of `terraform providers schema -json` for hashicorp/aws, and run
`python -m trainyard.importing.terraform.generate EKS_REPOSITORY VPC_REPOSITORY SCHEMA`.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hcl2 import parses_to_tree

from trainyard.importing.batch_jobs.generate import definition_keys
from trainyard.importing.terraform.syntax import children, text_of

DATA_FILE = Path(__file__).with_name("keys.txt")
VERSIONS: Mapping[str, Sequence[str]] = {
    "eks": ("v18.31.2", "v19.21.0", "v20.37.2", "v21.19.0"),
    "vpc": ("v3.19.0", "v4.0.2", "v5.21.0", "v6.6.0"),
}
"""Last releases of the major versions whose inputs are read."""
PROVIDER = "registry.terraform.io/hashicorp/aws"
RESOURCES = (
    "aws_eks_cluster",
    "aws_eks_node_group",
    "aws_eks_addon",
    "aws_eks_access_entry",
    "aws_eks_access_policy_association",
    "aws_eks_pod_identity_association",
    "aws_eks_fargate_profile",
    "aws_launch_template",
    "aws_batch_compute_environment",
    "aws_batch_job_queue",
    "aws_batch_job_definition",
    "aws_batch_scheduling_policy",
    "aws_vpc",
    "aws_vpc_ipv4_cidr_block_association",
    "aws_subnet",
    "aws_fsx_lustre_file_system",
    "aws_fsx_data_repository_association",
    "aws_ec2_capacity_reservation",
    "aws_ec2_capacity_block_reservation",
    "aws_placement_group",
)
_NAMED: Mapping[str, tuple[str, str]] = {
    "eks_managed_node_groups": ("node_groups.tf", "eks_managed_node_group"),
    "self_managed_node_groups": ("node_groups.tf", "self_managed_node_group"),
}
"""Inputs with objects by names of the user, and the block that reads the attributes of each."""
_DEFAULTS = {
    "eks_managed_node_group_defaults": "eks_managed_node_groups",
    "self_managed_node_group_defaults": "self_managed_node_groups",
}
_READS = re.compile(r"each\.value\.([a-z]\w+)")
_SCALARS = {"string": "text", "number": "number", "bool": "boolean"}
_JOB_DEFINITION = "aws_batch_job_definition"
_JSON = {"containerProperties": "container_properties", "nodeProperties": "node_properties"}
"""Attributes of job definitions that are JSON, by the keys of the API that they have."""
_META_MODULE = ("source", "version", "count", "for_each", "providers", "depends_on")
_META_RESOURCE = ("count", "for_each", "provider", "depends_on", "lifecycle", "provisioner")
_OTHERS = (
    *("variable", "locals", "output", "provider", "terraform", "data", "resource", "module"),
    *("local-module", "other", "shown", "user-data"),
    # Resources whose attributes are not checked.
    *("aws_autoscaling_group", "aws_autoscaling_schedule", "aws_launch_configuration"),
    *("aws_nat_gateway", "aws_eip", "aws_internet_gateway", "aws_egress_only_internet_gateway"),
    *("aws_route_table", "aws_route", "aws_route_table_association", "aws_vpc_endpoint"),
    *("aws_default_network_acl", "aws_default_route_table", "aws_default_security_group"),
    *("aws_flow_log", "aws_cloudwatch_log_group", "aws_ec2_tag", "aws_kms_key", "aws_kms_alias"),
    *("aws_iam_role", "aws_iam_role_policy", "aws_iam_role_policy_attachment", "aws_iam_policy"),
    *("aws_iam_instance_profile", "aws_iam_openid_connect_provider"),
    *("aws_security_group", "aws_security_group_rule", "aws_vpc_security_group_egress_rule"),
    *("aws_vpc_security_group_ingress_rule", "aws_efs_file_system", "aws_efs_mount_target"),
    *("aws_efs_access_point", "time_sleep", "null_resource"),
)
_OF_PLANS = ("empty", "computed", "later")
"""Sections of single values in a plan or a state: without a value, set by AWS, and attributes of
other versions of the provider."""
_OF_PROVIDER_6: Mapping[str, str] = {
    # CHANGELOG.md of hashicorp/terraform-provider-aws, 6.0.0; `region` and `update_strategy` are
    # in `main.tf` of version 21 of the EKS module. The others are the properties of pulumi-aws
    # 7.51.1, which has version 6 of the provider, that the schema of version 5 does not have.
    "aws_batch_compute_environment.name": "text",
    "aws_batch_compute_environment.name_prefix": "text",
    **{
        f"aws_batch_job_definition.eks_properties.pod_properties.{containers}."
        "security_context.allow_privilege_escalation": "boolean"
        for containers in ("containers", "init_containers")
    },
    "aws_batch_compute_environment.compute_resources.ec2_configuration."
    "image_kubernetes_version": "text",
    **{
        f"aws_eks_cluster.{key}": "anys"
        for key in (
            *("control_plane_scaling_config", "kube_api_server_config"),
            *("kube_controller_manager_config", "kube_scheduler_config"),
        )
    },
    "aws_eks_cluster.deletion_protection": "boolean",
    "aws_eks_cluster.vpc_config.control_plane_egress_mode": "text",
    "aws_eks_addon.namespace_config": "anys",
    "aws_eks_node_group.node_repair_config.node_repair_config_overrides": "anys",
    **{
        f"aws_eks_node_group.node_repair_config.{key}": "number"
        for key in (
            *("max_parallel_nodes_repaired_count", "max_parallel_nodes_repaired_percentage"),
            *("max_unhealthy_node_threshold_count", "max_unhealthy_node_threshold_percentage"),
        )
    },
    "aws_eks_node_group.update_config.update_strategy": "text",
    "aws_eks_node_group.warm_pool_config": "anys",
    "aws_eks_pod_identity_association.disable_session_tags": "boolean",
    "aws_eks_pod_identity_association.external_id": "text",
    "aws_eks_pod_identity_association.policy": "text",
    "aws_eks_pod_identity_association.target_role_arn": "text",
    "aws_launch_template.cpu_options.nested_virtualization": "text",
    "aws_launch_template.network_interfaces.ena_queue_count": "number",
    "aws_launch_template.network_performance_options": "anys",
    "aws_launch_template.placement.group_id": "text",
    "aws_launch_template.secondary_interfaces": "anys",
    "aws_subnet.ipv4_ipam_pool_id": "text",
    "aws_subnet.ipv4_netmask_length": "number",
    "aws_subnet.ipv6_ipam_pool_id": "text",
    "aws_subnet.ipv6_netmask_length": "number",
    **{f"{resource}.region": "text" for resource in RESOURCES},
}
"""Attributes that version 6 of the provider has in addition to those of version 5."""


def table(eks: Path, vpc: Path, schema: Mapping[str, Any], version: str) -> str:
    """Return the data file: one key a line, with its kind."""
    rows = dict.fromkeys(_OTHERS, "map") | dict.fromkeys(_OF_PLANS, "any")
    for name, repository in (("eks", eks), ("vpc", vpc)):
        for tag in VERSIONS[name]:
            _merge(rows, _module(name, repository, tag))
    for resource in RESOURCES:
        block = schema["resource_schemas"][resource]["block"]
        rows[resource] = "section"
        rows |= {f"{resource}.{key}": "any" for key in _META_RESOURCE}
        rows |= dict(_resource(resource, block))
    for path, kind in definition_keys().items():
        attribute, *below = path.split(".")
        if attribute in _JSON:
            rows[".".join((_JOB_DEFINITION, _JSON[attribute], *below))] = kind
    rows |= _OF_PROVIDER_6
    versions = "; ".join(f"{name} {', '.join(tags)}" for name, tags in VERSIONS.items())
    source = (
        f"# Inputs of terraform-aws-modules ({versions}), and attributes of {PROVIDER} {version}."
    )
    return "".join(
        f"{line}\n" for line in (source, *(f"{path} {rows[path]}" for path in sorted(rows)))
    )


def _merge(rows: dict[str, str], found: Mapping[str, str]) -> None:
    """Add the keys of a version; a key whose kind differs between versions has any value."""
    for path, kind in found.items():
        rows[path] = kind if rows.get(path, kind) == kind else "any"


def _shown(repository: Path, tag: str, file: str) -> str:
    command = ["git", "-C", str(repository), "show", f"{tag}:{file}"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _module(name: str, repository: Path, tag: str) -> dict[str, str]:
    command = ["git", "-C", str(repository), "ls-tree", "-r", "--name-only", tag]
    files = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    found: dict[str, str] = {}
    for file in files:
        match = re.fullmatch(r"(?:modules/([a-z][\w-]+)/)?variables\.tf", file)
        if match is None:
            continue
        section = match[1] or name
        found[section] = "section"
        found |= {f"{section}.{key}": "any" for key in _META_MODULE}
        found |= dict(_variables(section, repository, tag, file))
    return found


def _variables(section: str, repository: Path, tag: str, file: str) -> Iterator[tuple[str, str]]:
    text = _shown(repository, tag, file)
    for block in children(parses_to_tree(text).children[0]):
        _, label, body = children(block)
        name = text_of(label, text).strip('"')
        types = {
            str(next(children(each)).children[0]): list(children(each))[1]
            for each in children(body, "attribute")
        }
        given = text_of(types["type"], text) if "type" in types else "any"
        named = _DEFAULTS.get(name, name)
        if section == "eks" and named in _NAMED:
            yield f"{section}.{name}", "named" if name in _NAMED else "any"
            for key in sorted(_object_keys(named, given, repository, tag)):
                yield f"{section}.{name}.{key}", "any"
        else:
            yield f"{section}.{name}", _kind_of_type(given)


def _object_keys(name: str, given: str, repository: Path, tag: str) -> set[str]:
    """Return the attributes of an object, by its type or by what the module reads of it."""
    file, module = _NAMED[name]
    text = _shown(repository, tag, file)
    text = text[text.index(f'module "{module}"') :]
    text = text[: text.index("\n}\n")]
    found = set(_READS.findall(text))
    if "object(" in given:
        inner = given[given.index("object({") + len("object({") :]
        found |= set(_at_first_level(inner))
    return found


def _at_first_level(text: str) -> Iterator[str]:
    """Yield the names of the attributes of a type, without those of objects in it."""
    text = re.sub(r"#[^=]*?(?=\b\w+\s*=)", " ", text)
    depth = 0
    for match in re.finditer(r"[({\[]|[)}\]]|(\w+)\s*=(?!=)", text):
        if match[1]:
            if depth == 0:
                yield match[1]
        else:
            depth += 1 if match[0] in "({[" else -1
            if depth < 0:
                return


def _kind_of_type(given: str) -> str:
    if given in _SCALARS:
        return _SCALARS[given]
    if given.startswith(("list(", "set(")):
        return "list"
    return "map" if given.startswith("map(") else "any"


def _resource(prefix: str, block: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, attribute in block.get("attributes", {}).items():
        kind = attribute.get("type", "any")
        if isinstance(kind, list):
            kind = {"list": "list", "set": "list", "map": "map"}.get(kind[0], "any")
        yield f"{prefix}.{name}", _SCALARS.get(kind, kind if kind in ("list", "map") else "any")
    for name, below in block.get("block_types", {}).items():
        if below["nesting_mode"] in ("list", "set"):
            yield f"{prefix}.{name}", "sections"
            yield from _resource(f"{prefix}.{name}", below["block"])
        else:
            yield f"{prefix}.{name}", "any"


if __name__ == "__main__":
    _eks, _vpc, _schema, _version = sys.argv[1:]
    _provider = json.loads(Path(_schema).read_text(encoding="utf-8"))["provider_schemas"][PROVIDER]
    DATA_FILE.write_text(table(Path(_eks), Path(_vpc), _provider, _version), encoding="utf-8")
