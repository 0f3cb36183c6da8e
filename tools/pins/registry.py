"""All pins of the project: their products, the files that have them, and their newest versions."""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path

from tools.lock import normalised
from tools.pins import (
    ROOT,
    EksAddon,
    EksAmi,
    EksVersions,
    GitHead,
    GitTags,
    GoModule,
    ImageTags,
    Pin,
    PinError,
    Place,
    PyPI,
    PythonReleases,
    Source,
    Unasked,
)
from trainyard.components.catalog.versions import EKS_VERSIONS, EksVersion

_CATALOG = "components/catalog"
GITHUB = "https://github.com"


@dataclass(frozen=True, kw_only=True)
class Row:
    """The product of a place. The fields are those of a pin."""

    name: str
    source: Source
    series: int = 0
    floor: bool = False
    support: str | None = None
    """Product of ``tools.pins.newest``; the release is part of the version."""


PYTHON = Row(name="python", source=PythonReleases(), floor=True, support="Python")
KUBERNETES = Row(
    name="k8s.io/kubernetes", source=GoModule(path="k8s.io/kubernetes"), series=2, support="EKS"
)
ETCD = Row(
    name="go.etcd.io/etcd/server/v3", source=GoModule(path="go.etcd.io/etcd/server/v3"), series=2
)
NO_ROW = Unasked(reason="tools/pins/registry.py has no row for it; add one")

_NEURON_PACKAGES = Unasked(
    reason="the versions of a release belong together; read src/helperscripts/n2-manifest.json in "
    f"{GITHUB}/aws-neuron/aws-neuron-sdk"
)
_DOCKER_PACKAGES = Unasked(
    reason="the list must have it for each Ubuntu; read "
    "https://download.docker.com/linux/ubuntu/dists/noble/stable/binary-amd64/Packages"
)

