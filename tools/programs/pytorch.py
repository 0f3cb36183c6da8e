"""PyTorch for CPUs, from the wheel that PyPI has: on Linux, the one for CUDA.

The lock omits the libraries of CUDA, except for the runtime. PyTorch's libraries name them, so they
must exist, but a program on CPUs calls none of their functions. Their names are therefore links to
a library of PyTorch that has no code, and functions are looked up when they are first called.

Sources:
    https://github.com/pytorch/pytorch/blob/v2.11.0/torch/__init__.py (`_load_global_deps`)
    https://man7.org/linux/man-pages/man3/dlopen.3.html (`RTLD_LAZY`)
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from tools.lock import EXAMPLES, OLD_PYTORCH, ROOT, Lock
from trainyard.sandbox.engine.locked_environment import locked_python
from trainyard.sandbox.engine.progress import Progress

_WITHOUT_CODE = "libtorch_global_deps.so"
_LAZY = "import os, sys; sys.setdlopenflags(os.RTLD_LAZY)\n"
"""Python loads extensions with `RTLD_NOW`, which looks up all functions of their libraries."""


def examples_python(report: Progress) -> Path:
    """Return the interpreter with PyTorch, which the tests of `examples` run.

    Raises:
        EngineError: it does not exist and cannot be created.
    """
    return _python(EXAMPLES, report)


def old_examples_python(report: Progress) -> Path:
    """Return the same with the last PyTorch whose torchrun gives its processes only 30 seconds.

    Raises:
        EngineError: it does not exist and cannot be created.
    """
    return _python(OLD_PYTORCH, report)


def _python(lock: Lock, report: Progress) -> Path:
    return locked_python(ROOT / lock.path, "PyTorch", report, finish=_do_without_cuda)


def _do_without_cuda(environment: Path) -> None:
    for libraries in environment.glob("lib/python*/site-packages/torch/lib"):
        for name in _missing(libraries / "libtorch_python.so"):
            (libraries / name).symlink_to(_WITHOUT_CODE)
        (libraries.parents[1] / "lazy_symbols.pth").write_text(_LAZY, encoding="utf-8")


def _missing(library: Path) -> list[str]:
    """Return the libraries that a library needs and the machine does not have; none on macOS."""
    if not library.exists():
        return []
    found = subprocess.run(["ldd", library], capture_output=True, text=True, check=True)
    return sorted(set(re.findall(r"^\s*(\S+) => not found$", found.stdout, re.MULTILINE)))
