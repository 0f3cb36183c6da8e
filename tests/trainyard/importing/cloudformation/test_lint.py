"""`lint` finds in a template what its users learn when nodes do not launch."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.import_sources import NETWORK, batch, template
from tests.support.importing import read_text
from trainyard.importing.lint import lint

BLOCK = (
    "InstanceMarketOptions: {MarketType: capacity-block}\n"
    "CapacityReservationSpecification: {CapacityReservationTarget: "
    "{CapacityReservationId: cr-0123456789abcdef0}}\n"
)
_RESOURCES = "Resources.Nodes.Properties.ComputeResources"


@pytest.mark.parametrize("source", [template(), batch(), batch(launch=BLOCK)])
def test_a_correct_template_has_no_findings(tmp_path: Path, source: str):
    assert lint(read_text(tmp_path, source)) == []


@pytest.mark.parametrize(
    ("source", "level", "rule", "key", "said"),
    [
        (batch().replace("p5.48xlarge", "c5.large"), "error", "A1",
         "Resources.Launch.Properties.LaunchTemplateData.NetworkInterfaces[0].InterfaceType",
         "InterfaceType"),
        (batch("MaxvCpus: 384\nPlacementGroup: mine", BLOCK), "error", "B7",
         f"{_RESOURCES}.PlacementGroup", "Capacity Block"),
        (batch().replace("p5.48xlarge", "p5.48xlarg"), "error", "E1",
         f"{_RESOURCES}.InstanceTypes[0]", "p5.48xlarge"),
        (batch(launch="MetadataOptions: {HttpTokens: optional}\n"), "note", "E15",
         "Resources.Launch.Properties.LaunchTemplateData.MetadataOptions.HttpTokens", "IMDSv2"),
        (batch("MaxvCpu: 384"), "error", "schema/unknown-key", f"{_RESOURCES}.MaxvCpu",
         "`MaxvCpus`"),
        (batch("MaxvCpus: many"), "error", "schema/wrong-value", f"{_RESOURCES}.MaxvCpus",
         "a whole number"),
        (template(NETWORK.replace("CidrBlock: 10.0.0.0/17", "CidrBlok: 10.0.0.0/17")), "error",
         "schema/unknown-key", "Resources.Private.Properties.CidrBlok", "`CidrBlock`"),
        (template(NETWORK.replace("10.0.0.0/17", "10.1.0.0/17")), "error",
         "plan/Resources.Private.Properties.CidrBlock", "Resources.Private.Properties.CidrBlock",
         "outside of the CIDR blocks"),
    ],
)  # fmt: skip
def test_a_finding_has_the_line_and_the_key_of_the_source(
    tmp_path: Path, source: str, level: str, rule: str, key: str, said: str
):
    (finding,) = [each for each in lint(read_text(tmp_path, source)) if each.rule == rule]
    assert (finding.level, finding.key) == (level, key)
    assert said in finding.message
    assert "trainyard:cluster" not in finding.message
    last = key.rpartition(".")[2].partition("[")[0]
    assert last in source.splitlines()[finding.line - 1]


def test_both_values_of_a_condition_have_the_keys_of_the_schema(tmp_path: Path):
    source = batch(
        "MaxvCpus: 384\nEc2Configuration: !If [X, [{ImageTyp: a}], {'Ref': 'AWS::NoValue'}]"
    )
    (finding,) = [each for each in lint(read_text(tmp_path, source)) if "ImageTyp" in each.key]
    assert "`ImageType`" in finding.message
