"""A plan or a state, as `terraform show -json` prints it, as the blocks of a directory.

Every resource is a block by its address, with the values of its attributes. OpenTofu prints the
same: https://opentofu.org/docs/internals/json-format/
Source: https://developer.hashicorp.com/terraform/internals/json-format
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from trainyard.importing.source import Document, Node, child, plain
from trainyard.importing.terraform.configuration import Configuration, at
from trainyard.importing.terraform.json_values import JSON_ATTRIBUTES, parsed_json
from trainyard.importing.terraform.keys import KEYS
from trainyard.importing.terraform.module import SECRET
from trainyard.importing.terraform.resource_fates import COMPUTED
from trainyard.importing.terraform.shown_references import References, Resource
from trainyard.importing.terraform.values import node_of
from trainyard.importing.user_data import summary

_VALUES = ("planned_values", "values")
"""Where a plan and a state have the resources."""
_LISTS = ("sections", "list", "maps", "anys")
_FREE = ("tags", "tags_all", "labels", "tag")
"""Maps of the user, in which an empty text is a value."""
_UNSET = (
    *("disk_size", "volume_size", "iops", "throughput", "per_unit_storage_throughput"),
    *("max_unavailable", "max_unavailable_percentage", "max_parallel_nodes_repaired_count"),
)
"""Numbers that a state has as 0 if they are not set, where 0 is not a value."""
_ENCODED = ("user_data", "user_data_base64")
"""Attributes with scripts, which can have secrets that nothing marks."""
_USER_DATA = "user-data"
"""Section of what they say, without their text."""


def is_shown(document: Document) -> bool:
    """Return whether a document is a plan or a state that has values."""
    root = document.root
    return child(root, "format_version") is not None and any(
        child(root, key) is not None for key in _VALUES
    )


def blocks_of(document: Document) -> Document:
    """Return a plan or a state as a document of blocks by their addresses."""
    root = document.root
    values = next(found for key in _VALUES if (found := child(root, key)) is not None)
    configuration = Configuration(plain(child(root, "configuration") or Node({}, 1)))
    resources = list(_resources(child(values, "root_module"), ""))
    references = References(configuration, resources)
    changes = _changes(root)
    blocks = dict(_other_blocks(root, configuration))
    for each in resources:
        blocks[each.address] = _block(each, references, changes.get(each.address))
    return replace(document, root=Node(blocks, root.line))


def _resources(module: Node | None, address: str) -> Iterator[Resource]:
    for each in _items(child(module, "resources")):
        if isinstance(_scalars(each).get("address"), str):
            yield Resource(each, address)
    for each in _items(child(module, "child_modules")):
        yield from _resources(each, str(_scalars(each).get("address", "")))


def _scalars(node: Node) -> dict[str, Any]:
    """Return the scalars of a mapping by their keys."""
    entries = node.value.items() if isinstance(node.value, dict) else ()
    return {key: each.value for key, each in entries if not isinstance(each.value, dict | list)}


def _items(node: Node | None) -> list[Node]:
    return node.value if node is not None and isinstance(node.value, list) else []


def _changes(root: Node) -> Mapping[str, Any]:
    """Return what a plan says of the values of resources, by address."""
    listed = [plain(each) for each in _items(child(root, "resource_changes"))]
    return {str(at(each, "address")): at(each, "change") for each in listed}


def _other_blocks(root: Node, configuration: Configuration) -> Iterator[tuple[str, Node]]:
    """Yield variables, the provider, outputs, and what the file has besides values."""
    other = {key: each for key, each in root.value.items() if key not in ("variables", *_VALUES)}
    yield (
        "(document)",
        Node({key: _counted(each) for key, each in other.items()}, 1, section="shown"),
    )
    variables: dict[str, Any] = {}
    for name, each in _entries(child(root, "variables")):
        value = child(each, "value")
        if value is None:
            continue
        if configuration.is_sensitive(name):
            value = _hidden(value.line)
        else:
            variables[name] = plain(value)
        yield f"var.{name}", Node({"value": value}, each.line, section="variable")
    provider = configuration.provider(variables)
    if isinstance(provider.get("region"), str):
        region = Node(provider["region"], 1)
        yield "provider.aws", Node({"region": region}, 1, section="provider")
    for key in _VALUES:
        for name, each in _entries(child(child(root, key), "outputs")):
            value = child(each, "value")
            if _scalars(each).get("sensitive") is not False or value is None:
                value = _hidden(each.line)
            yield f"output.{name}", Node({"value": value}, each.line, section="output")


def _entries(node: Node | None) -> Iterator[tuple[str, Node]]:
    return iter(node.value.items() if node is not None and isinstance(node.value, dict) else ())


def _counted(node: Node) -> Node:
    """Return a scalar, or how many entries a collection has."""
    is_collection = isinstance(node.value, dict | list)
    return replace(node, value=f"({len(node.value)} entries)") if is_collection else node


def _empty(line: int) -> Node:
    return Node(None, line, section="empty")


def _hidden(line: int) -> Node:
    return Node("(sensitive)", line, SECRET)


def _said_by(user_data: Node) -> Node:
    """Return what user data says, without its text."""
    said = node_of(summary(str(user_data.value)), user_data.line, None)
    return replace(said, section=_USER_DATA)


def _block(resource: Resource, references: References, change: Any) -> Node:
    """Return a resource with its values; none is a secret."""
    section = resource.section
    marked = child(resource.node, "sensitive_values")
    hidden = at(change, "after_sensitive") if marked is None else plain(marked)
    if hidden is None:
        # Terraform before 0.15 marks no values.
        hidden = section in ("resource", "data")
    keys = (section,) if KEYS.kinds.get((section,)) == "section" else ()
    node = child(resource.node, "values") or Node({}, resource.node.line)
    values = _Values(resource, references, keys)
    found = values.of(node, hidden, at(change, "after_unknown"), ())
    if not isinstance(found.value, dict):
        found = Node({"values": replace(found, section="later")}, found.line)
    return replace(found, section=section, line=resource.node.line)


@dataclass(frozen=True, slots=True)
class _Values:
    resource: Resource
    references: References
    keys: tuple[str, ...]
    """Path in the key table of the values; empty if the table does not have them."""

    def of(self, node: Node, hidden: Any, unknown: Any, path: tuple[str | int, ...]) -> Node:
        """Return a value with what is known of it.

        Args:
            node: The value.
            hidden: What of it is a secret: True, or the same by key.
            unknown: What of it is known after `apply`, in the same form.
            path: Its place in the resource.
        """
        name = str(path[-1]) if path else ""
        if hidden is True or (name in _ENCODED and node.value):
            return _hidden(node.line) if hidden is True else _said_by(node)
        if unknown is True and path:
            return self._after_apply(node.line, path)
        if isinstance(node.value, dict) or (node.value is None and isinstance(unknown, dict)):
            return self._mapping(node, hidden, unknown, path)
        if isinstance(node.value, list) or (node.value is None and isinstance(unknown, list)):
            return self._list(node, hidden, unknown, path)
        if name in JSON_ATTRIBUTES and len(path) == 1:
            node = parsed_json(node)
        is_free = len(path) > 1 and path[-2] in _FREE
        if node.value is None or (node.value == "" and not is_free):
            return _empty(node.line)
        if name in _UNSET and node.value == 0:
            return _empty(node.line)
        return node

    def _mapping(self, node: Node, hidden: Any, unknown: Any, path: tuple[str | int, ...]) -> Node:
        given = node.value or {}
        others = unknown if isinstance(unknown, dict) else {}
        names = [*given, *(key for key in others if key not in given and _any(others[key]))]
        values = {
            name: self._checked(
                self.of(
                    given.get(name) or Node(None, node.line),
                    at(hidden, name),
                    at(unknown, name),
                    (*path, name),
                ),
                (*path, name),
            )
            for name in names
        }
        return replace(node, value=values) if values or not path else _empty(node.line)

    def _list(self, node: Node, hidden: Any, unknown: Any, path: tuple[str | int, ...]) -> Node:
        given = node.value or []
        count = max(len(given), len(unknown) if isinstance(unknown, list) and _any(unknown) else 0)
        values = [
            self.of(
                given[index] if index < len(given) else Node(None, node.line),
                at(hidden, index),
                at(unknown, index),
                (*path, index),
            )
            for index in range(count)
        ]
        return replace(node, value=values) if values else _empty(node.line)

    def _checked(self, node: Node, path: tuple[str | int, ...]) -> Node:
        """Return a value of an attribute that the key table does not have as one of `later`."""
        if node.section:
            return node
        if not self.keys:
            is_computed = len(path) == 1 and path[0] in COMPUTED and self.resource.section != "data"
            return replace(node, section="computed") if is_computed else node
        keys = (*self.keys, *(part for part in path if isinstance(part, str)))
        parent = KEYS.kinds.get(keys[:-1])
        if parent not in ("section", "sections"):
            return node
        kind = KEYS.kinds.get(keys)
        fits = kind is not None and (kind not in _LISTS or node.tag or isinstance(node.value, list))
        return node if fits else replace(node, section="later")

    def _after_apply(self, line: int, path: tuple[str | int, ...]) -> Node:
        found = self.references.of(self.resource, path, line)
        return found or Node(None, line, section="computed")


def _any(unknown: Any) -> bool:
    """Return whether a part of a value is known after `apply`."""
    if isinstance(unknown, dict | list):
        return any(map(_any, unknown.values() if isinstance(unknown, dict) else unknown))
    return unknown is True
