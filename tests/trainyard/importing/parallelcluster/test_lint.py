"""`lint` finds in a ParallelCluster configuration what its users learn when nodes launch."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.import_sources import QUEUE, cluster
from tests.support.importing import read_text
from trainyard.importing.lint import lint
from trainyard.importing.source import text_of

BLOCK = QUEUE.replace(
    "  CapacityReservationTarget", "  CapacityType: CAPACITY_BLOCK\n  CapacityReservationTarget"
)
GROUP = "def1], PlacementGroup: {Enabled: true}}"
_QUEUE = "Scheduling.SlurmQueues[0]"


def test_a_correct_configuration_has_no_findings(tmp_path: Path):
    assert lint(read_text(tmp_path, cluster())) == []


@pytest.mark.parametrize(
    ("source", "level", "rule", "key", "said"),
    [
        (cluster(QUEUE.replace("p5.48xlarge", "c5.large")), "error", "A1",
         f"{_QUEUE}.ComputeResources[0].Efa.Enabled", "Efa"),
        (cluster(QUEUE.replace("def1]", "def1, subnet-0123456789abcdef2]")), "error", "A6",
         f"{_QUEUE}.Networking.SubnetIds", "cannot leave a zone"),
        (cluster(BLOCK.replace("def1]}", GROUP)), "error", "B7",
         f"{_QUEUE}.Networking.PlacementGroup.Enabled", "Capacity Block"),
        (cluster(BLOCK.replace("MinCount: 2", "MinCount: 1")), "error", "D5",
         f"{_QUEUE}.ComputeResources[0].MinCount", "static"),
        (cluster(QUEUE.replace("p5.48xlarge", "p5.48xlarg")), "error", "E1",
         f"{_QUEUE}.ComputeResources[0].InstanceType", "p5.48xlarge"),
        (cluster(QUEUE.replace("  Networking", "  CapacityType: SPOT\n  Networking")), "warning",
         "C15", f"{_QUEUE}.CapacityReservationTarget", "Spot"),
        (cluster(QUEUE.replace("Efa: {Enabled: true}", "Efa: {GdrSupport: true}")), "warning",
         "A3", f"{_QUEUE}.ComputeResources[0].Efa.GdrSupport", "EFA"),
        (cluster().replace("alinux2023", "centos7"), "note", "E4", "Image.Os", "centos7"),
        (cluster().replace("SubnetId:", "SubnetID:"), "error", "schema/unknown-key",
         "HeadNode.Networking.SubnetID", "`SubnetId`"),
        (cluster().replace("MaxCount: 2", "MaxCount: many"), "error", "schema/wrong-value",
         f"{_QUEUE}.ComputeResources[0].MaxCount", "a whole number"),
    ],
)  # fmt: skip
def test_a_finding_has_the_line_and_the_key_of_the_source(
    tmp_path: Path, source: str, level: str, rule: str, key: str, said: str
):
    findings = lint(read_text(tmp_path, source))
    (finding,) = [each for each in findings if each.rule == rule]
    assert (finding.level, finding.key) == (level, key)
    assert said in finding.message
    assert "trainyard:cluster" not in finding.message
    last = key.rpartition(".")[2].partition("[")[0]
    assert last in source.splitlines()[finding.line - 1]


def test_a_value_of_a_template_is_a_note(tmp_path: Path):
    source = cluster(QUEUE.replace("p5.48xlarge", "'${INSTANCE}'"))
    (finding,) = lint(read_text(tmp_path, source))
    assert (finding.level, finding.line) == ("note", 13)


def test_a_jinja_template_is_read_with_notes_at_its_values(tmp_path: Path):
    source = cluster(QUEUE.replace("p5.48xlarge", "{{ instance }}"))
    source = source.replace("Os: alinux2023", "Os: {{ os }}")
    read = read_text(
        tmp_path, f"{source}{{% if more %}}\n{{{{ prefix }}}}Settings: 1\n{{% endif %}}\n"
    )
    (finding,) = lint(read)
    assert (finding.level, finding.line) == ("note", 13)
    outcomes = {text_of(each.location): each.claim.why for each in read.entries}
    assert outcomes["Image.Os"] == "it is a placeholder: set `architecture.operating_system`"
    assert outcomes["<prefix>Settings"] == "its key is a placeholder: write the key"
    assert "Jinja" in read.report.notes[0]


def test_the_name_of_an_entry_is_in_the_message(tmp_path: Path):
    (finding,) = lint(read_text(tmp_path, cluster(QUEUE.replace("Name: p5,", "Name: p_5,"))))
    assert "(`p_5`) is not a valid name here; allowed: a name of at most 25" in finding.message


def test_a_value_of_the_wrong_kind_hides_nothing_else_of_the_schema(tmp_path: Path):
    source = cluster().replace("{Os: alinux2023}", "alinux2023") + "Tag: []\n"
    found = [(each.rule, each.key) for each in lint(read_text(tmp_path, source))]
    assert found == [("schema/wrong-kind", "Image"), ("schema/unknown-key", "Tag")]
