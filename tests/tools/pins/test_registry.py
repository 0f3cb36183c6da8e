"""The report contains every pin of the project's files."""

from __future__ import annotations

import re
from dataclasses import fields
from functools import cache
from pathlib import Path

import pytest

from tools import lock
from tools.pins import ROOT, EksAddon, EksAmi, ImageTags, Pin, PinError, Place, registry
from trainyard.components.catalog import neuron, versions
from trainyard.components.catalog.versions import EKS_VERSIONS, EksVersion
from trainyard.components.eks.addons import node_termination_handler, nvidia_device_plugin
from trainyard.sandbox.engine import pins as engine_pins

VERSION = re.compile(r"v?\d+\.\d[\w.+-]*")
GO_MODULES = sorted(
    str(path.relative_to(ROOT))
    for folder in ("src", "tools", "sandbox")
    for path in (ROOT / folder).rglob("go.mod")
)


@cache
def pins() -> dict[str, Pin]:
    return registry.pins()


def places_in(file: str) -> list[Place]:
    return [place for pin in pins().values() for place in pin.places if place.file == file]


def line_of(place: Place) -> str:
    return (ROOT / place.file).read_text().splitlines()[place.line - 1]


def test_every_requirement_of_pyproject_is_a_pin() -> None:
    raised = [each for each in lock.ALL if each is not lock.OLD_PYTORCH]
    declared = {name: version for it in raised for name, version in lock.declared(it).items()}

    assert len(declared) > 20
    assert {name: pins()[name].version for name in declared} == declared


@pytest.mark.parametrize("file", GO_MODULES)
def test_every_direct_requirement_of_a_go_module_is_a_pin(file: str) -> None:
    blocks = re.findall(r"^require (?:\((.*?)^\)|(.*?)$)", (ROOT / file).read_text(), re.M | re.S)
    lines = [line.strip() for block in blocks for line in "".join(block).splitlines()]
    direct = [line.split()[0] for line in lines if line and "// indirect" not in line]
    lines = [line_of(place).split() for place in places_in(file)]
    read = {words[1] if words[0] in {"require", "replace"} else words[0] for words in lines}

    assert direct
    assert set(direct) <= read


@pytest.mark.parametrize("module", [versions, engine_pins, neuron], ids=lambda it: it.__name__)
def test_every_version_that_a_module_pins_is_in_the_report(module: object) -> None:
    file = str(Path(str(module.__file__)).resolve().relative_to(ROOT))
    pinned = {place.text for place in places_in(file)}
    own = {
        value
        for name, value in vars(module).items()
        if isinstance(value, str) and name.isupper() and VERSION.fullmatch(value)
    }

    assert own
    assert own <= pinned


@pytest.mark.parametrize("minor", EKS_VERSIONS)
def test_every_field_of_a_kubernetes_version_is_a_pin_with_a_question(minor: str) -> None:
    version = EKS_VERSIONS[minor]
    texts = {place.text for place in places_in("components/catalog/versions.py")}

    values = [getattr(version, field.name) for field in fields(EksVersion)]
    assert {value.rpartition(":")[2] for value in values} <= texts
    for addon, pinned in version.addon_versions().items():
        pin = pins()[f"eks-{minor}/{addon}"]
        assert pin.source == EksAddon(addon=addon, minor=minor)
        assert pin.places[0].text == pinned
    assert pins()[f"eks-{minor}/ami"].source == EksAmi(minor=minor)


@pytest.mark.parametrize("module", [versions, neuron], ids=lambda it: it.__name__)
def test_every_image_of_the_catalog_is_a_pin(module: object) -> None:
    images = [value for name, value in vars(module).items() if name.endswith("_IMAGE")]
    texts = {place.text for pin in pins().values() for place in pin.places}

    assert images
    assert {image.rpartition(":")[2] for image in images} <= texts


@pytest.mark.parametrize(
    ("name", "image"),
    [
        ("nvidia-device-plugin", nvidia_device_plugin.IMAGE),
        ("node-termination-handler", node_termination_handler.IMAGE),
        ("node-termination-handler-chart", node_termination_handler.CHART),
    ],
)
def test_the_image_and_the_chart_of_an_add_on_have_the_name_of_its_module(
    name: str, image: str
) -> None:
    repository, _, tag = image.rpartition(":")
    assert pins()[name].source == ImageTags(repository=repository)
    assert pins()[name].places[0].text == tag


def test_no_constant_lacks_a_row() -> None:
    # A constant of a new kind gets a row in CONSTANTS, or a reason in NOT_PINS.
    assert [name for name, pin in pins().items() if pin.source is registry.NO_ROW] == []


