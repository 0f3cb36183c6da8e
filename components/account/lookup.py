"""Read facts from the AWS account with boto3."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from ipaddress import IPv4Network
from typing import Any, TypeVar

import boto3
from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError
from botocore.parsers import ResponseParserError

from trainyard.components.account import answers
from trainyard.components.account.answers import (
    AccountUnreachableError,
    MissingValueError,
    UnexpectedAnswerError,
    understood,
)
from trainyard.components.account.call_failures import CLIENT, explained
from trainyard.components.account.error_codes import NOT_ALLOWED as NOT_ALLOWED
from trainyard.components.account.error_codes import NOT_FOUND as NOT_FOUND
from trainyard.components.account.facts import (
    DefaultRoute,
    EfsFacts,
    FileSystemFacts,
    ImageFacts,
    IngressFacts,
    MountTargetFacts,
    ReservationFacts,
    SubnetFacts,
    VpcFacts,
    ZoneFacts,
)
from trainyard.components.config.fsx_lustre import NewFsxLustre, adopted_or_existing
from trainyard.components.config.provider_settings import is_region
from trainyard.components.config.stack import StackConfig
from trainyard.components.tagging import CLUSTER_TAG, tag_map

# Read CloudFormation stacks by name.
#
# Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeStacks.html


DESCRIBE_STACKS = "cloudformation:DescribeStacks"


def none_without_stack(do: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a call so that it returns None for a stack that does not exist.

    CloudFormation has no specific error for this, only ValidationError.
    """

    def call(**arguments: Any) -> Any:
        try:
            return do(**arguments)
        except ClientError as error:
            said = error.response.get("Error", {})
            if said.get("Code") == "ValidationError" and "not exist" in said.get("Message", ""):
                return None
            raise

    return call


T = TypeVar("T")
NO_IPV4 = "it has no IPv4 block, and nodes have IPv4 addresses"
"""Why a subnet is left out."""
_MOST_PAGES = 1000
"""Limit for one list call; no list that a stack depends on has more pages."""


