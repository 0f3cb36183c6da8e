"""Slurm parameters that ParallelCluster sets itself."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.support.parallelcluster import raw_g4dn
from tests.support.stack_files import refusals
from trainyard.components.catalog.slurm_parameters import (
    Line,
    is_removed,
    listed_values,
    plugins_of,
    slurm_parameters,
)
from trainyard.components.config.problems import Problem, Review
from trainyard.components.parallelcluster.slurm_review import review_settings

NO_PARAMETER = "a parameter of https://slurm.schedmd.com/slurm.conf.html"
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
    assert problem.allowed == "select/cons_tres, select/linear"
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
    for name in names:
        for problem in problems_of_settings({name.upper(): "1"}, line):
            known = "sets itself" in problem.problem or problem.allowed != NO_PARAMETER
            assert known or is_removed(name), name


def problems_of_settings(settings: Mapping[str, str], line: Line) -> list[Problem]:
    review = Review(stack_file="Pulumi.pc.yaml")
    review_settings("x", settings, line, review)
    return review.problems


@pytest.mark.parametrize(
    ("name", "value"),
    [
        # Lines of `doc/man/man5/slurm.conf.5` and of `etc/slurm.conf.example` of Slurm, and those
        # that https://slurm.schedmd.com/preempt.html and sched_config.html show.
        ("AccountingStorageEnforce", "associations,limits,qos"),
        ("DebugFlags", "NO_CONF_HASH"),
        ("JobAcctGatherType", "jobacct_gather/cgroup"),
        ("JobSubmitPlugins", "lua,require_timelimit"),
        ("MinJobAge", "300"),
        ("MpiDefault", "pmix"),
        ("PreemptMode", "SUSPEND,GANG"),
        ("PriorityDecayHalfLife", "7-0"),
        ("PriorityFlags", "NO_FAIR_TREE,MAX_TRES"),
        ("PriorityType", "priority/multifactor"),
        ("PriorityUsageResetPeriod", "Monthly"),
        ("PrivateData", "jobs,usage,cloud"),
        ("ProctrackType", "proctrack/cgroup"),
        ("PropagateResourceLimitsExcept", "MEMLOCK"),
        ("SchedulerParameters", "bf_interval=60,bf_max_job_user=50,defer,delay_boot=00:05:00"),
        ("SchedulerParameters", "max_rpc_count=150"),
        ("SelectType", "select/cons_tres"),
        ("SelectTypeParameters", "CR_Core_Memory,CR_ONE_TASK_PER_CORE"),
        ("SlurmctldDebug", "5"),
        ("SlurmdDebug", "debug3"),
        ("SwitchType", "switch/none"),
        ("TaskPluginParam", "autobind=threads,verbose"),
        ("TrackWCKey", "yes"),
        ("MaxArraySize", "1001"),
        ("MaxMemPerNode", "UNLIMITED"),
    ],
)
def test_values_that_slurm_documents_are_accepted(name: str, value: str):
    assert problems_of_settings({name: value}, "slurm_conf") == []


@pytest.mark.parametrize(
    ("name", "value", "meant"),
    [
        ("SelectType", "select/con_tres", "select/cons_tres"),
        ("SelectType", "cons_tres", "select/cons_tres"),
        ("CliFilterPlugins", "cli_filter/lau", "cli_filter/lua"),
        ("SchedulerParameters", "bf_intervall=30,defer", "bf_interval=30,defer"),
        ("SchedulerParameters", "defer,bf_interval=30s", "defer,bf_interval=30"),
        ("SchedulerParameters", "defer, bf_continue", "defer,bf_continue"),
        ("PreemptMode", "requeu", "REQUEUE"),
        ("PreemptMode", "SUSPEND", "SUSPEND,GANG"),
        ("UsePAM", "yess", "YES"),
        ("TrackWCKey", "off", "NO"),
        ("MessageTimeout", "30s", "30"),
        ("MessageTimeout", "010", "10"),
        ("KillWait", "-1", None),
        ("KillWait", "70000", None),
        ("MaxJobCount", "0", "1"),
        ("DefMemPerCPU", "4G", "4096"),
        ("ReturnToService", "5", "2"),
        ("PriorityMaxAge", "7d", "7-00:00:00"),
        ("PreemptExemptTime", "1h30m", "0-01:30:00"),
        ("SlurmctldDebug", "verbos", "verbose"),
        ("DebugFlags", "Gress", "Gres"),
        ("PriorityUsageResetPeriod", "montly", "MONTHLY"),
    ],
)
def test_a_wrong_value_is_refused_with_the_one_that_is_meant(
    name: str, value: str, meant: str | None
):
    (problem,) = problems_of_settings({name: value}, "slurm_conf")
    assert (problem.path, problem.found) == (f"trainyard:cluster.x.{name}", value)
    if meant is None:
        assert "pulumi config rm" in problem.remedy
        return
    assert problem.remedy.endswith(f" {meant}")
    assert problems_of_settings({name: meant}, "slurm_conf") == []


@pytest.mark.parametrize("line", ["slurm_conf", "partition"])
def test_a_letter_too_many_in_any_listed_value_is_refused(line: Line):
    tried = 0
    for name in slurm_parameters(line):
        for listed in (*listed_values(name, line), *plugins_of(name)):
            option = listed.replace("=#", "=1")
            problems = problems_of_settings({name: option}, line)
            if problems or option.isdecimal():
                continue  # the parameter is one of ParallelCluster, or the value is of two parts
            tried += 1
            word, equals, number = option.partition("=")
            for problem in problems_of_settings({name: f"{word}q{equals}{number}"}, line):
                assert problem.remedy.startswith("pulumi config "), (name, listed)
                break
            else:
                pytest.fail(f"{name}={option}")
    assert tried > {"slurm_conf": 300, "partition": 5}[line]


@pytest.mark.parametrize("line", ["slurm_conf", "partition", "node"])
def test_names_that_differ_in_case_only_are_one_parameter(line: Line):
    name = {"slurm_conf": "MaxJobCount", "partition": "MaxNodes", "node": "Feature"}[line]
    (problem,) = problems_of_settings({name: "10", name.lower(): "20"}, line)
    assert problem.path.endswith(f".{name.lower()}")
    assert f"`{name}`" in problem.problem
    denied = {"slurm_conf": "SlurmUser", "partition": "State", "node": "Weight"}[line]
    assert len(problems_of_settings({denied: "1", denied.lower(): "1"}, line)) == 2


@pytest.mark.parametrize(
    ("settings", "path"),
    [
        ({"PreemptMode": "REQUEUE"}, "PreemptType"),
        ({"PreemptMode": "requeu"}, "PreemptType"),
        ({"PreemptType": "preempt/qos"}, "PreemptMode"),
        ({"preempttype": "preempt/qos", "preemptmode": "OFF"}, "preemptmode"),
        ({"SlurmSchedLogLevel": "1"}, "SlurmSchedLogFile"),
        ({"MCSParameters": "ondemand"}, "MCSPlugin"),
        ({"NamespaceType": "namespace/tmpfs"}, "PrologFlags"),
        ({"MaxMemPerCPU": "1", "MaxMemPerNode": "1"}, "MaxMemPerCPU"),
    ],
)
def test_a_parameter_needs_another_one(settings: Mapping[str, str], path: str):
    """`_validate_and_set_defaults` in `src/common/read_config.c` of Slurm ends with an error."""
    raw = raw_g4dn(architecture__slurm={"settings": settings})
    problem = refusals(raw)[f"architecture.slurm.settings.{path}"]
    assert "pulumi config " in problem.remedy
    raw = raw_g4dn(
        architecture__slurm={"settings": {"PreemptMode": "CANCEL", "PreemptType": "preempt/qos"}}
    )
    assert not refusals(raw)


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
