"""A submission to Batch: job definition, number of nodes, and refusals."""

import pytest

from tests.support import batch
from tests.support.batch import efa_environment
from trainyard.components.batch.nccl_command import collective_test
from trainyard.components.batch.plan import ContainerPlan, JobDefinitionPlan
from trainyard.components.catalog.instance_types import instance_type
from trainyard.jobs.batch_request import BatchRequest, batch_submission
from trainyard.jobs.nodes import JobError


def definition(name, environment, type_name, nodes, **container):
    found = instance_type(type_name)
    test = collective_test(
        found.accelerators, devices=found.accelerators.count, efa_interfaces=found.efa_interfaces
    )
    content = {
        "image": test.image,
        "command": test.command,
        "environment": test.environment,
        "vcpus": found.vcpus,
        "memory_mib": 1024,
        "gpus": found.accelerators.count,
        "devices": (),
        "shared_memory_mib": 64,
    }
    return JobDefinitionPlan(
        name=name,
        compute_environment=environment,
        nodes=nodes,
        instance_type=found,
        container=ContainerPlan(**{**content, **container}),
        attempts=1,
        timeout_seconds=None,
        iam_policies=(),
    )


SINGLE = definition("single", "p5", "p5.48xlarge", 1)
MULTI = definition("multi", "p5", "p5.48xlarge", 2)
TRAINING = definition("training", "p5", "p5.48xlarge", 2, command=("python3", "train.py"))
NEURON = definition("neuron", "trn1", "trn1.32xlarge", 4)


def plan(*definitions):
    return batch.plan(
        name="ml",
        compute_environments=(
            efa_environment("p5", "p5.48xlarge", maximum_vcpus=4 * 192 + 10),
            efa_environment("trn1", "trn1.32xlarge", maximum_vcpus=4 * 128),
        ),
        job_definitions=definitions,
    )


def test_the_request_names_queue_and_definition_as_the_stack_makes_them():
    """PR-51: users need no outputs to submit a job."""
    made = batch_submission(plan(MULTI), "nccl-tests", BatchRequest())
    assert made.request == {
        "jobName": "nccl-tests",
        "jobQueue": "ml-p5",
        "jobDefinition": "ml-multi",
        "propagateTags": True,
        "nodeOverrides": {"numNodes": 2},
    }
    assert (made.nodes, made.multinode, made.compute_environment) == (2, True, "p5")


def test_another_number_of_nodes_and_variables_override_the_definition():
    asked = BatchRequest(nodes=4, environment={"NCCL_DEBUG": "WARN"})
    overrides = batch_submission(plan(MULTI), "nccl-tests", asked).request["nodeOverrides"]
    variables = [{"name": "NCCL_DEBUG", "value": "WARN"}]
    assert overrides == {
        "numNodes": 4,
        "nodePropertyOverrides": [
            {"targetNodes": "0:", "containerOverrides": {"environment": variables}}
        ],
    }


def test_a_job_on_one_node_has_containers_and_no_nodes_to_override():
    made = batch_submission(plan(SINGLE), "nccl-tests", BatchRequest())
    assert not {"nodeOverrides", "containerOverrides"} & set(made.request)
    asked = BatchRequest(environment={"A": "b"})
    request = batch_submission(plan(SINGLE), "nccl-tests", asked).request
    assert request["containerOverrides"] == {"environment": [{"name": "A", "value": "b"}]}
    assert "nodeOverrides" not in request


def test_the_definition_of_several_nodes_is_the_one_that_tests_the_network():
    made = batch_submission(plan(SINGLE, MULTI, TRAINING), "nccl-tests", BatchRequest())
    assert made.request["jobDefinition"] == "ml-multi"


@pytest.mark.parametrize(
    ("test", "name"), [("nccl-tests", "ml-multi"), ("nccom-tests", "ml-neuron")]
)
def test_each_test_runs_on_the_devices_that_it_is_for(test, name):
    made = batch_submission(plan(MULTI, NEURON), test, BatchRequest())
    assert made.request["jobDefinition"] == name


def test_an_image_of_ones_own_runs_the_test_that_its_definition_is_named_after():
    own = definition("nccl-tests", "p5", "p5.48xlarge", 2, image=None, command=())
    made = batch_submission(plan(own), "nccl-tests", BatchRequest())
    assert made.request["jobDefinition"] == "ml-nccl-tests"


@pytest.mark.parametrize(
    ("definitions", "asked", "said"),
    [
        pytest.param((MULTI,), {"nodes": 5}, "at most 4 nodes", id="too-many-nodes"),
        pytest.param((SINGLE,), {"nodes": 2}, "is for one node", id="one-node-definition"),
        pytest.param((TRAINING,), {}, "compute_environment: p5", id="no-test"),
        pytest.param(
            (MULTI, definition("other", "p5", "p5.48xlarge", 4)),
            {},
            "name one with --definition: multi, other",
            id="several",
        ),
        pytest.param((SINGLE, MULTI), {"nodes": 1}, "--definition: single, multi", id="one-node"),
        pytest.param((MULTI,), {"definition": "x"}, "'x' that runs nccl-tests", id="unknown"),
        pytest.param(
            (MULTI, TRAINING), {"definition": "training"}, "there is: multi", id="other-command"
        ),
    ],
)
def test_what_cannot_run_is_refused_with_what_to_do(definitions, asked, said):
    with pytest.raises(JobError, match=said):
        batch_submission(plan(*definitions), "nccl-tests", BatchRequest(**asked))


def test_a_stack_without_such_devices_is_told_so():
    of = batch.plan(compute_environments=(efa_environment("p5", "p5.48xlarge"),))
    with pytest.raises(JobError, match="no compute environment with the devices"):
        batch_submission(of, "nccom-tests", BatchRequest())
