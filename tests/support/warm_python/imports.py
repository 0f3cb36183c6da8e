"""The server's imports: the program, the policies, the command line, and all their packages."""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.support.tracked import ROOT

PACKAGES = (
    "components",
    "policies",
    "sandbox/inventory",
    "sandbox/kubernetes",
    "sandbox/providers",
    "src/trainyard/changes",
    "src/trainyard/cli",
    "sandbox/engine",
    "src/trainyard/workspace",
)
PROGRAMS = frozenset(
    {
        "trainyard.components.batch.node_start",
        "trainyard.sandbox.engine.language_host.installed_packages",
    }
)
"""Modules that are programs, and that run when they are imported.

`trainyard.sandbox.aws` and moto read their environment when they are imported, and are not in
`PACKAGES`. No other module of the repository reads values at its import that differ between
children.
"""
LOADED_WHEN_USED = (
    "grpc._channel",
    "grpc._server",
    "typer._click.decorators",
)
"""Modules that SDKs import at the first registration, call or command: a second of each program."""
CALLED_SERVICES = ("ec2", "eks", "iam", "autoscaling", "batch", "cloudformation", "fsx", "sts")
_SERVICE = re.compile(r"\baws\.([a-z0-9]+)\.[A-Za-z]")


def import_all() -> None:
    """Import everything, including the data that the AWS SDK loads at its first use."""
    import trainyard.components.cheap_imports  # noqa: F401 - the first of all

    for name in modules():
        importlib.import_module(name)
    import pulumi_aws

    for service in _services():
        getattr(getattr(pulumi_aws, service, None), "__all__", None)
    for name in LOADED_WHEN_USED:
        getattr(importlib.import_module(name), "__all__", None)
    _load_models_of_aws()


def _load_models_of_aws() -> None:
    """Read the models of the services that commands and programs call, for all children.

    Each session reads them again, and EC2's has 3 MB. Readers do not change them, except for the
    additions of the SDK's own files, which are the same each time.
    """
    import boto3
    from botocore.loaders import JSONFileLoader

    read = functools.cache(functools.partial(JSONFileLoader.load_file, JSONFileLoader()))

    def load_file(self: JSONFileLoader, file_path: str) -> Any:
        return read(file_path)

    JSONFileLoader.load_file = load_file
    for service in CALLED_SERVICES:
        boto3.client(service, region_name="us-west-2")


def modules() -> Iterator[str]:
    """Yield the names of the modules of the repository that are imported."""
    for path in _files():
        parts = path.relative_to(ROOT).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if parts[-1] != "__main__" and name not in PROGRAMS:
            yield name


def _files() -> list[Path]:
    return [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]


def _services() -> set[str]:
    """Return the AWS services whose resources the program uses."""
    texts = (path.read_text(encoding="utf-8") for path in _files())
    return {service for text in texts for service in _SERVICE.findall(text)}
