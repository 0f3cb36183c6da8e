"""The panel that closes the `up` of a Batch stack."""

from __future__ import annotations

from typing import Any

import pytest

from trainyard.schedulers.batch.summary import Summary, next_commands, print_summary
from trainyard.stack_files.stack_files import find_stack_file
from trainyard.workspace.accounts import target_of

OUTPUTS: dict[str, Any] = {
    "compute_environments": {
        "p5": {
            "name": "batch-p5-p5-20261121",
            "job_queue": "batch-p5-p5",
            "instance_type": "p5.48xlarge",
            "minimum_vcpus": 0,
            "maximum_vcpus": 384,
        }
    },
    "job_definitions": {
        "nccl-tests": {"job_queue": "batch-p5-p5", "nodes": 2, "image": "public.example/nccl:1"},
        "one": {"job_queue": "batch-p5-p5", "nodes": 1, "image": "public.example/one:1"},
    },
    "repository_url": "123456789012.dkr.ecr.us-west-2.amazonaws.com/batch-p5",
    "notes": ["jobs wait for the block"],
}


def summary(*, sandbox: bool = True, **changes: Any) -> Summary:
    return Summary(
        target_of(find_stack_file("batch-p5"), sandbox=sandbox),
        {**OUTPUTS, **changes},
        {"create": 12},
    )


def test_the_panel_says_what_jobs_run_on_and_where_they_wait(capsys) -> None:
    """BAT-23, BAT5-12: the outputs of the templates."""
    print_summary(summary())
    said = capsys.readouterr().out
    assert "batch-p5 · SANDBOX (emulated AWS)" in said
    for fact in (
        "0 to 2 x p5.48xlarge",
        "batch-p5-p5",
        "2 nodes, public.example/nccl:1",
        "1 node, public.example/one:1",
        OUTPUTS["repository_url"],
        "jobs wait for the block",
        "12 changed (12 create)",
    ):
        assert fact in said


@pytest.mark.parametrize("sandbox", [True, False])
def test_the_job_that_tests_the_network_is_shown_and_submitted_next(sandbox) -> None:
    flag = " --sandbox" if sandbox else ""
    assert next_commands(summary(sandbox=sandbox))[:2] == [
        f"./trainyard job batch-p5 nccl-tests{flag}",
        f"./trainyard job batch-p5 nccl-tests --submit{flag}",
    ]


def test_trainium_has_a_test_of_its_own() -> None:
    nodes = {**OUTPUTS["compute_environments"]["p5"], "instance_type": "trn1.32xlarge"}
    made = summary(compute_environments={"trn1": nodes}, job_definitions={"nccom-tests": {}})
    assert "./trainyard job batch-p5 nccom-tests --sandbox" in next_commands(made)


def test_a_job_that_the_stack_does_not_define_is_not_offered() -> None:
    assert not [c for c in next_commands(summary(job_definitions={})) if "trainyard job" in c]


def test_an_instance_type_that_nobody_knows_is_counted_in_vcpus(capsys) -> None:
    nodes = {**OUTPUTS["compute_environments"]["p5"], "instance_type": "p9.48xlarge"}
    print_summary(summary(compute_environments={"p9": nodes}, repository_url=None, notes=None))
    said = capsys.readouterr().out
    assert "0 to 384 vCPUs of p9.48xlarge" in said
    assert "repository" not in said
