"""Attributes of Terraform whose text is JSON, as mappings: every value is in the report."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from trainyard.importing.json_text import node_of_json
from trainyard.importing.source import Node
from trainyard.importing.terraform.expressions import Scope, evaluate
from trainyard.importing.terraform.syntax import Expression
from trainyard.importing.terraform.values import JSON, shown
from trainyard.stack_files.yaml_limits import UnreadableYamlError

JSON_ATTRIBUTES = ("container_properties", "node_properties")
"""Attributes of `aws_batch_job_definition`, in the form of the API of AWS Batch:
`website/docs/r/batch_job_definition.html.markdown` of the provider."""


def evaluated_json(expression: Expression, scope: Scope, names: Mapping[str, Node]) -> Node:
    """Return the value of such an attribute: of `jsonencode`, or of a text with templates."""
    node = evaluate(expression, scope, names)
    if node.tag == JSON:
        return shown(replace(node, tag=""))
    parsed = parsed_json(node)
    if node.tag and isinstance(parsed.value, dict):
        parsed = evaluate(replace(expression, tree=parsed), scope, names)
    return shown(parsed)


def parsed_json(node: Node) -> Node:
    """Return a text as the mapping that it is as JSON, each value with its line, or as it is."""
    if not isinstance(node.value, str):
        return node
    try:
        found = node_of_json(node.value, node.file or Path())
    except (json.JSONDecodeError, UnreadableYamlError):
        return node
    # The first line of a heredoc is below that of the attribute.
    lines_before = node.line if "\n" in node.value else node.line - 1
    return _moved(found, lines_before, node.file) if isinstance(found.value, dict) else node


def _moved(node: Node, lines: int, file: Path | None) -> Node:
    value = node.value
    if isinstance(value, dict):
        value = {key: _moved(each, lines, file) for key, each in value.items()}
    elif isinstance(value, list):
        value = [_moved(each, lines, file) for each in value]
    return replace(node, value=value, line=node.line + lines, file=file)
