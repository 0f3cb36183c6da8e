"""Generate the tables `keys.txt` of formats from their official schemas.

    python -m tools.importing.generate parallelcluster
    python -m tools.importing.generate eksctl FILE COMMIT
    python -m tools.importing.generate cloudformation DIRECTORY
    python -m tools.importing.generate terraform REPOSITORY FILE VERSION

ParallelCluster is the installed one. The first `FILE` is the schema of eksctl at a commit:
https://github.com/eksctl-io/eksctl/blob/main/pkg/apis/eksctl.io/v1alpha5/assets/schema.json.
`DIRECTORY` has the content of `CloudformationSchema.zip` of a region, whose address is in
https://docs.aws.amazon.com/cloudformation-cli/latest/userguide/resource-type-schemas.html. The
models of botocore do not have these keys: of a job definition, templates lack 74 keys of the API
and have 22 more, and VPCs, subnets and roles differ as well. `REPOSITORY` is a clone of
terraform-aws-modules/terraform-aws-eks, and the second `FILE` the output of
`terraform providers schema -json` for a version of hashicorp/aws.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hcl2 import parses_to_tree

from tools.parallelcluster import schema_keys
from tools.parallelcluster.process import ask
from tools.repository import ROOT
from trainyard.components.catalog.versions import PARALLELCLUSTER_VERSION
from trainyard.importing.cloudformation.template import TYPES
from trainyard.importing.formats import OF_TERRAFORM
from trainyard.importing.terraform.syntax import children, text_of
from trainyard.sandbox.access import NO_ACCOUNT

_SCALARS = {"string": "text", "integer": "integer", "number": "number", "boolean": "boolean"}
_OTHER_FORMS: Mapping[str, str] = {
    # eksctl also reads a list of ids, and a mapping of keys to texts:
    # pkg/apis/eksctl.io/v1alpha5/vpc.go, `AZSubnetMapping.UnmarshalJSON`, and taints.go,
    # `taintsWrapper.UnmarshalJSON`
    "vpc.subnets.private": "any",
    "vpc.subnets.public": "any",
    "nodeGroups.taints": "any",
    # The schema has `type` only, and eksctl reads the fields of the type with it:
    # pkg/apis/eksctl.io/v1alpha5/identity_provider.go, `IdentityProvider.UnmarshalJSON`
    "identityProviders": "anys",
}
"""Kinds of keys that eksctl reads in other forms than its schema says."""


def eksctl_table(schema: Mapping[str, Any], commit: str) -> str:
    """Return the data file: one key a line, with its kind."""
    definitions = schema["definitions"]
    keys = _eksctl_keys(definitions["ClusterConfig"], "", definitions)
    rows = (f"{path} {kind}" for path, kind in keys)
    source = f"# Keys of eksctl.io/v1alpha5, from schema.json of eksctl-io/eksctl at {commit}."
    return "".join(f"{line}\n" for line in (source, *rows))


def _eksctl_keys(
    section: Mapping[str, Any], prefix: str, definitions: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    for name, given in section["properties"].items():
        path = f"{prefix}{name}"
        if path in _OTHER_FORMS:
            yield path, _OTHER_FORMS[path]
            continue
        found = _resolved(given, definitions)
        if found.get("type") == "array":
            items = _resolved(found["items"], definitions)
            yield path, "sections" if "properties" in items else "list"
            found = items
        else:
            yield path, _eksctl_kind(found)
        if "properties" in found:
            yield from _eksctl_keys(found, f"{path}.", definitions)


def _resolved(given: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    while "$ref" in given:
        name = given["$ref"].removeprefix("#/definitions/")
        # The schema describes the fields of the parsed ARN; in the file, it is text.
        given = {"type": "string"} if name == "ARN" else definitions[name]
    return given


def _eksctl_kind(found: Mapping[str, Any]) -> str:
    if "properties" in found:
        return "section"
    return _SCALARS.get(found.get("type", ""), "map")


RETIRED: Mapping[str, str] = {
    "Scheduling.AwsBatchQueues": "anys",
    "Scheduling.AwsBatchSettings": "any",
    "Scheduling.SchedulerQueues": "anys",
    "Scheduling.SchedulerSettings": "any",
    "LoginNodes.Pools.Ssh.KeyName": "text",
    "DevSettings.AwsBatchCliPackage": "text",
}
"""Keys of earlier 3.x versions, with the kinds that they had.

