"""Write the policy pack to a separate folder: `python -m tools.policies.package <folder>`.

It has the form that `pulumi policy publish` requires, and works without this repository. It holds
the rules, the modules that they import, and nothing else. They do not import
`policies/pack/stack_config.py`, which configures the pack for a stack file.

Source:
    https://www.pulumi.com/docs/insights/policy/policy-packs/authoring/
"""

from __future__ import annotations

import ast
import importlib.metadata
import re
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from packaging.requirements import Requirement

from tools.lock import PROGRAM, normalised

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src"
sys.path.insert(0, str(SOURCE))  # a clone has no installed package

from trainyard.policies.rule_names import rule_files  # noqa: E402
from trainyard.stack_files.stacks_directory import PACK_FILE, pack_text  # noqa: E402

ENTRY = Path("trainyard/policies/start.py")

_MAIN = '''\
"""Start the policy pack: the engine runs this folder."""

from trainyard.policies.start import start

start()
'''

_README = """\
# The policy pack trainyard

A Pulumi policy pack for clusters for distributed training on AWS. It needs Python 3.11 or later.

    pulumi install
    pulumi preview --policy-pack <this folder>

or, for an organization, `pulumi policy publish <organization>`. Every rule takes
`enforcementLevel` and `suppressions`; rules on reservations take the account's reservations, or
`lookup: true`, which requires boto3 in the environment of the pack.
"""


def main(arguments: list[str]) -> int:
    """Write the package to the given folder; return the exit code."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m tools.policies.package <folder>\n")
        return 2
    directory = Path(arguments[0])
    try:
        files = write_package(directory)
    except (FileExistsError, NotADirectoryError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(
        f"wrote {len(files)} files; continue with\n"
        f"  cd {shlex.quote(str(directory))} && pulumi install\n"
        f"  pulumi preview --policy-pack {directory}, or pulumi policy publish <organization>\n"
    )
    return 0


def write_package(directory: Path) -> list[Path]:
    """Write the pack to a folder, and return the paths of its files.

    Raises:
        FileExistsError: the folder is not empty.
        NotADirectoryError: the path is a file.
    """
    if directory.is_file():
        raise NotADirectoryError(f"{directory} is a file; name a folder that does not exist yet")
    if directory.exists() and any(directory.iterdir()):
        raise FileExistsError(f"{directory} is not empty; name a folder that does not exist yet")
    modules = pack_modules()
    for path in sorted({*modules, *_data_files(modules)}):
        (directory / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(SOURCE / path, directory / path)
    written = {
        PACK_FILE: pack_text("venv"),  # in its folder
        "__main__.py": _MAIN,
        "README.md": _README,
        ".gitignore": "venv/\n__pycache__/\n",
        "requirements.txt": requirements(modules),
    }
    for name, text in written.items():
        (directory / name).write_text(text, encoding="utf-8")
    return sorted(path.relative_to(directory) for path in directory.rglob("*") if path.is_file())


def pack_modules() -> frozenset[Path]:
    """Return the modules of the pack and everything of this repository that they import."""
    rules = (f"{path.parent.name}.{path.stem}" for path in rule_files())
    found: set[Path] = set()
    waiting = [ENTRY]
    waiting += [file for rule in rules for file in _files_of(f"trainyard.policies.rules.{rule}")]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += [file for name in _imports(path) for file in _files_of(name)]
    return frozenset(found)


def requirements(modules: Iterable[Path], lock: Path = ROOT / PROGRAM.path) -> str:
    """Return the lines of a lock for the dependencies of modules, with hashes.

    Raises:
        LookupError: the lock lacks a dependency.
    """
    locked = _locked(lock)
    names = _with_dependencies(_distributions(modules))
    missing = sorted(names - locked.keys())
    if missing:
        raise LookupError(f"{lock.name} does not lock {', '.join(missing)}")
    return "".join(locked[name] for name in sorted(names))


def _imports(path: Path) -> Iterator[str]:
    """Yield the modules that a module imports, including names that may be modules.

    Imports in functions are optional dependencies, so they are not included.
    """
    for node in ast.parse((SOURCE / path).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _files_of(module: str) -> Iterator[Path]:
    """Yield the file of a module of this repository, and of the packages above it."""
    parts = module.split(".")
    if parts[0] != "trainyard":
        return
    for count in range(1, len(parts) + 1):
        path = Path(*parts[:count])
        for file in (path / "__init__.py", path.with_suffix(".py")):
            if (SOURCE / file).is_file():
                yield file


def _data_files(modules: Iterable[Path]) -> Iterator[Path]:
    """Yield the data files that modules name."""
    for module in modules:
        text = (SOURCE / module).read_text(encoding="utf-8")
        for file in (SOURCE / module).parent.glob("data/*"):
            if f'"{file.name}"' in text:
                yield file.relative_to(SOURCE)


def _distributions(modules: Iterable[Path]) -> set[str]:
    """Return the distributions that modules import."""
    known = importlib.metadata.packages_distributions()
    tops = {name.partition(".")[0] for path in modules for name in _imports(path)}
    others = tops - {*sys.stdlib_module_names, "trainyard"}
    # `google` is shared by several packages; protobuf comes with the SDK.
    return {normalised(known[top][0]) for top in others - {"google"}}


def _with_dependencies(names: set[str]) -> set[str]:
    """Return packages and their transitive dependencies on this platform."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        for text in importlib.metadata.requires(name) or ():
            needed = Requirement(text)
            if needed.marker is None or needed.marker.evaluate({"extra": ""}):
                waiting.append(normalised(needed.name))
    return found


def _locked(lock: Path) -> dict[str, str]:
    """Return the entry of each package in a lock, unchanged."""
    text = lock.read_text(encoding="utf-8")
    entries = re.findall(r"^([a-zA-Z0-9._-]+)(==.*\n(?:    .*\n)*)", text, flags=re.MULTILINE)
    return {normalised(name): f"{name}{rest}" for name, rest in entries}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
