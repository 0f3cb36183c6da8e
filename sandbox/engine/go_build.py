"""Builds programs from pinned Go modules, without a release host."""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from trainyard.sandbox.engine import cache, pins
from trainyard.sandbox.engine.errors import EngineError
from trainyard.sandbox.engine.platforms import this_platform
from trainyard.sandbox.engine.progress import Heartbeat, Progress

_INSTALL_GO = (
    f"install Go {pins.GO_MINIMUM_VERSION} or newer (https://go.dev/doc/install) and run the same "
    "command again"
)

BUILD_FLAGS = ("-mod=readonly", "-trimpath", "-buildvcs=false", "-gcflags=all=-dwarf=false")
"""Flags of every build; Go reuses packages that it compiled with the same flags.

The linker drops debug information, so the compiler need not write it: a tenth of the time.
"""

_LOG_LINES = 15
"""Number of lines of the compiler's output in an error message."""


@dataclass(frozen=True, kw_only=True)
class GoProgram:
    """One main package of a module in this repository."""

    module: Path
    """Directory of the module, with ``go.mod`` and ``go.sum``."""
    package: str
    """Import path of the command, or ``.`` and ``./…`` for one of the module's own."""
    file_name: str
    """Name of the binary."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Go string variables that the linker sets: value by full name."""

    def sources(self) -> list[Path]:
        """Return the files that determine the binary, in addition to the compiler."""
        compiled = [path for path in self.module.rglob("*.go") if "_test." not in path.name]
        embedded = self.module.rglob("*.py")
        return [self.module / "go.mod", self.module / "go.sum", *compiled, *embedded]


class Go:
    """The Go command of this machine, known to be new enough."""

    def __init__(self, path: str) -> None:
        self.path = path

    @classmethod
    def find(cls, module: Path) -> "Go":
        """Return the ``go`` on the PATH.

        Its version is read in the directory of a module, because a slightly older Go fetches the
        version that the module requires by itself.

        Raises:
            EngineError: Go is not installed, or is too old; the message says what to install.
        """
        path = shutil.which("go")
        if path is None:
            raise EngineError(f"Go is not on the PATH; {_INSTALL_GO}")
        answer = _run([path, "env", "GOVERSION"], module)
        version = answer.stdout.strip()
        if answer.returncode or not _new_enough(version):
            found = version or _last_lines(answer.stderr)
            raise EngineError(
                f"the Go at {path} is too old or does not work ({found}); {_INSTALL_GO}"
            )
        return cls(path)

    def build(self, program: GoProgram, target: Path, report: Progress, usually: str) -> None:
        """Build ``program`` into the directory ``target``.

        Raises:
            EngineError: the modules cannot be fetched or the compiler fails.
        """
        flags = " ".join(["-s", "-w", *(f"-X {k}={v}" for k, v in program.variables.items())])
        output = target / program.file_name
        command = [self.path, "build", *BUILD_FLAGS, "-ldflags", flags]
        command += ["-o", str(output), program.package]
        heartbeat = Heartbeat(report, f"building {program.file_name} from source", usually)
        log_path = target / f"{program.file_name}.log"
        with log_path.open("w+", encoding="utf-8", errors="replace") as log:
            code = _wait(
                subprocess.Popen(
                    command, cwd=program.module, env=build_environment(), stdout=log, stderr=log
                ),
                heartbeat,
            )
            log.seek(0)
            said = log.read()
        log_path.unlink()
        if code:
            raise EngineError(
                f"building {program.file_name} failed:\n{_last_lines(said)}\n"
                "The modules come through GOPROXY (`go env GOPROXY`); check that it can be reached"
            )
        heartbeat.done()

    def module_directory(self, module: Path, path: str) -> Path:
        """Return the directory of the source of the module ``path``, as ``module`` requires it.

        Raises:
            EngineError: it is missing and cannot be fetched.
        """
        answer = _run([self.path, "mod", "download", path], module)
        if answer.returncode == 0:
            answer = _run([self.path, "list", "-mod=readonly", "-m", "-f={{.Dir}}", path], module)
        directory = answer.stdout.strip()
        if answer.returncode or not directory:
            raise EngineError(f"the Go module {path} cannot be had:\n{_last_lines(answer.stderr)}")
        return Path(directory)


def ensure_built(program: GoProgram, report: Progress, usually: str) -> Path:
    """Return a program without a release; build it first if it is missing.

    Raises:
        EngineError: it cannot be built; the message says why.
    """
    key = f"{this_platform().go_name}-build-{build_key((program,))}"
    directory = cache.cache_directory() / program.file_name / key
    entry = cache.Entry(directory=directory, files=(program.file_name,))
    if not entry.complete():
        with cache.filling(entry, report) as target:
            if target is not None:
                Go.find(program.module).build(program, target, report, usually)
    return directory / program.file_name


def build_key(programs: Sequence[GoProgram], *parts: str) -> str:
    """Return the part of a cache entry's name that changes when a build would."""
    sources = dict.fromkeys(path for program in programs for path in program.sources())
    built = [f"{p.package} {p.file_name} {sorted(p.variables.items())}" for p in programs]
    return cache.content_key(list(sources), *built, *parts)


def _wait(process: subprocess.Popen[bytes], heartbeat: Heartbeat) -> int:
    try:
        while True:
            try:
                return process.wait(timeout=1)
            except subprocess.TimeoutExpired:
                heartbeat.beat()
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def _run(command: Sequence[str], directory: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=directory, env=build_environment(), capture_output=True, text=True, check=False
    )


def build_environment() -> dict[str, str]:
    """Return the user's environment without variables that would change the build.

    ``GOPROXY`` and other settings for fetching modules are kept.
    """
    environment = dict(os.environ)
    for name in ("GOOS", "GOARCH", "GOFLAGS"):
        environment.pop(name, None)
    environment |= {"CGO_ENABLED": "0", "GOWORK": "off", "GO111MODULE": "on"}
    home = environment.get("HOME")
    if not home or not Path(home).is_dir():
        # Go keeps its caches below HOME, and does not start without a directory for them.
        for name in ("GOCACHE", "GOPATH"):
            environment.setdefault(name, str(cache.cache_directory() / name.lower()))
    return environment


def _new_enough(version: str) -> bool:
    """Return whether a version such as ``go1.26.3`` is at least the minimum."""
    found = re.match(r"go(\d+)\.(\d+)", version)
    minimum = tuple(int(part) for part in pins.GO_MINIMUM_VERSION.split(".")[:2])
    return found is not None and (int(found[1]), int(found[2])) >= minimum


def _last_lines(text: str) -> str:
    return "\n".join(text.strip().splitlines()[-_LOG_LINES:])