class AccountReader:
    """Reads facts from one region of one account. Thread-safe.

    A denied call is recorded in `unreadable` and returns an empty result.
    """

    def __init__(self, *, region: str, profile: str | None = None) -> None:
        """Create the session without calling AWS.

        Raises:
            AccountUnreachableError: `region` is not a valid region name.
        """
        if not is_region(region):
            raise AccountUnreachableError(
                f"aws:region is no region: {region!r}; set it to one, such as us-west-2"
            )
        session = boto3.Session(region_name=region, profile_name=profile)
        self._session = session
        self._clients: dict[str, Any] = {}
        # Sessions are not thread-safe, clients are.
        self._making = threading.Lock()
        self._asking_for_account = threading.Lock()
        self._account_id: str | None = None
        self.region = region
        self.unreadable: list[str] = []
        self.left_out: dict[str, str] = {}
        """Why objects of the account are left out of the facts, by object."""

    @property
    def ec2(self) -> Any:
        """The client of EC2."""
        return self.client("ec2")

    @property
    def eks(self) -> Any:
        """The client of EKS."""
        return self.client("eks")

    @property
    def fsx(self) -> Any:
        """The client of FSx."""
        return self.client("fsx")

    @property
    def resource_groups(self) -> Any:
        """The client of Resource Groups."""
        return self.client("resource-groups")

    @property
    def sts(self) -> Any:
        """The client of STS."""
        return self.client("sts")

    def client(self, service: str) -> Any:
        """Return the client of a service by its boto3 name; created on first use."""
        with self._making:
            if service not in self._clients:
                made: Any = self._session.client(service, config=CLIENT)  # pyright: ignore[reportArgumentType, reportCallIssue]
                self._clients[service] = made
            return self._clients[service]

    def not_read(self) -> tuple[str, ...]:
        """Return the denied calls, without duplicates and in a stable order."""
        return tuple(sorted(set(self.unreadable)))

    def leave_out(self, what: str, why: str) -> None:
        """Record that an object is left out of the facts, which the commands say.

        An object that a stack does not own can have any state. It never ends a command.

        Args:
            what: The object, such as `subnet subnet-0a…`.
            why: What it lacks, such as `it has no IPv4 block`.
        """
        self.left_out[what] = why

    def ask(
        self, call: str, do: Callable[..., Any], *, if_denied: Any = None, **arguments: Any
    ) -> Any:
        """Return the response, None if it finds nothing, or `if_denied` if the call is denied.

        Raises:
            AccountUnreachableError: no credentials, no answer, or an answer that does not match the
                API.
        """
        try:
            return understood(call, do(**arguments), do)
        except NoCredentialsError as error:
            raise AccountUnreachableError(
                "no AWS credentials were found; log in (`aws sso login`, AWS_PROFILE or the "
                "AWS_ACCESS_KEY_ID variables), or add --sandbox to run without an account"
            ) from error
        except ClientError as error:
            code = error.response.get("Error", {}).get("Code", "")
            if code in NOT_FOUND:
                return None
            if code in NOT_ALLOWED:
                self.unreadable.append(f"{call}: {code}")
                return if_denied
            raise AccountUnreachableError(explained(call, error)) from error
        except BotoCoreError as error:
            raise AccountUnreachableError(explained(call, error)) from error
        except (ResponseParserError, ValueError, LookupError, TypeError, AttributeError) as error:
            # The parsers of boto3 raise these for responses that do not match the API.
            raise UnexpectedAnswerError(call, f"{type(error).__name__}: {error}") from error

    def ask_or_none(self, call: str, do: Callable[..., Any], **arguments: Any) -> Any:
        """Return the response of one call, or None if it fails; the preflight goes on without."""
        try:
            return self.ask(call, do, **arguments)
        except AccountUnreachableError as error:
            self.unreadable.append(f"{call}: {error}")
            return None

    def pages(
        self, call: str, do: Callable[..., Any], *, next_key: str = "nextToken", **arguments: Any
    ) -> Iterator[Any]:
        """Yield the pages of a call; none if it is denied.

        Raises:
            AccountUnreachableError: as `ask`, or the pages form a loop.
        """
        seen: set[str] = set()
        while answer := self.ask(call, do, **arguments):
            yield answer
            following = answer.get(next_key)
            if not following:
                return
            if following in seen or len(seen) == _MOST_PAGES:
                raise UnexpectedAnswerError(call, "its pages have no end")
            seen.add(following)
            arguments[next_key] = following

    def account_id(self) -> str:
        """Return the account id of the caller, which is asked for once."""
        with self._asking_for_account:
            account = self._account_id
            if account is None:
                answer = self.ask("sts:GetCallerIdentity", self.sts.get_caller_identity)
                account = self._account_id = str(answer["Account"]) if answer else ""
            return account


def look_up_vpc(reader: AccountReader, vpc_id: str) -> VpcFacts | None:
    """Return the VPC, or None if it does not exist."""
    answer = reader.ask("ec2:DescribeVpcs", reader.ec2.describe_vpcs, VpcIds=[vpc_id])
    if not answer:
        return None
    endpoints = reader.ask(
        "ec2:DescribeVpcEndpoints",
        reader.ec2.describe_vpc_endpoints,
        Filters=[{"Name": "vpc-id", "Values": [vpc_id]}],
    )
    prefix = f"com.amazonaws.{reader.region}."
    return VpcFacts(
        vpc_id=vpc_id,
        dns_support=vpc_attribute(reader, vpc_id, "EnableDnsSupport"),
        dns_hostnames=vpc_attribute(reader, vpc_id, "EnableDnsHostnames"),
        endpoint_services=frozenset(
            endpoint["ServiceName"].removeprefix(prefix)
            for endpoint in (endpoints or {}).get("VpcEndpoints", [])
            if endpoint.get("ServiceName")
        ),
    )


