"""The configurations of ParallelCluster in a template, after the functions of the template.

The custom resource creates a cluster from its `ClusterConfiguration`:
https://docs.aws.amazon.com/parallelcluster/latest/ug/cloudformation-v3.html
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from trainyard.importing.cloudformation.evaluation import Deferred, Evaluation
from trainyard.importing.cloudformation.template import (
    is_known,
    read_parameter_files,
    read_template,
)
from trainyard.importing.draft import StackDraft
from trainyard.importing.formats import CLUSTER_IN_TEMPLATE
from trainyard.importing.report import Reader, Report
from trainyard.importing.source import Document, Node

_UNKNOWN = "!Ref"
"""Tag of a value that only AWS or a person knows, so that its kind is not judged."""


def clusters_in(
    document: Document, *, parameters: Sequence[Document], region: str
) -> Iterator[Document]:
    """Yield the configuration of each cluster of a template as a document of its own.

    Args:
        document: The template.
        parameters: Files with values of its parameters.
        region: Region of the stack if the template names none.
    """
    source = Reader(document.root, (), Report())
    given = read_parameter_files(source, StackDraft(name="", parameters=parameters))
    evaluation = Evaluation(
        root=document.root, given=given, region=region, stack_name=document.path.stem
    )
    for resource in read_template(source, evaluation).of(CLUSTER_IN_TEMPLATE):
        configuration = resource.at("ClusterConfiguration")
        if configuration.node is None or not isinstance(configuration.value, dict):
            continue  # a macro or a parameter has it
        named = resource.at("ClusterName")
        yield Document(
            document.path,
            _of_its_own(configuration.node),
            document.index,
            document.note,
            is_guessed=document.is_guessed or evaluation.has_guessed,
            name=str(named.value) if is_known(named) else resource.name,
            within=f"Resources.{resource.name}.Properties.ClusterConfiguration",
        )


def _of_its_own(node: Node) -> Node:
    """Return a computed value without its places in the template, with the same lines."""
    value: Any = node.value
    if isinstance(value, dict):
        value = {key: _of_its_own(each) for key, each in value.items()}
    elif isinstance(value, list):
        value = [_of_its_own(each) for each in value]
    tag = _UNKNOWN if isinstance(value, Deferred) else ""
    return replace(node, value=value, origin=None, tag=tag)