https://github.com/aws/aws-parallelcluster/blob/v3.11.1/cli/src/pcluster/schemas/cluster_schema.py,
and `SchedulerQueues` and `SchedulerSettings`, the scheduler plugins, of the same file in v3.5.0.
"""
_ANY_REGION = "us-west-2"
"""The schema requires a region; no key depends on it."""


def schema_kinds() -> Mapping[str, str]:
    """Return the kind of every key of the installed ParallelCluster, by path.

    Raises:
        EngineError: the environment of ParallelCluster cannot be created.
        ParallelClusterError: ParallelCluster failed.
    """
    return ask(Path(schema_keys.__file__), {}, account=NO_ACCOUNT, region=_ANY_REGION)


def parallelcluster_table(kinds: Mapping[str, str]) -> str:
    """Return the data file: one key a line, with its kind, and the retired keys at the end."""
    retired = {path: kind for path, kind in RETIRED.items() if path not in kinds}
    lines = [
        f"# Keys of aws-parallelcluster {PARALLELCLUSTER_VERSION}, from pcluster/schemas.",
        *(f"{path} {kind}" for path, kind in kinds.items()),
        "# Keys of earlier versions.",
        *(f"{path} {kind}" for path, kind in retired.items()),
    ]
    return "".join(f"{line}\n" for line in lines)


_TEMPLATE = {
    "AWSTemplateFormatVersion": "text",
    "Description": "text",
    "Metadata": "map",
    "Parameters": "section",
    "Parameters.*": "section",
    "Parameters.*.Type": "text",
    "Parameters.*.Default": "any",
    "Parameters.*.Description": "text",
    "Parameters.*.AllowedValues": "list",
    "Parameters.*.AllowedPattern": "text",
    "Parameters.*.ConstraintDescription": "text",
    "Parameters.*.MinLength": "integer",
    "Parameters.*.MaxLength": "integer",
    "Parameters.*.MinValue": "number",
    "Parameters.*.MaxValue": "number",
    "Parameters.*.NoEcho": "boolean",
    "Rules": "map",
    "Mappings": "map",
    "Conditions": "map",
    "Transform": "any",
    "Globals": "map",
    "Hooks": "map",
    "Outputs": "section",
    "Outputs.*": "section",
    "Outputs.*.Value": "any",
    "Outputs.*.Description": "any",
    "Outputs.*.Condition": "text",
    "Outputs.*.Export": "section",
    "Outputs.*.Export.Name": "any",
    "Resources": "section",
}
"""Sections of a template, https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/
template-anatomy.html, and the attributes of parameters, parameters-section-structure.html.
`Globals` is of the transform AWS::Serverless."""
_ATTRIBUTES = {
    "Type": "text",
    "Condition": "text",
    "CreationPolicy": "map",
    "DeletionPolicy": "text",
    "DependsOn": "any",
    "Metadata": "map",
    "UpdatePolicy": "map",
    "UpdateReplacePolicy": "text",
}
"""https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/
aws-product-attribute-reference.html"""
_OF_CUSTOM = {"Version": "text"}
"""Attribute of custom resources (`valid_custom_attributes` in
`rules/resources/Configuration.py` of cfn-lint)."""


def cloudformation_table(schemas: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the data file: one key a line, with its kind.

    Args:
        schemas: Schema by resource type.
    """
    rows = dict(_TEMPLATE)
    for name in ("*", *sorted(schemas)):
        rows[f"Resources.{name}"] = "section"
        attributes = {**_ATTRIBUTES, **(_OF_CUSTOM if name == "*" else {})}
        rows |= {f"Resources.{name}.{key}": kind for key, kind in attributes.items()}
        rows[f"Resources.{name}.Properties"] = "map" if name == "*" else "section"
        if name != "*":
            rows |= dict(
                _property_keys(f"Resources.{name}.Properties", schemas[name], schemas[name], ())
            )
    lines = ["# Keys of CloudFormation templates; `*` is a name that the user chooses."]
    return "".join(f"{line}\n" for line in [*lines, *(f"{key} {rows[key]}" for key in rows)])


def read_schemas(directory: Path) -> Mapping[str, Mapping[str, Any]]:
    """Return the schemas of the resource types that conversions read, from AWS's files."""
    files = {
        name: directory / f"{name.lower().replace('::', '-')}.json"
        for name, *path in TYPES.rows
        if name != "*" and not path
    }
    return {name: json.loads(path.read_text(encoding="utf-8")) for name, path in files.items()}


def _property_keys(
    at: str, section: Mapping[str, Any], schema: Mapping[str, Any], parents: tuple[str, ...]
) -> Iterator[tuple[str, str]]:
    """Yield the path and the kind of every key below a section."""
    answers = {each.rpartition("/")[2] for each in schema.get("readOnlyProperties", ())}
    for key, given in section.get("properties", {}).items():
        if not parents and key in answers:
            continue
        reference = given.get("$ref", given.get("items", {}).get("$ref", ""))
        kind, below = _property_kind(given, schema)
        path = f"{at}.{key}"
        if reference and reference in parents:
            kind, below = "any", {}  # a section in itself
        yield path, kind
        if kind in ("section", "sections"):
            yield from _property_keys(path, below, schema, (*parents, reference or path))