def vpc_attribute(reader: AccountReader, vpc_id: str, name: str) -> bool:
    """Return an attribute of a VPC, such as `EnableDnsSupport`; true if it cannot be read."""
    answer = reader.ask(
        "ec2:DescribeVpcAttribute",
        reader.ec2.describe_vpc_attribute,
        VpcId=vpc_id,
        Attribute=name[0].lower() + name[1:],
    )
    return answer is None or answer[name]["Value"]


def look_up_subnets(reader: AccountReader, subnet_ids: Iterable[str]) -> dict[str, SubnetFacts]:
    """Return the existing subnets, by id."""
    # A filter, because SubnetIds fails the whole call if one id does not exist.
    answer = reader.ask(
        "ec2:DescribeSubnets",
        reader.ec2.describe_subnets,
        Filters=[{"Name": "subnet-id", "Values": sorted(set(subnet_ids))}],
    )
    return subnet_facts(reader, (answer or {}).get("Subnets", []))


def subnet_facts(
    reader: AccountReader, subnets: Sequence[Mapping[str, Any]]
) -> dict[str, SubnetFacts]:
    """Return the facts of subnets of `DescribeSubnets` with their default routes, by id."""
    usable = with_ipv4(reader, subnets)
    routes = _default_routes(reader, {s["VpcId"] for s in usable if "VpcId" in s})

    def read(s: Mapping[str, Any]) -> SubnetFacts:
        return SubnetFacts(
            subnet_id=s["SubnetId"],
            vpc_id=s["VpcId"],
            availability_zone=s["AvailabilityZone"],
            zone_id=s["AvailabilityZoneId"],
            cidr=IPv4Network(s["CidrBlock"]),
            free_addresses=s["AvailableIpAddressCount"],
            default_route=routes.get(s["SubnetId"], routes.get(s["VpcId"], "none")),
            maps_public_addresses=s.get("MapPublicIpOnLaunch", True),
        )

    found = readable(reader, "subnet", "SubnetId", usable, read)
    return {each.subnet_id: each for each in found}


def look_up_zones(reader: AccountReader) -> tuple[ZoneFacts, ...]:
    """Return the zones of the region that are enabled in the account."""
    answer = reader.ask("ec2:DescribeAvailabilityZones", reader.ec2.describe_availability_zones)
    return tuple(
        ZoneFacts(
            name=zone["ZoneName"],
            zone_id=zone["ZoneId"],
            kind=zone.get("ZoneType", "availability-zone"),
        )
        for zone in (answer or {}).get("AvailabilityZones", [])
    )


def _default_routes(reader: AccountReader, vpc_ids: set[str]) -> dict[str, DefaultRoute]:
    """Return the default route by subnet id and, for a VPC's main table, by VPC id."""
    if not vpc_ids:
        return {}
    answer = reader.ask(
        "ec2:DescribeRouteTables",
        reader.ec2.describe_route_tables,
        Filters=[{"Name": "vpc-id", "Values": sorted(vpc_ids)}],
    )
    found: dict[str, DefaultRoute] = {}
    for table in (answer or {}).get("RouteTables", []):
        route = answers.default_route(table["Routes"])
        for association in table.get("Associations", []):
            if association.get("Main"):
                found[table["VpcId"]] = route
            elif "SubnetId" in association:
                found[association["SubnetId"]] = route
    return found


def look_up_reservation(reader: AccountReader, reservation_id: str) -> ReservationFacts | None:
    """Return the capacity reservation, or None if it does not exist or is not shared."""
    answer = reader.ask(
        "ec2:DescribeCapacityReservations",
        reader.ec2.describe_capacity_reservations,
        CapacityReservationIds=[reservation_id],
    )
    found = (answer or {}).get("CapacityReservations", [])
    return answers.reservation(found[0]) if found else None