@pytest.mark.parametrize("row", [*registry.CONSTANTS, *registry.NOT_PINS])
def test_a_row_is_of_a_constant_that_exists(row: str) -> None:
    file, _, name = row.partition(":")

    assigned = re.search(rf"^(?:ARG )?{name}\s?=", (ROOT / file).read_text(), re.M)
    assert assigned, f"{row} is no more: remove its row from tools/pins/registry.py"


def test_places_of_one_pin_hold_one_version() -> None:
    assert [place for pin in pins().values() for place in pin.strays] == []


def test_the_engine_is_one_pin_in_the_lock_the_launcher_and_the_modules() -> None:
    files = {place.file for place in pins()["pulumi"].places}

    assert {"pyproject.toml", "sandbox/engine/pins.py", "sandbox/engine/pulumi/go.mod"} <= files


def test_staging_modules_of_kubernetes_have_the_version_of_the_release() -> None:
    kubernetes = pins()["k8s.io/kubernetes"]
    staging = [place for place in kubernetes.places if place.staging]

    assert kubernetes.version == engine_pins.KUBERNETES_VERSION
    assert len(staging) > 20
    assert staging[0].spelled("1.99.3") == "v0.99.3"


def test_a_place_is_where_its_text_is() -> None:
    for pin in pins().values():
        for place in pin.places:
            text = (ROOT / place.file).read_text()
            assert text[place.start : place.start + len(place.text)] == place.text
            assert text[: place.start].count("\n") + 1 == place.line


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository without a pin."""
    (tmp_path / "components").mkdir()
    return tmp_path


def constants(project: Path) -> dict[str, str]:
    return {name: place.text for _, name, place in registry.constants(project)}


def test_reads_constants_mappings_and_records(project: Path) -> None:
    (project / "components" / "some.py").write_text(
        'NOTE = "… 1.2.3"\n'
        'SOME_VERSION: str = "v1.2.3"\n'
        'OTHER_IMAGE = (\n    "example.org/a/b:1.0-x"\n)\n'
        'EKS_VERSIONS = wrapped({"1.9": Record(minor="1.9", addon="v4-build.1", words="none")})\n'
        'SAMPLES_COMMIT = "' + "ab" * 20 + '"\n'
        '_TEAM = "example.org/team"\n'
        'THIRD_IMAGE = f"{_TEAM}/c:v3"\n'
        'NAMED_IMAGE = f"{_TEAM}/c:{SOME_VERSION}"\n'
        'CALL_VERSIONS = "eks:DescribeClusterVersions"\n'
    )

    assert constants(project) == {
        "SOME_VERSION": "v1.2.3",
        "OTHER_IMAGE example.org/a/b": "1.0-x",
        "THIRD_IMAGE example.org/team/c": "v3",
        "EKS_VERSIONS[1.9]": "1.9",
        "EKS_VERSIONS[1.9].addon": "v4-build.1",
        "SAMPLES_COMMIT": "ab" * 20,
    }


def test_reads_what_a_go_module_builds_in_place_of_a_requirement(project: Path) -> None:
    (project / "components" / "go.mod").write_text(
        "module m\n\nrequire (\n\texample.org/a v1.2.3\n\texample.org/b v0.0.0\n"
        "\texample.org/c v1.0.0\n\texample.org/d v1.0.0 // indirect\n)\n\n"
        "replace example.org/b => ../b\n"
        "replace example.org/c => example.org/fork v1.1.0\n"
    )

    read = {
        name: (place.text, place.note)
        for name, place in registry.go_requirements("components/go.mod", project)
    }

    assert read == {
        "example.org/a": ("v1.2.3", ""),
        "example.org/b": ("v0.0.0", "../b replaces it"),
        "example.org/fork": ("v1.1.0", ""),
    }


def test_refuses_a_version_that_is_written_in_pieces(project: Path) -> None:
    (project / "components" / "some.py").write_text('SOME_VERSION = "1.2" ".3"\n')

    with pytest.raises(
        PinError, match=r"some\.py:1: SOME_VERSION is written in pieces; write '1.2.3'"
    ):
        constants(project)


def test_the_reason_beside_a_requirement_belongs_to_its_pin() -> None:
    for line in (ROOT / "pyproject.toml").read_text().splitlines():
        found = re.match(r'\s*"([\w-]+)==[^"]*",\s*# (.*)', line)
        if found is not None:
            assert pins()[found[1]].places[0].note == found[2]
