"""Write the lock files: ``python -m tools.lock``; ``--upgrade`` updates indirect dependencies.

Without ``--upgrade``, locked versions stay unless ``pyproject.toml`` requires another one. Requires
a package index; uses the installed uv or the pinned one.
"""

import argparse
import subprocess
import sys
from collections.abc import Callable, Sequence

from tools import environment
from tools.lock import ALL, ROOT, UV, UV_VERSION, Lock, declared

_COMPILE = (
    "pip",
    "compile",
    "--quiet",
    "--universal",  # one file for Linux and macOS, x86-64 and arm64
    "--python-version=3.11",
    "--generate-hashes",
    "--no-header",  # the header would repeat the command line with its index
    "--no-annotate",
)


def main(arguments: Sequence[str], uv: Callable[[], list[str]] = environment.uv) -> int:
    """Write every lock file with the uv of the launcher. Return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.lock", description=__doc__)
    parser.add_argument("--upgrade", action="store_true", help="take newer indirect versions")
    upgrade = ["--upgrade"] if parser.parse_args(arguments).upgrade else []
    compile_lock = [*uv(), *_COMPILE]
    for lock in ALL:
        declared(lock)  # rejects dependencies that are not pinned
        subprocess.run([*compile_lock, *upgrade, *_inputs(lock)], cwd=ROOT, check=True)
    subprocess.run(
        [*compile_lock, "-", f"--output-file={UV}"],
        cwd=ROOT,
        input=f"uv=={UV_VERSION}\n",
        text=True,
        check=True,
    )
    return 0


def _inputs(lock: Lock) -> list[str]:
    inputs = ["pyproject.toml"] if lock.program else []
    inputs.append(f"--output-file={lock.path}")
    inputs += [f"--extra={extra}" for extra in lock.extras]
    inputs += [f"--group={group}" for group in lock.groups]
    if lock.constraint is not None:
        inputs.append(f"--constraints={lock.constraint}")
    inputs += [f"--no-emit-package={name}" for name in lock.omitted]
    return inputs


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
