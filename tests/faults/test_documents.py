"""User input reaches documents as data: no shell, template or parser interprets it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from email import message_from_string
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.faults.support.hostile_texts import obeyed
from tests.support.slurm_jobs import RENDERERS, on_disk
from tests.support.stacks import stack_plan
from tests.support.text_fields import CANARY, COMMANDS, MARKUP, PATHS, TEMPLATES
from trainyard.components.batch.compute_environment_plan import render_user_data as batch_user_data
from trainyard.components.batch.job_definition_plan import container_properties
from trainyard.components.batch.plan import BatchPlan
from trainyard.components.config.problems import ConfigError, remove_command, set_command
from trainyard.components.eks.node_group_plan import render_self_managed_user_data
from trainyard.components.eks.plan import EksPlan
from trainyard.components.parallelcluster.cluster_template import cluster_template, template_body
from trainyard.components.parallelcluster.plan import ParallelClusterPlan
from trainyard.components.parallelcluster.references import resolve
from trainyard.components.parallelcluster.rendering import render_cluster, to_yaml
from trainyard.jobs.nccl import render_nccl_tests
from trainyard.jobs.nodes import JobError, JobRequest
from trainyard.jobs.slurm.directory import JobDirectory, next_steps
from trainyard.jobs.slurm.nodes import SlurmRequest

LINES = [text for text in (*COMMANDS, *TEMPLATES, *MARKUP, *PATHS) if "\n" not in text]
FILLED_IN = "{{resolve:ssm:x}}"
QUEUE = "architecture__queues__compute-gpu"
PARALLELCLUSTER = {
    "architecture__slurm__settings": "JobCompLoc",
    f"{QUEUE}__slurm_settings": "AllowAccounts",
    f"{QUEUE}__compute_resources__distributed-ml__slurm_settings": "Reason",
}
"""Parameters with free text, by path."""
TAGS = [text for text in LINES if re.fullmatch(r"[\w\s.:/=+\-@]*", text)]
"""Texts that IAM accepts as the value of a tag; it refuses the others."""


def slurm_value(text: str) -> str:
    """Return a text as a value in `slurm.conf`: in double quotes if it contains spaces."""
    return f'"{text}"' if " " in text else text


def slurm_plan(text: str) -> ParallelClusterPlan:
    script = {"script": "https://example.com/x.sh", "arguments": [text, f"{text}\n{text}"]}
    changes: dict[str, Any] = {
        **{path: {parameter: slurm_value(text)} for path, parameter in PARALLELCLUSTER.items()},
        f"{QUEUE}__custom_actions": {"on_node_start": [script]},
        f"{QUEUE}__s3_access": [{"bucket": "training", "key": f"x{text}"}],
        "tags": {"note": text if text in TAGS else "x"},
    }
    return stack_plan("pc-p4de-postinstall", **changes)


@pytest.mark.parametrize("text", [text for text in LINES if text != FILLED_IN])
def test_the_cluster_file_and_its_template_hold_texts_as_they_were_written(text: str) -> None:
    plan = slurm_plan(text)
    document = resolve(render_cluster(plan), lambda reference: f"id-of-{reference.kind}")
    assert yaml.safe_load(to_yaml(document)) == document
    template = cluster_template(plan, document)
    assert json.loads(template_body(template)) == template
    (queue,) = document["Scheduling"]["SlurmQueues"]
    (action,) = queue["CustomActions"]["OnNodeStart"]["Sequence"]
    assert action["Args"] == [text, f"{text}\n{text}"]
    assert queue["CustomSlurmSettings"] == {"AllowAccounts": slurm_value(text)}
    if text in TAGS:
        assert {"Key": "note", "Value": text} in document["Tags"]


def test_what_cloudformation_would_fill_in_is_refused() -> None:
    with pytest.raises(ConfigError, match="replace it with a parameter or a secret"):
        slurm_plan(FILLED_IN)


@pytest.mark.parametrize("text", COMMANDS)
def test_a_script_for_slurm_obeys_no_name_of_a_directory(tmp_path: Path, text: str) -> None:
    """The schema refuses such a directory, but the script does not rely on that."""
    plan = slurm_plan("x")
    hostile = on_disk(tmp_path / text.replace("/", ""))
    directory, _ = RENDERERS["nccl-tests"](replace(plan, shared_storage=(hostile,)), SlurmRequest())
    assert not obeyed(directory.files["settings.sh"], tmp_path)


@pytest.mark.parametrize("text", TAGS)
def test_no_job_and_no_boot_script_holds_a_free_text(text: str) -> None:
    slurm = stack_plan("pc-p4de-postinstall", tags={"note": f"{CANARY}{text}"})
    directory, _ = RENDERERS["nccl-tests"](slurm, SlurmRequest())
    eks: EksPlan = stack_plan("p5-cb", tags={"note": f"{CANARY}{text}"})
    manifest = render_nccl_tests(eks, JobRequest()).text
    boot = batch_user_data("raid0")
    written = "".join([*directory.files.values(), manifest, boot])
    assert CANARY not in written


@pytest.mark.parametrize("text", LINES)
def test_a_container_gets_command_and_environment_as_they_were_written(text: str) -> None:
    changes = {
        "architecture__job_definitions__nccl-tests__command": ["echo", text],
        "architecture__job_definitions__nccl-tests__environment": {"NOTE": text},
    }
    plan: BatchPlan = stack_plan("batch-p4d", **changes)
    (job,) = [each for each in plan.job_definitions if each.name == "nccl-tests"]
    assert job.container.command == ("echo", text)
    assert job.container.environment["NOTE"] == text
    made = container_properties(job.container, image="x", job_role_arn="x", scratch=True)
    assert json.loads(json.dumps(made))["command"] == ["echo", text]


@pytest.mark.parametrize("answer", [*COMMANDS, "x\n--trainyard-node\nContent-Type: text/x", "a: b"])
def test_an_answer_of_eks_is_a_value_of_the_boot_document(answer: str) -> None:
    plan: EksPlan = stack_plan("p5-cb")
    group = next(each for each in plan.node_groups if each.name == "p5")
    text = render_self_managed_user_data(
        group,
        cluster_name="p5-cb",
        endpoint=answer,
        certificate_authority=answer,
        service_cidr=answer,
    )
    (part,) = message_from_string(text).get_payload()  # pyright: ignore[reportGeneralTypeIssues]
    assert part.get_content_type() == "application/node.eks.aws"  # pyright: ignore
    (document,) = yaml.safe_load_all(part.get_payload())  # pyright: ignore
    cluster = document["spec"]["cluster"]
    assert {cluster[key] for key in ("apiServerEndpoint", "certificateAuthority", "cidr")} == {
        answer
    }


@pytest.mark.parametrize("text", [*COMMANDS, *PATHS])
def test_commands_to_copy_hold_a_text_as_one_word(tmp_path: Path, text: str) -> None:
    """A directory, and the name of a stack file from a checkout."""
    plan = slurm_plan("x")
    directory, nodes = RENDERERS["nccl-tests"](plan, SlurmRequest())
    no_submission = JobDirectory(files=directory.files, submit=(), results=())
    lines = next_steps(plan, no_submission, nodes, f"jobs/{text.strip()}").splitlines()
    commands = "\n".join(line for line in lines if line.startswith("    "))
    stack_file = f"Pulumi.{text.strip().replace('/', '')}.yaml"
    told = [
        set_command("trainyard:cluster.name", text.strip(), stack_file=stack_file),
        remove_command(f"trainyard:cluster.{text.strip()}", stack_file=stack_file),
    ]
    assert not obeyed("\n".join([commands, *told]), tmp_path)


@pytest.mark.parametrize("namespace", ["", "a b", "x\n# y", "$(x)", "-x", "X", "a" * 64, "../x"])
def test_a_namespace_that_is_none_is_refused(namespace: str) -> None:
    with pytest.raises(JobError, match="is no namespace"):
        JobRequest(namespace=namespace)
