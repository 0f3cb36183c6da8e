"""`lint` finds in an eksctl `ClusterConfig` what eksctl does not check."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest

from tests.support.import_sources import (
    GPU,
    SYSTEM,
    ZONES,
    cluster_config,
)
from tests.support.importing import read_text
from trainyard.importing.lint import lint

BLOCK = f"{GPU}  instanceMarketOptions: {{marketType: capacity-block}}\n"
_GROUP = "managedNodeGroups[1]"


def test_the_placement_group_that_eksctl_creates_for_self_managed_nodes_is_found(tmp_path: Path):
    own = f"nodeGroups:\n{indent(GPU, '  ')}"
    (finding,) = lint(read_text(tmp_path, cluster_config(SYSTEM, ZONES + own)))
    assert (finding.rule, finding.level) == ("B9", "warning")
    assert finding.key == "nodeGroups[0].efaEnabled"


def test_a_correct_configuration_has_no_findings(tmp_path: Path):
    assert lint(read_text(tmp_path, cluster_config())) == []


@pytest.mark.parametrize(
    ("managed", "level", "rule", "key"),
    [
        (GPU.replace("p5.48xlarge", "c5.large"), "error", "A1", f"{_GROUP}.efaEnabled"),
        (GPU.replace("[us-west-2b]", "[us-west-2a, us-west-2b]"), "warning", "A6",
         f"{_GROUP}.availabilityZones"),
        (BLOCK + "  placement: {groupName: mine}\n", "error", "B7",
         f"{_GROUP}.placement"),
        (GPU + "  spot: true\n", "warning", "C15", f"{_GROUP}.capacityReservation"),
        (GPU.replace("p5.48xlarge", "p5.48xlarg"), "error", "E1", f"{_GROUP}.instanceType"),
        (GPU.replace("efaEnabled", "efaEnable"), "error", "schema/unknown-key",
         f"{_GROUP}.efaEnable"),
        (GPU + "  nodeRepairConfig: {enabled: true}\n", "warning",
         "plan/managedNodeGroups.nodeRepairConfig.enabled", f"{_GROUP}.nodeRepairConfig.enabled"),
    ],
)  # fmt: skip
def test_a_finding_has_the_line_and_the_key_of_the_source(
    tmp_path: Path, managed: str, level: str, rule: str, key: str
):
    source = cluster_config(SYSTEM + managed)
    found = [each for each in lint(read_text(tmp_path, source)) if each.rule == rule]
    assert [(each.level, each.key) for each in found] == [(level, key)]
    assert "trainyard:cluster" not in found[0].message
    assert key.rpartition(".")[2] in source.splitlines()[found[0].line - 1]
