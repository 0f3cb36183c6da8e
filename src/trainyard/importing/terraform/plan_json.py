"""A plan or a state, as `terraform show -json` prints it, as the blocks of a directory.

Every resource is a block by its address, with the values of its attributes. A plan has no value for
what is known after `apply`, but it has the references of the expression. OpenTofu prints the same:
https://opentofu.org/docs/internals/json-format/
Source: https://developer.hashicorp.com/terraform/internals/json-format
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from trainyard.importing.source import Document, Node, child, plain
from trainyard.importing.terraform.blocks import COMPUTED, KEYS, module_of, without_keys
from trainyard.importing.terraform.module import SECRET
from trainyard.importing.terraform.values import UNKNOWN, node_of, unknown
from trainyard.importing.user_data import summary

Module = tuple[str, ...]
"""Names of the calls that lead to a module, without keys of `count` and `for_each`."""
_ELEMENT = re.compile(r"\[\d+\]\Z")
"""An element of an output, such as the second of the subnets of a module."""
_OF_INSTANCES = ("each", "count")
"""Names whose value differs between instances."""


@dataclass(frozen=True, slots=True)
class Referent:
    """A resource, another name that has no value of its own, or `each` and `count`."""

    module: Module
    name: str
    """Such as `aws_subnet.private[0].id`, `local.subnets` or `each.value`."""

    @property
    def differs(self) -> bool:
        """Whether the value differs between instances, which the plan does not show."""
        return self.name.partition(".")[0] in _OF_INSTANCES


@dataclass(frozen=True, slots=True)
class Configuration:
    """The configuration of a plan; empty for a state."""

    root: Mapping[str, Any]

    def expression(self, module: Module, resource: str, path: Sequence[str | int]) -> Any:
        """Return the expression of an attribute, or None; `dynamic` blocks have none."""
        listed = _at(self._module(module), "resources")
        resources = listed if isinstance(listed, list) else ()
        found = next((each for each in resources if _at(each, "address") == resource), None)
        return _at(found, "expressions", *path)

    def referents(self, module: Module, expression: Any) -> list[Referent]:
        """Return what an expression refers to, through variables and outputs of modules."""
        return list(self._referents(module, expression, set()))

    def is_sensitive(self, variable: str) -> bool:
        """Return whether a variable of the root module is a secret, or is not declared."""
        declared = _at(self._module(()), "variables", variable)
        return declared is None or _at(declared, "sensitive") is True

    def provider(self, variables: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the values of the provider `aws` without an alias."""
        expressions = _at(self.root, "provider_config", "aws", "expressions")
        given = expressions.items() if isinstance(expressions, dict) else ()
        values = {key: _value_of(each, variables) for key, each in given}
        return {key: value for key, value in values.items() if value is not None}

    def _call(self, module: Module) -> Any:
        """Return the call of a module, or None."""
        calls = (part for name in module for part in ("module", "module_calls", name))
        return _at({"module": _at(self.root, "root_module")}, *calls)

    def _module(self, module: Module) -> Any:
        return _at(self._call(module), "module")

    def _referents(
        self, module: Module, expression: Any, seen: set[tuple[Module, str]]
    ) -> Iterator[Referent]:
        last = ""
        for reference in _references(expression):
            implied = last.startswith((f"{reference}.", f"{reference}["))
            if implied or (module, reference) in seen:
                continue
            last = reference
            seen.add((module, reference))
            yield from self._referent(module, reference, seen)

    def _referent(
        self, module: Module, reference: str, seen: set[tuple[Module, str]]
    ) -> Iterator[Referent]:
        kind, *names = without_keys(reference).split(".")
        if kind == "var" and names:
            given = _at(self._call(module), "expressions", names[0])
            yield from self._referents(module[:-1], given, seen)
        elif kind == "module" and len(names) > 1:
            inner = (*module, names[0])
            output = _at(self._module(inner), "outputs", names[1], "expression")
            found = list(self._referents(inner, output, seen))
            element = _ELEMENT.search(reference)
            if element is not None and len(found) == 1:
                (whole,) = found
                if without_keys(whole.name) == whole.name:
                    found = [Referent(whole.module, f"{whole.name}{element[0]}")]
            yield from found
        else:
            yield Referent(module, reference)


def _value_of(expression: Any, variables: Mapping[str, Any]) -> Any:
    references = _references(expression)
    if len(references) == 1:
        return variables.get(references[0].removeprefix("var."))
    return _at(expression, "constant_value")


def _references(expression: Any) -> list[str]:
    listed = _at(expression, "references")
    return [each for each in listed if isinstance(each, str)] if isinstance(listed, list) else []


def _at(value: Any, *path: str | int) -> Any:
    """Return the value at a path, or None."""
    for part in path:
        if isinstance(value, dict):
            value = value.get(part)
        elif isinstance(value, list) and isinstance(part, int) and part < len(value):
            value = value[part]
        else:
            return None
    return value


