"""The calls of AWS that ParallelCluster makes, and its CloudFormation templates in the sandbox."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from botocore import xform_name

from tests.support.tracked import ROOT
from tests.witness.support.calls import iam_name, named
from trainyard.acceptance.shapes import model_of

TEMPLATES = ROOT / "sandbox" / "parallelcluster"
READS = ("Describe", "Get", "Head", "List")
OF_OTHER_COMMANDS = {"elbv2", "imagebuilder", "logs", "resourcegroupstaggingapi", "route53"}
"""Services of `pcluster build-image`, of `export-cluster-logs` and of what stacks do not render."""


def parallelcluster_calls(package: Path) -> set[str]:
    """Return the calls, such as `ec2:DescribeVpcs`.

    Args:
        package: The package `pcluster` of ParallelCluster, whose clients are in `pcluster.aws`.
    """
    of_templates = {name for path in TEMPLATES.rglob("*.py") for name in named(path)}
    of_checks = {name for path in (package / "aws").glob("*.py") for name in _read(path)}
    return {iam_name(name) for name in of_templates | of_checks}


def _read(path: Path) -> Iterator[str]:
    """Yield the read-only calls of the clients that a file declares."""
    for client in ast.parse(path.read_text(encoding="utf-8")).body:
        service = _service(client)
        if not service or service in OF_OTHER_COMMANDS:
            continue
        methods = {xform_name(each): each for each in model_of(service).operation_names}
        used = {node.attr for node in ast.walk(client) if isinstance(node, ast.Attribute)}
        for method in used & methods.keys():
            if methods[method].startswith(READS):
                yield f"{service}.{methods[method]}"


def _service(client: ast.stmt) -> str:
    """Return the service of a subclass of `Boto3Client`; empty for anything else."""
    for node in ast.walk(client):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "super().__init__":
            first = node.args[0] if node.args else None
            if isinstance(first, ast.Constant):
                return str(first.value)
    return ""
