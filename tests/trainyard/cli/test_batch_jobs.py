"""`job` for Batch stacks: the printed request, the submission, and following the job."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.support.sandbox_here import running_sandbox
from tests.support.stacks import BATCH_STACKS, prepared
from trainyard.cli import failures
from trainyard.jobs.batch_request import BatchRequest, batch_submission
from trainyard.schedulers.batch.submission import submit_job
from trainyard.schedulers.job_wait import JobWait, environment_of
from trainyard.stack_files.stack_files import find_stack_file
from trainyard.workspace.accounts import target_of

BATCH_P5 = find_stack_file("batch-p5")


class Batch:
    """Answers like Batch: a job that passes through its states."""

    def __init__(self, *states: str, refusal: str = "") -> None:
        self.states, self.refusal = list(states), refusal
        self.submitted: list[dict[str, Any]] = []
        self.streams: list[str] = []
        self.read = 0
        self.message = "# Avg bus bandwidth: 372.3\n"

    def submit_job(self, **request: Any) -> dict[str, str]:
        if self.refusal:
            error = {"Error": {"Code": "ClientException", "Message": self.refusal}}
            raise ClientError(error, "SubmitJob")
        self.submitted.append(request)
        return {"jobId": "7d1c"}

    def describe_jobs(self, jobs: list[str]) -> dict[str, list[dict[str, Any]]]:
        if jobs == ["7d1c#0"]:
            stream = self.streams.pop(0) if self.streams else "main/1"
            return {"jobs": [{"jobId": jobs[0], "container": {"logStreamName": stream}}]}
        return {"jobs": [{"jobId": jobs[0], "status": self.states.pop(0)}]}

    def get_paginator(self, operation: str) -> Batch:
        assert operation == "filter_log_events"
        return self

    def paginate(self, **wanted: Any) -> list[dict[str, Any]]:
        assert wanted.pop("startTime") == self.read
        assert wanted == {"logGroupName": "/aws/batch/job", "logStreamNames": ["main/1"]}
        if self.refusal:
            error = {"Error": {"Code": "AccessDeniedException", "Message": self.refusal}}
            raise ClientError(error, "FilterLogEvents")
        self.read = 7
        event = {"eventId": "e", "timestamp": 7, "message": self.message}
        return [{"events": [event]}]


@pytest.fixture
def batch(monkeypatch: pytest.MonkeyPatch) -> Batch:
    """Replace the account's Batch with one of the test."""
    made = Batch("SUBMITTED", "RUNNING", "SUCCEEDED")
    monkeypatch.setattr("boto3.Session.client", lambda *_, **__: made)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "not-real")
    return made


def p5(trainyard, *arguments: str):
    return trainyard("job", "batch-p5", "nccl-tests", *arguments)


@pytest.mark.parametrize("stack", BATCH_STACKS)
def test_every_batch_stack_has_its_request(trainyard, stack) -> None:
    name = next(job.name for job in prepared(stack).plan.job_definitions if job.nodes > 1)
    result = trainyard("job", stack, name, "--sandbox")
    assert result.exit_code == 0, result.output
    request = json.loads(result.stdout)
    assert request["jobQueue"].startswith(f"{stack}-")
    assert request["jobDefinition"] == f"{stack}-{name}"
    assert request["nodeOverrides"]["numNodes"] > 1
    assert "--submit" in result.stderr


def test_nodes_and_variables_are_the_users(trainyard) -> None:
    result = p5(trainyard, "--nodes", "1", "--env", "NCCL_DEBUG=WARN", "--sandbox")
    overrides = json.loads(result.stdout)["nodeOverrides"]
    assert overrides["numNodes"] == 1
    (everywhere,) = overrides["nodePropertyOverrides"]
    assert everywhere["containerOverrides"]["environment"] == [
        {"name": "NCCL_DEBUG", "value": "WARN"}
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(["--nodes", "3"], "at most 2 nodes", id="too-many-nodes"),
        pytest.param(["--env", "NCCL_DEBUG"], "NAME=VALUE", id="no-value"),
        pytest.param(["--env", "AWS_BATCH_JOB_ID=1"], "AWS_BATCH", id="name-of-batch"),
        pytest.param(["--wait"], "--submit", id="nothing-to-wait-for"),
        pytest.param(["--submit", "--wait-minutes", "5"], "--wait", id="no-wait-to-limit"),
        pytest.param(["--queue", "p5"], "not a stack of ParallelCluster", id="slurm-option"),
        pytest.param(["--group", "p5"], "not a stack of EKS", id="eks-option"),
    ],
)
def test_wrong_use_is_refused(trainyard, arguments, said) -> None:
    result = p5(trainyard, *arguments, "--sandbox")
    assert result.exit_code == 2
    assert said in result.stderr


