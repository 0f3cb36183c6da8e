"""Checks of all architectures: ARNs, tags, keys without effect and the settings of `verify`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from trainyard.components.catalog.collective_tests import GBIT_PER_GBYTE, bandwidth_ceiling
from trainyard.components.catalog.image_references import ecr_registry
from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.components.config.base import (
    EffectiveWith,
    StrictModel,
    Switch,
    effective_with,
)
from trainyard.components.config.fsx_lustre import ExistingFsxLustre
from trainyard.components.config.named import names_in, texts_in
from trainyard.components.config.node_pool import BlockNodes
from trainyard.components.config.problems import ROOT, Review
from trainyard.components.config.stack import StackConfig
from trainyard.components.config.storage_fields import FSX_DNS_NAME
from trainyard.components.naming import dns_suffix, partition
from trainyard.components.tagging import (
    CLUSTER_TAG,
    MAX_TAGS,
    OWN_TAGS,
    RESOURCE_TAG,
    role_tag_fault,
    tag_fault,
)

_FIELDS = frozenset(
    {
        "group_arn",
        "iam_policies",
        "kms_key_arn",
        "members",
        "provider_service_token",
        "resource_share_arn",
        "secrets_key_arn",
        "topic_arn",
        "workspace_arn",
    }
)
"""Fields with ARNs of resources that the stack uses itself."""

_SERVICE_LINKED = "aws-service-role/"


def review_arns(config: StackConfig, region: str, review: Review) -> None:
    """Refuse ARNs of another partition or region, whose resources the stack cannot use.

    An ARN of a global service, such as that of an IAM policy, has no region.

    Sources:
        https://docs.aws.amazon.com/IAM/latest/UserGuide/reference-arns.html
        https://docs.aws.amazon.com/kms/latest/developerguide/multi-region-keys-overview.html: a
        multi-Region key has an ARN in each region
    """
    for text in texts_in(config):
        key, arn = text.key, text.value
        if text.field not in _FIELDS or not arn.startswith("arn:"):
            continue
        _, own_partition, _, own_region, *_ = arn.split(":")
        if own_region not in ("", region):
            review.refuse(
                key,
                f"is in a different region from the stack, {region}, which cannot use it",
                found=arn,
                allowed=f"an ARN of {region}",
                remedy="set an ARN in this region, or change `aws:region`, or do without it: "
                f"{review.remove_command(key)}",
            )
        elif own_partition != partition(region):
            review.refuse(
                key,
                f"is of the partition {own_partition}, and {region} is in {partition(region)}",
                found=arn,
                allowed=f"an ARN that begins with arn:{partition(region)}:",
                remedy="set an ARN in this partition, or change `aws:region`",
            )


def review_dns_names(config: StackConfig, region: str, review: Review) -> None:
    """Refuse the DNS name of another file system, service or region than that of its entry.

    A name that FSx does not give can be an alias; only the account's answer says whose it is.
    """
    for name, system in config.storage.items():
        if not isinstance(system, ExistingFsxLustre) or system.dns_name is None:
            continue
        given = FSX_DNS_NAME.fullmatch(system.dns_name)
        wanted = f"{system.file_system_id}.fsx.{region}.{dns_suffix(region)}"
        if given is None or given[0].rstrip(".").lower() == wanted:
            continue
        wrong = next(
            what
            for what, is_other in (
                (f"of {given['id']}", given["id"].lower() != system.file_system_id),
                (f"a name of {given['service'].upper()}", given["service"].lower() != "fsx"),
                (f"of the region {given['region']}", given["region"].lower() != region),
                (f"of the domain {given['suffix']}", True),
            )
            if is_other
        )
        key = f"storage.{name}.dns_name"
        review.refuse(
            key,
            f"is {wrong}, and the entry names {system.file_system_id} in {region}; no node could "
            "mount it",
            found=system.dns_name,
            allowed=f"{wanted}, or no `dns_name`: it is read from the account",
            remedy=review.remove_command(key),
        )


def review_images(config: StackConfig, region: str, review: Review) -> None:
    """Refuse images in ECR of another partition, and tell of those in another region.

    Credentials of a partition are those of no other one. Pulls from another region work with the
    role of the nodes, but not through VPC endpoints, which the checks of networks without another
    way refuse: the sources of `trainyard.components.catalog.image_references`.
    """
    for use in names_in(config):
        found = ecr_registry(use.name.partition("/")[0]) if use.kind == "container-image" else None
        if found is None or found.region == region:
            continue
        image = use.name.partition("/")[2]
        here = f"{found.host(region=region)}/{image}"
        if partition(found.region) != partition(region):
            review.refuse(
                use.key,
                f"is in ECR of {found.region}, whose partition {partition(found.region)} does not "
                f"know the roles of {partition(region)}, so that no node could pull it",
                found=use.name,
                allowed=f"an image in ECR of {region}, or in a public registry",
                remedy=f"push the image to {region} (as {here})",
            )
        else:
            review.note(
                f"{use.key}: {use.name} is in ECR of {found.region}, and the stack in {region}: "
                "every node pulls it through the internet gateway, which is slower, costs transfer "
                "between regions and does not work through VPC endpoints; replicate it (`aws ecr "
                f"put-replication-configuration`), and write {here}"
            )


def review_policies(config: StackConfig, review: Review) -> None:
    """Refuse policies that IAM attaches to service-linked roles only.

    Source: https://docs.aws.amazon.com/IAM/latest/APIReference/API_AttachRolePolicy.html,
    `PolicyNotAttachable`.
    """
    for use in names_in(config):
        path = use.name.rpartition(":policy/")[2]
        if use.kind == "iam-policy" and path.startswith(_SERVICE_LINKED):
            review.refuse(
                use.key,
                "is a policy of a service-linked role, which IAM attaches to no other role",
                found=use.name,
                allowed=f"a policy whose path does not begin with {_SERVICE_LINKED}",
                remedy="remove it, or set another policy",
            )


def review_tags(tags: Mapping[str, str], review: Review, *, has_roles: bool = True) -> None:
    """Refuse tags that AWS or the program does not accept.

    `has_roles` says whether the stack has IAM roles, which accept fewer tags than other resources.
    """
    keys = [CLUSTER_TAG, RESOURCE_TAG]
    for key, value in tags.items():
        fault = tag_fault(key, value)
        if fault is None and has_roles:
            fault = role_tag_fault(key, value, keys)
        keys.append(key)
        if fault is not None:
            remove = review.remove_command(_key(("tags", key)))
            review.refuse(
                "tags",
                f"has a tag that {fault}",
                found=f"{key}={value}",
                remedy=f"{remove}, or change the tag",
            )
    limit = MAX_TAGS - OWN_TAGS
    if len(tags) > limit:
        review.refuse(
            "tags",
            f"has too many tags: AWS allows {MAX_TAGS}, of which the program reserves {OWN_TAGS}",
            found=len(tags),
            allowed=f"at most {limit}",
            remedy=remove_tags(tags, limit, review),
        )


def remove_tags(tags: Mapping[str, str], limit: int, review: Review) -> str:
    """Return the commands that remove the tags above a limit, from the last one on."""
    above = list(tags)[limit:]
    commands = (review.remove_command(_key(("tags", key))) for key in reversed(above))
    return f"remove tags, such as: {' and '.join(commands)}"


REQUIRED = "verification.required"
_THRESHOLDS = "verification.minimum_bus_bandwidth_gb_per_second"


def review_verification(config: StackConfig, review: Review) -> None:
    """Refuse thresholds that apply to no nodes, and a requirement that nothing enforces."""
    _review_thresholds(config, review)
    if not config.verification.required:
        return
    if not config.architecture.CAN_REQUIRE_VERIFICATION:
        review.refuse(
            REQUIRED,
            "is on, but only EKS can keep jobs off nodes that have not passed `verify`",
            found=True,
            allowed="false",
            remedy=(
                f"{review.set_command(REQUIRED, 'false')}; run `verify` after `up` "
                "(`up --verify`), and with Slurm drain the nodes that fail (`verify --drain`)"
            ),
        )
    elif not any(map(_accelerated, _types(config))):
        review.refuse(
            REQUIRED,
            "is on, but no nodes have accelerators, which `verify` tests",
            found=True,
            allowed="false, or a node group with accelerators",
            remedy=review.set_command(REQUIRED, "false"),
        )


def _review_thresholds(config: StackConfig, review: Review) -> None:
    types = sorted({name for name in _types(config) if _accelerated(name)})
    for name, value in config.verification.minimum_bus_bandwidth_gb_per_second.items():
        if name in types:
            _review_physics(name, value, review, is_required=config.verification.required)
        else:
            review.refuse(
                _threshold_key(name),
                "is a threshold for nodes that the stack does not have, so it never applies",
                found=name,
                allowed=", ".join(types) or "none: no nodes have accelerators",
                remedy=f"{review.remove_command(_threshold_key(name))}, or name the type of the "
                "nodes",
            )


def _threshold_key(name: str) -> str:
    return f'{_THRESHOLDS}["{name}"]'


def _review_physics(name: str, value: int, review: Review, *, is_required: bool) -> None:
    ceiling = bandwidth_ceiling(name, nodes=2)
    if ceiling is None or value <= ceiling.gb_per_second:
        return
    key = _threshold_key(name)
    remove = f"{review.remove_command(key)}, so that the published threshold applies, if any"
    converted = max(1, value // GBIT_PER_GBYTE)
    effect = "every node keeps its taint and no job ever runs" if is_required else "`verify` fails"
    review.refuse(
        key,
        f"is more than nodes can reach, so that {effect}: {ceiling.why}",
        found=f"{value} GB/s",
        allowed=f"at most {ceiling.gb_per_second:g} GB/s; {value} Gbit/s are "
        f"{value / GBIT_PER_GBYTE:g} GB/s",
        remedy=f"{review.set_command(key, str(converted))}; or {remove}"
        if converted <= ceiling.gb_per_second
        else remove,
    )


def _types(config: StackConfig) -> list[str]:
    return [pool.instance_type for pool in config.pools()]


def _accelerated(name: str) -> bool:
    # Types that are unknown are refused separately.
    found = INSTANCE_TYPES.get(name)
    return found is None or found.accelerators is not None


def review_effect(config: StackConfig, review: Review) -> None:
    """Refuse values of keys that have no effect, because the key that decides about them is off."""
    for location, model, name, effect in _switched_off(config, config, ()):
        here = _key((*location, name))
        switch = effect.switches[0]
        at = switch.key.removeprefix("/") if switch.key[0] == "/" else _key((*location, switch.key))
        turned_on = _turned_on(switch, model, config)
        turn_on = review.set_command(at, turned_on) if turned_on else f"set {switch}"
        review.refuse(
            here,
            f"has no effect: {effect.why}",
            found=getattr(model, name),
            allowed=f"no `{name}`, or {' or '.join(map(str, effect.switches))}",
            remedy=f"{review.remove_command(here)}; or {turn_on}",
        )


def _switched_off(
    value: object, root: StackConfig, location: tuple[str | int, ...]
) -> Iterator[tuple[tuple[str | int, ...], StrictModel, str, EffectiveWith]]:
    """Yield each value that the stack file gives and that has no effect."""
    if isinstance(value, StrictModel):
        for name, field in type(value).model_fields.items():
            inner = getattr(value, name)
            effect = effective_with(field)
            given = name in value.model_fields_set and inner != field.get_default(
                call_default_factory=True
            )
            asks = effect is not None and given and inner not in effect.harmless
            if effect and asks and not any(_is_on(each, value, root) for each in effect.switches):
                yield location, value, name, effect
            yield from _switched_off(inner, root, (*location, name))
    elif isinstance(value, dict):
        for key, inner in cast("dict[str, object]", value).items():
            named = inner.pool_named(key) if isinstance(inner, BlockNodes) else key
            yield from _switched_off(inner, root, (*location, named))
    elif isinstance(value, tuple | list):
        for index, inner in enumerate(cast("Sequence[object]", value)):
            yield from _switched_off(inner, root, (*location, index))


def _is_on(switch: Switch, model: StrictModel, root: StackConfig) -> bool:
    found = _switch_value(switch, model, root)
    return found in switch.values if switch.values else bool(found)


def _switch_value(switch: Switch, model: StrictModel, root: StackConfig) -> object:
    found: object = root if switch.key[0] == "/" else model
    for part in switch.key.removeprefix("/").split("."):
        found = getattr(found, part, None)
    return found


def _turned_on(switch: Switch, model: StrictModel, root: StackConfig) -> str | None:
    """Return the value that turns a switch on, if there is one that needs no decision."""
    wanted = next((each for each in switch.values if each is not None), None)
    if isinstance(wanted, str) and switch.key != "/architecture.kind":
        return wanted
    if wanted is False:
        return "false"
    is_flag = not switch.values and _switch_value(switch, model, root) is False
    return "true" if is_flag else None


def _key(location: tuple[str | int, ...]) -> str:
    # Imports the models of all architectures, which only messages need.
    from trainyard.components.config.keys import path_of

    return path_of(location).removeprefix(f"{ROOT}.")
