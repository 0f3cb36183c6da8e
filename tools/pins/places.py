"""Read the versions from the files that pin them."""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from tools.pins import ROOT, PinError, Place

_CONSTANT = re.compile(r"_?(?:[A-Z0-9_]+_)?(?:VERSION|IMAGE|CHART|COMMIT)S?")
_VERSION = re.compile(r"v?\d[\w.+-]*|[0-9a-f]{40}")
_IMAGE = re.compile(r"(?P<repository>[\w.-]+(?:/[\w.-]+)+):(?P<tag>\w[\w.-]*)")

_REQUIREMENT = re.compile(
    r'^\s*"(?P<name>[\w.-]+)(?:\[[^\]]*\])?==(?P<version>[^"\s;]+)[^"]*",?(?:\s*#\s*(?P<note>.*))?$',
    flags=re.MULTILINE,
)
_GO_REPLACE = re.compile(
    r"^(?:replace)?\s+(?P<path>\S+) => (?P<by>\S+) (?P<version>v\S+)$", flags=re.MULTILINE
)
_GO_DIRECTORY = re.compile(
    r"^(?:replace)?\s+(?P<path>\S+) => (?P<by>\.\.?/\S+)$", flags=re.MULTILINE
)
_GO_REQUIRE = re.compile(
    r"^(?:require )?\s*(?P<path>[\w.-]+\.[\w./-]+) (?P<version>v\S+)(?P<indirect> // indirect)?",
    flags=re.MULTILINE,
)
_FROM = re.compile(
    r"^FROM\s+(?:--platform=\S+ )?(?P<name>[\w./-]+):(?P<version>[\w.-]+)", flags=re.MULTILINE
)
_ARGUMENT = re.compile(r"^ARG (?P<name>\w+_VERSION)=(?P<version>\S+)$", flags=re.MULTILINE)
_ACTION = re.compile(
    r"uses: (?P<name>[\w.-]+/[\w.-]+)(?:/[\w./-]+)?@(?:[0-9a-f]{40} # )?(?P<version>v\d[\w.]*)"
)
_SETTING = re.compile(r'(?P<name>python-version|runs-on): "?(?P<version>[\w.-]+)"?')
_KEPT = re.compile(r"^old-\w+ = \[$.*?^\]$", re.MULTILINE | re.DOTALL)
"""A group of ``pyproject.toml`` that keeps an old version."""
_REQUIRES_PYTHON = re.compile(r'^(?P<name>requires-python) = ">=(?P<version>[\d.]+)"', re.MULTILINE)

Named = Iterator[tuple[str, Place]]
"""Name of a version in a file, and its location."""


def requirements() -> Named:
    """Yield the direct requirements of ``pyproject.toml``, and the minimum Python version.

    Those of groups that keep an old version are left out.
    """
    kept = [found.span() for found in _KEPT.finditer(_read("pyproject.toml"))]
    for name, place in _matches("pyproject.toml", _REQUIREMENT):
        if not any(start <= place.start < end for start, end in kept):
            yield name, place
    yield from _matches("pyproject.toml", _REQUIRES_PYTHON)


def go_modules() -> list[str]:
    """Return the ``go.mod`` files of the repository."""
    return _files("go.mod")


def go_requirements(file: str, root: Path = ROOT) -> Named:
    """Yield the direct requirements and the replacements of a ``go.mod``.

    For a replacement, its module and version count, because the required one is not built.
    """
    text = _read(file, root)
    directories = {found["path"]: found["by"] for found in _GO_DIRECTORY.finditer(text)}
    replaced = {found["path"]: found for found in _GO_REPLACE.finditer(text)}
    for found in _GO_REQUIRE.finditer(text):
        if not found["indirect"] and found["path"] not in replaced:
            place = _place(file, text, found)
            by = directories.get(found["path"])
            yield found["path"], replace(place, note=f"{by} replaces it") if by else place
    for found in replaced.values():
        staging = found["by"].startswith("k8s.io/") and found["version"].startswith("v0.")
        yield found["by"], _place(file, text, found, staging=staging)


def constants(root: Path = ROOT) -> Iterator[tuple[str, str, Place]]:
    """Yield file, name and place of every version in a module constant of the program.

    The constant is named ``…VERSION``, ``…IMAGE``, ``…CHART`` or ``…COMMIT``, or the plural. An
    entry of a mapping is named ``NAME[key]``, a field of a record in it ``NAME[key].field``.
    """
    assigned = re.compile(rf"^{_CONSTANT.pattern}\b", flags=re.MULTILINE)
    for file in _files("*.py", root):
        text = _read(file, root)
        if assigned.search(text):
            for name, place in _constants(file, text):
                yield file, name, place


