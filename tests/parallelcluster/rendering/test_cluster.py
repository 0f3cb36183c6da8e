"""The complete cluster file, as a document and as YAML."""

import json

import pytest
import yaml

from tests.support.parallelcluster import new_vpc_plan, p4de_plan, plan, trn1_plan
from tests.support.stack_files import AMI
from trainyard.components.parallelcluster.references import resolve
from trainyard.components.parallelcluster.rendering import (
    UnresolvedReferenceError,
    render_cluster,
    to_yaml,
)

PLANS = {"g4dn": plan, "p4de": p4de_plan, "trn1": trn1_plan}


def resolved(made):
    return resolve(render_cluster(made), lambda reference: reference.name)


def test_sections_stand_in_the_order_of_the_documentation():
    assert list(render_cluster(p4de_plan())) == [
        "Region",
        "Imds",
        "Image",
        "HeadNode",
        "Scheduling",
        "SharedStorage",
        "Monitoring",
        "Tags",
    ]


def test_metadata_needs_a_token():
    """PC-01."""
    assert render_cluster(plan())["Imds"] == {"ImdsSupport": "v2.0"}


def test_the_region_is_said():
    """TRN-03; PC-18: the templates leave it to the environment of the user of `pcluster`."""
    assert render_cluster(plan())["Region"] == "us-west-2"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, {"Os": "alinux2023"}),
        ({"custom_ami_id": AMI}, {"Os": "alinux2023", "CustomAmi": AMI}),
        ({"operating_system": "ubuntu2204"}, {"Os": "ubuntu2204"}),
    ],
)
def test_the_image(changes, expected):
    """PC-02, PCx-01, TRN-02, TRN-20."""
    assert render_cluster(plan(**changes))["Image"] == expected


def test_tags_are_those_of_the_stack():
    assert render_cluster(plan())["Tags"] == [
        {"Key": "team", "Value": "vision"},
        {"Key": "trainyard:cluster", "Value": "pc-g4dn"},
    ]


def test_a_cluster_without_storage_has_no_section():
    """ParallelCluster treats an empty list as an error."""
    assert "SharedStorage" not in render_cluster(plan())
    assert "Tags" not in render_cluster(plan(tags={}))


def test_nothing_else_is_said():
    """PC-18, TRN-09: no login nodes, security groups, DNS, database or developer settings."""
    for make in PLANS.values():
        assert render_cluster(make()).keys() <= {
            "Region",
            "Imds",
            "Image",
            "HeadNode",
            "Scheduling",
            "SharedStorage",
            "Monitoring",
            "Tags",
        }


@pytest.mark.parametrize("make", PLANS.values(), ids=PLANS)
def test_yaml_says_what_the_document_says(make):
    document = resolved(make())
    assert yaml.safe_load(to_yaml(document)) == document
    assert json.loads(json.dumps(document)) == document


def test_yaml_is_in_blocks_that_a_person_reads():
    text = to_yaml(resolved(p4de_plan()))
    assert "    - Name: compute-gpu\n      CapacityType: ONDEMAND\n" in text
    assert not {"{", "[", "&", "*"} & set(text)


def test_equal_sections_are_written_out_each_time():
    """Anchors are valid YAML, but uncommon in cluster files."""
    shared = ["a"]
    assert to_yaml({"First": shared, "Second": shared}) == "First:\n  - a\nSecond:\n  - a\n"


def test_a_file_without_ids_is_not_written():
    with pytest.raises(UnresolvedReferenceError, match=r"subnet public-us-west-2a.*resolve"):
        to_yaml(render_cluster(new_vpc_plan()))
