"""Find a cluster of an account by its name, read it into a stack file, and adopt its VPC.

A stack has one private subnet in each zone, with a public one or without. Which subnets of a VPC
become those of the stack follows from the subnets of the cluster; others stay outside.

Source of clusters of ParallelCluster, whose configuration is in S3:
https://github.com/aws/aws-parallelcluster/blob/v3.16.1/cli/src/pcluster/models/cluster_resources.py
(parameters of the stack), `s3_bucket.py` there, and `PCLUSTER_S3_ARTIFACTS_DICT` of
`pcluster/constants.py` (names of the objects)
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, get_args

from pydantic import TypeAdapter

from trainyard.components.account.reader import AccountReader
from trainyard.components.config.network import GatewayService, NewVpc
from trainyard.components.config.problems import Problem, Review
from trainyard.components.named.lookup import DESCRIBE_STACKS, none_without_stack
from trainyard.components.network.adopted_vpc_check import differences
from trainyard.components.network.facts import VpcLayout
from trainyard.components.network.lookup import look_up_layout, look_up_subnets
from trainyard.components.network.vpc_review import review_new_vpc
from trainyard.components.tagging import tag_map
from trainyard.importing.formats import BATCH_ANSWERS, EKS_ANSWERS, format_named
from trainyard.importing.imported import Imported, imported_as
from trainyard.importing.live.answers import document_of, owner_of
from trainyard.importing.live.batch.conversion import read_answers as read_batch
from trainyard.importing.live.eks.answers import read_answers, read_cluster
from trainyard.importing.reading import documents_in
from trainyard.importing.source import Location


def _complete_network(reader: AccountReader, imported: Imported) -> None:
    """Set the VPC, and whether the subnets are public, which these sources do not say."""
    network = imported.stack.values["network"]
    subnets = look_up_subnets(
        reader, [*network.get("public_subnet_ids", ()), *network.get("private_subnet_ids", ())]
    )
    if not subnets:
        return
    network["vpc_id"] = next(iter(subnets.values())).vpc_id
    imported.stack.unknown.pop(("network", "vpc_id"), None)
    public = [each for each in subnets if subnets[each].default_route == "internet-gateway"]
    network["public_subnet_ids"] = public
    network["private_subnet_ids"] = [each for each in subnets if each not in public]


_VERSION_TAG = "parallelcluster:version"
_FORMAT = format_named("parallelcluster")


def read_slurm(reader: AccountReader, cluster: str, name: str) -> Imported | None:
    """Return what becomes of a cluster, or None if the region has none of this name.

    Raises:
        AccountUnreachableError: the account cannot be queried.
        UnreadableYamlError: the configuration in S3 is not valid.
    """
    text = _configuration(reader, cluster)
    if text is None:
        return None
    (document,) = documents_in(text, Path(f"{cluster}.yaml"))
    imported = imported_as(_FORMAT, document, name=name, region=reader.region)
    _complete_network(reader, imported)
    return imported


def _configuration(reader: AccountReader, cluster: str) -> str | None:
    do = none_without_stack(reader.client("cloudformation").describe_stacks)
    answer = reader.ask(DESCRIBE_STACKS, do, StackName=cluster)
    stack: Mapping[str, Any] = next(iter((answer or {}).get("Stacks", ())), {})
    if _VERSION_TAG not in tag_map(stack.get("Tags")):
        return None
    given = {each["ParameterKey"]: each["ParameterValue"] for each in stack.get("Parameters", ())}
    version = given.get("ConfigVersion")
    found = reader.ask(
        "s3:GetObject",
        reader.client("s3").get_object,
        Bucket=given["ResourcesS3Bucket"],
        Key=f"{given['ArtifactS3RootDirectory']}/configs/cluster-config.yaml",
        **({"VersionId": version} if version else {}),
    )
    return None if found is None else found["Body"].read().decode("utf-8")


_GATEWAY_SERVICES = get_args(GatewayService)


class NotDescribableError(Exception):
    """The keys of a network do not describe the VPC; the message says what differs."""


def proposal(
    found: VpcLayout, *, private: Sequence[str], public: Sequence[str], region: str
) -> dict[str, Any]:
    """Return the section that adopts a VPC.

    Args:
        found: The VPC.
        private: Private subnets of the cluster.
        public: Its public subnets. If empty, those of the zones of the private ones.
        region: Region of the stack.

    Raises:
        NotDescribableError: a stack cannot have such a VPC.
    """
    private_of = _by_zone(found, private, "private")
    public_of = _by_zone(found, public or _public_subnets(found, private_of), "public")
    if public_of and public_of.keys() != private_of.keys():
        lacking = public_of.keys() ^ private_of.keys()
        raise NotDescribableError(
            f"{', '.join(sorted(lacking))} has only one of a public and a private subnet"
        )
    nat_of = _nat_gateways(found, private_of, public_of)
    # A stack has its single NAT gateway in the first zone.
    zones = sorted(private_of, key=lambda zone: (zone not in nat_of, zone))
    section = _section(found, zones, private_of, public_of, nat_of)
    problems = [*_refused(section, found, region)]
    if problems:
        raise NotDescribableError(
            "; ".join(f"{each.path.rpartition('cluster.')[2]} {each.problem}" for each in problems)
        )
    return section


def _by_zone(found: VpcLayout, subnets: Iterable[str], kind: str) -> dict[str, str]:
    by_zone: dict[str, str] = {}
    for subnet in subnets:
        if subnet not in found.subnets:
            raise NotDescribableError(f"{subnet} is not in {found.vpc_id}")
        zone = found.subnets[subnet].zone
        if by_zone.setdefault(zone, subnet) != subnet:
            raise NotDescribableError(
                f"{zone} has two {kind} subnets, {by_zone[zone]} and {subnet}"
            )
    return by_zone


def _public_subnets(found: VpcLayout, zones: Iterable[str]) -> list[str]:
    return [
        identity
        for identity, subnet in found.subnets.items()
        if subnet.zone in set(zones)
        and _default_route(found, identity) in found.internet_gateway_ids
    ]


def _default_route(found: VpcLayout, subnet: str) -> str:
    table = found.tables.get(found.subnets[subnet].table_id)
    return table.default_route if table else ""


def _nat_gateways(
    found: VpcLayout, private_of: Mapping[str, str], public_of: Mapping[str, str]
) -> dict[str, str]:
    """Return the NAT gateways by their zones: none, one for all, or one in each zone."""
    targets = {zone: _default_route(found, subnet) for zone, subnet in private_of.items()}
    used = {target for target in targets.values() if target.startswith("nat-")}
    if not used:
        return {}
    zone_of = {
        nat: zone
        for nat in used & found.nat_gateways.keys()
        for zone, subnet in public_of.items()
        if found.nat_gateways[nat].subnet_id == subnet
    }
    one_for_all = len(used) == 1 and {*targets.values()} == used
    own = all(zone_of.get(target) == zone for zone, target in targets.items())
    if not (one_for_all or own) or used != zone_of.keys():
        raise NotDescribableError(
            "the private subnets have neither one NAT gateway for all of them, nor each one in the "
            "public subnet of its zone"
        )
    return {zone: nat for nat, zone in zone_of.items()}


def _section(
    found: VpcLayout,
    zones: Sequence[str],
    private_of: Mapping[str, str],
    public_of: Mapping[str, str],
    nat_of: Mapping[str, str],
) -> dict[str, Any]:
    tables = {found.subnets[each].table_id for each in (*private_of.values(), *public_of.values())}
    endpoints = {
        each.service: identity
        for identity, each in found.endpoints.items()
        if each.kind == "Gateway" and each.service in _GATEWAY_SERVICES and each.table_ids == tables
    }
    section: dict[str, Any] = {
        "kind": "new-vpc",
        "availability_zones": [*zones],
        "cidr": found.cidr,
        "private_subnet_cidrs": [found.subnets[private_of[zone]].cidr for zone in zones],
        "nat_gateways": _nat_key(nat_of, zones),
        "gateway_endpoints": [each for each in _GATEWAY_SERVICES if each in endpoints],
    }
    adopt: dict[str, Any] = {"vpc_id": found.vpc_id}
    if found.secondary:
        section["secondary_cidrs"] = [*found.secondary]
        adopt["cidr_association_ids"] = [*found.secondary.values()]
    if public_of:
        section["public_subnet_cidrs"] = [found.subnets[public_of[zone]].cidr for zone in zones]
        adopt["internet_gateway_id"] = next(iter(found.internet_gateway_ids), "")
        adopt["public_route_table_id"] = found.subnets[public_of[zones[0]]].table_id
    else:
        section["public_subnets"] = False
    if endpoints:
        adopt["gateway_endpoint_ids"] = endpoints
    adopt["zones"] = {
        zone: dict(_zone(found, zone, private_of, public_of, nat_of)) for zone in zones
    }
    return section | {"adopt": adopt}


def _nat_key(nat_of: Mapping[str, str], zones: Sequence[str]) -> str:
    if not nat_of:
        return "none"
    return "one-per-zone" if len(nat_of) == len(zones) > 1 else "single"


def _zone(
    found: VpcLayout,
    zone: str,
    private_of: Mapping[str, str],
    public_of: Mapping[str, str],
    nat_of: Mapping[str, str],
) -> Iterator[tuple[str, str]]:
    if zone in public_of:
        yield "public_subnet_id", public_of[zone]
    yield "private_subnet_id", private_of[zone]
    yield "private_route_table_id", found.subnets[private_of[zone]].table_id
    if zone in nat_of:
        yield "nat_gateway_id", nat_of[zone]
        yield "allocation_id", next(iter(found.nat_gateways[nat_of[zone]].allocation_ids), "")


def _refused(section: Mapping[str, Any], found: VpcLayout, region: str) -> Iterator[Problem]:
    """Yield what `check` and `check --live` would refuse."""
    missing = [zone for zone, ids in section["adopt"]["zones"].items() if not all(ids.values())]
    if missing or not all(section["adopt"].values()):
        raise NotDescribableError(
            f"{', '.join(missing) or 'the public subnets'}: a subnet uses the main route table, or "
            "a gateway has no public address"
        )
    network = TypeAdapter(NewVpc).validate_json(json.dumps(section))
    review = Review(stack_file="")
    review_new_vpc(network, region, review)
    yield from review.problems
    yield from differences(network, found, own="")


def _adopt_network(reader: AccountReader, imported: Imported) -> None:
    """Replace the existing VPC of a stack file by an adopted one, or note why it is only used."""
    network = imported.stack.values.get("network", {})
    vpc_id = network.get("vpc_id")
    found = look_up_layout(reader, vpc_id) if vpc_id else None
    if found is None:
        return
    notes = imported.report.notes
    owner = owner_of(reader, found.tags)
    if owner:
        notes.append(f"{vpc_id} is used and not adopted: it is part of {owner}")
        return
    try:
        section = proposal(
            found,
            private=network.get("private_subnet_ids", ()),
            public=network.get("public_subnet_ids", ()),
            region=reader.region,
        )
    except NotDescribableError as error:
        notes.append(f"{vpc_id} is used and not adopted: {error}")
        return
    _move_claims(imported, section, found)
    imported.stack.forget("network")
    imported.stack.values["network"] = section
    _name_zones(imported.stack.values, found)
    notes.append(
        f"{vpc_id} becomes part of the stack with the next `up`, with what network.adopt names: if "
        "it is not for this cluster alone, set network to kind: existing-vpc; if another tool has "
        "it, remove it there first, without deleting it"
    )


def _name_zones(value: Any, found: VpcLayout) -> None:
    """Replace subnets of nodes and file systems by their zones, as a new VPC has them."""
    for each in _sections(value):
        subnet = found.subnets.get(str(each.get("subnet_id")))
        if subnet is not None:
            del each["subnet_id"]
            each["availability_zone"] = subnet.zone


def _sections(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            yield from _sections(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _sections(inner)


def _move_claims(imported: Imported, section: Mapping[str, Any], found: VpcLayout) -> None:
    """Let the report name the keys that have the values now."""
    values, report = imported.stack.values, imported.report
    for location, claim in [*report.claims.items()]:
        ours = _moved(claim.ours, values, section, found)
        if ours != claim.ours:
            report.claims[location] = replace(claim, ours=ours)
            report.origins.setdefault(ours, location)


def _moved(
    ours: Location, values: Mapping[str, Any], section: Mapping[str, Any], found: VpcLayout
) -> Location:
    if ours == ("network", "vpc_id"):
        return "network", "adopt", "vpc_id"
    if ours[:1] == ("network",) and len(ours) == 3:
        subnet = values["network"][ours[1]][ours[2]]
        for zone, ids in section["adopt"]["zones"].items():
            for key in ("public_subnet_id", "private_subnet_id"):
                if ids.get(key) == subnet:
                    return "network", "adopt", "zones", zone, key
    if ours[-1:] == ("subnet_id",) and ours[0] != "network":
        return *ours[:-1], "availability_zone"
    return ours


_NOT_OF_SLURM = (
    "nothing is adopted: file systems of a Slurm cluster are part of the CloudFormation stack of "
    "ParallelCluster; retain them there, and mount them by their ids (`existing-fsx-lustre`, "
    "`existing-efs`)"
)


class ClusterMissingError(Exception):
    """The region has no cluster of the name, or several; the message says what to do."""


class WantedCluster(NamedTuple):
    """What to read."""

    cluster: str
    """Name of the cluster."""
    name: str
    """Name of the stack; by default that of the cluster."""
    adopt: bool = False
    """Whether the stack shall own what is adopted without a replacement."""


def _read_eks(reader: AccountReader, wanted: WantedCluster) -> Imported | None:
    found = read_cluster(reader, wanted.cluster)
    if found is None:
        return None
    answers = read_answers(reader, found, with_file_systems=wanted.adopt)
    document = document_of(wanted.cluster, answers)
    imported = imported_as(EKS_ANSWERS, document, name=wanted.name, region=reader.region)
    if wanted.adopt:
        _adopt_network(reader, imported)
    return imported


def _read_slurm(reader: AccountReader, wanted: WantedCluster) -> Imported | None:
    imported = read_slurm(reader, wanted.cluster, wanted.name)
    if imported is not None and wanted.adopt:
        imported.report.notes.append(_NOT_OF_SLURM)
    return imported


def _read_batch(reader: AccountReader, wanted: WantedCluster) -> Imported | None:
    found = read_batch(reader, wanted.cluster, with_repositories=wanted.adopt)
    if not found:
        return None
    document = document_of(wanted.cluster, found)
    imported = imported_as(BATCH_ANSWERS, document, name=wanted.name, region=reader.region)
    _complete_network(reader, imported)
    if wanted.adopt:
        _adopt_network(reader, imported)
    return imported


KINDS: Mapping[str, Callable[[AccountReader, WantedCluster], Imported | None]] = {
    "eks": _read_eks,
    "parallelcluster": _read_slurm,
    "batch": _read_batch,
}
"""Reads a cluster, or returns None if the region has none of the name; by `--kind`."""


def read_live(
    reader: AccountReader, cluster: str, *, name: str, kind: str = "", adopt: bool = False
) -> Imported:
    """Return what becomes of a cluster of the account.

    Args:
        reader: The account and region.
        cluster: Name of the cluster.
        name: Name of the stack; by default that of the cluster.
        kind: A key of `KINDS`; empty to look for a cluster of every kind.
        adopt: Whether the stack shall own the VPC, file systems and repositories that no stack has.

    Raises:
        ClusterMissingError: there is no such cluster, or there is one of several kinds.
        AccountUnreachableError: the account cannot be queried.
    """
    kinds = [kind] if kind else [*KINDS]
    wanted = WantedCluster(cluster, name, adopt)
    found = {each: read for each in kinds if (read := KINDS[each](reader, wanted))}
    if len(found) > 1:
        raise ClusterMissingError(
            f"{reader.region} has {cluster} as {' and as '.join(found)}; choose one with "
            + " or ".join(f"`--kind {each}`" for each in found)
        )
    if not found:
        denied = "".join(f"\n  not read: {each}" for each in reader.not_read())
        raise ClusterMissingError(
            f"{reader.region} has no {' or '.join(kinds)} cluster {cluster!r} that this account "
            f"can see; look at the name, --region and AWS_PROFILE{denied}"
        )
    (imported,) = found.values()
    imported.report.notes += [
        f"{each}: the answer is not in the stack file; allow the call, and import again"
        for each in reader.not_read()
    ]
    imported.report.notes += [
        f"left out: {what}: {why}" for what, why in sorted(reader.left_out.items())
    ]
    return imported
