"""Options of `init` that contradict each other, or that mean nothing without the account."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pydantic import TypeAdapter, ValidationError

from trainyard.components.catalog.instance_types import UnknownInstanceTypeError, instance_type
from trainyard.components.catalog.regions import can_be_region, nearest_region
from trainyard.components.config.base import ClusterName, ReservationId, SubnetId, VpcId
from trainyard.components.config.problems import Problem
from trainyard.components.config.storage_fields import FsxId
from trainyard.init.api_access import OPTION, network_problems
from trainyard.init.design import KINDS, LUSTRE_RULE, NEW_VPC, Request
from trainyard.init.examples import examples

SANDBOX_REGION = "us-west-2"
"""Region of the sandbox's account (`sandbox/account/fixture.yaml`)."""


def option_conflicts(request: Request) -> list[Problem]:
    """Return every problem of the options that needs no account."""
    return [
        *_name(request),
        *_example(request),
        *_region(request),
        *_ids(request),
        *_types(request),
        *_storage(request),
        *_network_kind(request),
        *_api_networks(request),
    ]


def unread_conflicts(request: Request) -> list[Problem]:
    """Return the options whose meaning depends on the account, which was not read."""
    log_in = "log in to the account, or add --sandbox"
    later = f"{log_in}; or remove it, and set the key in the stack file"
    kinds = f"{log_in}; or add `--from` with a shipped stack for a reservation of its kind"
    unknown = "" if request.example else ", ".join(request.reservations)
    given = (
        ("--subnet", ", ".join(request.subnets), "tells public from private subnets", later),
        ("--file-system", request.file_system, "tells FSx for Lustre from EFS", later),
        ("--reservation", unknown, "tells a Capacity Block from an ODCR", kinds),
    )
    return [
        problem(option, f"needs the account, which {why}", fix, found=value)
        for option, value, why, fix in given
        if value
    ]


def kind_of(request: Request) -> str:
    """Return the kind that the options give; empty if they give none."""
    example = examples().get(request.example)
    return example.kind if example is not None else request.kind


def problem(option: str, why: str, fix: str, **details: Any) -> Problem:
    """Return a problem of one option."""
    return Problem(path=option, problem=why, remedy=fix, **details)


def _name(request: Request) -> Iterator[Problem]:
    if _fault(ClusterName, request.name):
        yield problem(
            "NAME",
            "is not a name for a cluster: it is also the name of the cluster and of its resources",
            "use at most 100 letters, digits, `-` and `_`, beginning with a letter or a digit",
            found=request.name,
        )
    elif request.name in examples():
        yield problem(
            "NAME",
            "is the name of a shipped stack",
            f"use another name, and `--from {request.name}` to begin with that stack",
            found=request.name,
        )


def _example(request: Request) -> Iterator[Problem]:
    if request.kind and request.kind not in KINDS:
        yield problem(
            "--kind",
            "is not a kind of stack",
            "use one of these",
            found=request.kind,
            allowed=", ".join(KINDS),
        )
    if not request.example:
        return
    example = examples().get(request.example)
    if example is None:
        yield problem(
            "--from",
            "is not a shipped stack",
            "use one of these",
            found=request.example,
            allowed=", ".join(examples()),
        )
    elif request.kind and request.kind != example.kind:
        yield problem(
            "--kind",
            f"contradicts `--from {request.example}`, which is of kind {example.kind}",
            f"remove `--kind`, or use an example of kind {request.kind}",
            found=request.kind,
        )


def _region(request: Request) -> Iterator[Problem]:
    if request.region and not can_be_region(request.region):
        near = nearest_region(request.region)
        yield problem(
            "--region",
            "is not an AWS region",
            f"use {near}" if near else "use the name of a region, such as us-west-2",
            found=request.region,
        )
    elif request.sandbox and request.region not in ("", SANDBOX_REGION):
        yield problem(
            "--region",
            "contradicts `--sandbox`, whose account is in one region",
            f"use {SANDBOX_REGION}, or remove `--sandbox`",
            found=request.region,
        )
    if request.sandbox and request.profile:
        yield problem(
            "--profile",
            "contradicts `--sandbox`, which uses no credentials",
            "remove one of the two",
            found=request.profile,
        )


