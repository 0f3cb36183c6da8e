"""Read facts from the AWS account with boto3."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from ipaddress import IPv4Network
from typing import Any, TypeVar

import boto3
from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError
from botocore.parsers import ResponseParserError

from trainyard.components.account import answers
from trainyard.components.account.answer_shapes import (
    AccountUnreachableError as AccountUnreachableError,
)
from trainyard.components.account.answer_shapes import (
    MissingValueError,
    UnexpectedAnswerError,
    understood,
)
from trainyard.components.account.call_failures import CLIENT, explained
from trainyard.components.account.error_codes import NOT_ALLOWED as NOT_ALLOWED
from trainyard.components.account.error_codes import NOT_FOUND as NOT_FOUND
from trainyard.components.account.facts import (
    DefaultRoute,
    ReservationFacts,
    SubnetFacts,
    VpcFacts,
    ZoneFacts,
)
from trainyard.components.account.named_facts import ImageFacts
from trainyard.components.config.provider_settings import is_region

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

    def vpc(self, vpc_id: str) -> VpcFacts | None:
        """Return the VPC, or None if it does not exist."""
        answer = self.ask("ec2:DescribeVpcs", self.ec2.describe_vpcs, VpcIds=[vpc_id])
        if not answer:
            return None
        endpoints = self.ask(
            "ec2:DescribeVpcEndpoints",
            self.ec2.describe_vpc_endpoints,
            Filters=[{"Name": "vpc-id", "Values": [vpc_id]}],
        )
        prefix = f"com.amazonaws.{self.region}."
        return VpcFacts(
            vpc_id=vpc_id,
            dns_support=self.vpc_attribute(vpc_id, "EnableDnsSupport"),
            dns_hostnames=self.vpc_attribute(vpc_id, "EnableDnsHostnames"),
            endpoint_services=frozenset(
                endpoint["ServiceName"].removeprefix(prefix)
                for endpoint in (endpoints or {}).get("VpcEndpoints", [])
                if endpoint.get("ServiceName")
            ),
        )

    def vpc_attribute(self, vpc_id: str, name: str) -> bool:
        """Return an attribute of a VPC, such as `EnableDnsSupport`; true if it cannot be read."""
        answer = self.ask(
            "ec2:DescribeVpcAttribute",
            self.ec2.describe_vpc_attribute,
            VpcId=vpc_id,
            Attribute=name[0].lower() + name[1:],
        )
        return answer is None or answer[name]["Value"]

    def subnets(self, subnet_ids: Iterable[str]) -> dict[str, SubnetFacts]:
        """Return the existing subnets, by id."""
        # A filter, because SubnetIds fails the whole call if one id does not exist.
        answer = self.ask(
            "ec2:DescribeSubnets",
            self.ec2.describe_subnets,
            Filters=[{"Name": "subnet-id", "Values": sorted(set(subnet_ids))}],
        )
        return self.subnet_facts((answer or {}).get("Subnets", []))

    def subnet_facts(self, subnets: Sequence[Mapping[str, Any]]) -> dict[str, SubnetFacts]:
        """Return the facts of subnets of `DescribeSubnets` with their default routes, by id."""
        usable = with_ipv4(self, subnets)
        routes = self._default_routes({s["VpcId"] for s in usable if "VpcId" in s})

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

        found = readable(self, "subnet", "SubnetId", usable, read)
        return {each.subnet_id: each for each in found}

    def zones(self) -> tuple[ZoneFacts, ...]:
        """Return the zones of the region that are enabled in the account."""
        answer = self.ask("ec2:DescribeAvailabilityZones", self.ec2.describe_availability_zones)
        return tuple(
            ZoneFacts(
                name=zone["ZoneName"],
                zone_id=zone["ZoneId"],
                kind=zone.get("ZoneType", "availability-zone"),
            )
            for zone in (answer or {}).get("AvailabilityZones", [])
        )

    def _default_routes(self, vpc_ids: set[str]) -> dict[str, DefaultRoute]:
        """Return the default route by subnet id and, for a VPC's main table, by VPC id."""
        if not vpc_ids:
            return {}
        answer = self.ask(
            "ec2:DescribeRouteTables",
            self.ec2.describe_route_tables,
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

    def reservation(self, reservation_id: str) -> ReservationFacts | None:
        """Return the capacity reservation, or None if it does not exist or is not shared."""
        answer = self.ask(
            "ec2:DescribeCapacityReservations",
            self.ec2.describe_capacity_reservations,
            CapacityReservationIds=[reservation_id],
        )
        found = (answer or {}).get("CapacityReservations", [])
        return answers.reservation(found[0]) if found else None

    def key_pair_type(self, name: str) -> str | None:
        """Return `rsa` or `ed25519`, or None if the key pair does not exist in the region."""
        answer = self.ask("ec2:DescribeKeyPairs", self.ec2.describe_key_pairs, KeyNames=[name])
        found = (answer or {}).get("KeyPairs", [])
        return found[0].get("KeyType", "rsa") if found else None

    def image(self, image_id: str) -> ImageFacts | None:
        """Return the AMI, or None if it does not exist or is not shared."""
        answer = self.ask("ec2:DescribeImages", self.ec2.describe_images, ImageIds=[image_id])
        found = (answer or {}).get("Images", [])
        return answers.image(found[0]) if found else None

    def newest_image(self, name: str) -> ImageFacts | None:
        """Return the newest Amazon AMI whose name starts with `name`, or None."""
        answer = self.ask(
            "ec2:DescribeImages",
            self.ec2.describe_images,
            Owners=["amazon"],
            Filters=[{"Name": "name", "Values": [f"{name}*"]}],
        )
        found = sorted((answer or {}).get("Images", []), key=lambda each: each["CreationDate"])
        return answers.image(found[-1]) if found else None

    def images(self, image_id: str) -> dict[str, ImageFacts]:
        """Return the AMI by its id, or an empty mapping if it does not exist."""
        found = self.image(image_id)
        return {} if found is None else {image_id: found}

    def offered_zone_ids(self, instance_type: str) -> frozenset[str]:
        """Return the zone ids of the region that offer the type."""
        answer = self.ask(
            "ec2:DescribeInstanceTypeOfferings",
            self.ec2.describe_instance_type_offerings,
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
