"""The provider plugins of a sandbox, each from the best source available on this machine.

The first choice is the official plugin, in the version of the installed SDK. If it cannot be
downloaded, `aws` is built from the same public code. The code of `eks` and `kubernetes` is not on a
package registry, so the sandbox emulates these plugins.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Literal

from trainyard.sandbox.engine import cache, pins
from trainyard.sandbox.engine.aws_plugin_source import write_sources
from trainyard.sandbox.engine.download import Releases
from trainyard.sandbox.engine.errors import DownloadUnavailableError, EngineError
from trainyard.sandbox.engine.go_build import Go, GoProgram, build_key
from trainyard.sandbox.engine.platforms import this_platform
from trainyard.sandbox.engine.progress import Progress
from trainyard.sandbox.private_files import write_private

PROVIDERS = ("aws", "eks", "kubernetes")
"""Providers that the program uses."""

PLUGINS_VARIABLE = "TRAINYARD_PLUGINS"
"""Environment variable with the user's own plugins: `aws=/path/to/directory,eks=…`."""

_RECORD = "plugins.json"

Origin = Literal["chosen", "official", "built", "stand-in"]

_HERE = Path(__file__).resolve().parent
_AWS_MODULE = _HERE / "aws_plugin"
_STAND_INS = _HERE.parent / "providers"
_USUAL_BUILD_TIME = "3 to 5 minutes on two cores after the engine"

_DESCRIPTIONS: Mapping[Origin, str] = {
    "chosen": "chosen by the user",
    "official": "official release",
    "built": "built from source: the Terraform provider behind Pulumi's bridge",
    "stand-in": "stand-in of the sandbox",
}


@dataclass(frozen=True, kw_only=True)
class Plugin:
    """A provider plugin that the engine can start."""

    name: str
    """The provider: `aws`, `eks` or `kubernetes`."""
    version: str
    """The version that the program requires."""
    origin: Origin
    directory: str
    """Directory that contains `pulumi-resource-<name>`."""

    @property
    def description(self) -> str:
        """Description for `sandbox status`."""
        return f"{self.name} {self.version}: {_DESCRIPTIONS[self.origin]}"

    @property
    def exists(self) -> bool:
        """Whether the program exists."""
        return (Path(self.directory) / f"pulumi-resource-{self.name}").is_file()


def ensure_plugins(
    report: Progress, pulumi: Path, chosen: Mapping[str, Path] | None = None
) -> tuple[Plugin, ...]:
    """Return a plugin for each provider; get missing ones.

    Args:
        report: Receives progress messages.
        pulumi: The command of the engine, which downloads official plugins.
        chosen: Directories with the user's own plugins, by provider.

    Raises:
        EngineError: a plugin can neither be downloaded nor built, or a chosen one does not exist.
    """
    directories = dict(chosen_plugins() if chosen is None else chosen)
    return tuple(_ensure(name, directories.get(name), pulumi, report) for name in PROVIDERS)


def chosen_plugins() -> dict[str, Path]:
    """Return the plugins of `$TRAINYARD_PLUGINS`, by provider.

    Raises:
        EngineError: the variable does not have the documented form.
    """
    return parse_choices(filter(None, os.environ.get(PLUGINS_VARIABLE, "").split(",")))


def parse_choices(choices: Iterable[str]) -> dict[str, Path]:
    """Return directories by provider from texts such as `aws=/opt/plugins/aws`.

    Raises:
        EngineError: a text has another form or names another provider.
    """
    found: dict[str, Path] = {}
    for choice in choices:
        name, _, path = choice.partition("=")
        if name.strip() not in PROVIDERS or not path:
            raise EngineError(
                f"{choice!r} names no plugin; write PROVIDER=DIRECTORY, where PROVIDER is one of "
                f"{', '.join(PROVIDERS)} and DIRECTORY holds pulumi-resource-PROVIDER"
            )
        found[name.strip()] = Path(path).expanduser().absolute()
    return found


