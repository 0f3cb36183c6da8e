"""Give the modules that link packages of the engine the engine's versions, with their checksums.

Run ``python -m trainyard.sandbox.engine.linked_modules`` after the engine's module has changed. Go
compiles a package once for all programs that link the same version of it, which is a third of the
time of the first command. The AWS provider that the plugin links is not published as it is built
(`trainyard.sandbox.engine.aws_plugin_source`), so ``go mod tidy`` cannot be run in the module of
the plugin.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from trainyard.sandbox.engine.aws_plugin_source import write_sources
from trainyard.sandbox.engine.errors import EngineError
from trainyard.sandbox.engine.go_build import Go, build_environment

_HERE = Path(__file__).parent
ENGINE, LANGUAGE_HOST, AWS_PLUGIN = (
    _HERE / name for name in ("pulumi", "language_host", "aws_plugin")
)
_REQUIREMENT = re.compile(r"^(\s*(?:require )?)([\w./~-]+\.[\w./~-]+) (v\S+)", re.MULTILINE)
_GO = re.compile(r"^go (\S+)$", re.MULTILINE)


def required(text: str) -> dict[str, str]:
    """Return the versions that a ``go.mod`` requires, by module."""
    return {path: version for _, path, version in _REQUIREMENT.findall(text)}


def aligned(text: str, engine: str) -> str:
    """Return a ``go.mod`` with the engine's versions of what both require, and its Go version.

    Args:
        text: The ``go.mod``.
        engine: The ``go.mod`` of the engine.
    """
    versions = required(engine)

    def line(found: re.Match[str]) -> str:
        return f"{found[1]}{found[2]} {versions.get(found[2], found[3])}"

    go = _GO.search(engine)
    text = _REQUIREMENT.sub(line, text)
    return _GO.sub(go[0], text) if go else text


def needed_sums(known: str, loaded: str, versions: Mapping[str, str]) -> str:
    """Return the lines of a ``go.sum`` that a build with these versions reads.

    To update a ``go.mod``, Go loads the requirements of all older versions, and notes their
    checksums too; a build reads only what ``go.mod`` names.

    Args:
        known: The ``go.sum`` before.
        loaded: The ``go.sum`` as the Go command has written it.
        versions: The required versions by module, as `required` returns them.
    """
    before = {_module(line) for line in known.splitlines()}

    def kept(path: str, version: str) -> bool:
        return versions.get(path, version) == version and (
            path in versions or (path, version) in before
        )

    return "".join(line for line in loaded.splitlines(keepends=True) if kept(*_module(line)))


def _module(line: str) -> tuple[str, str]:
    path, version, _ = line.split()
    return path, version.removesuffix("/go.mod")


def update() -> None:
    """Write ``go.mod`` and ``go.sum`` of both modules.

    Raises:
        EngineError: Go is missing or too old, or a module cannot be fetched with its version.
    """
    go = Go.find(ENGINE)
    engine = (ENGINE / "go.mod").read_text(encoding="utf-8")
    _align(AWS_PLUGIN, engine)
    _run(go, LANGUAGE_HOST, "mod", "tidy")
    while _align(LANGUAGE_HOST, engine):  # what a new version requires has to be aligned too
        _run(go, LANGUAGE_HOST, "mod", "tidy")
    with tempfile.TemporaryDirectory() as directory:
        copy = Path(directory) / AWS_PLUGIN.name
        shutil.copytree(AWS_PLUGIN, copy)
        write_sources(Path(directory), go.path)
        _run(go, copy, "list", "-mod=mod", "-deps", "./...")
        mod, sums = ((copy / name).read_text(encoding="utf-8") for name in ("go.mod", "go.sum"))
    known = AWS_PLUGIN / "go.sum"
    sums = needed_sums(known.read_text(encoding="utf-8"), sums, required(mod))
    known.write_text(sums, encoding="utf-8")
    (AWS_PLUGIN / "go.mod").write_text(mod, encoding="utf-8")


def _align(module: Path, engine: str) -> bool:
    """Align the `go.mod` of a module, and return whether that changed it."""
    file = module / "go.mod"
    before = file.read_text(encoding="utf-8")
    after = aligned(before, engine)
    file.write_text(after, encoding="utf-8")
    return after != before


def _run(go: Go, module: Path, *words: str) -> None:
    done = subprocess.run(
        [go.path, *words],
        cwd=module,
        env=build_environment(),
        stdout=subprocess.DEVNULL,
        check=False,
    )
    if done.returncode:
        raise EngineError(f"`go {' '.join(words)}` failed in {module.name}; its message is above")


def main() -> int:
    """Update the modules. Return the exit code."""
    try:
        update()
    except EngineError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
