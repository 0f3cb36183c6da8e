"""Slurm parameters that ParallelCluster sets itself."""

from __future__ import annotations

import pytest

from tests.support.parallelcluster import raw_g4dn
from tests.support.stack_files import refusals
from trainyard.components.catalog.slurm_parameters import Line, slurm_parameters
from trainyard.components.config.problems import Review
from trainyard.components.parallelcluster.slurm_review import review_settings

TIME_LIMITS = (
    "90",
    "90:30",
    "1:30:00",
    "7-0",
    "7-0:0",
    "7-00:00:00",
    "-1",
    "INFINITE",
    "unlimited",
)


@pytest.mark.parametrize(
    ("name", "value", "refused"),
    [
        ("JobCompType", "jobcomp/filetxt", False),
        ("JobAcctGatherType", "jobacct_gather/linux", False),
        ("Prolog", "/opt/prolog.sh", True),
        ("PROLOG", "/opt/prolog.sh", True),
        ("SuspendTime", "60", True),
        ("NodeName", "outside-[1-4]", False),
        ("NodeName", "q-dy-r-[1-4]", True),
    ],
)
def test_only_what_parallelcluster_leaves_open_is_set(name: str, value: str, *, refused: bool):
    """PC-10; without accounting, `JobAcctGatherType` may be set too."""
    raw = raw_g4dn(architecture__slurm={"settings": {name: value}})
    assert list(refusals(raw)) == [f"architecture.slurm.settings.{name}"] * refused


def test_the_remedy_names_the_setting_that_does_the_same():
    raw = raw_g4dn(architecture__slurm={"settings": {"SuspendTime": 60}})
    (problem,) = refusals(raw).values()
    assert "architecture.slurm.idle_minutes" in problem.remedy


def test_a_plugin_that_slurm_has_removed_is_refused_with_its_successor():
    key = "architecture.slurm.settings.selecttype"
    raw = raw_g4dn(architecture__slurm={"settings": {"selecttype": "select/cons_res"}})
    problem = refusals(raw)[key]
    assert problem.allowed == "select/cons_tres"
    assert problem.remedy.endswith(f".{key}' select/cons_tres")
    raw = raw_g4dn(architecture__slurm={"settings": {"selecttype": "select/cons_tres"}})
    assert not refusals(raw)


@pytest.mark.parametrize(
    ("name", "said", "remedy"),
    [
        ("SchedulerParamters", "the nearest is `SchedulerParameters`", "rename it to"),
        ("MaxNodes", "belongs to `slurm_settings` of a queue", "pulumi config rm "),
        ("Colour", "is not a parameter that Slurm 25.11.8 knows", "pulumi config rm "),
    ],
)
def test_a_parameter_that_slurm_does_not_know_is_refused(name: str, said: str, remedy: str):
    raw = raw_g4dn(architecture__slurm={"settings": {name: "1"}})
    problem = refusals(raw)[f"architecture.slurm.settings.{name}"]
    assert said in problem.problem
    assert problem.remedy.startswith(remedy)


@pytest.mark.parametrize(
    ("line", "every"),
    [("slurm_conf", 200), ("partition", 40), ("node", 20)],
)
def test_every_parameter_of_slurm_in_any_case_is_accepted(line: Line, every: int):
    names = slurm_parameters(line)
    assert len(names) > every
    review = Review(stack_file="Pulumi.pc.yaml")
    for name in names:
        review_settings("x", {name.upper(): "1"}, line, review)
    assert all("sets itself" in problem.problem for problem in review.problems)


@pytest.mark.parametrize(
    ("key", "name", "refused"),
    [
        ("slurm_settings", "MaxTime", False),
        ("slurm_settings", "maxtime", False),
        ("slurm_settings", "MaxTimes", True),
        ("slurm_settings", "SchedulerParameters", True),
        ("compute_resources__r__slurm_settings", "Feature", False),
        ("compute_resources__r__slurm_settings", "MaxTime", True),
    ],
)
def test_a_parameter_belongs_to_its_kind_of_line(key: str, name: str, *, refused: bool):
    resources = {"r": {"instance_type": "m5.8xlarge", "maximum": 1}}
    raw = raw_g4dn(architecture__queues__compute__compute_resources=resources)
    place = raw["architecture"]["queues"]["compute"]
    *parents, last = key.split("__")
    for part in parents:
        place = place[part]
    place[last] = {name: "1"}
    assert len(refusals(raw)) == refused


@pytest.mark.parametrize(
    ("name", "value", "refused"),
    [
        *((name, value, False) for name in ("MaxTime", "defaulttime") for value in TIME_LIMITS),
        *(("MaxTime", value, True) for value in ("7d", "24h", "1.5", "7-", "1:2:3:4", "-5")),
        ("MaxTime", "7 days", True),
        ("AllowGroups", "research,ops", False),
        ("AllowGroups", "research, ops", True),
        ("AllowGroups", '"research, ops"', False),
        ("PriorityJobFactor", "", True),
    ],
)
def test_a_value_that_slurm_cannot_read_is_refused(name: str, value: str, *, refused: bool):
    review = Review(stack_file="Pulumi.pc.yaml")
    review_settings("x", {name: value}, "partition", review)
    assert [problem.path.rpartition(".")[2] for problem in review.problems] == [name] * refused


def test_a_node_that_slurm_does_not_manage_has_parameters_in_its_line():
    review = Review(stack_file="Pulumi.pc.yaml")
    review_settings("x", {"NodeName": "outside-[1-4] CPUs=16 State=UNKNOWN"}, "slurm_conf", review)
    assert review.problems == []