CONSTANTS: Mapping[str, Row] = {
    "sandbox/engine/pins.py:PULUMI_VERSION": Row(name="pulumi", source=PyPI(project="pulumi")),
    "sandbox/engine/pins.py:KUBERNETES_VERSION": KUBERNETES,
    "sandbox/engine/pins.py:ETCD_VERSION": ETCD,
    "sandbox/engine/pins.py:GO_MINIMUM_VERSION": Row(
        name="go", source=GoModule(path="go"), floor=True, support="Go"
    ),
    "tools/lock/__init__.py:UV_VERSION": Row(name="uv", source=PyPI(project="uv")),
    "sandbox/providers/eks/cluster.py:AWS_VERSION": Row(
        name="pulumi-aws", source=PyPI(project="pulumi-aws")
    ),
    "sandbox/providers/kubernetes/servicer.py:VERSION": Row(
        name="pulumi-kubernetes", source=PyPI(project="pulumi-kubernetes")
    ),
    "sandbox/providers/eks/cluster.py:KUBERNETES_VERSION": Row(
        name="pulumi-kubernetes", source=PyPI(project="pulumi-kubernetes")
    ),
    "sandbox/providers/eks/provider.py:VERSION": Row(
        name="pulumi-eks", source=PyPI(project="pulumi-eks")
    ),
    f"{_CATALOG}/versions.py:PARALLELCLUSTER_VERSION": Row(
        name="aws-parallelcluster", source=PyPI(project="aws-parallelcluster")
    ),
    "sandbox/account/load.py:PARALLELCLUSTER_VERSION": Row(
        name="aws-parallelcluster", source=PyPI(project="aws-parallelcluster")
    ),
    f"{_CATALOG}/versions.py:DEFAULT_KUBERNETES_VERSION": Row(
        name="eks-default", source=EksVersions(), support="EKS"
    ),
    f"{_CATALOG}/efa.py:EFA_DEVICE_PLUGIN_CHART_VERSION": Row(
        name="efa-device-plugin-chart",
        source=Unasked(
            reason=f"the tags of {GITHUB}/aws/eks-charts are not the chart's versions; read "
            "stable/aws-efa-k8s-device-plugin/Chart.yaml there"
        ),
    ),
    f"{_CATALOG}/efa.py:EFA_DEVICE_PLUGIN_VERSION": Row(
        name="efa-device-plugin",
        source=Unasked(
            reason="EKS's private registries do not list their tags to everybody; read "
            f"stable/aws-efa-k8s-device-plugin/values.yaml in {GITHUB}/aws/eks-charts"
        ),
    ),
    f"{_CATALOG}/neuron.py:NEURON_CHART_VERSION": Row(
        name="neuron-chart", source=ImageTags(repository="public.ecr.aws/neuron/neuron-helm-chart")
    ),
    f"{_CATALOG}/neuron.py:NEURON_VERSION": Row(
        name="neuron-device-plugin",
        source=ImageTags(repository="public.ecr.aws/neuron/neuron-device-plugin"),
    ),
    f"{_CATALOG}/post_install_scripts.py:NEURON_DRIVER_VERSION": Row(
        name="node/neuron-driver", source=_NEURON_PACKAGES
    ),
    f"{_CATALOG}/post_install_scripts.py:NEURON_COLLECTIVES_VERSION": Row(
        name="node/neuron-collectives", source=_NEURON_PACKAGES
    ),
    f"{_CATALOG}/post_install_scripts.py:NEURON_RUNTIME_VERSION": Row(
        name="node/neuron-runtime", source=_NEURON_PACKAGES
    ),
    f"{_CATALOG}/post_install_scripts.py:NEURON_TOOLS_VERSION": Row(
        name="node/neuron-tools", source=_NEURON_PACKAGES
    ),
    f"{_CATALOG}/post_install_scripts.py:DOCKER_VERSION": Row(
        name="node/docker", source=_DOCKER_PACKAGES
    ),
    f"{_CATALOG}/post_install_scripts.py:CONTAINERD_VERSION": Row(
        name="node/containerd", source=_DOCKER_PACKAGES
    ),
    f"{_CATALOG}/post_install_scripts.py:BUILDX_VERSION": Row(
        name="node/docker-buildx", source=_DOCKER_PACKAGES
    ),
    f"{_CATALOG}/post_install_scripts.py:COMPOSE_VERSION": Row(
        name="node/docker-compose", source=_DOCKER_PACKAGES
    ),
    f"{_CATALOG}/post_install_scripts.py:NVIDIA_CONTAINER_TOOLKIT_VERSION": Row(
        name="node/nvidia-container-toolkit",
        source=GitTags(url=f"{GITHUB}/NVIDIA/nvidia-container-toolkit"),
    ),
    f"{_CATALOG}/post_install_scripts.py:NODE_NCCL_VERSION": Row(
        name="node/nccl", source=GitTags(url=f"{GITHUB}/NVIDIA/nccl")
    ),
    f"{_CATALOG}/post_install_scripts.py:NODE_NCCL_COMMIT": Row(
        name="node/nccl-commit",
        source=Unasked(reason="it is the commit of the tag in NODE_NCCL_VERSION"),
    ),
    f"{_CATALOG}/post_install_scripts.py:NODE_OFI_NCCL_VERSION": Row(
        name="node/aws-ofi-nccl", source=GitTags(url=f"{GITHUB}/aws/aws-ofi-nccl")
    ),
    f"{_CATALOG}/post_install_scripts.py:NODE_OFI_NCCL_COMMIT": Row(
        name="node/aws-ofi-nccl-commit",
        source=Unasked(reason="it is the commit of the tag in NODE_OFI_NCCL_VERSION"),
    ),
    f"{_CATALOG}/post_install_scripts.py:NODE_NCCL_TESTS_VERSION": Row(
        name="node/nccl-tests", source=GitTags(url=f"{GITHUB}/NVIDIA/nccl-tests")
    ),
    f"{_CATALOG}/post_install_scripts.py:NODE_NCCL_TESTS_COMMIT": Row(
        name="node/nccl-tests-commit",
        source=Unasked(reason="it is the commit of the tag in NODE_NCCL_TESTS_VERSION"),
    ),
    "components/storage/storage_plan.py:LUSTRE_VERSION": Row(
        name="fsx-lustre",
        source=Unasked(
            reason="no call of FSx lists Lustre versions; read FileSystemTypeVersion in "
            "https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html"
        ),
    ),
    "src/trainyard/jobs/slurm/nccl_tests.py:NCCL_VERSION": Row(
        name="slurm/nccl", source=GitTags(url=f"{GITHUB}/NVIDIA/nccl")
    ),
    "src/trainyard/jobs/slurm/nccl_tests.py:NCCL_COMMIT": Row(
        name="slurm/nccl-commit", source=Unasked(reason="it is the commit of the tag NCCL_VERSION")
    ),
    "src/trainyard/jobs/slurm/nccl_tests.py:NCCL_TESTS_VERSION": Row(
        name="slurm/nccl-tests", source=GitTags(url=f"{GITHUB}/NVIDIA/nccl-tests")
    ),
    "src/trainyard/jobs/slurm/nccl_tests.py:NCCL_TESTS_COMMIT": Row(
        name="slurm/nccl-tests-commit",
        source=Unasked(reason="it is the commit of the tag NCCL_TESTS_VERSION"),
    ),
    "src/trainyard/jobs/slurm/bert_pretraining.py:SAMPLES_COMMIT": Row(
        name="slurm/neuron-samples", source=GitHead(url=f"{GITHUB}/aws-neuron/aws-neuron-samples")
    ),
    "src/trainyard/jobs/slurm/bert_pretraining.py:NEURONX_CC_VERSION": Row(
        name="slurm/neuronx-cc",
        source=Unasked(reason="it is the last one that Neuron gives for Amazon Linux 2023"),
    ),
    "src/trainyard/jobs/slurm/bert_pretraining.py:TORCH_NEURONX_VERSION": Row(
        name="slurm/torch-neuronx",
        source=Unasked(reason="it is the last one that Neuron gives for Amazon Linux 2023"),
    ),
    "src/trainyard/jobs/slurm/bert_pretraining.py:PYTHON_VERSION": Row(
        name="slurm/python", source=PythonReleases(), floor=True, support="Python"
    ),
    "src/trainyard/jobs/slurm/bert_pretraining.py:UV_VERSION": Row(
        name="slurm/uv", source=PyPI(project="uv")
    ),
    "containers/nccl-tests/Dockerfile:EFA_INSTALLER_VERSION": Row(
        name="nccl-tests-image/efa-installer",
        source=Unasked(
            reason="no client lists the releases of the EFA installer; read "
            "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-changelog.html"
        ),
    ),
    "containers/nccl-tests/Dockerfile:AWS_OFI_NCCL_VERSION": Row(
        name="nccl-tests-image/aws-ofi-nccl",
        source=Unasked(reason="the EFA installer brings it, in the version that its notes name"),
    ),
    "containers/nccl-tests/Dockerfile:NCCL_VERSION": Row(
        name="nccl-tests-image/nccl", source=GitTags(url=f"{GITHUB}/NVIDIA/nccl")
    ),
    "containers/nccl-tests/Dockerfile:NCCL_TESTS_VERSION": Row(
        name="nccl-tests-image/nccl-tests", source=GitTags(url=f"{GITHUB}/NVIDIA/nccl-tests")
    ),
}
"""The row of each constant, by ``file:NAME``. Places with the same name form one pin."""

