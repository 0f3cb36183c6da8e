"""Privileged containers, with the exemption that EFA needs (G6, H4)."""

from __future__ import annotations

import json

import pytest

from tests.support.policy import UNKNOWN, Declared, check
from tests.support.policy_programs import EFA_DEVICE, multi_node_job, single_node_job
from trainyard.policies.resources.types import BATCH_JOB_DEFINITION
from trainyard.policies.rules.batch.job_container_privileged import POLICY

IN_A_TASK = Declared(
    BATCH_JOB_DEFINITION,
    "preprocess",
    {
        "ecsProperties": json.dumps(
            {"taskProperties": [{"containers": [{"image": "a:1", "privileged": True}]}]}
        )
    },
)
VIOLATING = ((single_node_job(privileged=True),), (IN_A_TASK,))
RIGHT = {
    "not-privileged": single_node_job(),
    "multi-node": multi_node_job(),
    "efa-devices": single_node_job(privileged=True, linuxParameters={"devices": [EFA_DEVICE]}),
}
CLEAN = tuple((job,) for job in RIGHT.values())


@pytest.mark.parametrize("program", VIOLATING, ids=["container", "task"])
def test_fails(program):
    (message,) = check(POLICY, *program).messages
    assert "remove privileged" in message


@pytest.mark.parametrize("job", RIGHT.values(), ids=RIGHT)
def test_passes(job):
    """G6: jobs over EFA need their node's devices, which CKV_AWS_210 flags."""
    found = check(POLICY, job)
    assert (found.messages, found.undecided) == ([], [])


def test_a_container_that_is_not_known_yet_is_said():
    job = Declared(BATCH_JOB_DEFINITION, "job", {"containerProperties": UNKNOWN})
    assert "job.containerProperties" in check(POLICY, job).undecided[0]
