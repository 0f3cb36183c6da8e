"""A Terraform module: the files of a directory, with the values of its variables and locals.

https://developer.hashicorp.com/terraform/language/files
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from trainyard.importing.source import FileProblem, Node
from trainyard.importing.terraform import known_modules
from trainyard.importing.terraform.expressions import evaluate
from trainyard.importing.terraform.instances import instances_of, values_of
from trainyard.importing.terraform.limits import Limits
from trainyard.importing.terraform.syntax import Block, Expression, read_blocks
from trainyard.importing.terraform.types import typed
from trainyard.importing.terraform.values import node_of, object_at, unknown
from trainyard.stack_files.yaml_limits import UnreadableYamlError

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
            outputs = known_modules.outputs(
                known_modules.section_of(block, values), values, address
            )
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
        if known_modules.section_of(block, values) or not directory.is_dir():
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