def key_pair_type(reader: AccountReader, name: str) -> str | None:
    """Return `rsa` or `ed25519`, or None if the key pair does not exist in the region."""
    answer = reader.ask("ec2:DescribeKeyPairs", reader.ec2.describe_key_pairs, KeyNames=[name])
    found = (answer or {}).get("KeyPairs", [])
    return found[0].get("KeyType", "rsa") if found else None


def look_up_image(reader: AccountReader, image_id: str) -> ImageFacts | None:
    """Return the AMI, or None if it does not exist or is not shared."""
    answer = reader.ask("ec2:DescribeImages", reader.ec2.describe_images, ImageIds=[image_id])
    found = (answer or {}).get("Images", [])
    return answers.image(found[0]) if found else None


def newest_image(reader: AccountReader, name: str) -> ImageFacts | None:
    """Return the newest Amazon AMI whose name starts with `name`, or None."""
    answer = reader.ask(
        "ec2:DescribeImages",
        reader.ec2.describe_images,
        Owners=["amazon"],
        Filters=[{"Name": "name", "Values": [f"{name}*"]}],
    )
    found = sorted((answer or {}).get("Images", []), key=lambda each: each["CreationDate"])
    return answers.image(found[-1]) if found else None


def look_up_images(reader: AccountReader, image_id: str) -> dict[str, ImageFacts]:
    """Return the AMI by its id, or an empty mapping if it does not exist."""
    found = look_up_image(reader, image_id)
    return {} if found is None else {image_id: found}


def offered_zone_ids(reader: AccountReader, instance_type: str) -> frozenset[str]:
    """Return the zone ids of the region that offer the type."""
    answer = reader.ask(
        "ec2:DescribeInstanceTypeOfferings",
        reader.ec2.describe_instance_type_offerings,
        LocationType="availability-zone-id",
        Filters=[{"Name": "instance-type", "Values": [instance_type]}],
    )
    return frozenset(o["Location"] for o in (answer or {}).get("InstanceTypeOfferings", []))


