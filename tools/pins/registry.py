"""All pins of the project: their versions, and where to find the newest version.

A requirement, Go module, add-on, image, chart or action in a file is a pin automatically. A
constant with only a version needs a row in ``tools.pins.rows``, because its name does not identify
the product. A contract test fails if the row is missing.
"""

import re
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path

from tools.lock import normalised
from tools.pins import (
    EksAddon,
    EksAmi,
    EksVersions,
    GitTags,
    GoModule,
    ImageTags,
    Pin,
    Place,
    PyPI,
    places,
)
from tools.pins.rows import (
    CONSTANTS,
    ETCD,
    GITHUB,
    KUBERNETES,
    NO_ROW,
    NOT_PINS,
    PYTHON,
    SETTINGS,
    Row,
)
from trainyard.components.catalog.versions import EKS_VERSIONS, EksVersion

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
    for name, place in places.requirements():
        project = normalised(name)
        row = (
            PYTHON if name == "requires-python" else Row(name=project, source=PyPI(project=project))
        )
        yield _pin(row, place)
    for file in places.go_modules():
        for path, place in places.go_requirements(file):
            yield _pin(_go_row(path, place), place)
    for file, name, place in places.constants():
        constant, _, repository = name.partition(" ")
        if f"{file}:{constant}" not in NOT_PINS:
            yield _constant(file, constant, repository, place)
    for file, name, place in places.dockerfiles():
        image = Row(name=f"base-image/{name}", source=ImageTags(repository=name))
        yield _pin(CONSTANTS.get(f"{file}:{name}", image if "/" in name else _unknown(name)), place)
    for name, place in places.workflows():
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
