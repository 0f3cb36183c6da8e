"""Parse a plan's documents like cloud-init, nodeadm, kubectl, bash and ParallelCluster.

Every function raises AssertionError if a document is invalid or contradicts the plan.
"""

from __future__ import annotations

import base64
import json
import re
import subprocess
from email import message_from_string
from functools import cache
from typing import TYPE_CHECKING, Any

import yaml

from tests.support.cloud import Cloud
from tests.support.slurm_jobs import RENDERERS
from tests.support.text_fields import CANARY
from trainyard.components.batch.compute_environment_plan import render_user_data
from trainyard.components.batch.job_definition_plan import container_properties, node_properties
from trainyard.components.batch.plan import BatchPlan
from trainyard.components.eks.node_group_plan import (
    NodeGroupPlan,
    render_managed_user_data,
    render_self_managed_user_data,
)
from trainyard.components.eks.plan import EksPlan
from trainyard.components.parallelcluster.cluster_template import cluster_template, template_body
from trainyard.components.parallelcluster.plan import ParallelClusterPlan
from trainyard.components.parallelcluster.references import resolve
from trainyard.components.parallelcluster.rendering import render_cluster, to_yaml
from trainyard.jobs.batch_request import BatchRequest, batch_submission
from trainyard.jobs.efa_smoke import render_efa_smoke
from trainyard.jobs.nccl import render_nccl_pairs, render_nccl_tests
from trainyard.jobs.nccom import render_nccom_pairs, render_nccom_tests
from trainyard.jobs.nodes import JobError, JobRequest
from trainyard.jobs.slurm.nodes import SlurmRequest

if TYPE_CHECKING:
    from trainyard.components.any_plan import AnyPlan

_ANSWER = "an-answer-of-eks"
_EKS_JOBS = (
    render_nccl_tests,
    render_nccl_pairs,
    render_nccom_tests,
    render_nccom_pairs,
    render_efa_smoke,
)
# https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#dns-subdomain-names
_DNS_NAME = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?")


def assert_rendered(plan: AnyPlan) -> int:
    """Render and read all documents of a plan, and return their number."""
    if isinstance(plan, EksPlan):
        return _eks(plan)
    if isinstance(plan, ParallelClusterPlan):
        return _parallelcluster(plan)
    if isinstance(plan, BatchPlan):
        return _batch(plan)
    return 0


def assert_registered(cloud: Cloud) -> int:
    """Read the documents among the inputs of resources, and return their number."""
    found = 0
    for made in cloud.registered:
        for key, value in made.inputs.items():
            if key == "userData":
                user_data(base64.b64decode(value).decode())
            elif key in {"templateBody", "nodeProperties", "containerProperties", "policy"}:
                assert isinstance(json.loads(value), dict)
            else:
                continue
            found += 1
    return found


def user_data(text: str) -> list[tuple[str, str]]:
    """Return type and content of each part of a node's user data."""
    assert CANARY not in text
    message = message_from_string(text)
    assert message.is_multipart()
    assert not message.defects
    parts = [(part.get_content_type(), str(part.get_payload())) for part in message.walk()][1:]
    for type_, content in parts:
        if type_ == "text/x-shellscript":
            assert_bash(content)
        else:
            assert type_ == "application/node.eks.aws"
    return parts


