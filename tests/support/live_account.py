"""An account that answers calls by their names, and records them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from ipaddress import IPv4Network
from typing import Any

from botocore import xform_name

from components.account.facts import DefaultRoute, SubnetFacts

VPC = "vpc-0123456789abcdef0"


class LiveAccount:
    """Stands for `AccountReader`.

    Args:
        answers: Answer by call; a function gets the arguments. Other calls find nothing.
        routes: Default route by subnet.
    """

    region = "us-west-2"

    def __init__(
        self, answers: Mapping[str, Any], routes: Mapping[str, DefaultRoute] | None = None
    ) -> None:
        self.answers, self.routes = {**answers}, routes or {}
        self.calls: list[str] = []

    def client(self, service: str) -> Any:
        """Return a client whose methods are their own names."""
        del service
        return _Methods()

    @property
    def eks(self) -> Any:
        """As `client`."""
        return _Methods()

    @property
    def fsx(self) -> Any:
        """As `client`."""
        return _Methods()

    def account_id(self) -> str:
        """As `AccountReader.account_id`."""
        return "123456789012"

    @property
    def ec2(self) -> Any:
        """As `client`."""
        return _Methods()

    def ask(self, call: str, do: Any, **arguments: Any) -> Any:
        """As `AccountReader.ask`."""
        if isinstance(do, str):  # otherwise it is wrapped
            assert xform_name(call.partition(":")[2]) == do
        self.calls.append(call)
        answer = self.answers.get(call)
        return answer(**arguments) if callable(answer) else answer

    def pages(
        self, call: str, do: Any, *, next_key: str = "nextToken", **given: Any
    ) -> Iterator[Any]:
        """As `AccountReader.pages`: one page."""
        del next_key
        answer = self.ask(call, do, **given)
        if answer is not None:
            yield answer

    def subnets(self, subnet_ids: Iterable[str]) -> dict[str, SubnetFacts]:
        """As `AccountReader.subnets`, of the subnets with a route."""
        self.calls += ["ec2:DescribeSubnets", "ec2:DescribeRouteTables"]
        return {
            each: SubnetFacts(
                subnet_id=each,
                vpc_id=VPC,
                availability_zone="us-west-2a",
                zone_id="usw2-az2",
                cidr=IPv4Network("10.0.0.0/24"),
                free_addresses=200,
                default_route=self.routes[each],
            )
            for each in dict.fromkeys(subnet_ids)
            if each in self.routes
        }

    def not_read(self) -> tuple[str, ...]:
        """As `AccountReader.not_read`."""
        return ()


class _Methods:
    def __getattr__(self, name: str) -> str:
        return name
