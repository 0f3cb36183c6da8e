"""A directory of Terraform as a document: every block with its values, by its address."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from trainyard.importing.source import Document, Node
from trainyard.importing.terraform.blocks import KEYS
from trainyard.importing.terraform.expressions import instances_of
from trainyard.importing.terraform.module import (
    SECRET,
    Module,
    read_module,
    section_of,
    value_files,
)
from trainyard.importing.terraform.syntax import Block, Expression

_PREFIXES = {"variable": "var.", "output": "output.", "module": "module.", "data": "data."}
_OTHER = "other"
"""Section of blocks that no other section has."""


def read_directory(path: Path) -> Document:
    """Return the document of a directory, or of the directory of a file.

    Raises:
        UnreadableYamlError: a file is not valid Terraform.
    """
    module = read_module(path)
    found: dict[str, Node] = {}
    for address, node in [*_blocks(module), *_value_files(module, path)]:
        number = 1
        unique = address
        while unique in found:
            number += 1
            unique = f"{address}#{number}"
        found[unique] = node
    return Document(path, Node(found, 1), problems=module.limits.problems)


def _blocks(module: Module) -> Iterator[tuple[str, Node]]:
    for block in module.blocks:
        section = _section(block, module)
        address = f"{module.address}{_address(block)}"
        for suffix, values in instances_of(block, module):
            shown = values
            if block.kind == "variable" and module.is_sensitive(block) and "default" in values:
                shown = {**values, "default": _hidden(values["default"])}
            yield f"{address}{suffix}", Node(shown, block.line, section=section, file=block.file)
        child = module.child(block) if block.kind == "module" else None
        if child is not None:
            yield from _blocks(child)


def _hidden(node: Node) -> Node:
    return Node("(sensitive)", node.line, SECRET, file=node.file)


def _address(block: Block) -> str:
    if block.kind == "resource":
        return ".".join(block.labels)
    prefix = _PREFIXES.get(block.kind, f"{block.kind}." if block.labels else block.kind)
    return f"{prefix}{'.'.join(block.labels)}"


def _section(block: Block, module: Module) -> str:
    if block.kind == "resource" and (block.labels[0],) in KEYS.kinds:
        return block.labels[0]
    if block.kind == "module":
        section = section_of(block, module.values(block))
        if section:
            return section
        return "local-module" if module.child(block) else "module"
    return block.kind if (block.kind,) in KEYS.kinds else _OTHER


def _value_files(module: Module, path: Path) -> Iterator[tuple[str, Node]]:
    for file in value_files(module.directory, path):
        for block in module.files.blocks(file):
            values = {
                key: _value(key, expression, module) for key, expression in block.attributes.items()
            }
            yield file.name, Node(values, 1, section="variable", file=file)


def _value(key: str, expression: Expression, module: Module) -> Node:
    found = module.named(("var", key))
    node = found[0] if found else Node("(not a variable)", expression.line)
    return replace(node, line=expression.line, file=expression.file)