@cache
def assert_bash(script: str) -> None:
    """Let bash parse a script, which must not contain free text of a stack file."""
    assert CANARY not in script
    done = subprocess.run(["/bin/bash", "-n"], input=script, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr


def _eks(plan: EksPlan) -> int:
    for group in plan.node_groups:
        own = group.management == "self-managed"
        answers = dict.fromkeys(("endpoint", "certificate_authority", "service_cidr"), _ANSWER)
        text = (
            render_self_managed_user_data(group, cluster_name=plan.name, **answers)
            if own
            else render_managed_user_data(group)
        )
        ((_, content),) = user_data(text)
        (document,) = yaml.safe_load_all(content)
        assert document["spec"] == _node_config(plan, group)
    requests = [JobRequest(), *(JobRequest(group=group.name) for group in plan.node_groups)]
    return len(plan.node_groups) + sum(
        _manifest(plan, request, job) for request in requests for job in _EKS_JOBS
    )


def _node_config(plan: EksPlan, group: NodeGroupPlan) -> dict[str, Any]:
    """Return the configuration that the plan requires, in nodeadm's format."""
    kubelet: dict[str, Any] = {}
    if group.maximum_pods is not None:
        kubelet["config"] = {"maxPods": group.maximum_pods}
    spec: dict[str, Any] = {}
    if group.management == "self-managed":
        keys = {"apiServerEndpoint": _ANSWER, "certificateAuthority": _ANSWER, "cidr": _ANSWER}
        spec["cluster"] = {"name": plan.name, **keys}
        labels = ",".join(f"{key}={value}" for key, value in group.labels.items())
        taints = ",".join(f"{each.key}={each.value}:{each.effect}" for each in group.taints)
        flags = {"--node-labels": labels, "--register-with-taints": taints}
        given = [f"{flag}={value}" for flag, value in flags.items() if value]
        kubelet |= {"flags": given} if given else {}
    if kubelet:
        spec["kubelet"] = kubelet
    if group.local_nvme == "raid0":
        spec["instance"] = {"localStorage": {"strategy": "RAID0"}}
    return spec


def _manifest(plan: EksPlan, request: JobRequest, render: Any) -> int:
    try:
        text = render(plan, request).text
    except JobError:
        return 0
    assert CANARY not in text
    for document in yaml.safe_load_all(text):
        assert document["apiVersion"]
        assert document["kind"]
        assert _DNS_NAME.fullmatch(document["metadata"]["name"]), document["metadata"]
        for selector in _found(document, "nodeSelector"):
            assert all(isinstance(each, str) for pair in selector.items() for each in pair)
    return 1


def _found(value: Any, key: str) -> list[Any]:
    """Return every value of a key, at any depth."""
    if isinstance(value, list):
        return [found for each in value for found in _found(each, key)]
    if not isinstance(value, dict):
        return []
    deeper = [found for each in value.values() for found in _found(each, key)]
    return [*([value[key]] if key in value else []), *deeper]


def _parallelcluster(plan: ParallelClusterPlan) -> int:
    document = resolve(render_cluster(plan), lambda reference: f"id-of-{reference.kind}")
    assert yaml.safe_load(to_yaml(document)) == document
    template = cluster_template(plan, document)
    assert json.loads(template_body(template)) == template
    written = {entry["Key"]: entry["Value"] for entry in document.get("Tags", ())}
    assert written == dict(plan.tags)
    return 2 + sum(_slurm_job(plan, job) for job in RENDERERS)


def _slurm_job(plan: ParallelClusterPlan, job: str) -> int:
    try:
        directory, _ = RENDERERS[job](plan, SlurmRequest())
    except JobError:
        return 0
    for name, content in directory.files.items():
        assert CANARY not in content
        if name.endswith((".sh", ".sbatch")):
            assert_bash(content)
    return len(directory.files)


def _batch(plan: BatchPlan) -> int:
    for environment in plan.compute_environments:
        assert len(user_data(render_user_data(environment.local_nvme))) >= 1
    for job in plan.job_definitions:
        arguments: dict[str, Any] = {"image": "x", "job_role_arn": "x", "scratch": True}
        node = node_properties(job, **arguments)
        one = container_properties(job.container, **arguments)
        assert json.loads(json.dumps([node, one])) == [node, one]
        assert tuple(one.get("command", ())) == job.container.command
        assert {e["name"]: e["value"] for e in one["environment"]} == dict(
            job.container.environment
        )
    return len(plan.compute_environments) + len(plan.job_definitions) + _submissions(plan)


def _submissions(plan: BatchPlan) -> int:
    made = 0
    for test in ("nccl-tests", "nccom-tests"):
        try:
            submission = batch_submission(plan, test, BatchRequest())
        except JobError:
            continue
        assert json.loads(json.dumps(submission.request)) == submission.request
        made += 1
    return made
