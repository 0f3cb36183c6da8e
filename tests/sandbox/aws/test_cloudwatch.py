"""CloudWatch in the protocols of the provider (RPC v2 CBOR) and of boto3 (JSON)."""

from __future__ import annotations

import urllib.error
import urllib.request
from datetime import UTC, datetime, timedelta
from typing import Any

import cbor2
import pytest

from tests.support.sandbox_aws import Account
from trainyard.monitoring.figures import monitored

ALARM = {
    "AlarmName": "nodes-missing",
    "MetricName": "GroupInServiceInstances",
    "Namespace": "AWS/AutoScaling",
    "Statistic": "Maximum",
    "Period": 300,
    "EvaluationPeriods": 3,
    "Threshold": 2.0,
    "ComparisonOperator": "LessThanThreshold",
    "TreatMissingData": "notBreaching",
}


def ask(account: Account, operation: str, arguments: dict[str, Any]) -> Any:
    """Send a request as the AWS SDK for Go does, and return the decoded response."""
    request = urllib.request.Request(
        f"{account.server.endpoint}/service/GraniteServiceVersion20100801/operation/{operation}",
        data=cbor2.dumps(arguments, datetime_as_timestamp=True, timezone=UTC),
        headers={
            "smithy-protocol": "rpc-v2-cbor",
            "Content-Type": "application/cbor",
            "Accept": "application/cbor",
            "Authorization": (
                f"AWS4-HMAC-SHA256 Credential={account.server.access.access_key}/"
                "20261125/us-west-2/monitoring/aws4_request, "
                "SignedHeaders=host, Signature=0"
            ),
        },
    )
    with urllib.request.urlopen(request) as answer:
        assert answer.headers["smithy-protocol"] == "rpc-v2-cbor"
        return cbor2.loads(answer.read() or b"\xa0")


def test_an_alarm_of_the_provider_is_that_of_boto3(account: Account) -> None:
    ask(account, "PutMetricAlarm", ALARM)
    (seen,) = account.client("cloudwatch").describe_alarms()["MetricAlarms"]
    assert {key: seen[key] for key in ALARM} == ALARM


def test_times_and_numbers_have_the_types_of_the_protocol(account: Account) -> None:
    account.client("cloudwatch").put_metric_alarm(**ALARM)
    (seen,) = ask(account, "DescribeAlarms", {"AlarmNames": ["nodes-missing"]})["MetricAlarms"]
    assert isinstance(seen["StateUpdatedTimestamp"], datetime)
    assert isinstance(seen["Threshold"], float)
    assert seen["EvaluationPeriods"] == ALARM["EvaluationPeriods"]


def test_a_refusal_has_its_code(account: Account) -> None:
    with pytest.raises(urllib.error.HTTPError) as refused:
        ask(account, "GetDashboard", {"DashboardName": "none"})
    assert "NotFound" in cbor2.loads(refused.value.read())["__type"]


def test_status_reads_what_was_put(account: Account) -> None:
    client, now = account.client("cloudwatch"), datetime.now(UTC)
    dimensions = {"AutoScalingGroupName": "p5"}
    client.put_metric_data(
        Namespace="AWS/AutoScaling",
        MetricData=[
            {
                "MetricName": "GroupInServiceInstances",
                "Dimensions": [{"Name": "AutoScalingGroupName", "Value": "p5"}],
                "Timestamp": now - timedelta(minutes=minutes),
                "Value": value,
            }
            for minutes, value in ((12, 4), (2, 3))
        ],
    )
    client.put_metric_alarm(**ALARM)
    running = {
        "namespace": "AWS/AutoScaling",
        "name": "GroupInServiceInstances",
        "dimensions": dimensions,
        "statistic": "Maximum",
        "period_seconds": 300,
        "per_second": False,
        "label": "running",
    }
    output = {
        "figures": [{"title": "Nodes of p5", "unit": "nodes", "metrics": [running]}],
        "alarms": {"nodes-missing-p5": "nodes-missing"},
    }
    assert [*monitored(output, client, now)] == [
        ("Nodes of p5", "running 3 nodes"),
        ("alarms", "none of 1"),
    ]
    client.set_alarm_state(AlarmName="nodes-missing", StateValue="ALARM", StateReason="a test")
    assert [*monitored({"alarms": output["alarms"]}, client, now)] == [
        ("alarms", "nodes-missing-p5 of 1")
    ]
