"""The bundle of `diagnose`: its parts, its causes, and what is not in it."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber
from kubernetes import client
from kubernetes.client import ApiException

from tests.support.secret_forms import CHOSEN, DOCUMENTS, ENCODED, TEXTS, modes_in
from tests.support.stacks import stack_plan
from trainyard.diagnosis.bundle import (
    SUMMARY,
    Bundle,
    EksClients,
    add_account,
    add_batch,
    add_cluster,
    add_consoles,
    add_events,
    add_head_node,
    namespaces_of,
)

NOW = datetime(2026, 11, 24, tzinfo=UTC)
LISTS = ("node", "namespaced_pod", "namespaced_event", "namespaced_daemon_set", "namespaced_job")
EMPTY = SimpleNamespace(
    **{f"list_{name}": lambda *_: SimpleNamespace(items=[]) for name in LISTS},
    read_namespaced_config_map=lambda *_: SimpleNamespace(data={}),
)
"""The API of a cluster without objects."""
KEY = "AKIA" + "ABCDEFGHIJKLMNOP"


@pytest.fixture
def bundle(tmp_path: Path) -> Bundle:
    return Bundle(tmp_path)


def stubbed(service: str) -> tuple[Any, Stubber]:
    keys = {"aws_access_key_id": "x", "aws_secret_access_key": "x"}
    client: Any = boto3.client(service, region_name="us-west-2", **keys)  # pyright: ignore[reportCallIssue, reportArgumentType]
    return client, Stubber(client)


def test_parts_are_files_and_the_summary_lists_them(bundle: Bundle, tmp_path: Path) -> None:
    assert bundle.add("a/b.json", lambda: {"x": NOW}) == {"x": NOW}
    bundle.add("c.txt", lambda: "text")
    bundle.blame(["it is broken", "it is broken"])
    said = bundle.finish("p5-cb")
    assert json.loads((tmp_path / "a/b.json").read_text("utf-8")) == {"x": str(NOW)}
    assert (tmp_path / "c.txt").read_text("utf-8") == "text"
    assert said == (tmp_path / SUMMARY).read_text("utf-8")
    assert said.count("it is broken") == 1
    assert "- a/b.json\n- c.txt\n" in said


def test_a_part_that_cannot_be_read_does_not_stop_the_others(bundle: Bundle) -> None:
    def fail() -> str:
        raise ApiException(status=403, reason="Forbidden")

    def fail_too() -> str:
        raise OSError("first line\nsecond line")

    assert bundle.add("pods.json", fail) is None
    assert bundle.add("log.txt", fail_too) is None
    bundle.add("c.txt", lambda: "text")
    assert bundle.missing == {"pods.json": "403 Forbidden", "log.txt": "first line"}
    assert bundle.files == ["c.txt"]
    assert "- pods.json: 403 Forbidden" in bundle.finish("p5-cb")


def test_no_secret_is_written(bundle: Bundle, tmp_path: Path) -> None:
    def fail() -> str:
        raise OSError(f"rejected {KEY}")

    bundle.add("log.txt", lambda: f"export AWS_ACCESS_KEY_ID={KEY}")
    bundle.add("plan.json", lambda: {"environment": {"WANDB_API_KEY": "0123456789"}, "k": KEY})
    bundle.add("x.json", fail)
    bundle.blame([f"the key {KEY} is wrong"])
    bundle.finish("p5-cb")
    for path in tmp_path.iterdir():
        text = path.read_text("utf-8")
        assert KEY not in text
        assert "0123456789" not in text


def test_only_the_owner_can_read_it(bundle: Bundle, tmp_path: Path) -> None:
    bundle.add("a/b/c.json", lambda: {"x": 1})
    bundle.finish("p5-cb")
    tmp_path.chmod(0o700)
    assert modes_in(tmp_path) == {0}


@pytest.mark.parametrize("name", ["log.txt", "answer.json"])
def test_no_form_of_a_secret_is_written(bundle: Bundle, tmp_path: Path, name: str) -> None:
    texts = [each.text for each in TEXTS]
    found: Any = "\n---\n".join(texts) if name == "log.txt" else {"x": texts, "y": DOCUMENTS}
    bundle.add(name, lambda: found)
    bundle.blame(texts)
    bundle.finish("p5-cb")
    for path in tmp_path.iterdir():
        text = path.read_text("utf-8")
        assert [each.id for each in TEXTS if each.secret in text] == []
        assert not [each for each in ENCODED if each in text]


class Answers(client.ApiClient):
    """Answers lists with pods of three namespaces, and the rest with nothing."""

    def call_api(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
        resource_path: str,
        method: str,
        path_params: dict[str, str],
        *_: object,
        response_types_map: dict[int, str],
        **__: object,
    ) -> Any:
        assert method == "GET"
        space = path_params.get("namespace")
        spaces = (space,) if space else ("default", "team-a", "kueue-system")
        is_pods = response_types_map[200] == "V1PodList"
        body = {"items": [pod_in(each) for each in spaces] if is_pods else []}
        answer: Any = SimpleNamespace(data=json.dumps(body))
        return self.deserialize(answer, response_types_map[200])


def pod_in(space: str) -> dict[str, Any]:
    variable = {"name": "HARMLESS", "value": CHOSEN}
    container = {"name": "main", "image": "a", "env": [variable], "args": [CHOSEN]}
    return {
        "metadata": {"name": f"of-{space}", "namespace": space},
        "spec": {"containers": [container]},
        "status": {"phase": "Running"},
    }


def test_of_a_cluster_only_the_namespaces_of_the_stack_are_read(
    bundle: Bundle, tmp_path: Path
) -> None:
    add_cluster(bundle, Answers(), addons=(), namespaces=("default", "job-a"), has_logs=False)
    pods = (tmp_path / "kubernetes/pods.json").read_text("utf-8")
    assert [each["metadata"]["name"] for each in json.loads(pods)] == ["of-default", "of-job-a"]
    assert "HARMLESS" in pods
    assert CHOSEN not in pods


def test_a_stack_uses_the_namespaces_of_its_addons_claims_and_jobs() -> None:
    plan = stack_plan("p5-cb")
    assert namespaces_of(plan, ["team-a"]) == ["default", "kube-system", "team-a"]
    monitored = stack_plan("eks-p5-odcr", monitoring={"node_metrics": "cloudwatch"})
    assert "amazon-cloudwatch" in namespaces_of(monitored)
    queued = replace(plan, self_managed_addons={"jobset": (), "kueue": ("p5",)})
    assert {"jobset-system", "kueue-system"} <= {*namespaces_of(queued)}


def test_nothing_wrong_is_said(bundle: Bundle) -> None:
    assert "Nothing that is wrong was found." in bundle.finish("p5-cb")


def test_a_managed_group_has_its_issues_and_the_last_failed_launch(bundle: Bundle) -> None:
    eks, eks_stub = stubbed("eks")
    autoscaling, autoscaling_stub = stubbed("autoscaling")
    ec2, ec2_stub = stubbed("ec2")
    issue = {"code": "AsgInstanceLaunchFailures", "message": "no capacity"}
    eks_stub.add_response("describe_cluster", {"cluster": {"name": "c"}})
    eks_stub.add_response(
        "describe_nodegroup",
        {
            "nodegroup": {
                "health": {"issues": [issue]},
                "resources": {"autoScalingGroups": [{"name": "asg"}]},
            }
        },
    )
    autoscaling_stub.add_response("describe_auto_scaling_groups", {"AutoScalingGroups": []})
    activity = {
        "ActivityId": "1",
        "AutoScalingGroupName": "asg",
        "Cause": "x",
        "StartTime": NOW,
        "StatusCode": "Failed",
        "StatusMessage": "We currently do not have sufficient",
    }
    autoscaling_stub.add_response("describe_scaling_activities", {"Activities": [activity]})
    running = [
        {"InstanceId": "i-1", "State": {"Name": "running"}},
        {"InstanceId": "i-2", "State": {"Name": "terminated"}},
    ]
    ec2_stub.add_response("describe_instances", {"Reservations": [{"Instances": running}]})
    clients = EksClients(eks=eks, ec2=ec2, autoscaling=autoscaling)
    with eks_stub, autoscaling_stub, ec2_stub:
        found = add_account(bundle, clients, cluster="c", groups={"p5": {"node_group": "c-p5"}})
    assert found == ["i-1"]
    assert bundle.causes == [
        "node group p5: AsgInstanceLaunchFailures: no capacity",
        "node group p5: EC2 launched no instance: We currently do not have sufficient",
    ]


def test_a_cluster_that_does_not_answer_blames_no_instance(
    bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ApiException(status=503, reason="Service Unavailable")

    silent = SimpleNamespace(**dict.fromkeys(vars(EMPTY), fail))
    for name in ("CoreV1Api", "AppsV1Api", "BatchV1Api"):
        monkeypatch.setattr(f"trainyard.diagnosis.bundle.client.{name}", lambda _: silent)
    api: Any = None
    with pytest.raises(LookupError, match="the nodes of the cluster cannot be read"):
        add_cluster(bundle, api, addons=(), namespaces=("default",), has_logs=True)
    assert bundle.missing["kubernetes/pods.json"] == "503 Service Unavailable"
    assert not bundle.causes


def test_a_cluster_with_jobset_and_kueue_has_their_objects_and_the_reason_of_a_failed_one(
    bundle: Bundle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    condition = {"type": "Failed", "status": "True", "message": "reached max restarts"}
    failed = {
        "metadata": {"namespace": "default", "name": "train"},
        "status": {"conditions": [condition]},
    }
    running = {**failed, "status": {"conditions": [{**condition, "status": "False"}]}}
    lists = {
        ("jobset.x-k8s.io", "v1alpha2", "default", "jobsets"): [failed, running],
        ("kueue.x-k8s.io", "v1beta2", "default", "workloads"): [],
    }
    custom = SimpleNamespace(
        list_namespaced_custom_object=lambda *resource: {"items": lists[resource]}
    )
    monkeypatch.setattr("trainyard.diagnosis.bundle.client.CustomObjectsApi", lambda _: custom)
    for name in ("CoreV1Api", "AppsV1Api", "BatchV1Api"):
        monkeypatch.setattr(f"trainyard.diagnosis.bundle.client.{name}", lambda _: EMPTY)
    api: Any = SimpleNamespace(sanitize_for_serialization=lambda found: found)
    add_cluster(bundle, api, addons=("jobset", "kueue"), namespaces=("default",), has_logs=False)
    assert json.loads((tmp_path / "kubernetes/jobsets.json").read_text("utf-8")) == [
        failed,
        running,
    ]
    assert "kubernetes/kueue-workloads.json" in bundle.files
    assert bundle.causes == ["jobset default/train has failed: reached max restarts"]


def test_instances_that_are_no_nodes_have_their_console(bundle: Bundle, tmp_path: Path) -> None:
    ec2 = SimpleNamespace(get_console_output=lambda **_: {"Output": "cloud-init failed"})
    add_consoles(bundle, ec2, ["i-1"])
    assert (tmp_path / "console/i-1.log").read_text("utf-8") == "cloud-init failed"
    assert bundle.causes == ["instance i-1 runs and is no Ready node; see console/i-1.log"]


def test_slurm_has_the_reasons_of_its_nodes_and_the_ends_of_its_logs(
    bundle: Bundle, tmp_path: Path
) -> None:
    answers = {"sinfo --list-reasons": "p5-st-p5-1 down*: Not responding\n", "sudo tail": "log\n"}

    def run(script: str) -> str:
        return next((said for begin, said in answers.items() if script.startswith(begin)), "")

    add_head_node(bundle, run, has_logs=True)
    assert bundle.causes == ["Slurm: p5-st-p5-1 down*: Not responding"]
    assert (tmp_path / "slurm/clustermgtd.log").read_text("utf-8") == "log\n"
    assert {"slurm/nodes.txt", "slurm/slurmctld.log", "slurm/slurm_resume.log"} <= {*bundle.files}


def test_a_head_node_without_parallelcluster_has_no_logs_of_it(bundle: Bundle) -> None:
    add_head_node(bundle, lambda _: "", has_logs=False)
    assert "slurm/nodes.txt" in bundle.files
    assert not [each for each in bundle.files if each.endswith(".log")]
    why = "the head node of the sandbox has no logs of ParallelCluster"
    assert bundle.missing == {"slurm/*.log": why}


def test_failed_resources_of_a_cluster_are_causes(bundle: Bundle) -> None:
    cloudformation, stub = stubbed("cloudformation")
    stacks = [{"StackName": "c", "StackId": "id", "CreationTime": NOW, "StackStatus": "X"}]
    event = {
        "StackId": "id",
        "EventId": "1",
        "StackName": "c",
        "Timestamp": NOW,
        "LogicalResourceId": "HeadNode",
        "ResourceType": "AWS::EC2::Instance",
        "ResourceStatus": "CREATE_FAILED",
        "ResourceStatusReason": "no capacity",
    }
    stub.add_response("list_stacks", {"StackSummaries": stacks})
    stub.add_response("describe_stack_events", {"StackEvents": [event]})
    with stub:
        add_events(bundle, cloudformation, "c", now=NOW)
    assert bundle.causes == ["CloudFormation: HeadNode (AWS::EC2::Instance): no capacity"]


def test_batch_has_the_reasons_of_environments_and_jobs(bundle: Bundle) -> None:
    batch, stub = stubbed("batch")
    environment = {
        "computeEnvironmentName": "b-p5-20261126",
        "computeEnvironmentArn": "a",
        "tags": {"trainyard:cluster": "b"},
        "type": "MANAGED",
        "state": "DISABLED",
        "status": "INVALID",
        "statusReason": "CLIENT_ERROR: role",
    }
    of_others = {**environment, "computeEnvironmentName": "b", "tags": {}}
    stub.add_response(
        "describe_compute_environments", {"computeEnvironments": [of_others, environment]}
    )
    stub.add_response("describe_job_queues", {"jobQueues": []})
    job = {
        "jobId": "j",
        "jobName": "train",
        "jobQueue": "q",
        "status": "RUNNABLE",
        "jobDefinition": "d",
        "startedAt": 1,
        "statusReason": "MISCONFIGURATION:JOB_RESOURCE",
    }
    summary = {"jobId": "j", "jobName": "train"}
    stub.add_response("list_jobs", {"jobSummaryList": [summary]})
    stub.add_response("describe_jobs", {"jobs": [job]})
    for _ in range(3):
        stub.add_response("list_jobs", {"jobSummaryList": []})
    with stub:
        add_batch(bundle, batch, cluster="b", queues=["q"])
    assert bundle.causes == [
        "compute environment b-p5-20261126 is INVALID: CLIENT_ERROR: role",
        "compute environment b-p5-20261126 is disabled",
        "job j (train) is RUNNABLE: MISCONFIGURATION:JOB_RESOURCE",
    ]
    assert not bundle.missing
