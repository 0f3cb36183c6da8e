"""The calls of AWS in the source of the Terraform provider, for the types that the stacks use.

A type calls what the file that declares it calls, what the functions call that it uses, and what
the service's generated file calls for tags.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import botocore.session

from trainyard.sandbox.engine.aws_plugin_source import SERVICES

DECLARED = re.compile(r'@(?:SDK|Framework)(Resource|DataSource)\("(aws_\w+)"')
CALLED = re.compile(r"\b(?:conn|client|c|svc)\.([A-Z]\w+)\(ctx|\bNew(\w+)Paginator\(")
ELSEWHERE = re.compile(r"\btf(\w+)\.(\w+)\(")
"""A function of another service's package: `tfiam.FindRoleByName(`."""
FUNCTION = re.compile(r"^func (\(.*?\) )?(\w+)", re.MULTILINE)
TAGS = "tags_gen.go"
PREFIXES = {"amp": "aps", "resourcegroups": "resource-groups", "s3control": "s3"}
"""Prefixes in IAM policies of packages with another name."""
MODELS = {"resourcegroups": "resource-groups"}
"""botocore's names of packages with another name."""


@dataclass(frozen=True)
class Package:
    """The Go package of a service."""

    name: str
    bodies: Mapping[Path, str]
    functions: Mapping[str, str] = field(default_factory=dict[str, str])
    """Text of the functions that are no methods, by name."""

    def calls(self, text: str) -> set[str]:
        """Return the calls in a text, such as `ec2:DescribeVpcs`."""
        names = {method or paginator for method, paginator in CALLED.findall(text)}
        prefix = PREFIXES.get(self.name, self.name)
        return {f"{prefix}:{name}" for name in names & _operations(self.name)}


def provider_calls(provider: Path, types: Collection[tuple[str, str]]) -> set[str]:
    """Return the calls of the resources and data sources of the stacks.

    Args:
        provider: The source of the provider.
        types: `Resource` or `DataSource`, and the name of the type: `aws_vpc`.
    """
    services = provider / "internal" / "service"
    found: set[str] = set()
    left = list(_declaring(services, types))
    seen: set[tuple[str, str]] = set()
    while left:
        package, text = left.pop()
        found |= package.calls(text)
        used = {(package.name, name) for name in re.findall(r"\b[a-zA-Z]\w+\b", text)}
        for name, function in {*used, *ELSEWHERE.findall(text)} - seen:
            other = _package(services / name)
            if function in other.functions:
                seen.add((name, function))
                left.append((other, other.functions[function]))
    return found


def _declaring(services: Path, types: Collection[tuple[str, str]]) -> Iterator[tuple[Package, str]]:
    """Yield the text of the files that declare the types, and of the tags of their services."""
    for name in sorted(SERVICES):
        package = _package(services / name)
        texts = [
            text
            for text in package.bodies.values()
            if any(each in types for each in DECLARED.findall(text))
        ]
        if texts:
            tags = package.bodies.get(services / name / TAGS)
            yield from ((package, text) for text in (*texts, *([tags] if tags else [])))


@cache
def _package(directory: Path) -> Package:
    paths = sorted(directory.glob("*.go")) if directory.is_dir() else []
    bodies = {path: path.read_text("utf-8") for path in paths if "_test" not in path.name}
    functions: dict[str, str] = {}
    for body in bodies.values():
        starts = [each.start() for each in FUNCTION.finditer(body)]
        for each, end in zip(FUNCTION.finditer(body), [*starts[1:], len(body)], strict=False):
            if not each[1]:
                functions[each[2]] = body[each.start() : end]
    return Package(directory.name, bodies, functions)


@cache
def _operations(package: str) -> frozenset[str]:
    session = botocore.session.get_session()
    name = MODELS.get(package, package)
    if name not in session.get_available_services():
        return frozenset()
    return frozenset(session.get_service_model(name).operation_names)