def with_ipv4(
    reader: AccountReader, subnets: Iterable[Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """Return the subnets of `DescribeSubnets` that nodes can use; leave out those with IPv6 only.

    They have no `CidrBlock`: aws/aws-cli, awscli/examples/ec2/create-subnet.rst at 07c4fe36.
    """
    found: list[Mapping[str, Any]] = []
    for each in subnets:
        if "CidrBlock" in each:
            found.append(each)
        else:
            reader.leave_out(f"subnet {each['SubnetId']}", NO_IPV4)
    return found


def readable(
    reader: AccountReader,
    kind: str,
    key: str,
    answers: Iterable[Mapping[str, Any]],
    read: Callable[[Any], T],
) -> Iterator[T]:
    """Yield what `read` makes of listed objects; leave out those that lack a value.

    A list has the objects of all owners, in every state. Objects that a stack file names are not
    read with this: what they lack is an error.

    Args:
        reader: The reader, which records what is left out.
        kind: What they are, such as `capacity reservation`.
        key: Key of their id.
        answers: The objects in a response.
        read: Makes facts of one.
    """
    for each in answers:
        try:
            yield read(each)
        except MissingValueError as error:
            reader.leave_out(f"{kind} {each.get(key, 'without an id')}", error.problem)


# Read the rules of security groups.
#
# Source: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_SecurityGroupRule.html


@dataclass(frozen=True, slots=True, kw_only=True)
class SecurityGroupRules:
    """Ingress and egress rules of security groups."""

    lets_in: tuple[IngressFacts, ...]
    lets_out: tuple[IngressFacts, ...]


def security_group_rules(
    reader: AccountReader, group_ids: Iterable[str]
) -> SecurityGroupRules | None:
    """Return the rules that affect nodes; None if they cannot be read.

    IPv6 rules do not count, because nodes have IPv4 addresses.

    Raises:
        AccountUnreachableError: no credentials, or no answer.
    """
    answer = reader.ask(
        "ec2:DescribeSecurityGroupRules",
        reader.ec2.describe_security_group_rules,
        Filters=[{"Name": "group-id", "Values": sorted(group_ids)}],
    )
    if answer is None:
        return None
    rules = [each for each in answer["SecurityGroupRules"] if each.get("CidrIpv6") is None]
    return SecurityGroupRules(
        lets_in=tuple(_ingress_facts(rule) for rule in rules if not rule["IsEgress"]),
        lets_out=tuple(_ingress_facts(rule) for rule in rules if rule["IsEgress"]),
    )


def ingress_of(reader: AccountReader, group_ids: frozenset[str]) -> tuple[IngressFacts, ...]:
    """Return the ingress rules of security groups, without rules for the group itself."""
    rules = security_group_rules(reader, group_ids) if group_ids else None
    # A self-referencing rule allows only servers of the group, not clients.
    return tuple(
        rule for rule in (rules.lets_in if rules else ()) if rule.peer_group_id not in group_ids
    )


def _ingress_facts(rule: Mapping[str, Any]) -> IngressFacts:
    return IngressFacts(
        protocol=rule["IpProtocol"],
        first_port=rule.get("FromPort", -1),
        last_port=rule.get("ToPort", -1),
        cidr=rule.get("CidrIpv4"),
        peer_group_id=(rule.get("ReferencedGroupInfo") or {}).get("GroupId"),
    )


_NONE = (None, "", "NONE")


def look_up_file_systems(
    reader: AccountReader, config: StackConfig, *, places_file_systems: bool
) -> dict[str, FileSystemFacts]:
    """Return the file systems that the stack file names or the stack created, by id.

    Without Lustre in the stack file there is no call, so that the permission is not needed. File
    systems of ParallelCluster are compared through the deployed cluster instead.
    """
    systems = config.storage.values()
    references = map(adopted_or_existing, systems)
    named = {each.file_system_id for each in references if each is not None}
    found = [answer for each in sorted(named) for answer in _described(reader, [each])]
    if places_file_systems and any(isinstance(system, NewFsxLustre) for system in systems):
        found += [
            answer
            for answer in _described(reader, None)
            if tag_map(answer.get("Tags")).get(CLUSTER_TAG) == config.name
        ]
    return {answer["FileSystemId"]: _facts(reader, answer) for answer in found}


def described_file_systems(reader: AccountReader, ids: list[str]) -> list[FileSystemFacts]:
    """Return the FSx file systems that exist."""
    return [_facts(reader, answer) for answer in _described(reader, ids)]


def every_file_system(reader: AccountReader) -> Iterator[FileSystemFacts]:
    """Yield the FSx file systems of the region, without those that lack a value."""
    found = _described(reader, None)
    yield from readable(reader, "file system", "FileSystemId", found, partial(_facts, reader))


def _described(reader: AccountReader, ids: list[str] | None) -> list[dict[str, Any]]:
    # https://docs.aws.amazon.com/fsx/latest/APIReference/API_DescribeFileSystems.html: one missing
    # id fails the whole call.
    arguments: dict[str, Any] = {"FileSystemIds": ids} if ids else {}
    do = reader.fsx.describe_file_systems
    pages = reader.pages("fsx:DescribeFileSystems", do, next_key="NextToken", **arguments)
    return [found for answer in pages for found in answer.get("FileSystems", [])]


def _facts(reader: AccountReader, answer: Mapping[str, Any]) -> FileSystemFacts:
    lustre: Mapping[str, Any] = answer.get("LustreConfiguration") or {}
    subnet_id = next(iter(answer.get("SubnetIds", [])), "")
    subnet = look_up_subnets(reader, [subnet_id]).get(subnet_id)
    groups = _security_groups(reader, answer.get("NetworkInterfaceIds", []))
    return FileSystemFacts(
        file_system_id=answer["FileSystemId"],
        type=answer["FileSystemType"],
        lifecycle=answer.get("Lifecycle", ""),
        vpc_id=answer.get("VpcId", ""),
        subnet_id=subnet_id,
        availability_zone=subnet.availability_zone if subnet else "",
        dns_name=answer.get("DNSName", ""),
        mount_name=lustre.get("MountName", ""),
        capacity_gib=answer.get("StorageCapacity", 0),
        settings=_fixed_settings(answer, lustre),
        tags=tag_map(answer.get("Tags")),
        security_group_ids=groups,
        lets_in=ingress_of(reader, groups),
    )


def _fixed_settings(answer: Mapping[str, Any], lustre: Mapping[str, Any]) -> dict[str, object]:
    """Return the settings whose change replaces a file system, by key in the stack file."""
    s3: Mapping[str, Any] = lustre.get("DataRepositoryConfiguration") or {}
    cache = lustre.get("DriveCacheType")
    return {
        "deployment_type": lustre.get("DeploymentType"),
        "storage_type": answer.get("StorageType", "SSD"),
        "drive_cache": None if cache in _NONE else cache,
        "kms_key_arn": answer.get("KmsKeyId"),
        "efa_enabled": bool(lustre.get("EfaEnabled")),
        "import_path": s3.get("ImportPath"),
        "export_path": s3.get("ExportPath"),
        "metadata_iops": (lustre.get("MetadataConfiguration") or {}).get("Iops"),
    }


def _security_groups(reader: AccountReader, interface_ids: Iterable[str]) -> frozenset[str]:
    """Return the security groups of the interfaces, which the FSx API does not return."""
    wanted = sorted(interface_ids)
    if not wanted:
        return frozenset()
    answer = reader.ask(
        "ec2:DescribeNetworkInterfaces",
        reader.ec2.describe_network_interfaces,
        Filters=[{"Name": "network-interface-id", "Values": wanted}],
    )
    interfaces = (answer or {}).get("NetworkInterfaces", [])
    return frozenset(group["GroupId"] for each in interfaces for group in each.get("Groups", []))


# Read EFS file systems and their mount targets.
#
# Source: https://docs.aws.amazon.com/efs/latest/ug/API_DescribeMountTargets.html


def described_efs(reader: AccountReader, file_system_id: str) -> EfsFacts | None:
    """Return an EFS file system with its mount targets, or None if it does not exist."""
    answer = reader.ask(
        "elasticfilesystem:DescribeFileSystems",
        reader.client("efs").describe_file_systems,
        FileSystemId=file_system_id,
    )
    return efs_facts(reader, file_system_id) if (answer or {}).get("FileSystems") else None


def efs_facts(reader: AccountReader, file_system_id: str) -> EfsFacts:
    """Return an existing EFS file system with its mount targets."""
    targets = reader.ask(
        "elasticfilesystem:DescribeMountTargets",
        reader.client("efs").describe_mount_targets,
        FileSystemId=file_system_id,
    )
    return EfsFacts(
        file_system_id=file_system_id,
        targets=tuple(
            found
            for target in (targets or {}).get("MountTargets", [])
            if (found := _target(reader, target)) is not None
        ),
    )


def _target(reader: AccountReader, target: Mapping[str, Any]) -> MountTargetFacts | None:
    """Return a mount target, or None while it is created or deleted."""
    answer = reader.ask(
        "elasticfilesystem:DescribeMountTargetSecurityGroups",
        reader.client("efs").describe_mount_target_security_groups,
        if_denied={},
        MountTargetId=target["MountTargetId"],
    )
    if answer is None:
        reader.leave_out(
            f"mount target {target['MountTargetId']} of {target['FileSystemId']}",
            f"it is {target['LifeCycleState']}, and EFS shows no security groups of it; try again "
            "when it is available",
        )
        return None
    groups = frozenset(answer.get("SecurityGroups", []))
    return MountTargetFacts(
        vpc_id=target.get("VpcId", ""),
        availability_zone=target.get("AvailabilityZoneName", ""),
        security_group_ids=groups,
        lets_in=ingress_of(reader, groups),
    )
