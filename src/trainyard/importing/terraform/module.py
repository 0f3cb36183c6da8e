"""A Terraform module: the files of a directory, with the values of its variables and locals.

Sources:
    https://developer.hashicorp.com/terraform/language/files
    https://registry.terraform.io/modules/terraform-aws-modules/eks/aws
    https://registry.terraform.io/modules/terraform-aws-modules/vpc/aws (outputs only)
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from trainyard.importing.source import FileProblem, Node
from trainyard.importing.terraform.expressions import evaluate, instances_of, typed, values_of
from trainyard.importing.terraform.syntax import Block, Expression, read_blocks
from trainyard.importing.terraform.values import Limits, node_of, object_at, unknown
from trainyard.importing.terraform.versions import OTHER_VERSION, is_read, wanted_version
from trainyard.stack_files.yaml_limits import UnreadableYamlError

_SOURCE = re.compile(
    r"(?:.*[/:])?terraform-aws-modules/(?:terraform-aws-)?(?P<name>eks|vpc|fsx|batch)"
    r"(?:/aws)?(?:\.git)?"
    r"(?://modules/(?P<sub>[\w-]+))?(?:\?.*)?"
)
"""An address of the registry, or of the repository in Git."""
_LOCAL_SUB = re.compile(
    r"\.{1,2}/(?:.*/)?modules/(?P<sub>(?:eks|self)-managed-node-group|fargate-profile|karpenter"
    r"|hybrid-node-role|capability|aws-auth)"
)
_LONGEST_SOURCE = 2_000
_OF_EKS = {"cluster_name", "cluster_version", "kubernetes_version", "eks_managed_node_groups"}
"""Inputs by which a copy of the module in a local directory is recognized."""
_INPUTS: Mapping[str, tuple[str, ...]] = {
    "cluster_name": ("name", "cluster_name"),
    "cluster_version": ("kubernetes_version", "cluster_version"),
    "vpc_cidr_block": ("cidr",),
    "name": ("name",),
    "azs": ("azs",),
}
"""Inputs by the outputs that have their values."""
_SUBNETS = ("private", "public", "intra", "database", "elasticache", "redshift", "outpost")


def section_of(block: Block, values: Mapping[str, Node]) -> str:
    """Return the section of the key table that has the inputs of a module; empty without one."""
    source = str(values["source"].value) if "source" in values else ""
    if len(source) > _LONGEST_SOURCE:
        return ""
    match = _SOURCE.fullmatch(source) or _LOCAL_SUB.fullmatch(source)
    if match is not None:
        found = match.groupdict()
        name = found.get("name", "eks")
        if name == "eks" and not is_read(wanted_version(Node(dict(values), block.line))):
            return OTHER_VERSION
        return found["sub"] or name if name == "eks" else name
    directory = block.file.parent / source
    is_copy = source.startswith("../..") and not (directory / "versions.tf").is_file()
    is_source = (directory / "modules" / "eks-managed-node-group").is_dir()
    return "eks" if is_source or (is_copy and _OF_EKS & values.keys()) else ""


def _outputs_of(section: str, values: Mapping[str, Node], address: str) -> dict[str, Node]:
    """Return the outputs of a known module that its inputs tell."""
    found: dict[str, Node] = {}
    for output, inputs in _INPUTS.items():
        given = next((values[each] for each in inputs if each in values), None)
        if given is not None and section:
            found[output] = given
    # Of a VPC, for what refers to it.
    for family in _SUBNETS if section == "vpc" else ():
        cidrs = values.get(f"{family}_subnets")
        if cidrs is None or not isinstance(cidrs.value, list):
            continue
        name = f"{family}_subnets"
        ids = [
            unknown(f"{address}.{name}[{number}]", cidrs.line, cidrs.file)
            for number in range(len(cidrs.value))
        ]
        found[name] = node_of(ids, cidrs.line, cidrs.file)
        found[f"{name}_cidr_blocks"] = cidrs
    return found


SECRET = "!sensitive"  # noqa: S105 - a tag, not a password
_SUFFIXES = (".tf", ".tf.json")
_VALUE_SUFFIXES = (".tfvars", ".tfvars.json")
_EXAMPLE = ".tfvars.example"
"""End of a file of values that is read only if it is named."""
_MOST_FILES = 200


@dataclass(slots=True)
class Module:
    """The blocks of a directory and the meaning of names in them."""

    directory: Path
    blocks: Sequence[Block]
    address: str = ""
    """Begin of the addresses of its blocks: `module.network.`; empty for the root."""
    inputs: Mapping[str, Node | Expression] = field(default_factory=dict[str, Node | Expression])
    """Values of variables that the caller or a file of values sets."""
    files: Files = field(default_factory=lambda: Files())
    """The files that were read, and what is left for expressions."""
    _values: dict[tuple[str, ...], Node] = field(default_factory=dict[tuple[str, ...], Node])
    _of_calls: dict[int, Mapping[str, Node]] = field(default_factory=dict[int, Mapping[str, Node]])
    _children: dict[int, Module | None] = field(default_factory=dict[int, "Module | None"])
    _begun: set[tuple[str, ...]] = field(default_factory=set[tuple[str, ...]])
    _index: dict[tuple[str, ...], list[Block]] = field(
        default_factory=dict[tuple[str, ...], list[Block]]
    )
    """The blocks by kind and first labels; `locals` by the names of their attributes."""

    def __post_init__(self) -> None:
        for block in self.blocks:
            for end in range(len(block.labels) + 1):
                self._index.setdefault((block.kind, *block.labels[:end]), []).append(block)
            for name in block.attributes if block.kind == "locals" else ():
                self._index.setdefault((block.kind, name), []).append(block)

    @property
    def limits(self) -> Limits:
        """What is left for expressions."""
        return self.files.limits

    def named(self, parts: Sequence[str]) -> tuple[Node, int] | None:
        """Return the value at the first parts of a reference, and their number."""
        length = 3 if parts[0] == "data" else 2
        if len(parts) < length:
            return None
        name = tuple(parts[:length])
        if name not in self._values:
            if name in self._begun:
                return None  # a cycle, which only the attributes of resources may have
            self._begun.add(name)
            found = self._find(name)
            self._begun.discard(name)
            if found is None:
                return None
            self._values[name] = found
        return self._values[name], length

    def _find(self, name: tuple[str, ...]) -> Node | None:
        kind = name[0]
        if kind == "var":
            return self._variable(name[1])
        if kind == "local":
            found = [each.attributes[name[1]] for each in self.of_kind("locals", name[1:])]
            return evaluate(found[0], self) if found else None
        if kind == "path":
            return Node(str(self.directory.resolve()), 1)
        if kind == "terraform":
            return Node("default", 1) if name[1] == "workspace" else None
        if kind == "module":
            return self._module(name[1])
        if kind == "data":
            return self._data(name)
        return self._resource(name)

    def of_kind(self, kind: str, labels: Sequence[str] = ()) -> Sequence[Block]:
        """Return the blocks of a kind with these labels; `locals` with this attribute."""
        return self._index.get((kind, *labels), ())

    def _variable(self, name: str) -> Node | None:
        block = _first(self.of_kind("variable", (name,)))
        given = self.inputs.get(name)
        if given is None and block is not None:
            given = block.attributes.get("default")
        if given is None:
            return None
        node = evaluate(given, self) if isinstance(given, Expression) else given
        if block is not None and self.is_sensitive(block):
            return Node("(sensitive)", node.line, SECRET, file=node.file)
        type_ = block.attributes.get("type") if block is not None else None
        return node if type_ is None else typed(node, type_, self)

    def is_sensitive(self, block: Block) -> bool:
        """Return whether the value of a variable is a secret."""
        marked = block.attributes.get("sensitive")
        return marked is not None and evaluate(marked, self).value is True

    def _module(self, name: str) -> Node | None:
        block = _first(self.of_kind("module", (name,)))
        if block is None:
            return None
        values = self.values(block)
        address = f"{self.address}module.{name}"
        child = self.child(block)
        if child is None:
            outputs = _outputs_of(section_of(block, values), values, address)
        else:
            outputs = child.outputs()
        return object_at(address, outputs, block.line, block.file)

    def values(self, block: Block) -> Mapping[str, Node]:
        """Return the values of a block that calls a module, as far as they are the same for all."""
        if id(block) not in self._of_calls:
            self._of_calls[id(block)] = values_of(block, self)
        return self._of_calls[id(block)]

    def child(self, block: Block) -> Module | None:
        """Return the module of a call, if it is in a directory of its own and not a known one."""
        if id(block) not in self._children:
            self._children[id(block)] = self._child(block)
        return self._children[id(block)]

    def _child(self, block: Block) -> Module | None:
        values = self.values(block)
        source = str(values["source"].value) if "source" in values else ""
        if not source.startswith(".") or self.address.count("module.") > 4:
            return None
        directory = block.file.parent / source
        if section_of(block, values) or not directory.is_dir():
            return None
        address = f"{self.address}module.{block.labels[0]}."
        return Module(directory, self.files.read(directory), address, values, self.files)

    def outputs(self) -> dict[str, Node]:
        """Return the outputs of the module by name."""
        return {
            block.labels[0]: evaluate(block.attributes["value"], self)
            for block in self.of_kind("output")
            if "value" in block.attributes
        }

    def _data(self, name: tuple[str, ...]) -> Node | None:
        block = _first(self.of_kind("data", name[1:]))
        if block is None:
            return None
        address = f"{self.address}{'.'.join(name)}"
        known: dict[str, Node] = {}
        if name[1] == "aws_region":
            region = self.region()
            if region is not None:
                known = dict.fromkeys(("name", "id", "region"), region)
        elif name[1] == "aws_availability_zones":
            names = [unknown(f"{address}.names[{n}]", block.line, block.file) for n in range(6)]
            # As many as a region may have: what takes some of them works, their number is unknown.
            known["names"] = replace(node_of(names, block.line, block.file), tag="!expression")
        return object_at(address, known, block.line, block.file)

    def region(self) -> Node | None:
        """Return the region of the provider without an alias."""
        for block in self.of_kind("provider", ("aws",)):
            if "alias" not in block.attributes and "region" in block.attributes:
                return evaluate(block.attributes["region"], self)
        return None

    def _resource(self, name: tuple[str, ...]) -> Node | None:
        block = _first(self.of_kind("resource", name))
        if block is None:
            return None
        address = f"{self.address}{'.'.join(name)}"
        found = {
            key: object_at(f"{address}{key}", values, block.line, block.file)
            for key, values in instances_of(block, self)
        }
        if set(found) == {""}:
            return found[""]
        if all(key[1:-1].isdigit() for key in found):
            return node_of(list(found.values()), block.line, block.file)
        by_key = {key[2:-2]: each for key, each in found.items()}
        return node_of(by_key, block.line, block.file)


def _first(blocks: Sequence[Block]) -> Block | None:
    return blocks[0] if blocks else None


@dataclass(slots=True)
class Files:
    """The files of a module and of the modules that it calls, each of which is read once."""

    limits: Limits = field(default_factory=Limits)
    _of_directories: dict[Path, list[Block]] = field(default_factory=dict[Path, list[Block]])
    _of_files: dict[Path, list[Block]] = field(default_factory=dict[Path, list[Block]])

    def read(self, directory: Path) -> list[Block]:
        """Return the blocks of a directory."""
        place = directory.resolve()
        if place not in self._of_directories:
            paths = sorted(each for each in directory.iterdir() if each.name.endswith(_SUFFIXES))
            if len(paths) > _MOST_FILES:
                raise UnreadableYamlError(
                    f"{directory}: has more than {_MOST_FILES} files of Terraform"
                )
            by_size = sorted(paths, key=_size)
            found = {path: self.blocks(path) for path in by_size}
            self._of_directories[place] = [block for path in paths for block in found[path]]
        return self._of_directories[place]

    def blocks(self, path: Path) -> list[Block]:
        """Return the blocks of a file; none, and a problem, of one that cannot be read."""
        if path not in self._of_files:
            try:
                self._of_files[path] = read_blocks(path, self.limits)
            except UnreadableYamlError as error:
                self.limits.problems.append(FileProblem(path, str(error)))
                self._of_files[path] = []
        return self._of_files[path]


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def read_module(path: Path) -> Module:
    """Return the root module of a directory, or of the directory of a file.

    Raises:
        UnreadableYamlError: the directory has too many files.
    """
    directory = path if path.is_dir() else path.parent
    files = Files()
    blocks = files.read(directory)
    return Module(directory, blocks, inputs=_given(directory, path, files), files=files)


def value_files(directory: Path, given: Path) -> list[Path]:
    """Return the files with values of variables that Terraform reads, in its order.

    https://developer.hashicorp.com/terraform/language/values/variables#variable-definition-precedence
    """
    names = ("terraform.tfvars", "terraform.tfvars.json")
    first = [directory / name for name in names if (directory / name).is_file()]
    suffixes = tuple(f".auto{suffix}" for suffix in _VALUE_SUFFIXES)
    automatic = sorted(each for each in directory.iterdir() if each.name.endswith(suffixes))
    found = [*first, *automatic]
    if given.name.endswith((*_VALUE_SUFFIXES, _EXAMPLE)) and given not in found:
        found.append(given)
    return found


def _given(directory: Path, path: Path, files: Files) -> dict[str, Node | Expression]:
    found: dict[str, Node | Expression] = {}
    for each in value_files(directory, path):
        for block in files.blocks(each):
            found |= block.attributes
    return found
