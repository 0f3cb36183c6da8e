"""The complete cluster configuration, as a document and as YAML.

Source: https://docs.aws.amazon.com/parallelcluster/latest/ug/cluster-configuration-file-v3.html
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from trainyard.components.parallelcluster.plan import ParallelClusterPlan
from trainyard.components.parallelcluster.references import Reference, references, resolve
from trainyard.components.parallelcluster.rendering.head_node import render_head_node
from trainyard.components.parallelcluster.rendering.monitoring import render_monitoring
from trainyard.components.parallelcluster.rendering.slurm import render_scheduling
from trainyard.components.parallelcluster.rendering.storage import render_shared_storage

IMDS_SUPPORT = "v2.0"
"""Requires IMDSv2 on every node.
https://docs.aws.amazon.com/parallelcluster/latest/ug/Imds-cluster-v3.html"""


class UnresolvedReferenceError(ValueError):
    """A document still contains references."""


def render_cluster(plan: ParallelClusterPlan) -> dict[str, Any]:
    """Return the cluster configuration of a plan, with sections in reading order.

    Ids that do not exist yet are a `Reference`; `resolve` inserts them.
    """
    document: dict[str, Any] = {
        "Region": plan.region,
        "Imds": {"ImdsSupport": IMDS_SUPPORT},
        "Image": _image(plan),
        "HeadNode": render_head_node(plan.head_node),
        "Scheduling": render_scheduling(plan),
    }
    if plan.shared_storage:
        document["SharedStorage"] = [render_shared_storage(each) for each in plan.shared_storage]
    document["Monitoring"] = render_monitoring(plan.monitoring)
    if plan.tags:
        document["Tags"] = [{"Key": key, "Value": value} for key, value in plan.tags.items()]
    return document


def _image(plan: ParallelClusterPlan) -> dict[str, Any]:
    image = {"Os": plan.operating_system}
    return {**image, "CustomAmi": plan.custom_ami_id} if plan.custom_ami_id else image


class _BlockDumper(yaml.SafeDumper):
    """Indents lists below their key and writes no anchors."""

    def increase_indent(self, *given: bool, **named: bool) -> None:
        super().increase_indent(*given, **{**named, "indentless": False})

    def ignore_aliases(self, data: object) -> bool:
        return True


def planned_yaml(plan: ParallelClusterPlan) -> str:
    """Return the cluster configuration of a plan as YAML, before its resources exist.

    Each id that does not exist yet is a name in angle brackets; a comment at the top lists them.
    """
    existing = {each.name: each.subnet_id for each in plan.network.subnets if each.subnet_id}
    unknown: list[str] = []

    def value_of(reference: Reference) -> str:
        if reference.kind == "subnet" and reference.name in existing:
            return existing[reference.name]
        unknown.append(f"<{reference.kind} {reference.name}>")
        return unknown[-1]

    text = to_yaml(resolve(render_cluster(plan), value_of))
    if not unknown:
        return text
    listed = "".join(f"#   {each}\n" for each in dict.fromkeys(unknown))
    return f"# `up` creates these, and their ids are not known before:\n{listed}{text}"


def to_yaml(document: Mapping[str, Any]) -> str:
    """Return a cluster configuration as readable YAML that `pcluster create-cluster` accepts.

    Raises:
        UnresolvedReferenceError: a value is still a `Reference`.
    """
    open_values = references(document)
    if open_values:
        names = ", ".join(f"{each.kind} {each.name}" for each in open_values)
        raise UnresolvedReferenceError(
            f"the cluster file has no ids yet for: {names}; resolve the references first"
        )
    return yaml.dump(
        dict(document), Dumper=_BlockDumper, sort_keys=False, default_flow_style=False, width=100
    )
