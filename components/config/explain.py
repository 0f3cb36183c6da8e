"""Convert pydantic errors to problems with a fix."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sized
from dataclasses import dataclass, replace
from typing import Any, cast, get_args, get_origin

from pydantic_core import ErrorDetails
from pydantic_core.core_schema import ErrorType

from trainyard.components.config.given_stack import GivenStack
from trainyard.components.config.keys import (
    SchemaError,
    kinds_of,
    kinds_with,
    literals_of,
    location_in,
    mapping_of,
    model_at,
    value_at,
)
from trainyard.components.config.problems import Problem, nearest, remove_command
from trainyard.components.config.wrong_values import (
    TYPES,
    explain_choice,
    explain_form,
    explain_kind,
    explain_type,
    solves,
)
from trainyard.components.look_alikes import odd_characters

# Error types of pydantic: https://docs.pydantic.dev/latest/errors/validation_errors/
_WORDS: Mapping[str, tuple[str, str, str]] = {
    "greater_than_equal": ("ge", "is less than {}", "at least {}"),
    "greater_than": ("gt", "is not more than {}", "more than {}"),
    "less_than_equal": ("le", "is more than {}", "at most {}"),
    "less_than": ("lt", "is not less than {}", "less than {}"),
    "too_short": ("min_length", "has too few entries", "at least {}"),
    "too_long": ("max_length", "has too many entries", "at most {}"),
    "string_too_short": ("min_length", "is too short", "at least {} characters"),
    "string_too_long": ("max_length", "is too long", "at most {} characters"),
}
"""Limit key, problem and allowed values, by error type."""
LIMITS = tuple(_WORDS)
"""Error types that `explain_limit` handles."""


def explain_limit(finding: SchemaError) -> list[Problem]:
    """Return the problem of a number, list or string beyond its limit."""
    kind = finding.error["type"]
    name, problem, allowed = _WORDS[kind]
    limit = str(finding.context[name])
    if finding.location[-1:] == ("[key]",):
        entry = replace(finding, location=finding.location[:-1])
        return [
            Problem(
                path=entry.path,
                problem=f"is a key that {problem}".format(limit),
                allowed=allowed.format(limit),
                remedy="rename this entry",
            )
        ]
    return [
        Problem(
            path=finding.path,
            problem=problem.format(limit),
            found=finding.found,
            allowed=allowed.format(limit),
            remedy=_remedy(finding, allowed.format(limit)),
        )
    ]


def _remedy(finding: SchemaError, allowed: str) -> str:
    kind = finding.error["type"]
    if kind == "too_short" and isinstance(finding.found, Mapping):
        return "add an entry in the stack file"
    if kind == "too_short":
        return finding.example_of(finding.example, (*finding.location, 0))
    limit = str(finding.context[_WORDS[kind][0]])
    if kind in {"greater_than_equal", "less_than_equal"} and solves(finding, limit):
        return f"give a value of {allowed}, such as: {finding.set_to(limit)}"
    # The limit itself may break another rule.
    return f"give a value of {allowed}"


# Our keys for the words of eksctl, ParallelCluster, Terraform, Karpenter and the AWS API.
#
# Sources: https://eksctl.io/usage/schema/, the pages of ParallelCluster's configuration file
# (https://docs.aws.amazon.com/parallelcluster/latest/ug/cluster-configuration-file-v3.html),
# https://registry.terraform.io/modules/terraform-aws-modules/eks/aws/latest,
# https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateNodegroup.html and
# https://docs.aws.amazon.com/batch/latest/APIReference/API_ComputeResource.html


_RESERVED = "add the reservation to `reservations`, and give the name of that entry"
_NETWORK = "it belongs to `network`"
_STORAGE = "file systems are entries of `storage`"

_FOREIGN_WORDS: Mapping[tuple[str, ...], str] = {
    ("minimum",): "min minsize mincount minvcpus mincapacity minnodes minimumsize minimumcount",
    ("maximum",): "max maxsize maxcount maxvcpus maxcapacity maxnodes maximumsize maximumcount",
    ("desired", "minimum"): (
        "desiredcapacity desiredsize desiredcount desiredvcpus desirednodes count replicas "
        "nodecount numnodes initialcount"
    ),
    ("efa_enabled",): "efa enableefa efasupport enableefasupport useefa efaonly",
    ("instance_type",): "instancetypes instances type machinetype nodetype ec2instancetype",
    ("subnet_ids", "subnet_id", "private_subnet_ids"): "subnets subnet subnetid subnetids",
    ("private_subnet_ids",): "private privatesubnets privatesubnetids",
    ("public_subnet_ids", "public_subnets"): "public publicsubnetids",
    ("purchase_option",): (
        "capacityreservation capacityreservationid capacityreservationtarget capacitytype "
        "capacityreservationspecification marketoptions spot instancemarketoptions lifecycle"
    ),
    ("reservations",): "capacityreservations",
    ("reservation_id",): "capacityreservationid id capacityblockid capacityblockreservationid",
    ("group_arn",): "capacityreservationresourcegrouparn resourcegrouparn",
    ("placement",): "placementgroup placementgroupname enableplacementgroup",
    ("availability_zone", "availability_zones"): (
        "availabilityzones availabilityzoneid zone zones az azs"
    ),
    ("kubernetes_version",): "version clusterversion k8sversion eksversion",
    ("node_groups",): "nodegroup managednodegroups eksmanagednodegroups selfmanagednodegroups",
    ("system_node_group",): "systemnodes systemnodepool defaultnodegroup",
    ("queues",): "slurmqueues jobqueues partitions",
    ("compute_environments",): "computeenvironment",
    ("compute_resources",): "computeresource nodepools",
    ("custom_ami_id",): "ami amiid imageid customami",
    ("operating_system",): "os operatingsystem",
    ("root_volume",): "volume rootvolume disk blockdevicemappings localstorage",
    ("size_gib", "root_volume"): "size volumesize disksize diskgib storagesize",
    ("storage_capacity_gib",): "storagecapacity capacity size sizegib",
    ("throughput_mibps",): "throughput volumethroughput",
    ("iops",): "volumeiops",
    ("key_name", "ssh_key_name"): "keyname keypair sshkey sshkeyname ec2keyname ec2sshkey",
    ("kms_key_arn",): "kmskeyid kmskey",
    ("mount_directory",): "mountdir mountpoint mountpath mount",
    ("file_system_id",): "filesystemid fsid",
    ("vpc_id",): "vpc id vpcid",
    ("cidr",): "cidrblock vpccidr vpccidrblock",
    ("nat_gateways",): "nat natgateway enablenatgateway singlenatgateway",
    ("endpoint",): "clusterendpoints endpoints clusterendpointaccess",
    ("public_access",): "endpointpublicaccess clusterendpointpublicaccess",
    ("private_access",): "endpointprivateaccess clusterendpointprivateaccess",
    ("public_access_cidrs",): "publicaccesscidr endpointpublicaccesscidrs",
    ("log_types",): "logging enabledclusterlogtypes clusterlogging cloudwatchlogging",
    ("secrets_key_arn",): "secretsencryption encryptionconfig clusterencryptionconfig",
    ("iam_policies",): "additionaliampolicies attachpolicyarns iamroleadditionalpolicies",
    ("addon_policies",): "withaddonpolicies",
    ("idle_minutes",): "scaledownidletime",
    ("settings", "slurm_settings"): "customslurmsettings",
    ("on_node_start",): "onnodestarted preinstall",
    ("on_node_configured",): "postinstall",
    ("arguments",): "args",
    ("simultaneous_multithreading",): "disablesimultaneousmultithreading threadspercore",
    ("exclusive_jobs",): "jobexclusiveallocation",
    ("schedulable_memory_mib",): "schedulablememory",
    ("write",): "enablewriteaccess",
    ("bucket",): "bucketname",
    ("key",): "keyname",
    ("per_unit_storage_throughput",): "perunitthroughput",
    ("name",): "clustername",
}
"""Words of other tools in small letters without separators, by our keys; the first of them that
exists at the place is meant."""

_HINTS: Mapping[str, str] = {
    "purchase_option": _RESERVED,
    "simultaneous_multithreading": "it has the opposite meaning, so change the value too",
    "iam_policies": "give names of AWS managed policies, not ARNs",
}
_ELSEWHERE: Mapping[str, tuple[str, str]] = {
    "region": ("aws:region", "set `aws:region` under `config` in the stack file"),
    "profile": ("aws:profile", "set `aws:profile` under `config` in the stack file"),
    "vpc": ("network", _NETWORK),
    "vpcid": ("network.vpc_id", _NETWORK),
    "networking": ("network", _NETWORK),
    "subnets": ("network", _NETWORK),
    "subnetids": ("network.private_subnet_ids", _NETWORK),
    "availabilityzones": ("network.availability_zones", _NETWORK),
    "sharedstorage": ("storage", _STORAGE),
    "filesystems": ("storage", _STORAGE),
    "nodegroups": ("architecture.node_groups", "move it below `architecture`"),
    "managednodegroups": ("architecture.node_groups", "move it below `architecture`"),
    "headnode": ("architecture.head_node", "move it below `architecture`"),
    "scheduling": ("architecture.queues", "queues are entries of `architecture.queues`"),
    "slurmqueues": ("architecture.queues", "queues are entries of `architecture.queues`"),
    "kubernetesversion": ("architecture.kubernetes_version", "move it below `architecture`"),
    "capacityreservation": ("reservations", _RESERVED),
    "capacityreservationid": ("reservations", _RESERVED),
    "maxprice": ("purchase_option", "set `purchase_option: spot`; the price limit is On-Demand's"),
    "spotprice": ("purchase_option", "set `purchase_option: spot`; the price limit is On-Demand's"),
}
"""Keys of another level by the same words: where they belong, and how."""


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """Our key for a word of another tool."""

    ours: str
    """The key, or its path if it belongs elsewhere."""
    here: bool
    """Whether it is a key of the same section."""
    hint: str = ""
    """What to change besides the name."""


def foreign_key(word: str, keys: Collection[str]) -> ForeignKey | None:
    """Return our key for a word of another tool, or None; `keys` are those of the section."""
    plain = re.sub(r"[^a-z0-9]", "", word.lower())
    same = next((key for key in keys if key.replace("_", "") == plain), None)
    if same is not None:
        return ForeignKey(same, here=True)
    ours = next((key for key in _candidates(plain) if key in keys), None)
    if ours is not None:
        return ForeignKey(ours, here=True, hint=_HINTS.get(ours, ""))
    path, hint = _ELSEWHERE.get(plain, ("", ""))
    return ForeignKey(path, here=False, hint=hint) if path else None


def _candidates(plain: str) -> Iterator[str]:
    for ours, words in _FOREIGN_WORDS.items():
        if plain in words.split():
            yield from ours


def explain_unknown_key(finding: SchemaError) -> list[Problem]:
    """Return the problem of a key that does not exist here, with the key that is meant."""
    parents = finding.location[:-1]
    model = model_at(GivenStack, finding.raw, parents)
    keys = sorted(model.model_fields) if model else []
    kinds = [f"`kind: {each}`" for each in kinds_with(GivenStack, finding.raw, finding.location)]
    remove = remove_command(finding.path, stack_file=finding.stack_file)
    if model is not None and kinds:
        own = value_at(finding.raw, (*parents, "kind"))
        problem = f"belongs to {' or '.join(kinds)}, but this is `kind: {own}`"
        remedy = f"{remove}; or change `kind`, and set the keys of that kind"
    else:
        problem, remedy = _unknown(finding, keys, remove)
    return [
        Problem(
            path=finding.path,
            problem=problem,
            found=finding.found,
            allowed=", ".join(keys),
            remedy=remedy,
        )
    ]


def _unknown(finding: SchemaError, keys: list[str], remove: str) -> tuple[str, str]:
    """Return the problem and the fix of a key that no kind has here."""
    key = str(finding.location[-1])
    odd = odd_characters(key)
    problem = "is not a valid key here" + (f": it contains {odd}" if odd else "")
    foreign = foreign_key(key, keys)
    if foreign is not None:
        return _of_another_tool(problem, foreign, finding, remove)
    meant = nearest(key, keys)
    if meant is None:
        return problem, remove
    return f"{problem}; the nearest is `{meant}`", _renamed(meant, finding, remove)


def _of_another_tool(
    problem: str, foreign: ForeignKey, finding: SchemaError, remove: str
) -> tuple[str, str]:
    hint = f"; {foreign.hint}" if foreign.hint else ""
    if foreign.here:
        said = f"{problem}; here it is called `{foreign.ours}`"
        return said, f"{_renamed(foreign.ours, finding, remove)}{hint}"
    return f"{problem}; it is `{foreign.ours}` of the stack file", f"{remove}{hint}"


def _renamed(meant: str, finding: SchemaError, remove: str) -> str:
    if value_at(finding.raw, (*finding.location[:-1], meant)) is not None:
        return f"{remove}; `{meant}` is set already"
    model = model_at(GivenStack, finding.raw, (*finding.location[:-1], meant))
    if model and set(mapping_of(finding.found)) - set(model.model_fields):
        return f"{remove}, and set the keys of `{meant}`: {', '.join(model.model_fields)}"
    return f"rename it to `{meant}`, or: {remove}"


def explain(errors: Iterable[ErrorDetails], raw: Any, *, stack_file: str) -> list[Problem]:
    """Return a problem for each error, in the order of the schema."""
    findings = [SchemaError(raw, stack_file, location_in(raw, e["loc"]), e) for e in errors]
    unknown_kinds = {f.location[:-1] for f in findings if _names_an_unknown_kind(f)}
    return [
        problem
        for finding in findings
        # Other keys cannot be checked if the kind is unknown.
        if finding.location[:-1] not in unknown_kinds or _names_an_unknown_kind(finding)
        if not _counts_wrong_entries(finding)
        for problem in _EXPLAIN.get(finding.error["type"], _otherwise)(finding)
    ]


def assume(
    errors: Iterable[ErrorDetails], raw: Any, *, stack_file: str
) -> tuple[Any, list[str], list[str]] | None:
    """Return the configuration without errors that do not depend on its other keys.

    A missing value, or one of a wrong form, becomes an example, and an unknown key is left out.

    Returns:
        The configuration, the paths of what was changed, and the examples in it; None if it has
        other errors.
    """
    changed, paths, examples = copy.deepcopy(raw), list[str](), list[str]()
    for each in errors:
        finding = SchemaError(raw, stack_file, location_in(raw, each["loc"]), each)
        section = value_at(changed, finding.location[:-1])
        paths.append(finding.path)
        if each["type"] == "extra_forbidden" and isinstance(section, dict):
            del section[finding.location[-1]]
            continue
        place = finding.place
        if each["type"] not in ("missing", "form") or place is None or place.example is None:
            return None
        is_list = get_origin(place.annotation) is tuple
        section[finding.location[-1]] = [place.example] if is_list else place.example
        examples.append(place.example)
    return changed, paths, examples


def _names_an_unknown_kind(finding: SchemaError) -> bool:
    return finding.error["type"] == "literal_error" and finding.location[-1:] == ("kind",)


def _counts_wrong_entries(finding: SchemaError) -> bool:
    """Return whether a list is only too short because pydantic does not count wrong entries."""
    least = finding.context.get("min_length")
    if finding.error["type"] != "too_short" or least is None:
        return False
    return len(cast("Sized", finding.found)) >= least


def _missing(finding: SchemaError) -> list[Problem]:
    """Explain a missing value; for a missing section, explain each required value."""
    place = finding.place
    model = place.model if place else None
    if model is not None:
        required = [name for name, field in model.model_fields.items() if field.is_required()]
        return [p for name in required for p in _missing(finding.below(name))]
    description = place.description if place else ""
    return [
        Problem(
            path=finding.path,
            problem=f"is missing: {description}" if description else "is missing",
            allowed=_allowed(finding),
            remedy=_added(finding),
        )
    ]


def _needed(finding: SchemaError) -> list[Problem]:
    """Explain a missing value that only some configurations require."""
    return _missing(finding.below(finding.context["key"]))


def _added(finding: SchemaError) -> str:
    """Return how to add a missing value; only the user knows which."""
    place = finding.place
    if place is None or get_origin(place.annotation) is dict:
        return "add an entry in the stack file"
    if get_origin(place.annotation) is tuple:
        first = finding.example_of(finding.example, (*finding.location, 0))
        return f"{first}  # and so on with [1], [2]"
    kinds = kinds_of(place.annotation)
    if kinds:
        return finding.example_of(kinds[0], (*finding.location, "kind"))
    if place.annotation is int:
        return finding.example_of(str(_least(place.field.metadata if place.field else ())))
    values = ["true"] if place.annotation is bool else literals_of(place.annotation)
    if len(values) == 1:
        return finding.set_to(values[0])
    return finding.example_of(values[0] if values else finding.example)


def _least(metadata: Iterable[Any]) -> int:
    return next((each.ge for each in metadata if hasattr(each, "ge")), 1)


def _allowed(finding: SchemaError) -> str | None:
    place = finding.place
    if place is None:
        return None
    kinds = kinds_of(place.annotation)
    if kinds:
        return f"kind: {', '.join(kinds)}"
    values = literals_of(place.annotation)
    return ", ".join(values) if values else None


def _contradiction(finding: SchemaError) -> list[Problem]:
    context = finding.context
    inner = finding.below(context["key"])
    return [
        Problem(
            path=inner.path,
            problem=f"{finding.error['msg']}; {context['why']}",
            found=inner.found,
            allowed=context["allowed"],
            remedy=_with_command(context["remedy"], finding),
        )
    ]


_SAID = re.compile(r"(?:set|add) `?(?P<key>\w+): (?P<value>[\w./-]+)`?|remove `?(?P<gone>\w+)`?")
"""The first of the fixes of a contradiction: `set iops: 3000`, `remove iops`."""


def _with_command(remedy: str, finding: SchemaError) -> str:
    """Return a fix of a section, with the command that makes it if it names a key and a value."""
    said = _SAID.match(remedy)
    model = model_at(GivenStack, finding.raw, finding.location)
    name = (said["key"] or said["gone"]) if said else None
    if said is None or model is None or name not in model.model_fields:
        return remedy
    inner = finding.below(name)
    remove = remove_command(inner.path, stack_file=finding.stack_file)
    return f"{remedy} ({inner.set_to(said['value']) if said['key'] else remove})"


def _contradictions(finding: SchemaError) -> list[Problem]:
    """Explain every contradiction of one location, which pydantic reports as one error."""
    return [
        Problem(
            path=f"{finding.path}.{each['key']}",
            problem=f"{each['problem']}; {each['why']}",
            found=value_at(finding.raw, (*finding.location, each["key"])),
            allowed=each["allowed"],
            remedy=_with_command(each["remedy"], finding),
        )
        for each in finding.context["all"]
    ]


def _wrong_type(finding: SchemaError) -> list[Problem]:
    return _nothing(finding) if finding.found is None else explain_type(finding)


def _nothing(finding: SchemaError) -> list[Problem]:
    """Explain a key without a value; a key with a default can be removed."""
    place = finding.place
    if place is None or place.field is None or place.field.is_required():
        return _missing(finding)
    remove = remove_command(finding.path, stack_file=finding.stack_file)
    return [
        Problem(
            path=finding.path,
            problem=f"has no value: {place.description}",
            allowed="a value, or no such key, for the default",
            remedy=f"{remove}, or set a value",
        )
    ]


def _otherwise(finding: SchemaError) -> list[Problem]:
    """Explain any other error: with our own words, or, for one of pydantic, with those of the key.

    Messages of pydantic speak of inputs and types of Python.
    """
    place = finding.place
    description = place.description if place else ""
    ours = finding.error["type"] not in _OF_PYDANTIC
    step = finding.context.get("multiple_of")
    problem = finding.error["msg"] if ours else "is not a value that this key takes"
    if not ours and step is None and description:
        problem = f"{problem}: {description}"
    return [
        Problem(
            path=finding.path,
            problem=f"is no multiple of {step}" if step is not None else problem,
            found=finding.found,
            allowed=f"a multiple of {step}" if step is not None else _allowed(finding),
            remedy=_to_a_multiple(finding, step) if step is not None else "change the value",
        )
    ]


def _to_a_multiple(finding: SchemaError, step: Any) -> str:
    found = finding.found
    nearest_one = max(1, round(found / step)) * step if isinstance(found, int | float) else step
    return finding.set_to(str(nearest_one))


_OF_PYDANTIC = frozenset(get_args(ErrorType))
"""https://docs.pydantic.dev/latest/errors/validation_errors/"""
_EXPLAIN: Mapping[str, Callable[[SchemaError], list[Problem]]] = {
    "missing": _missing,
    "needed": _needed,
    "extra_forbidden": explain_unknown_key,
    "form": explain_form,
    "contradiction": _contradiction,
    "contradictions": _contradictions,
    "literal_error": explain_choice,
    "union_tag_invalid": explain_kind,
    "union_tag_not_found": explain_kind,
    **dict.fromkeys(TYPES, _wrong_type),
    **dict.fromkeys(LIMITS, explain_limit),
}