def dockerfiles() -> Iterator[tuple[str, str, Place]]:
    """Yield file, name and place of every base image and ``ARG …_VERSION`` of a Dockerfile."""
    for file in _files("Dockerfile"):
        for pattern in (_FROM, _ARGUMENT):
            for name, place in _matches(file, pattern):
                yield file, name, place


def workflows() -> Named:
    """Yield the actions of the CI workflow, its runners and its Python."""
    for path in sorted((ROOT / "docs" / "ci").glob("*.yml")):
        file = path.relative_to(ROOT).as_posix()
        for pattern in (_ACTION, _SETTING):
            yield from _matches(file, pattern)


def _constants(file: str, text: str) -> Named:
    strings = dict[str, str]()
    for node in ast.parse(text).body:
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if isinstance(node, ast.AnnAssign):
            target = node.target
        if not isinstance(target, ast.Name):
            continue
        value = node.value  # pyright: ignore[reportAttributeAccessIssue]
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            strings[target.id] = value.value
        if _CONSTANT.fullmatch(target.id):
            for name, literal in _literals(target.id, value):
                yield from _versions(file, text, name, literal, strings)


def _literals(name: str, value: ast.expr | None) -> Iterator[tuple[str, ast.expr]]:
    """Yield the strings of a constant: its value, entries of a mapping, fields of their records."""
    if isinstance(value, ast.Constant | ast.JoinedStr):
        yield name, value
    elif isinstance(value, ast.Dict):
        for key, entry in zip(value.keys, value.values, strict=True):
            if isinstance(key, ast.Constant):
                yield from _entry(f"{name}[{key.value}]", key, entry)
    elif isinstance(value, ast.Call) and len(value.args) == 1:
        yield from _literals(name, value.args[0])


def _entry(name: str, key: ast.Constant, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(value, ast.Constant | ast.JoinedStr):
        yield name, value
    elif isinstance(value, ast.Call):
        yield name, key
        for keyword in value.keywords:
            if not (isinstance(keyword.value, ast.Constant) and keyword.value.value == key.value):
                yield from _literals(f"{name}.{keyword.arg}", keyword.value)


def _versions(file: str, text: str, name: str, node: ast.expr, strings: Mapping[str, str]) -> Named:
    """Yield the version in a string, which may begin with the name of another constant."""
    value = _text(node, strings)
    image = _IMAGE.fullmatch(value)
    if image is None and not _VERSION.fullmatch(value):
        return
    version = value if image is None else image["tag"]
    begin = _offset(text, node.lineno, node.col_offset)
    segment = text[begin : _offset(text, node.end_lineno or 0, node.end_col_offset or 0)]
    if version not in segment:
        raise PinError(
            f"{file}:{node.lineno}: {name} is written in pieces; write {version!r} in one"
        )
    start = begin + segment.rindex(version)
    label = name if image is None else f"{name} {image['repository']}"
    yield label, Place(file=file, line=_line(text, start), start=start, text=version)


def _text(node: ast.expr, strings: Mapping[str, str]) -> str:
    """Return the text of a literal; empty if another constant holds its version."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if not isinstance(node, ast.JoinedStr) or not isinstance(node.values[-1], ast.Constant):
        return ""
    parts = [
        strings.get(part.value.id, "")
        if isinstance(part, ast.FormattedValue) and isinstance(part.value, ast.Name)
        else str(getattr(part, "value", ""))
        for part in node.values
    ]
    return "".join(parts)


def _offset(text: str, line: int, column: int) -> int:
    """Return the character offset of a line and a UTF-8 byte column, as ``ast`` reports them."""
    lines = text.splitlines(keepends=True)
    before = sum(len(each) for each in lines[: line - 1])
    return before + len(lines[line - 1].encode()[:column].decode())


def _matches(file: str, pattern: re.Pattern[str]) -> Named:
    text = _read(file)
    for found in pattern.finditer(text):
        yield found["name"], _place(file, text, found)


def _place(file: str, text: str, found: re.Match[str], *, staging: bool = False) -> Place:
    return Place(
        file=file,
        line=_line(text, found.start("version")),
        start=found.start("version"),
        text=found["version"],
        note=found.groupdict().get("note") or "",
        staging=staging,
    )


def _line(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


def _read(file: str, root: Path = ROOT) -> str:
    return (root / file).read_text(encoding="utf-8")


def _files(pattern: str, root: Path = ROOT) -> list[str]:
    """Return the files of the program and its tools, relative to the root, sorted."""
    folders = ("components", "containers", "policies", "sandbox", "src", "tools")
    found = [path for folder in folders for path in (root / folder).rglob(pattern)]
    return sorted(Path(path).relative_to(root).as_posix() for path in found)