NOT_PINS: Mapping[str, str] = {
    "src/trainyard/findings/sarif.py:VERSION": "version of a file format",
    "policies/pack/servicer.py:_VERSION": "version of the policy pack itself",
    "sandbox/aws/fsx/lustre.py:DEFAULT_VERSION": "what FSx does where nothing is asked for",
}
"""Constants with a version that cannot be raised, and what they are."""

SETTINGS: Mapping[str, Row] = {
    "python-version": Row(name="ci/python", source=PythonReleases(), floor=True, support="Python"),
    "runs-on": Row(
        name="ci/runner",
        source=Unasked(
            reason=f"no client lists GitHub's runners; read {GITHUB}/actions/runner-images"
        ),
    ),
}
"""Settings of the CI workflow."""


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


# All pins of the project: their versions, and where to find the newest version.
#
# A requirement, Go module, add-on, image, chart or action in a file is a pin automatically. A
# constant with only a version needs a row in ``tools.pins.registry``, because its name does not
# identify the product. A contract test fails if the row is missing.


_PULUMI_MODULES = re.compile(
    r"github\.com/pulumi/(?P<name>pulumi(?:-(?:aws|eks|kubernetes))?)/(?:pkg|sdk|provider)/v\d+"
)
"""Go modules that the project also uses as a Python package of the same version."""
_OF_COMMIT = "write the commit of its tag (`git ls-remote`) with the version after it"


def pins() -> dict[str, Pin]:
    """Return all pins by name, in the order of the files.

    Raises:
        PinError: the version in a constant cannot be read.
    """
    found = dict[str, Pin]()
    for pin in _all_places():
        found[pin.name] = found[pin.name].joined(pin) if pin.name in found else pin
    return found