def _property_kind(
    given: Mapping[str, Any], schema: Mapping[str, Any]
) -> tuple[str, Mapping[str, Any]]:
    given = _followed(given, schema)
    kind = given.get("type", "object" if "properties" in given else "any")
    if kind == "array":
        items = _followed(given.get("items", {}), schema)
        of_items, below = _property_kind(items, schema)
        lists = {"section": "sections", "map": "maps", "any": "anys"}
        return lists.get(of_items, "list"), below
    if kind == "object":
        return ("section", given) if given.get("properties") else ("map", {})
    return _SCALARS.get(kind, "any") if isinstance(kind, str) else "any", {}


def _followed(given: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    reference = given.get("$ref")
    return schema["definitions"][reference.rpartition("/")[2]] if reference else given


VERSIONS: Sequence[str] = ("v18.31.2", "v19.21.0", "v20.37.2", "v21.19.0")
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
_TERRAFORM_SCALARS = {"string": "text", "number": "number", "bool": "boolean"}
_META_MODULE = ("source", "version", "count", "for_each", "providers", "depends_on")
_META_RESOURCE = ("count", "for_each", "provider", "depends_on", "lifecycle", "provisioner")
_OTHERS = (
    *("variable", "locals", "output", "provider", "terraform", "data", "resource", "module"),
    *("local-module", "other", "shown", "user-data"),
    # Resources whose attributes are not checked.
    *("aws_autoscaling_group", "aws_autoscaling_schedule", "aws_launch_configuration"),
    *("aws_cloudwatch_log_group", "aws_ec2_tag", "aws_kms_key", "aws_kms_alias"),
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
    **{f"{resource}.region": "text" for resource in RESOURCES},
}
"""Attributes that version 6 of the provider has in addition to those of version 5."""


def terraform_table(repository: Path, schema: Mapping[str, Any], version: str) -> str:
    """Return the data file: one key a line, with its kind."""
    rows = dict.fromkeys(_OTHERS, "map") | dict.fromkeys((*_OF_PLANS, *OF_TERRAFORM), "any")
    for tag in VERSIONS:
        _merge(rows, _module(repository, tag))
    for resource in RESOURCES:
        block = schema["resource_schemas"][resource]["block"]
        rows[resource] = "section"
        rows |= {f"{resource}.{key}": "any" for key in _META_RESOURCE}
        rows |= dict(_resource(resource, block))
    rows |= _OF_PROVIDER_6
    source = (
        f"# Inputs of terraform-aws-modules (eks {', '.join(VERSIONS)}), and attributes of "
        f"{PROVIDER} {version}."
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


def _module(repository: Path, tag: str) -> dict[str, str]:
    command = ["git", "-C", str(repository), "ls-tree", "-r", "--name-only", tag]
    files = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    found: dict[str, str] = {}
    for file in files:
        match = re.fullmatch(r"(?:modules/([a-z][\w-]+)/)?variables\.tf", file)
        if match is None:
            continue
        section = match[1] or "eks"
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
    if given in _TERRAFORM_SCALARS:
        return _TERRAFORM_SCALARS[given]
    if given.startswith(("list(", "set(")):
        return "list"
    return "map" if given.startswith("map(") else "any"


def _resource(prefix: str, block: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, attribute in block.get("attributes", {}).items():
        kind = attribute.get("type", "any")
        if isinstance(kind, list):
            kind = {"list": "list", "set": "list", "map": "map"}.get(kind[0], "any")
        yield (
            f"{prefix}.{name}",
            _TERRAFORM_SCALARS.get(kind, kind if kind in ("list", "map") else "any"),
        )
    for name, below in block.get("block_types", {}).items():
        if below["nesting_mode"] in ("list", "set"):
            yield f"{prefix}.{name}", "sections"
            yield from _resource(f"{prefix}.{name}", below["block"])
        else:
            yield f"{prefix}.{name}", "any"


def _json(path: str) -> Any:
    return json.loads(Path(path).read_text(encoding="utf-8"))


_TABLES: Mapping[str, Callable[..., str]] = {
    "parallelcluster": lambda: parallelcluster_table(schema_kinds()),
    "eksctl": lambda file, commit: eksctl_table(_json(file), commit),
    "cloudformation": lambda directory: cloudformation_table(read_schemas(Path(directory))),
    "terraform": lambda repository, file, version: terraform_table(
        Path(repository), _json(file)["provider_schemas"][PROVIDER], version
    ),
}
"""Returns the table of a format from the arguments of the command."""

if __name__ == "__main__":
    _format, *_arguments = sys.argv[1:]
    _path = ROOT / "src" / "trainyard" / "importing" / _format / "keys.txt"
    _path.write_text(_TABLES[_format](*_arguments), encoding="utf-8")
