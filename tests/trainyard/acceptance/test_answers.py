"""The shapes of answers that the commands of an acceptance record, and what is never in them."""

from __future__ import annotations

import errno
import gzip
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.account_fixtures import account, server
from tests.support.modules import PYTHONPATH
from tests.support.sandbox_aws import ODCR, Account  # before boto3 makes a client

import boto3  # isort: skip
import botocore  # isort: skip
import botocore.session  # isort: skip
from botocore.exceptions import ClientError  # isort: skip

from tests.support.secret_forms import TEXTS
from tests.witness.support.calls import called
from tests.witness.support.recordings import Recording, facts
from tests.witness.support.tables import tables
from trainyard.acceptance import ANSWER_SHAPES
from trainyard.acceptance.answers import is_of_aws, merged, record
from trainyard.acceptance.shapes import (
    ARN_KINDS,
    ID_KINDS,
    UNLISTED,
    Table,
    model_of,
    shape_of,
    table_of,
)

__all__ = ["account", "server"]

AWS = "https://ec2.us-west-2.amazonaws.com/"
GROUP = "eks.DescribeNodegroup"
Hear = Callable[..., None]


@pytest.fixture(autouse=True)
def no_initializers(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test registers in botocore ends with it."""
    monkeypatch.setattr(botocore, "_INITIALIZERS", [])
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)


@pytest.fixture
def hear(tmp_path: Path) -> Hear:
    """Receives answers as botocore tells them."""
    record(tmp_path)
    emitter = botocore.session.Session().get_component("event_emitter")

    def heard(operation: str, answer: Any, *, status: int = 200, url: str = AWS) -> None:
        service, _, name = operation.partition(".")
        model = model_of(service).operation_model(name)
        response = SimpleNamespace(url=url, status_code=status)
        event = f"after-call.{service}.{name}"
        emitter.emit(event, http_response=response, parsed=answer, model=model, context={})

    return heard


def document(directory: Path, *, sandbox: bool = False) -> dict[str, Any]:
    return json.loads(merged(directory, sandbox=sandbox, commit="c"))


def table(directory: Path, operation: str, **options: Any) -> Table:
    found = [table_of(each) for each in document(directory, **options)["tables"]]
    (only,) = [each for each in found if each.operation == operation]
    return only


PLANTED = "planted"
ACCOUNT, ADDRESS, IDENTITY = "210987654321", "203.0.113.77", "0fedcba9876543210"
HOSTILE = {
    "name": PLANTED,
    "account": ACCOUNT,
    "address": ADDRESS,
    "network": f"{ADDRESS}/32",
    "id": f"i-{IDENTITY}",
    "name like an id": f"{PLANTED}-{IDENTITY}",
    "role": f"arn:aws:iam::{ACCOUNT}:role/{PLANTED}",
    "topic": f"arn:aws:sns:us-west-2:{ACCOUNT}:{PLANTED}:{IDENTITY}",
    "bucket": f"arn:aws:s3:::{PLANTED}/key",
    "unknown service": f"arn:aws:{PLANTED}:us-west-2:{ACCOUNT}:{PLANTED}/{IDENTITY}",
    "url": f"https://{PLANTED}.example/{ACCOUNT}",
    "uuid": "0fedcba9-8765-4321-0fed-cba987654321",
    "quotes": f'"}}\n{{"operation": "{PLANTED}"',
}
FEW = ("ec2.DescribeInstances", GROUP, "iam.GetRole")
SECRETS = {PLANTED, ACCOUNT, ADDRESS, IDENTITY, "cba987654321", *(each.secret for each in TEXTS)}


def filled(shape: Any, text: str, depth: int = 0) -> Any:
    """Return an answer whose every text is this one, names of tags included."""
    kind = shape.type_name
    if kind == "structure":
        members = {} if depth > 6 else shape.members
        return {key: filled(each, text, depth + 1) for key, each in members.items()}
    if kind == "list":
        return [filled(shape.member, text, depth + 1)]
    if kind == "map":
        return {text: filled(shape.value, text, depth + 1)}
    if kind == "string":
        return text
    if kind in {"integer", "long", "float", "double"}:
        return int(ACCOUNT)
    if kind == "timestamp":
        return datetime(2026, 11, 28, tzinfo=UTC)
    return True if kind == "boolean" else text.encode()


@pytest.mark.parametrize(
    ("text", "operations"),
    [
        *((text, [each for each in called() if shape_of(each)]) for text in HOSTILE.values()),
        *((each.text, FEW) for each in TEXTS),
    ],
    ids=[*HOSTILE, *(each.id for each in TEXTS)],
)
def test_no_value_of_an_account_is_recorded_of_any_call(
    hear: Hear, tmp_path: Path, text: str, operations: Sequence[str]
) -> None:
    for operation in operations:
        answer = {**filled(shape_of(operation), text), text: text}
        hear(operation, {**answer, "ResponseMetadata": {"RequestId": text, "HostId": text}})
        refusal = {"Error": {"Code": text, "Message": text}, "Resource": text}
        hear(operation, refusal, status=403, url=f"https://{text}.s3.amazonaws.com/{text}")
    written = "".join(path.read_text("utf-8") for path in tmp_path.iterdir())
    written += merged(tmp_path, sandbox=False, commit="c")
    assert [each for each in sorted(SECRETS) if each in written] == []
    assert {each["operation"] for each in document(tmp_path)["tables"]} == {*operations}
    assert {each["code"] for each in document(tmp_path)["errors"]} == {"other"}


def test_a_state_that_the_model_does_not_list_is_not_named(hear: Hear, tmp_path: Path) -> None:
    for state in ("CREATING", "ACTIVE", PLANTED):
        hear(GROUP, {"nodegroup": {"status": state, "nodegroupName": "n"}})
    states = table(tmp_path, GROUP).states
    assert states.keys() == {"", "CREATING", "ACTIVE", UNLISTED}
    assert states["CREATING"]["nodegroup.status"].values == {"CREATING"}
    assert not states[UNLISTED]["nodegroup.status"].values


def test_the_state_of_an_instance_is_a_name_below_its_key(hear: Hear, tmp_path: Path) -> None:
    for name in ("running", PLANTED):
        instance = {"State": {"Code": 16, "Name": name}, "InstanceId": "i-0123456789abcdef0"}
        hear("ec2.DescribeInstances", {"Reservations": [{"Instances": [instance]}]})
    found = table(tmp_path, "ec2.DescribeInstances").states
    path = "Reservations[].Instances[].InstanceId"
    assert {state for state, facts in found.items() if path in facts} == {"running", UNLISTED}
    assert found["running"][path].patterns == {"id i"}


def test_what_is_recorded_is_what_the_tests_of_recordings_make_of_the_same_answers(
    hear: Hear, tmp_path: Path
) -> None:
    answers = [
        {"nodegroup": {"status": "ACTIVE", "subnets": ["subnet-0123abcd"], "version": "1.36"}},
        {"nodegroup": {"status": "ACTIVE", "subnets": [], "tags": {"a": "b"}}},
        {"nodegroup": {"status": "CREATING", "amiType": "AL2023_x86_64_NVIDIA"}},
    ]
    for each in answers:
        hear(GROUP, each)
    expected = facts([Recording(GROUP, each, 200, "f", 2026) for each in answers], shape_of(GROUP))
    assert table(tmp_path, GROUP).states == expected


def test_patterns_name_only_what_aws_has_named() -> None:
    """In the API models of botocore, or in recorded answers; two ids in the pages of EC2 only."""
    data = Path(botocore.__file__).parent / "data"
    folders = [data / service for service in (*ARN_KINDS, "amp", "efs", "elbv2")]
    models = [path for each in folders for path in each.glob("*/service-2.json.gz")]
    examples = [path for each in folders for path in each.glob("*/examples-1.json")]
    model = "".join(gzip.decompress(each.read_bytes()).decode() for each in models)
    model += "".join(each.read_text("utf-8") for each in examples)
    recorded = {
        pattern
        for table in tables().values()
        for facts in table.states.values()
        for fact in facts.values()
        for pattern in fact.patterns
    }
    known = set(re.findall(r"(?<![\w-])([a-z]+(?:-[a-z]+)*)-(?:[0-9a-f]{8}|\[0-9)", model))
    assert {each for each in ID_KINDS - known if f"id {each}" not in recorded} <= {"cb", "vpce"}
    part = r"[^:\"\s]*"
    named = re.findall(rf"arn:{part}:([a-z0-9-]+):{part}:{part}:([a-zA-Z-]+)[/:]", model)
    of_ec2 = {("ec2", kind) for kind in model_of("ec2").shape_for("ResourceType").enum}
    arns = {(service, kind) for service, kinds in ARN_KINDS.items() for kind in kinds}
    unknown = arns - of_ec2 - {*named}
    assert [each for each in sorted(unknown) if f"arn {each[0]} {each[1]}" not in recorded] == []


def test_error_codes_are_counted(hear: Hear, tmp_path: Path) -> None:
    for code in ("UnauthorizedOperation", "InvalidVolume.NotFound", "InvalidVolume.NotFound"):
        hear("ec2.DescribeVolumes", {"Error": {"Code": code, "Message": PLANTED}}, status=400)
    hear("s3.HeadObject", {"Error": {"Code": "404", "Message": "Not Found"}}, status=404)
    found = [
        (each["operation"], each["code"], each["status"], each["answers"], each["evidence"])
        for each in document(tmp_path)["errors"]
    ]
    assert found == [
        ("ec2.DescribeVolumes", "InvalidVolume.NotFound", 400, 2, "recordings"),
        ("ec2.DescribeVolumes", "UnauthorizedOperation", 400, 1, "recordings"),
        ("s3.HeadObject", "404", 404, 1, "recordings"),
    ]


@pytest.mark.parametrize(
    ("url", "is_aws"),
    [
        ("https://ec2.us-west-2.amazonaws.com/", True),
        ("https://bucket.s3.us-west-2.amazonaws.com/key", True),
        ("https://eks.cn-north-1.amazonaws.com.cn/clusters", True),
        ("https://ec2.us-west-2.api.aws", True),
        ("http://127.0.0.1:4566/", False),
        ("https://amazonaws.com.example/", False),
        ("https://notamazonaws.com/", False),
        ("", False),
    ],
)
def test_only_the_hosts_of_aws_are_evidence_of_aws(
    hear: Hear, tmp_path: Path, url: str, is_aws: bool
) -> None:
    assert is_of_aws(url) == is_aws
    hear(GROUP, {"nodegroup": {}}, url=url)
    evidence = "recordings" if is_aws else "emulator"
    assert table(tmp_path, GROUP).evidence == evidence
    assert table(tmp_path, GROUP, sandbox=True).evidence == "emulator"
    assert document(tmp_path, sandbox=True)["evidence"] == "emulator"


def test_the_clients_of_every_session_are_heard(account: Account, tmp_path: Path) -> None:
    record(tmp_path)
    options = {"endpoint_url": account.server.endpoint, "region_name": "us-west-2"}
    made = [
        boto3.client("ec2", **options),
        boto3.Session().client("ec2", **options),
        botocore.session.get_session().create_client("ec2", **options),
    ]
    for number, ec2 in enumerate(made, start=1):
        ec2.describe_capacity_reservations(CapacityReservationIds=[ODCR])
        found = table(tmp_path, "ec2.DescribeCapacityReservations")
        assert found.sources[0]["answers"] == number
    with pytest.raises(ClientError):
        made[0].describe_subnets(SubnetIds=["subnet-00000000000000000"])
    (error,) = document(tmp_path)["errors"]
    assert (error["code"], error["evidence"]) == ("InvalidSubnetID.NotFound", "emulator")
    (file,) = tmp_path.iterdir()
    assert file.stat().st_mode & 0o777 == 0o600


COMMAND = [sys.executable, "-P", "-m", "trainyard", "check", "dev", "--live"]


def test_a_command_records_if_the_variable_is_set(account: Account, tmp_path: Path) -> None:
    answers = tmp_path / "answers"
    environment = {
        **os.environ,
        **account.server.access.environment,
        "PYTHONPATH": PYTHONPATH,
        "TRAINYARD_CACHE": str(tmp_path / "cache"),
        ANSWER_SHAPES: str(answers),
    }
    subprocess.run(COMMAND, env=environment, cwd=tmp_path, check=False, capture_output=True)
    assert answers.stat().st_mode & 0o777 == 0o700
    found = {each["operation"]: each["evidence"] for each in document(answers)["tables"]}
    assert found["sts.GetCallerIdentity"] == "emulator"
    assert len(found) > 5


RECORDS = """
import os, sys
from pathlib import Path
from types import SimpleNamespace
import botocore.session
from trainyard.acceptance.answers import record
record(Path(sys.argv[1]))
session = botocore.session.Session()
model = session.get_service_model("eks").operation_model("DescribeNodegroup")
for _ in range(int(sys.argv[2])):
    session.get_component("event_emitter").emit(
        "after-call.eks.DescribeNodegroup",
        http_response=SimpleNamespace(url="https://eks.us-west-2.amazonaws.com", status_code=200),
        parsed={"nodegroup": {"status": "ACTIVE"}}, model=model, context={},
    )
print("recorded", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def recorder(tmp_path: Path) -> Iterator[Callable[[int], subprocess.Popen[str]]]:
    """Start processes that record a number of answers, say so, and wait."""
    started: list[subprocess.Popen[str]] = []

    def start(number: int) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", RECORDS, str(tmp_path / "answers"), str(number)]
        environment = {**os.environ, "PYTHONPATH": PYTHONPATH}
        process = subprocess.Popen(
            command, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_commands_that_run_at_the_same_time_or_are_killed_lose_nothing(
    recorder: Callable[[int], subprocess.Popen[str]], tmp_path: Path
) -> None:
    processes = [recorder(50), recorder(50)]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "recorded\n"
        process.send_signal(signal.SIGKILL)
        process.wait()
    found = document(tmp_path / "answers")
    assert found["unread"] == 0
    assert found["tables"][0]["sources"][0]["answers"] == 100
    assert table_of(found["tables"][0]).states["ACTIVE"]["nodegroup.status"].of == 100


def test_threads_append_whole_lines(hear: Hear, tmp_path: Path) -> None:
    def many() -> None:
        for _ in range(25):
            hear(GROUP, {"nodegroup": {"status": "ACTIVE"}})

    threads = [threading.Thread(target=many) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert document(tmp_path)["unread"] == 0
    assert table(tmp_path, GROUP).sources[0]["answers"] == 200


def test_a_full_disk_breaks_neither_the_command_nor_what_was_recorded(
    hear: Hear, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hear(GROUP, {"nodegroup": {"status": "ACTIVE"}})
    write = os.write

    def full(_descriptor: int, _data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        hear(GROUP, {"nodegroup": {"status": "ACTIVE"}})
        patch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:40]))
        hear(GROUP, {"nodegroup": {"status": "ACTIVE"}})
    hear(GROUP, {"nodegroup": {"status": "DELETING"}})
    assert document(tmp_path)["unread"] == 1
    assert table(tmp_path, GROUP).sources[0]["answers"] == 2


@pytest.mark.parametrize("answer", [None, "x", {"nodegroup": 3}, {"Error": None}, b"\xff"])
def test_an_answer_without_a_form_breaks_nothing(hear: Hear, tmp_path: Path, answer: Any) -> None:
    for status in (200, 500):
        hear(GROUP, answer, status=status)
    found = document(tmp_path)
    assert found["unread"] + len(found["errors"]) + len(found["tables"]) > 0


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        "3",
        "[" * 100_000,
        '{"operation": "eks.X"}',
        '{"operation": "eks.X", "aws": true, "year": 1, "seen": [[1, 2]]}',
        '{"operation": "eks.X", "aws": true, "status": "x", "code": "A"}',
    ],
)
def test_a_line_that_cannot_be_read_is_counted(hear: Hear, tmp_path: Path, line: str) -> None:
    hear(GROUP, {"nodegroup": {"status": "ACTIVE"}})
    (tmp_path / "other.jsonl").write_text(f"{line}\n", encoding="utf-8")
    found = document(tmp_path)
    assert found["unread"] == 1
    assert GROUP in {each["operation"] for each in found["tables"]}


def test_nothing_was_recorded(tmp_path: Path) -> None:
    found = document(tmp_path / "none")
    assert (found["tables"], found["errors"], found["unread"]) == ([], [], 0)
