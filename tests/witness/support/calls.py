"""The operations of AWS that the program, its tools and the sandbox call."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import botocore.session
from botocore import xform_name

from tests.support.tracked import ROOT, tracked
from trainyard.acceptance.shapes import model_of

CALLERS = ("components", "src", "tools", "policies/pack", "sandbox")
PERMISSIONS_ONLY = (
    "components/batch/job_definition.py",
    "components/catalog/eks_node_policies.py",
    "components/identity/",
    "components/monitoring/",
    "components/network/",
    "sandbox/account/",  # it fills the emulated account
    "sandbox/aws/",  # it answers the calls
    "sandbox/parallelcluster/",  # it is CloudFormation in the emulated account
    "src/trainyard/importing/live/eks/conversion.py",
    "src/trainyard/importing/terraform/outcomes.py",
)
"""Places that name operations which they do not call."""
OF_ANOTHER_SERVICE = {
    "efs.ListTagsForResource",  # Amazon Managed Service for Prometheus
    "fsx.DescribeSnapshots",  # EC2
    "fsx.ListTagsForResource",
    "iam.GetGroup",  # Resource Groups
    "iam.ListGroups",
}
"""Operations with the name of one that a file calls of another service."""
NO_CLIENTS = {"deadline", "location"}
"""Variables and attributes with the name of a service that are something else."""
SERVICES = {"elasticfilesystem": "efs", "servicequotas": "service-quotas", "aps": "amp"}
"""Names of services in boto3, by prefix of IAM."""
OTHER_PREFIXES = {"resourcegroupstaggingapi": "tag"}
"""Prefixes of IAM, by name in boto3, of services whose actions no file names."""


@cache
def called() -> Mapping[str, tuple[str, ...]]:
    """Return the operations, such as `ec2.DescribeVpcs`, with the files that name them.

    A file calls the operations whose methods it names, of the services that it names, also as a
    variable.
    """
    found: dict[str, list[str]] = defaultdict(list)
    for path in tracked(".py"):
        name = path.as_posix()
        if name.startswith(tuple(f"{each}/" for each in CALLERS)) and not name.startswith(
            PERMISSIONS_ONLY
        ):
            for operation in sorted({*named(ROOT / path)} - OF_ANOTHER_SERVICE):
                found[operation].append(name)
    return {operation: tuple(found[operation]) for operation in sorted(found)}


def iam_name(operation: str) -> str:
    """Return the name of an operation in IAM policies: `elasticfilesystem:CreateFileSystem`."""
    service, _, name = operation.partition(".")
    prefixes = {boto3: prefix for prefix, boto3 in SERVICES.items()} | OTHER_PREFIXES
    return f"{prefixes.get(service, service)}:{name}"


def named(path: Path) -> Iterator[str]:
    """Yield the operations that a file calls."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    texts = {
        node.value
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    names = texts | {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    clients = {node.id for node in nodes if isinstance(node, ast.Name)}
    services = {name.replace("_", "-") for name in (names | clients) - NO_CLIENTS} & _services()
    for text in texts:
        prefix, _, action = text.partition(":")
        service = SERVICES.get(prefix, prefix)
        if action and service in _services():
            services.add(service)
            if action in _methods(service).values():
                yield f"{service}.{action}"
    for service in services:
        methods = _methods(service)
        yield from (f"{service}.{methods[name]}" for name in names & methods.keys())


@cache
def _services() -> frozenset[str]:
    return frozenset(botocore.session.get_session().get_available_services())


@cache
def _methods(service: str) -> Mapping[str, str]:
    """Return operations by the methods of a client; a method in one word can be anything."""
    names = ((xform_name(name), name) for name in model_of(service).operation_names)
    return {method: name for method, name in names if "_" in method}