def _ids(request: Request) -> Iterator[Problem]:
    forms: list[tuple[str, Any, tuple[str, ...]]] = [
        ("--vpc", VpcId, (request.vpc,) if request.vpc not in ("", NEW_VPC) else ()),
        ("--subnet", SubnetId, request.subnets),
        ("--reservation", ReservationId, request.reservations),
        ("--file-system", FsxId, (request.file_system,) if request.file_system else ()),
    ]
    for option, form, values in forms:
        for value in values:
            fault = _fault(form, value)
            if fault:
                yield problem(option, fault, "copy the id from the AWS console or CLI", found=value)
        for value in sorted({each for each in values if values.count(each) > 1}):
            yield problem(option, "is given twice", "remove the second one", found=value)


def _fault(form: Any, value: str) -> str:
    try:
        TypeAdapter[str](form).validate_python(value)
    except ValidationError as error:
        return re.sub(r"^Value error, ", "", error.errors()[0]["msg"])
    return ""


def _types(request: Request) -> Iterator[Problem]:
    for name in request.instance_types:
        try:
            instance_type(name)
        except UnknownInstanceTypeError as error:
            yield problem(
                "--instance-type",
                "is not an instance type in the catalog, so the program cannot plan nodes",
                "use a type of the catalog",
                found=name,
                allowed=f"nearest: {', '.join(error.nearest)}" if error.nearest else None,
            )
    for nodes in request.nodes:
        if nodes < 1:
            yield problem("--nodes", "is less than one", "use 1 or more", found=nodes)


def _storage(request: Request) -> Iterator[Problem]:
    given = [
        name
        for name, value in (
            ("--file-system", request.file_system),
            ("--lustre-gib", request.lustre_gib),
        )
        if value
    ]
    if len(given) > 1:
        yield problem(
            " and ".join(given),
            "contradict each other: one is an existing file system, the other a new one",
            "remove one of the two",
        )
    if kind_of(request) == "batch":
        for name in given:
            yield problem(
                name,
                "cannot be used: AWS Batch stacks mount no file system",
                "remove it; jobs reach S3, and an EFS or FSx file system from their image",
            )
    size = request.lustre_gib
    if size is not None and not LUSTRE_RULE.allows(size):
        yield problem(
            "--lustre-gib",
            "is not a capacity of FSx for Lustre, which scales by whole file servers",
            f"use {LUSTRE_RULE.nearest(size)}",
            found=size,
            allowed=str(LUSTRE_RULE),
        )
    if request.file_system and request.vpc == NEW_VPC:
        yield problem(
            "--file-system",
            "contradicts `--vpc new`: nodes cannot reach an existing file system from a new VPC",
            "use the VPC of the file system, or `--lustre-gib` for a new file system",
            found=request.file_system,
        )


def _api_networks(request: Request) -> Iterator[Problem]:
    if request.api_networks and kind_of(request) not in ("", "eks"):
        yield problem(
            OPTION,
            "cannot be used: only an EKS cluster has a Kubernetes API",
            "remove it",
            found=", ".join(request.api_networks),
        )
    else:
        yield from network_problems(request.api_networks)


def _network_kind(request: Request) -> Iterator[Problem]:
    if request.vpc == NEW_VPC and request.subnets:
        yield problem(
            "--subnet",
            "contradicts `--vpc new`: a new VPC gets its own subnets",
            "remove one of the two",
            found=", ".join(request.subnets),
        )
    if kind_of(request) != "network":
        return
    given = {
        "--vpc": request.vpc not in ("", NEW_VPC),
        "--subnet": request.subnets,
        "--reservation": request.reservations,
        "--instance-type": request.instance_types,
        "--nodes": request.nodes,
        "--key-pair": request.key_pair,
        "--file-system": request.file_system,
        "--lustre-gib": request.lustre_gib is not None,
    }
    for option, value in given.items():
        if value:
            yield problem(
                option,
                "cannot be used: a network stack is a new VPC without nodes",
                "remove it, and give it to the stack whose nodes are in this network",
            )
