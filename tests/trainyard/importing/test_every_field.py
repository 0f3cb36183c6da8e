"""Every field of every format is in the report, whatever a document has."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

from tests.support.importing import document_with
from trainyard.importing.cloudformation.template import TYPES
from trainyard.importing.formats import FORMATS, OF_TERRAFORM
from trainyard.importing.imported import Imported, import_file
from trainyard.importing.key_table import KeyTable
from trainyard.importing.lint import lint
from trainyard.importing.report import FATES
from trainyard.importing.source import leaves
from trainyard.importing.terraform.blocks import KEYS as TERRAFORM_KEYS

FIXED: dict[str, dict[str, Any]] = {
    "parallelcluster": {
        "Image.Os": "alinux2023",
        "HeadNode.InstanceType": "c5.xlarge",
        "Scheduling.Scheduler": "slurm",
    },
    "cloudformation": {
        f"Resources.{kind}.Type": kind for kind, *path in TYPES.rows if kind != "*" and not path
    },
    "eksctl": {"apiVersion": "eksctl.io/v1alpha5", "kind": "ClusterConfig"},
    "terraform": {"eks.source": "terraform-aws-modules/eks/aws"},
    "state": {"aws_eks_cluster.name": "train"},
}
"""The keys by which a format is recognized; a new format needs a row. A state is another form of
Terraform."""
NAMES = (*(each.name for each in FORMATS), "state")
KEYS_OF_TERRAFORM: dict[str, set[str]] = {}
for _section, *_rest in TERRAFORM_KEYS.kinds:
    KEYS_OF_TERRAFORM.setdefault(_section, set()).update(_rest[:1])
SCALARS = (
    *(True, False, None, -2, 0, 1, 40, 10_000, "", "value", "${PLACEHOLDER}", "true", "10"),
    *("SPOT", "CAPACITY_BLOCK", "Ebs", "Efs", "FsxLustre", "cr-0123456789abcdef0", "p5.48xlarge"),
)


def as_terraform(sections: dict[str, Any]) -> dict[str, Any]:
    """Return the sections of the key table as blocks of a `.tf.json`."""
    blocks: dict[str, Any] = {"resource": {}, "module": {}}
    for name, section in sections.items():
        if name.startswith("aws_"):
            blocks["resource"][name] = {"it": attributes(section)}
        elif "source" in KEYS_OF_TERRAFORM.get(name, ()):
            below = "" if name == "eks" else f"//modules/{name}"
            source = f"terraform-aws-modules/eks/aws{below}"
            blocks["module"][name] = {**section, "source": source}
        elif name in OF_TERRAFORM:
            source = f"terraform-aws-modules/{name}/aws"
            blocks["module"][name] = {**attributes(section), "source": source}
        elif name in ("variable", "output", "provider"):
            blocks[name] = {"it": section}
        elif name in ("locals", "terraform"):
            blocks[name] = section
    return blocks


def attributes(section: Any) -> dict[str, Any]:
    """Return a section, or a value of a section whose keys are not checked as two attributes."""
    return section if isinstance(section, dict) else {"first": section, "second": section}


def as_state(sections: dict[str, Any]) -> dict[str, Any]:
    """Return the resources of the sections as a state."""
    resources = [
        {
            "address": f"{name}.it",
            "mode": "managed",
            "type": name,
            "name": "it",
            "values": attributes(section),
        }
        for name, section in sections.items()
        if name.startswith("aws_")
    ]
    return {"format_version": "1.0", "values": {"root_module": {"resources": resources}}}


def imported(name: str, document: dict[str, Any], directory: Path) -> Imported:
    path = directory / "full.yaml"
    if name == "state":
        path = directory / "state.json"
        document = as_state(document)
    if name == "terraform":
        path = directory / "main.tf.json"
        document = as_terraform(document)
    path.write_text(json.dumps(document), encoding="utf-8")
    (read,) = import_file(path)
    assert isinstance(read, Imported)
    return read


def assert_complete(read: Imported) -> None:
    claims = {location: claim for location, claim in read.report.claims.items() if claim.shown}
    fields = [
        next((claims[at[:end]].location for end in (1, 2) if at[:end] in claims), at)
        for at, _ in leaves(read.document.root)
    ]
    assert [entry.location for entry in read.entries] == [*dict.fromkeys(fields)]
    for entry in read.entries:
        assert entry.claim.fate in FATES
        assert entry.claim.ours or entry.claim.why, entry


def keys_of(name: str) -> KeyTable:
    of_format = "terraform" if name == "state" else name
    return next(each for each in FORMATS if each.name == of_format).conversion().KEYS


@pytest.mark.parametrize("name", NAMES)
def test_every_key_of_the_schema_is_in_the_report(name: str, tmp_path: Path):
    read = imported(
        name,
        document_with(keys_of(name), FIXED[name]),
        tmp_path,
    )
    assert read.problems == []
    assert len(read.entries) > 200
    assert_complete(read)


@pytest.mark.parametrize("name", NAMES)
@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(seed=st.integers(min_value=0))
def test_any_part_of_the_schema_with_any_scalars_is_reported_and_linted(
    name: str, seed: int, tmp_path: Path
):
    keys = keys_of(name)
    random = Random(seed)
    left_out = set(random.sample([*keys.kinds], random.randint(0, 60)))
    plain = ("text", "integer", "number", "boolean", "any")
    document = document_with(
        keys,
        FIXED[name],
        wanted=lambda path: path not in left_out,
        value_of=lambda kind: (
            random.choice(SCALARS) if kind in plain else {"list": ["a", 1]}.get(kind)
        ),
    )
    read = imported(name, document, tmp_path)
    assert_complete(read)
    for finding in lint(read):
        assert finding.line >= 1
        assert "trainyard:cluster" not in finding.message


def test_a_row_of_the_table_of_fates_is_for_a_key_of_the_schema():
    for each in FORMATS:
        conversion = each.conversion()
        unknown = [path for path in conversion.OUTCOMES.rows if path not in conversion.KEYS.kinds]
        assert unknown == []
