"""`lint` finds in Terraform what the module and the provider do not check."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.trainyard.importing.terraform.test_conversion import BY_ID, read_group
from trainyard.importing.lint import lint

EFA = 'enable_efa_support = true\nsubnet_ids = ["subnet-0123456789abcdef1"]'
TWO_SUBNETS = EFA.replace("]", ', "subnet-0123456789abcdef2"]')
BLOCK = 'capacity_type = "CAPACITY_BLOCK"'
GROUP = "module.eks.eks_managed_node_groups.gpu"


def test_a_correct_cluster_has_no_findings(tmp_path: Path):
    assert lint(read_group(tmp_path, EFA, 'cluster_version = "1.36"')) == []


@pytest.mark.parametrize(
    ("group", "more", "level", "rule", "key"),
    [
        (f"{EFA}\n{BY_ID}", "", "warning", "B9", f"{GROUP}.enable_efa_support"),
        (f"{EFA}\n{BY_ID}\n{BLOCK}", "", "warning", "B7", f"{GROUP}.enable_efa_support"),
        (f'capacity_type = "SPOT"\n{BY_ID}', "", "warning", "C15",
         f"{GROUP}.capacity_reservation_specification.capacity_reservation_target"),
        (TWO_SUBNETS, "", "warning", "A6", f"{GROUP}.subnet_ids"),
        ("disired_size = 8", "", "warning", "schema/unknown-key", f"{GROUP}.disired_size"),
        ("node_repair_config = { enabled = true }", "", "warning",
         "plan/eks.eks_managed_node_groups.node_repair_config",
         f"{GROUP}.node_repair_config.enabled"),
        ("", 'cluster_version = "1.30"', "note", "H5", "module.eks.cluster_version"),
        ("", 'cluster_verson = "1.36"', "error", "schema/unknown-key",
         "module.eks.cluster_verson"),
    ],
)  # fmt: skip
def test_a_finding_has_the_line_and_the_key_of_the_source(
    tmp_path: Path, group: str, more: str, level: str, rule: str, key: str
):
    found = [each for each in lint(read_group(tmp_path, group, more)) if each.rule == rule]
    assert [(each.level, each.key) for each in found] == [(level, key)]
    line = (tmp_path / "main.tf").read_text(encoding="utf-8").splitlines()[found[0].line - 1]
    last = key.rpartition(".")[2]
    assert last in line
    assert found[0].file == tmp_path / "main.tf"
    assert "trainyard:cluster" not in found[0].message


def test_an_input_that_the_module_does_not_have_is_refused_with_the_nearest(tmp_path: Path):
    (finding,) = (
        each
        for each in lint(read_group(tmp_path, "", 'cluster_verson = "1.36"'))
        if each.level == "error"
    )
    assert "`cluster_version`" in finding.message