@pytest.mark.parametrize(
    ("stack", "name", "said"),
    [
        pytest.param("batch-p5", "efa-smoke", "nccl-tests, nccom-tests", id="job-of-eks"),
        pytest.param("batch-trn1", "nccl-tests", "no compute environment", id="other-devices"),
        pytest.param("vpc-one-az", "nccl-tests", "available: none", id="network"),
    ],
)
def test_a_stack_has_the_jobs_of_its_kind(trainyard, stack, name, said) -> None:
    result = trainyard("job", stack, name, "--sandbox")
    assert result.exit_code == 2
    assert said in result.stderr


def test_options_that_do_not_belong_to_the_stack_are_refused(trainyard) -> None:
    result = trainyard("job", "pc-gpu", "nccl-tests", "--env", "A=1", "--sandbox")
    assert result.exit_code == 2
    assert "not a stack of Batch: omit --env" in result.stderr
    result = trainyard("job", "pc-gpu", "nccl-tests", "--submit", "--sandbox")
    assert result.exit_code == 2
    assert "the sandbox has no GPUs, Neuron devices or EFA" in result.stderr
    result = trainyard("job", "pc-gpu", "nccl-tests", "--submit", "--force")
    assert result.exit_code == 2
    assert "--submit writes no directory: omit --force" in result.stderr


def submit(plan, batch: Batch, *, sandbox: bool = False, wait: JobWait | None = None) -> None:
    target = target_of(BATCH_P5, sandbox=sandbox)
    submission = batch_submission(plan, "nccl-tests", BatchRequest())
    submit_job(plan, submission, target=target, wait=wait)


@pytest.fixture
def plan():
    from trainyard.cli import options
    from trainyard.stack_files.stack_config import plan_of

    return plan_of(options.target("batch-p5", path=None, sandbox=True).stack_file)


def test_a_submitted_job_is_told_by_its_id_and_how_to_follow_it(plan, batch, capsys) -> None:
    submit(plan, batch)
    said = capsys.readouterr()
    assert said.out == "7d1c\n"
    assert batch.submitted[0]["jobDefinition"] == "batch-p5-nccl-tests"
    assert "--jobs '7d1c#0'" in said.err
    assert "/aws/batch/job" in said.err
    assert "./trainyard cancel batch-p5 7d1c" in said.err


def test_waiting_ends_when_the_job_does_with_the_log_of_its_main_node(plan, batch, capsys) -> None:
    submit(plan, batch, wait=JobWait(pause=lambda _: None))
    printed = capsys.readouterr()
    told = [line for line in printed.err.splitlines() if "7d1c is" in line]
    assert [line.rpartition(" ")[2] for line in told] == ["SUBMITTED", "RUNNING", "SUCCEEDED"]
    assert printed.out == "7d1c\n# Avg bus bandwidth: 372.3\n"


def interrupt(_: float) -> None:
    raise KeyboardInterrupt


def test_an_interrupted_wait_says_that_the_job_goes_on_and_how_to_reach_it(plan, batch) -> None:
    says = (
        "^only the wait has ended: 7d1c goes on; commands for it:\n"
        "  ./trainyard jobs batch-p5\n"
        "  ./trainyard logs batch-p5 7d1c --follow\n"
        "  ./trainyard cancel batch-p5 7d1c$"
    )
    with pytest.raises(failures.CancelledError, match=says):
        submit(plan, batch, wait=JobWait(pause=interrupt))