_TEMPLATE = ("aws_launch_template",)
_SUBNETS = ("aws_subnet",)
_VPC = ("aws_vpc",)
_TYPES: Mapping[str, Sequence[str]] = {
    "launch_template.id": _TEMPLATE,
    "launch_template_id": _TEMPLATE,
    "launch_template_name": _TEMPLATE,
    "launch_configuration": ("aws_launch_configuration",),
    "subnet_ids": _SUBNETS,
    "subnet_id": _SUBNETS,
    "vpc_zone_identifier": _SUBNETS,
    "vpc_id": _VPC,
    "route_table_id": ("aws_route_table",),
    "gateway_id": ("aws_internet_gateway",),
    "group_name": ("aws_placement_group",),
    "capacity_reservation_id": (
        "aws_ec2_capacity_reservation",
        "aws_ec2_capacity_block_reservation",
    ),
    "node_role_arn": ("aws_iam_role",),
    "role": ("aws_iam_role",),
}
"""Types of resources by the attributes that name them."""
_NAMES_OF_LISTS = ("subnet_ids", "vpc_zone_identifier")
_DEFAULTED = (
    *("ami_type", "capacity_type", "disk_size", "instance_types", "version", "release_version"),
)
"""Attributes for which EKS has defaults, so that they are unknown without a value too."""


@dataclass(frozen=True)
class Resource:
    """A resource in the values of a plan or a state."""

    node: Node
    module: str
    """Address of its module; empty for the root."""

    def _text(self, key: str) -> str:
        found = child(self.node, key)
        return "" if found is None else str(found.value)

    @cached_property
    def address(self) -> str:
        """Its address."""
        return self._text("address")

    @cached_property
    def type(self) -> str:
        """Its type, such as `aws_vpc`."""
        return self._text("type")

    @cached_property
    def name(self) -> str:
        """Its address in its module, without the key of `count` or `for_each`."""
        return f"{self.type}.{self._text('name')}"

    @cached_property
    def key(self) -> str:
        """Its key of `count` or `for_each`."""
        return self._text("index")

    @property
    def section(self) -> str:
        """The section of the key table that has its attributes."""
        if self._text("mode") == "data":
            return "data"
        return self.type if (self.type,) in KEYS.kinds else "resource"


@dataclass(frozen=True)
class References:
    """What the expressions of a plan refer to, among its resources."""

    configuration: Configuration
    resources: Sequence[Resource]

    def of(self, resource: Resource, path: Sequence[str | int], line: int) -> Node | None:
        """Return the value of an attribute that is known after `apply`; None if AWS sets it."""
        names = [each for each in path if isinstance(each, str)]
        name = ".".join(names[-2:]) if names[-1] == "id" else names[-1]
        expression = self.configuration.expression(module_of(resource.module), resource.name, path)
        if name in _DEFAULTED or (expression is None and name not in _TYPES):
            return None
        referents = self.configuration.referents(module_of(resource.module), expression)
        found = self._named(resource, name, referents)
        values = [unknown(f"{each.address}.id", line, None) for each in found]
        if name in _NAMES_OF_LISTS and values:
            return Node(values, line)
        if len(values) == 1:
            return values[0]
        return Node("(known after apply)", line, UNKNOWN) if referents else None

    def _named(
        self, resource: Resource, name: str, referents: Sequence[Referent]
    ) -> list[Resource]:
        types = _TYPES.get(name, ())
        differing = [each for each in referents if each.differs]
        if any(each.module != module_of(resource.module) for each in differing):
            return []  # one of those that the caller names, and the plan does not say which
        found = [
            each
            for each in self.resources
            if each.type in types and any(_is_named(each, referent) for referent in referents)
        ]
        if not found and types in (_TEMPLATE, _VPC):
            # Locals and `dynamic` blocks, in which modules name these, are not in a plan.
            own = [each for each in self.resources if each.module == resource.module]
            found = [each for each in own if each.type in types]
        found = [each for each in found if each.module == resource.module] or found
        # `count.index` and `each.key` take the one of their own number or key.
        return [each for each in found if each.key == resource.key] if differing else found


def _is_named(resource: Resource, referent: Referent) -> bool:
    """Return whether a name is that of a resource, without a key or with its own."""
    if referent.module != module_of(resource.module):
        return False
    local = resource.address.removeprefix(f"{resource.module}." if resource.module else "")
    name = referent.name
    return without_keys(name).split(".")[:2] == resource.name.split(".") and (
        name.startswith(local) or not name.startswith(f"{resource.name}[")
    )


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


def is_plan_or_state(document: Document) -> bool:
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
    return {str(_at(each, "address")): _at(each, "change") for each in listed}


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
    hidden = _at(change, "after_sensitive") if marked is None else plain(marked)
    if hidden is None:
        # Terraform before 0.15 marks no values.
        hidden = section in ("resource", "data")
    keys = (section,) if KEYS.kinds.get((section,)) == "section" else ()
    node = child(resource.node, "values") or Node({}, resource.node.line)
    values = _Values(resource, references, keys)
    found = values.of(node, hidden, _at(change, "after_unknown"), ())
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
                    _at(hidden, name),
                    _at(unknown, name),
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
                _at(hidden, index),
                _at(unknown, index),
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
