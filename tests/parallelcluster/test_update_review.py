"""Changes that ParallelCluster would refuse are refused with a fix."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.parallelcluster.support.update_cases import CASES
from tests.support.cluster_configs import (
    FIRST_QUEUE,
    UpdateCase,
    both,
    deployed,
    put,
    texts,
)
from tests.support.parallelcluster import new_vpc_plan
from trainyard.components.config.problems import ROOT, Problem
from trainyard.components.parallelcluster.references import Reference
from trainyard.components.parallelcluster.rendering import render_cluster
from trainyard.components.parallelcluster.update_review import update_problems
from trainyard.components.parallelcluster.update_verdicts import UpdateCondition

FILE = "Pulumi.pc-p4de-ami.yaml"


def review(old: Any, new: Any, *, fleet_stopped: bool = False) -> list[Problem]:
    return list(
        update_problems(
            old, new, stack_file=FILE, cluster_name="pc-p4de", fleet_stopped=fleet_stopped
        )
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_change_is_refused_exactly_where_parallelcluster_refuses_it(case: UpdateCase):
    """PR-04: permitted changes of an update. `test_update_policies` runs ParallelCluster itself."""
    assert bool(review(*case.configurations())) == (case.way is not None)


@pytest.mark.parametrize("case", [c for c in CASES if c.key], ids=lambda case: case.name)
def test_a_refusal_names_the_key_of_the_stack_file(case: UpdateCase):
    (problem,) = review(*case.configurations())
    assert problem.path == f"{ROOT}.{case.key}"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_texts_of_cloudformation_change_no_verdict(case: UpdateCase):
    old, new = case.configurations()
    assert [p.path for p in review(texts(old), new)] == [p.path for p in review(old, new)]


def test_nothing_differs_between_a_configuration_and_its_texts():
    assert not review(texts(deployed()), deployed())


def test_a_reference_is_what_is_deployed_there():
    rendered = render_cluster(new_vpc_plan())
    made = json.loads(json.dumps(rendered, default=made_up))
    assert made["HeadNode"]["Networking"]["SubnetId"] == "subnet-of-the-account"
    assert not review(made, rendered)


def made_up(reference: Reference) -> str:
    return f"{reference.kind}-of-the-account"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_with_a_stopped_fleet_only_what_never_changes_is_refused(case: UpdateCase):
    refused = bool(review(*case.configurations(), fleet_stopped=True))
    assert refused == (case.way in {UpdateCondition.NONE, UpdateCondition.WITHOUT_LUSTRE})


def test_what_never_changes_says_what_is_deployed_and_how_to_have_it_otherwise():
    old, new = deployed(), deployed()
    put("HeadNode.InstanceType", "m5.4xlarge")(new)
    (problem,) = review(old, new)
    assert problem.problem == (
        "changes `HeadNode.InstanceType`: ParallelCluster cannot change this in an existing cluster"
    )
    assert (problem.found, problem.allowed) == ("m5.4xlarge", "as deployed: m5.8xlarge")
    assert "revert it" in problem.remedy
    assert "`destroy` and `up`" in problem.remedy
    assert problem.remedy.endswith("with another `name`")


def test_what_needs_a_stopped_fleet_says_how_to_stop_it_and_start_it_again():
    old, new = deployed(), deployed()
    put("Scheduling.SlurmSettings.ScaledownIdletime", 5)(new)
    (problem,) = review(old, new)
    stop = "pcluster update-compute-fleet --cluster-name pc-p4de --status STOP_REQUESTED"
    assert stop in problem.remedy
    assert "pcluster describe-compute-fleet --cluster-name pc-p4de" in problem.remedy
    assert problem.remedy.index("run `up` again") < problem.remedy.index("START_REQUESTED")


def test_fewer_nodes_say_the_command_that_allows_it():
    old, new = deployed(), deployed()
    both(put(f"{FIRST_QUEUE}.ComputeResources.0.MinCount", 2))(new)
    (problem,) = review(old, new)
    assert (
        "pulumi config set --stack pc-p4de-ami --path "
        "'trainyard:cluster.architecture.slurm.queue_update_strategy' TERMINATE"
    ) in problem.remedy


def test_a_subnet_beside_a_lustre_file_system_says_how_to_keep_the_data():
    old, new = deployed(), deployed()
    put(f"{FIRST_QUEUE}.Networking.SubnetIds", ["subnet-00000000000000b99"])(new)
    (problem,) = review(old, new)
    assert "`kind: existing-fsx-lustre`" in problem.remedy
    assert "have to replace its FSx for Lustre file system" in problem.problem


def test_a_queue_that_goes_is_shown_by_its_name():
    case = next(case for case in CASES if case.name == "a queue less")
    (problem,) = review(*case.configurations())
    assert problem.allowed == "as deployed: inference"
    assert problem.found is None
    assert problem.problem.startswith("removes from `Scheduling.SlurmQueues`")


def test_every_change_is_reported_at_once():
    old, new = deployed(), deployed()
    both(
        put("HeadNode.InstanceType", "m5.4xlarge"),
        put("Image.Os", "ubuntu2204"),
        put("Monitoring.DetailedMonitoring", value=False),
    )(new)
    assert len(review(old, new)) == 3
