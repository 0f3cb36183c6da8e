"""The locked environments: exact versions with hashes, generated from ``pyproject.toml``.

The files contain only packages and hashes, no index, so that they work with every index and mirror.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

UV_VERSION = "0.13.8"
"""Version of uv to download if the PATH has none, or one that is too old."""


@dataclass(frozen=True, kw_only=True)
class Lock:
    """A lock file and its content."""

    path: Path
    """Path relative to the root of the repository."""
    groups: tuple[str, ...] = ()
    """Groups of ``[dependency-groups]`` in the lock."""
    extras: tuple[str, ...] = ()
    """Extras of the program in the lock."""
    program: bool = True
    """Whether the lock also includes the program's own dependencies."""
    constraint: Path | None = None
    """Another lock file whose versions apply."""
    omitted: tuple[str, ...] = ()
    """Packages that others require and that the environment works without."""


PROGRAM = Lock(path=Path("requirements.txt"), extras=("sandbox",))
"""Dependencies of ``./trainyard`` except for tests."""

DEVELOPMENT = Lock(
    path=Path("requirements/dev.txt"),
    extras=("sandbox",),
    groups=("dev",),
    constraint=PROGRAM.path,
)
"""The same, with the dependencies of tests and checks."""

PARALLELCLUSTER = Lock(
    path=Path("requirements/parallelcluster.txt"), groups=("parallelcluster",), program=False
)
"""ParallelCluster and its sandbox deployment, in a separate environment."""

_OF_GPUS = (
    "cuda-bindings",
    "cuda-pathfinder",
    "cuda-toolkit",
    "nvidia-cublas",
    "nvidia-cuda-cupti",
    "nvidia-cuda-nvrtc",
    "nvidia-cudnn-cu13",
    "nvidia-cufft",
    "nvidia-cufile",
    "nvidia-curand",
    "nvidia-cusolver",
    "nvidia-cusparse",
    "nvidia-cusparselt-cu13",
    "nvidia-nccl-cu13",
    "nvidia-nvjitlink",
    "nvidia-nvshmem-cu13",
    "nvidia-nvtx",
    "triton",
)
"""The libraries of CUDA, except for its runtime, which says that the machine has no GPU: 2 GiB that
no test calls (`tools/programs/pytorch.py`)."""

EXAMPLES = Lock(
    path=Path("requirements/examples.txt"), groups=("examples",), program=False, omitted=_OF_GPUS
)
"""PyTorch, for the tests of `examples`, in a separate environment."""

OLD_PYTORCH = Lock(
    path=Path("requirements/old-pytorch.txt"),
    groups=("old-pytorch",),
    program=False,
    omitted=_OF_GPUS,
)
"""PyTorch before the variable for the time of a last checkpoint, for the same tests."""

DOCS = Lock(path=Path("requirements/docs.txt"), groups=("docs",), program=False)
"""The generator of the documentation site, in a separate environment."""

ALL = (PROGRAM, DEVELOPMENT, PARALLELCLUSTER, EXAMPLES, OLD_PYTORCH, DOCS)
"""All locks, each after its constraint."""

UV = Path("tools/lock/uv.txt")
"""The lock of uv itself, maintained by hand."""


def declared(lock: Lock, root: Path = ROOT) -> dict[str, str]:
    """Return the versions that ``pyproject.toml`` pins for ``lock``, by normalized name.

    Raises:
        ValueError: a direct dependency is not pinned with ``==``.
    """
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    groups: Mapping[str, Sequence[str]] = project["dependency-groups"]
    requirements = list(project["project"]["dependencies"]) if lock.program else []
    for extra in lock.extras:
        requirements += project["project"]["optional-dependencies"][extra]
    for group in lock.groups:
        requirements += groups[group]
    return dict(_pin(requirement) for requirement in requirements)


def locked(path: Path) -> dict[str, str]:
    """Return the versions in a lock file, by normalized name; a name may occur once per marker."""
    text = (ROOT / path).read_text(encoding="utf-8")
    pins = re.findall(r"^([a-zA-Z0-9._-]+)==([^\s;\\]+)", text, flags=re.MULTILINE)
    return {normalised(name): version for name, version in pins}


def normalised(name: str) -> str:
    """Return the normalized name of a package (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _pin(requirement: str) -> tuple[str, str]:
    found = re.fullmatch(r"([a-zA-Z0-9._-]+)(?:\[[^\]]*\])?==([^\s;]+)", requirement)
    if found is None:
        raise ValueError(
            f"pyproject.toml: {requirement!r} must pin one version with ==, as all direct "
            "dependencies do; then run `python -m tools.lock`"
        )
    return normalised(found[1]), found[2]