def test_the_log_is_printed_while_the_job_runs_and_once(plan, batch, capsys) -> None:
    """The stream exists from the second look at the running job on."""
    batch.states = ["RUNNING", "RUNNING", "RUNNING", "SUCCEEDED"]
    batch.streams = ["", "main/1", "main/1", "main/1"]
    told: list[str] = []
    submit(plan, batch, wait=JobWait(pause=lambda _: told.append(capsys.readouterr().out)))
    assert told == ["7d1c\n", "# Avg bus bandwidth: 372.3\n", ""]
    assert "Avg" not in capsys.readouterr().out


def test_a_job_that_fails_names_the_section_of_the_error_in_its_log(plan, batch) -> None:
    batch.states = ["RUNNING", "FAILED"]
    batch.message = "node-1:99:99 [0] NCCL WARN Error: network Libfabric not found.\n"
    with pytest.raises(failures.JobFailedError, match="#error-network-libfabric-not-found"):
        submit(plan, batch, wait=JobWait(pause=lambda _: None))


class OtherNode(Batch):
    """A job of two nodes that fails on the second one."""

    def describe_jobs(self, jobs: list[str]) -> dict[str, list[dict[str, Any]]]:
        if len(jobs) == 2:
            ended = {"logStreamName": "other/1", "exitCode": 1}
            return {"jobs": [{"jobId": jobs[0]}, {"jobId": jobs[1], "container": ended}]}
        (job,) = super().describe_jobs(jobs)["jobs"]
        return {"jobs": [{**job, "nodeProperties": {"numNodes": 2}}]}

    def paginate(self, **wanted: Any) -> list[dict[str, Any]]:
        if wanted["logStreamNames"] == ["main/1"]:
            return super().paginate(**wanted)
        assert wanted["logStreamNames"] == ["other/1"]
        message = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 29.76 GiB"
        return [{"events": [{"eventId": "o", "timestamp": 8, "message": message}]}]


