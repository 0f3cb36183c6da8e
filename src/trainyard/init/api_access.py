"""Who reaches the Kubernetes API of a new EKS cluster: networks of the internet, or the VPC only.

There is no default: the networks of a team are known to nobody else, and the default of EKS is
every network.

Sources:
    https://docs.aws.amazon.com/eks/latest/userguide/cluster-endpoint.html
    https://docs.aws.amazon.com/eks/latest/userguide/control-plane-logs.html: the audit log is
        charged as other data that CloudWatch Logs ingests and stores
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ipaddress import IPv4Network, ip_network

from pydantic import TypeAdapter, ValidationError

from trainyard.components.catalog.prices import snapshot_prices
from trainyard.components.config.base import ClientCidr
from trainyard.components.config.eks import MAXIMUM_PUBLIC_NETWORKS
from trainyard.components.config.problems import Problem
from trainyard.components.eks.cluster_review import is_public
from trainyard.init.design import EVERYBODY, PRIVATE, NetworkDesign, StackDesign
from trainyard.init.question import Ask, Question

OPTION = "--api-networks"
PAGE = "init.md#who-can-reach-the-kubernetes-api"
_EXAMPLE = "203.0.113.0/24"
_YOURS = "the public addresses of your office, VPN or CI"


def listed_networks(text: str) -> tuple[str, ...]:
    """Return the networks of the option, which are separated by commas."""
    return tuple(part.strip() for part in text.split(",")) if text else ()


def ask_networks(network: NetworkDesign, ask: Ask) -> tuple[str, ...]:
    """Return the networks that the user gives; empty if nobody is asked."""
    private = "" if network.kind == "new-vpc" else f", or `{PRIVATE}` for the VPC only"
    alternative = "" if network.kind == "new-vpc" else f", or `{OPTION} {PRIVATE}`"
    question = Question(
        option=OPTION,
        text=f"Which networks can reach the Kubernetes API? Give {_YOURS} as CIDRs, such as "
        f"{_EXAMPLE}{private}.",
        example=_EXAMPLE,
        several=True,
        otherwise=f" with {_YOURS}{alternative}",
        fault=lambda given: _fault(given, network),
    )
    return ask(question) or ()


def network_problems(given: Sequence[str]) -> Iterator[Problem]:
    """Yield what is wrong with networks, all at once."""
    networks = [each for each in given if each != PRIVATE]
    if networks and PRIVATE in given:
        yield _problem(
            f"`{PRIVATE}` and networks contradict each other: `{PRIVATE}` switches off the public "
            "endpoint, for which the networks are",
            "remove one of the two",
            found=", ".join(given),
        )
    if len(networks) > MAXIMUM_PUBLIC_NETWORKS:
        yield _problem(
            f"has {len(networks)} networks, and EKS accepts at most {MAXIMUM_PUBLIC_NETWORKS}",
            "combine neighboring networks, or use the addresses of a VPN",
        )
    for each in networks:
        yield from _form_problems(each)
    for each in sorted({each for each in given if given.count(each) > 1}):
        yield _problem("is given twice", "remove the second one", found=each)


def vpc_problems(network: NetworkDesign, given: Sequence[str]) -> Iterator[Problem]:
    """Yield the contradiction of a private API to a VPC that does not exist yet."""
    if PRIVATE in given and network.kind == "new-vpc":
        yield _problem(
            "contradicts the new VPC: `up` creates the VPC and the Kubernetes objects in one run, "
            "and nothing can be in the VPC before",
            f"use `--vpc` with a VPC that you reach, such as that of a stack of `--kind network`; "
            f"or give {_YOURS} until the cluster is up, and then switch the public endpoint off",
            found=PRIVATE,
        )


def audit_log_price(region: str) -> str:
    """Return what the audit log costs, with the list price of a region that the snapshot has."""
    price = snapshot_prices(region).get("cloudwatch:logs")
    usd = f"{price.usd:.2f} USD " if price is not None else ""
    return f"CloudWatch charges {usd}for each GB that it takes in, and for storage"


def consequences(design: StackDesign) -> Iterator[str]:
    """Yield what the choices mean for whoever works with the cluster."""
    given = design.api_networks
    if not given:
        return
    if PRIVATE in given:
        yield (
            "only the VPC reaches the Kubernetes API: run `up`, `preview`, `refresh`, `destroy`, "
            "`job`, `run`, `jobs`, `logs`, `status`, `verify`, `repair` and `kubectl` on a host in "
            "the VPC, or in a network that is connected to it, from which the security group of "
            f"the cluster admits port 443; more: docs/{PAGE}"
        )
    elif EVERYBODY in given:
        yield (
            "every network can reach the Kubernetes API: previews warn about it until "
            "architecture.endpoint.public_access_cidrs has your networks"
        )
    yield (
        f"the audit log of the cluster is on: {audit_log_price(design.region)}; how many GB "
        "depends on the requests to the API"
    )


def _fault(given: Sequence[str], network: NetworkDesign) -> str | None:
    problems = [*network_problems(given), *vpc_problems(network, given)]
    said = [f"{each.found or OPTION}: {each.problem}; {each.remedy}" for each in problems]
    return "\n  ".join(said) or None


def _form_problems(text: str) -> Iterator[Problem]:
    try:
        TypeAdapter[str](ClientCidr).validate_python(text)
    except ValidationError as error:
        yield _problem(error.errors()[0]["msg"], _correction(text), found=text)
        return
    if not is_public(IPv4Network(text)):
        yield _problem(
            "is no network of the internet, from which the public endpoint is reached; EKS "
            "refuses it",
            f"use `{PRIVATE}`, with which only the VPC and the networks that are connected to it "
            f"reach the API; or {_YOURS}",
            found=text,
        )


def _correction(text: str) -> str:
    other = f"use {_YOURS} in CIDR notation, such as {_EXAMPLE}"
    address, _, length = text.partition("/")
    try:
        network = ip_network(text, strict=False)
    except ValueError:
        return other
    if network.version != IPv4Network(EVERYBODY).version:
        return f"{other}: the cluster has an IPv4 endpoint"
    return f"use {network}, or {address}/32 for the one address" if length else f"use {network}"


def _problem(why: str, fix: str, *, found: str | None = None) -> Problem:
    return Problem(path=OPTION, problem=why, remedy=fix, found=found)