def write_plugins(sandbox: Path, plugins: tuple[Plugin, ...]) -> None:
    """Record the plugins of a sandbox in its directory."""
    sandbox.mkdir(parents=True, exist_ok=True, mode=0o700)
    partial = sandbox / f"{_RECORD}.partial"
    write_private(partial, json.dumps([asdict(plugin) for plugin in plugins]).encode())
    partial.replace(sandbox / _RECORD)


def read_plugins(sandbox: Path) -> tuple[Plugin, ...]:
    """Return the recorded plugins of a sandbox; empty without a record."""
    try:
        recorded = json.loads((sandbox / _RECORD).read_text(encoding="utf-8"))
        return tuple(Plugin(**each) for each in recorded)
    except (FileNotFoundError, ValueError, TypeError):
        return ()


def _ensure(name: str, chosen: Path | None, pulumi: Path, report: Progress) -> Plugin:
    version = installed_version(f"pulumi-{name}")
    origin, directory = ("chosen", chosen) if chosen else _best(name, version, pulumi, report)
    plugin = Plugin(name=name, version=version, origin=origin, directory=str(directory))
    if not plugin.exists:
        raise EngineError(f"{directory} does not hold pulumi-resource-{name}")
    return plugin


def _best(name: str, version: str, pulumi: Path, report: Progress) -> tuple[Origin, Path]:
    released = _entry(name, version, "release")
    built = _entry(name, version, f"build-{_aws_build_key(version)}") if name == "aws" else None
    if released.complete():
        return "official", released.directory
    if built is not None and built.complete():
        return "built", built.directory
    try:
        with cache.filling(released, report) as target:
            if target is not None:
                _download(name, version, target, pulumi, report)
    except DownloadUnavailableError as error:
        if built is None:
            return "stand-in", _STAND_INS / name
        report(f"no official release of pulumi-aws here ({error}): building it from source")
        with cache.filling(built, report) as target:
            if target is not None:
                _build_aws(version, target, report)
        return "built", built.directory
    return "official", released.directory


def _entry(name: str, version: str, kind: str) -> cache.Entry:
    entry = f"{name}-{version}-{this_platform().go_name}-{kind}"
    return cache.Entry(
        directory=cache.cache_directory() / "plugins" / entry, files=(f"pulumi-resource-{name}",)
    )


def _download(name: str, version: str, target: Path, pulumi: Path, report: Progress) -> None:
    """Let the engine install the official plugin, as every `pulumi up` does."""
    archive = f"pulumi-resource-{name}-v{version}-{this_platform().go_name}.tar.gz"
    server = Releases(report).reachable(pins.PULUMI_PLUGINS_URL, archive)
    home = target / "home"
    report(f"downloading the official plugin of pulumi-{name} {version}")
    done = subprocess.run(
        [
            *(str(pulumi), "plugin", "install", "resource", name, version),
            *("--server", server),
        ],
        env=os.environ | {"PULUMI_HOME": str(home), "PULUMI_SKIP_UPDATE_CHECK": "true"},
        capture_output=True,
        text=True,
        check=False,
    )
    installed = home / "plugins" / f"resource-{name}-v{version}"
    if done.returncode or not installed.is_dir():
        raise DownloadUnavailableError(f"the engine cannot install it: {done.stderr.strip()}")
    for path in installed.iterdir():
        path.rename(target / path.name)
    shutil.rmtree(home)


def _aws_build_key(version: str) -> str:
    program = _aws_program(_AWS_MODULE, version)
    edits = (_HERE / f"{name}.py" for name in ("aws_plugin_source", "go_source"))
    return build_key((program,), *(path.read_text(encoding="utf-8") for path in edits))


def _aws_program(module: Path, version: str) -> GoProgram:
    return GoProgram(
        module=module,
        package=".",
        file_name="pulumi-resource-aws",
        variables={"main.version": version},
    )


def _build_aws(version: str, target: Path, report: Progress) -> None:
    go = Go.find(_AWS_MODULE)
    source = target / "source"
    module = source / _AWS_MODULE.name
    shutil.copytree(_AWS_MODULE, module)
    report("fetching the source of the AWS provider (usually half a minute)")
    write_sources(source, go.path)
    go.build(_aws_program(module, version), target, report, _USUAL_BUILD_TIME)
    shutil.rmtree(source)
