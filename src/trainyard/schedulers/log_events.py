"""The events of a CloudWatch log group, which are read as they arrive."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True, kw_only=True)
class LogEvents:
    """What has been read of a log group.

    Events can arrive late, so every query begins at the newest known time, and events that were
    already returned are skipped.
    """

    client: Any
    """A boto3 client of CloudWatch Logs."""
    group: str
    narrowed: Mapping[str, Any]
    """Arguments of FilterLogEvents that select log streams; empty for all.
    https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_FilterLogEvents.html"""
    start_ms: int = 0
    """Time of the oldest event, in milliseconds since 1970."""
    _known: set[str] = field(default_factory=set[str], init=False)

    def new(self) -> Iterator[Mapping[str, Any]]:
        """Yield the events that are new, oldest first."""
        newest, seen = self.start_ms, set[str]()
        pages = self.client.get_paginator("filter_log_events").paginate(
            logGroupName=self.group, startTime=self.start_ms, **self.narrowed
        )
        for page in pages:
            for event in page["events"]:
                seen.add(event["eventId"])
                newest = max(newest, event["timestamp"])
                if event["eventId"] not in self._known:
                    self._known.add(event["eventId"])
                    yield event
        self.start_ms, self._known = newest, self._known | seen