def _all_places() -> Iterator[Pin]:
    for name, place in requirements():
        project = normalised(name)
        row = (
            PYTHON if name == "requires-python" else Row(name=project, source=PyPI(project=project))
        )
        yield _pin(row, place)
    for file in go_modules():
        for path, place in go_requirements(file):
            yield _pin(_go_row(path, place), place)
    for file, name, place in constants():
        constant, _, repository = name.partition(" ")
        if f"{file}:{constant}" not in NOT_PINS:
            yield _constant(file, constant, repository, place)
    for file, name, place in dockerfiles():
        image = Row(name=f"base-image/{name}", source=ImageTags(repository=name))
        yield _pin(CONSTANTS.get(f"{file}:{name}", image if "/" in name else _unknown(name)), place)
    for name, place in workflows():
        action = Row(name=f"ci/{name}", source=GitTags(url=f"{GITHUB}/{name}"))
        pin = _pin(SETTINGS.get(name, action), place)
        yield pin if name in SETTINGS else replace(pin, by_hand=_OF_COMMIT)


def _pin(row: Row, place: Place) -> Pin:
    support = None
    if row.support is not None:
        support = (row.support, ".".join(place.version.split(".")[:2]))
    return Pin(
        name=row.name,
        source=row.source,
        places=(place,),
        series=row.series,
        floor=row.floor,
        support=support,
    )


def _go_row(path: str, place: Place) -> Row:
    if place.staging or path == KUBERNETES.name:
        return KUBERNETES
    if path == ETCD.name:
        return ETCD
    pulumi = _PULUMI_MODULES.fullmatch(path)
    if pulumi is not None and "-" not in place.version:  # not a pseudo-version
        return Row(name=pulumi["name"], source=PyPI(project=pulumi["name"]))
    return Row(name=path, source=GoModule(path=path))


def _constant(file: str, name: str, repository: str, place: Place) -> Pin:
    row = CONSTANTS.get(f"{file}:{name}")
    if row is not None:
        return _pin(row, place)
    constant, minor, field = re.fullmatch(r"(\w+)(?:\[([^\]]+)\])?(?:\.(\w+))?", name).groups()  # pyright: ignore[reportOptionalMemberAccess]
    if repository:
        return _image_pin(field or _product(file, constant), minor, repository, place)
    if constant == "EKS_VERSIONS" and minor in EKS_VERSIONS:
        return _eks_pin(minor, field, place)
    return _pin(_unknown(f"{file}:{name}"), place)


def _product(file: str, constant: str) -> str:
    """Return the name of an image or chart: of its module, if the constant has no other name."""
    suffix = {"IMAGE": "", "CHART": "-chart"}.get(constant)
    return constant if suffix is None else f"{Path(file).stem}{suffix}"


def _image_pin(constant: str, minor: str | None, repository: str, place: Place) -> Pin:
    """Return the pin of an image, which may be specific to a Kubernetes version."""
    name = constant.lower().replace("_", "-")
    if minor is None:
        return _pin(Row(name=name, source=ImageTags(repository=repository)), place)
    return Pin(
        name=f"eks-{minor}/{name.removesuffix('s').removesuffix('-image')}",
        source=ImageTags(repository=repository),
        places=(place,),
        series=2,
        support=("EKS", minor),
    )


def _eks_pin(minor: str, field: str | None, place: Place) -> Pin:
    """Return the pin of a Kubernetes version on EKS, or of a version that is pinned for it."""
    addon = _addons().get(field or "")
    name, source, by_hand = f"eks-{minor}/{addon}", NO_ROW, ""
    if field is None:
        name, source = f"eks-{minor}", EksVersions()
        by_hand = (
            "another Kubernetes version is another entry of EKS_VERSIONS, with the add-ons and "
            "the AMI release of that version; add it to components/catalog/versions.py"
        )
    elif field == "ami_release_version":
        name, source = f"eks-{minor}/ami", EksAmi(minor=minor)
    elif addon is not None:
        source = EksAddon(addon=addon, minor=minor)
    else:
        name = f"eks-{minor}/{field}"
    return Pin(
        name=name,
        source=source,
        places=(place,),
        floor=field is None,  # there are several, each kept until its support ends
        support=("EKS", minor),
        by_hand=by_hand,
    )


def _addons() -> dict[str, str]:
    """Return the EKS add-on name by the field of `EksVersion` that pins it."""
    echo = EksVersion(**{field.name: field.name for field in fields(EksVersion)})
    return {field: addon for addon, field in echo.addon_versions().items()}


def _unknown(name: str) -> Row:
    return Row(name=name, source=NO_ROW)
