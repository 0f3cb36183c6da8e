"""The program's own AWS calls: transient faults are retried, others lead to one sentence."""

from __future__ import annotations

import boto3
import pytest

from tests.support.aws_cases import DEFINITION, QUEUE
from tests.support.faults.account import Faulty
from tests.support.sandbox_aws import use_account
from trainyard.components.account.call_failures import UNREPEATED
from trainyard.components.account.reader import AccountReader, AccountUnreachableError
from trainyard.schedulers.batch.submission import submit_once

CALL = "ec2:DescribeVpcs"


@pytest.fixture
def reader(faulty: Faulty, monkeypatch: pytest.MonkeyPatch) -> AccountReader:
    use_account(monkeypatch, faulty.account.server.access)
    # boto3 waits between attempts, for up to a second in the configured mode.
    monkeypatch.setattr("botocore.endpoint.time.sleep", lambda _: None)
    return AccountReader(region="us-west-2")


@pytest.mark.parametrize("kind", ["throttled", "internal-error", "connection-reset"])
def test_what_passes_is_tried_again(faulty: Faulty, reader: AccountReader, kind: str) -> None:
    faulty.use(f"call: '{CALL}', happens: {kind}, times: 3")
    assert reader.ask(CALL, reader.ec2.describe_vpcs)["Vpcs"]
    assert faulty.happened() == [3]


@pytest.mark.parametrize(
    ("kind", "times", "said"),
    [
        ("throttled", 4, "throttles the calls of this account (RequestLimitExceeded"),
        ("internal-error", 4, "AWS returned an internal error (InternalError, HTTP 500"),
        ("connection-reset", 4, "AWS gave no answer"),
        ("credentials-expired", 1, "credentials have expired (RequestExpired); log in again"),
    ],
)
def test_what_does_not_pass_is_one_sentence_that_says_what_to_do(
    faulty: Faulty, reader: AccountReader, kind: str, times: int, said: str
) -> None:
    faulty.use(f"call: '{CALL}', happens: {kind}, times: always")
    with pytest.raises(AccountUnreachableError) as caught:
        reader.ask(CALL, reader.ec2.describe_vpcs)
    assert str(caught.value).startswith(CALL)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert faulty.happened() == [times]


def test_where_there_is_no_network_the_message_says_so(
    reader: AccountReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    offline = AccountReader(region="us-west-2")
    with pytest.raises(AccountUnreachableError, match=r"AWS cannot be reached: .* HTTPS_PROXY"):
        offline.ask(CALL, offline.ec2.describe_vpcs)


@pytest.mark.parametrize("kind", ["done-without-answer", "connection-reset", "throttled"])
def test_a_job_whose_submission_fails_once_is_there_once(faulty: Faulty, kind: str) -> None:
    """Batch has no token for jobs, so a repeated request would train twice."""
    queue, definition = _queue_and_definition(faulty, kind)
    client = boto3.client(
        "batch",
        endpoint_url=faulty.account.server.endpoint,
        region_name="us-west-2",
        **faulty.account.server.access.credentials,
        config=UNREPEATED,
    )
    faulty.use(f"call: 'batch:SubmitJob', happens: {kind}")
    waits: list[float] = []
    request = {"jobName": kind, "jobQueue": queue, "jobDefinition": definition}
    identifier = submit_once(client, request, waits.append)
    assert faulty.done["batch:SubmitJob"] == 1
    (job,) = client.describe_jobs(jobs=[identifier])["jobs"]
    assert job["jobName"].startswith(kind)


def _queue_and_definition(faulty: Faulty, kind: str) -> tuple[str, str]:
    queue = faulty.plugin.create(QUEUE, faulty.cases[QUEUE].inputs, name=kind)
    definition = faulty.plugin.create(DEFINITION, faulty.cases[DEFINITION].inputs, name=kind)
    return queue.outputs["name"], definition.outputs["name"]
