"""Times in the answers of AWS are in UTC, wherever this machine is."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.support.sandbox_aws import Account
from trainyard.components.account.reader import AccountReader

pytestmark = pytest.mark.usefixtures("chicago")


def times_in(answer: Any) -> Iterator[datetime]:
    """Yield every time of an answer."""
    if isinstance(answer, dict):
        answer = list(answer.values())
    if isinstance(answer, list):
        for each in answer:
            yield from times_in(each)
    elif isinstance(answer, datetime):
        yield answer


@pytest.mark.parametrize(
    ("client", "method"),
    [
        pytest.param("eks", "describe_cluster_versions", id="numbers"),
        pytest.param("ec2", "describe_capacity_reservations", id="text"),
    ],
)
def test_a_reader_has_all_times_in_utc(reader: AccountReader, client: str, method: str) -> None:
    answer = reader.ask(f"{client}:{method}", getattr(reader.client(client), method))
    found = [*times_in(answer)]
    assert found
    assert {each.utcoffset() for each in found} == {timedelta()}


def test_the_time_of_an_update_of_a_cluster_is_in_utc(
    account: Account, reader: AccountReader
) -> None:
    account.cluster("chicago")
    logging = {"clusterLogging": [{"types": ["api"], "enabled": True}]}
    made = account.eks.update_cluster_config(name="chicago", logging=logging)["update"]
    given = {"name": "chicago", "updateId": made["id"]}
    answer = reader.ask("eks:DescribeUpdate", reader.eks.describe_update, **given)
    assert answer["update"]["createdAt"].utcoffset() == timedelta()
    assert made["createdAt"].utcoffset() != timedelta()
