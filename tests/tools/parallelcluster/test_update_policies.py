"""The table of update policies, and verdicts from it, compared with the real ParallelCluster."""

from __future__ import annotations

import pytest

from tests.parallelcluster.support.update_cases import CASES
from tests.support.cluster_configs import (
    FIRST_QUEUE,
    UpdateCase,
    deployed,
    put,
    texts,
)
from tests.support.parallelcluster_validators import UpdateCheck, update_check, update_checks
from tools.parallelcluster.process import ParallelClusterError
from tools.parallelcluster.update_policies import DATA_FILE, schema_policies, table
from trainyard.components.parallelcluster.update_review import update_problems
from trainyard.components.parallelcluster.update_verdicts import Policy

pytestmark = pytest.mark.parallelcluster


@pytest.fixture(scope="module")
def real() -> dict[str, UpdateCheck]:
    """ParallelCluster's result for every case, by name; one process for all."""
    answers = update_checks([case.configurations() for case in CASES])
    return dict(zip([case.name for case in CASES], answers, strict=True))


def test_the_table_is_that_of_the_schema():
    assert DATA_FILE.read_text(encoding="utf-8") == table(schema_policies())


def test_every_policy_of_the_schema_has_a_meaning_here():
    assert set(schema_policies().values()) <= {policy.value for policy in Policy}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_parallelcluster_gives_the_same_verdict(case: UpdateCase, real: dict[str, UpdateCheck]):
    assert real[case.name].allowed == (case.way is None)


def test_there_are_cases_enough_of_both_verdicts():
    allowed = [case.name for case in CASES if case.way is None]
    assert min(len(allowed), len(CASES) - len(allowed)) >= 15


def test_a_new_mount_directory_breaks_the_check_of_parallelcluster_and_is_refused_here():
    old, new = deployed(), deployed()
    put("SharedStorage.1.MountDir", "/programs")(new)
    with pytest.raises(ParallelClusterError, match="AttributeError"):
        update_check(old, new)
    (problem,) = update_problems(old, new, stack_file="Pulumi.pc-p4de-ami.yaml")
    assert problem.path == "trainyard:cluster.storage.apps.mount_directory"


def test_a_named_placement_group_is_refused_as_behind_the_custom_resource():
    """ParallelCluster reads `Enabled: "false"` as true, and as a group that it created."""
    old, new = deployed(), deployed()
    put(f"{FIRST_QUEUE}.Networking.PlacementGroup", {"Enabled": True, "Name": "training"})(new)
    as_booleans, as_texts = update_checks([(old, new), (texts(old), texts(new))])
    assert (as_booleans.allowed, as_texts.allowed) == (True, False)
    (problem,) = update_problems(old, new, stack_file="Pulumi.pc-p4de-ami.yaml")
    assert "STOP_REQUESTED" in problem.remedy