def test_a_job_that_fails_on_another_node_names_the_section_of_its_error(
    plan, batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    del batch
    other = OtherNode("RUNNING", "FAILED")
    monkeypatch.setattr("boto3.Session.client", lambda *_, **__: other)
    with pytest.raises(failures.JobFailedError, match="#cuda-out-of-memory"):
        submit(plan, other, wait=JobWait(pause=lambda _: None))


def test_a_log_that_cannot_be_read_does_not_fail_the_job(plan, batch, capsys, monkeypatch) -> None:
    monkeypatch.setattr(batch, "submit_job", lambda **_: {"jobId": "7d1c"})
    batch.refusal = "is not authorized to perform logs:FilterLogEvents"
    submit(plan, batch, wait=JobWait(pause=lambda _: None))
    assert "is not authorized to perform logs:FilterLogEvents" in capsys.readouterr().err


def test_the_sandbox_says_why_a_log_is_empty(
    plan, batch, capsys, monkeypatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(batch, "paginate", lambda **_: [{"events": []}])
    with running_sandbox(tmp_path):
        submit(plan, batch, sandbox=True, wait=JobWait(pause=lambda _: None))
    assert "the sandbox runs no containers" in capsys.readouterr().err


def test_a_job_that_batch_refuses_says_what_may_be_missing(plan, batch) -> None:
    batch.refusal = "JobQueue batch-p5-p5 not found"
    with pytest.raises(failures.CommandError) as caught:
        submit(plan, batch)
    assert "JobQueue batch-p5-p5 not found" in str(caught.value)
    assert "./trainyard up batch-p5" in str(caught.value)


def test_a_value_may_hold_what_it_likes() -> None:
    found = environment_of(["A=b=c", "EMPTY=", "TWO=x\ny"])
    assert found == {"A": "b=c", "EMPTY": "", "TWO": "x\ny"}


def test_a_value_is_that_of_the_environment_unless_it_is_given() -> None:
    caller = {"HF_TOKEN": "from here", "LR": "0.1"}
    found = environment_of(["LR=1", "HF_TOKEN"], caller=caller)
    assert found == {"LR": "1", "HF_TOKEN": "from here"}
    with pytest.raises(failures.WrongUseError, match="your environment has no WANDB; export it"):
        environment_of(["WANDB"], caller=caller)


def test_a_wrong_name_is_refused_without_its_value() -> None:
    with pytest.raises(failures.WrongUseError, match="HF-TOKEN") as refused:
        environment_of(["HF-TOKEN=hf_planted"])
    assert "hf_planted" not in str(refused.value)


SECRET = "arn:aws:secretsmanager:us-west-2:123456789012:secret:hf-AbCdEf"
PARAMETER = "arn:aws:ssm:us-west-2:123456789012:parameter/team/hf"


class Secrets(Batch):
    """Batch, Secrets Manager and Systems Manager of an account with a job definition."""

    def __init__(self, *in_definition: str, exists: bool = True, denied: bool = False) -> None:
        super().__init__("SUBMITTED", "SUCCEEDED")
        self.in_definition, self.exists, self.denied = in_definition, exists, denied

    def get_paginator(self, operation: str) -> Any:
        return self if operation == "describe_job_definitions" else super().get_paginator(operation)

    def paginate(self, **wanted: Any) -> list[dict[str, Any]]:
        if "jobDefinitionName" not in wanted:
            return super().paginate(**wanted)
        self._may("DescribeJobDefinitions")
        secrets = [{"name": "HF_TOKEN", "valueFrom": each} for each in self.in_definition]
        ranges = [{"container": {"secrets": secrets}}]
        arn = "arn:aws:batch:us-west-2:123456789012:job-definition/batch-p5-nccl-tests"
        newest = {
            "jobDefinitionArn": f"{arn}:10",
            "revision": 10,
            "nodeProperties": {"nodeRangeProperties": ranges},
        }
        older = {"jobDefinitionArn": f"{arn}:9", "revision": 9, "nodeProperties": {}}
        return [{"jobDefinitions": [newest, older]}]

    def describe_secret(self, SecretId: str) -> dict[str, str]:  # noqa: N803 - of boto3
        self._may("DescribeSecret")
        if not self.exists:
            raise ClientError({"Error": {"Code": "ResourceNotFoundException"}}, "DescribeSecret")
        return {"ARN": SecretId}

    def describe_parameters(self, ParameterFilters: Any) -> dict[str, Any]:  # noqa: N803 - of boto3
        self._may("DescribeParameters")
        assert ParameterFilters == [{"Key": "Name", "Option": "Equals", "Values": ["/team/hf"]}]
        return {"Parameters": [{"Name": "/team/hf"}] if self.exists else []}

    def _may(self, operation: str) -> None:
        if self.denied:
            raise ClientError({"Error": {"Code": "AccessDeniedException"}}, operation)


def submit_with_secret(account: Secrets, arn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Submit a job of a definition that has the secret in the stack file."""
    monkeypatch.setattr("boto3.Session.client", lambda *_, **__: account)
    plan: Any = prepared("batch-p5").plan
    made = batch_submission(plan, "nccl-tests", BatchRequest())
    submission = replace(made, secrets={"HF_TOKEN": arn})
    submit_job(plan, submission, target=target_of(BATCH_P5, sandbox=False), wait=None)


@pytest.mark.usefixtures("batch")
@pytest.mark.parametrize("arn", [SECRET, PARAMETER])
def test_a_secret_that_exists_and_one_that_nobody_may_look_up_are_submitted(
    monkeypatch: pytest.MonkeyPatch, arn: str
) -> None:
    for account in (Secrets(arn), Secrets(denied=True)):
        submit_with_secret(account, arn, monkeypatch)
        assert len(account.submitted) == 1


@pytest.mark.usefixtures("batch")
@pytest.mark.parametrize("arn", [SECRET, PARAMETER])
@pytest.mark.parametrize(
    ("account", "says"),
    [
        (lambda arn: Secrets(arn, exists=False), "the secret of HF_TOKEN does not exist"),
        (lambda _: Secrets(), r"does not have the secrets .* \./trainyard up batch-p5"),
        (lambda _: Secrets(f"{SECRET}:k::"), "does not have the secrets of the stack file yet"),
    ],
)
def test_a_job_that_would_not_get_its_secret_is_not_submitted(
    monkeypatch: pytest.MonkeyPatch, arn: str, account: Any, says: str
) -> None:
    found = account(arn)
    with pytest.raises(failures.CommandError, match=says):
        submit_with_secret(found, arn, monkeypatch)
    assert found.submitted == []
