"""The logs of the containers of a cluster, as the kubelets of its nodes keep them."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

from trainyard.sandbox.aws.clock import CLOCK

_SECOND_NS = 10**9


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a log."""

    time_ns: int
    """Time since 1970; no two lines of a log have the same."""
    text: str

    @property
    def timestamp(self) -> str:
        """The time in the kubelet's form, which has a fixed width.

        https://github.com/kubernetes/cri-client/blob/v0.36.4/pkg/logs/logs.go, `RFC3339NanoFixed`
        """
        seconds, rest = divmod(self.time_ns, _SECOND_NS)
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{rest:09d}Z"


@dataclass(slots=True)
class _Log:
    lines: list[Line] = field(default_factory=list[Line])
    has_ended: bool = False


class ContainerLogs:
    """The logs of the containers that the sandbox runs, by namespace and pod; thread-safe."""

    def __init__(self) -> None:
        """Start without logs."""
        self._changed = threading.Condition()
        self._logs: dict[tuple[str, str], _Log] = {}

    def start(self, namespace: str, pod: str) -> None:
        """Begin the log of a pod's container."""
        with self._changed:
            self._logs[namespace, pod] = _Log()

    def write(self, namespace: str, pod: str, lines: Iterable[str]) -> None:
        """Append lines, now; ignores a pod whose log was removed."""
        now = nanoseconds(CLOCK.now())
        with self._changed:
            log = self._logs.get((namespace, pod))
            if log is None:
                return
            first = max(now, log.lines[-1].time_ns + 1) if log.lines else now
            log.lines += [Line(first + number, text) for number, text in enumerate(lines)]
            self._changed.notify_all()

    def end(self, namespace: str, pod: str) -> None:
        """Record that a container has ended: its log gets no more lines."""
        with self._changed:
            log = self._logs.get((namespace, pod))
            if log is not None:
                log.has_ended = True
                self._changed.notify_all()

    def remove(self, namespace: str, pod: str) -> None:
        """Remove the log of a deleted pod."""
        self.end(namespace, pod)
        with self._changed:
            self._logs.pop((namespace, pod), None)

    def close(self) -> None:
        """End all logs."""
        for namespace, pod in list(self._logs):
            self.end(namespace, pod)

    def read(self, namespace: str, pod: str) -> list[Line]:
        """Return the lines of a log; a pod without one has printed nothing."""
        with self._changed:
            log = self._logs.get((namespace, pod))
            return list(log.lines) if log else []

    def follow(self, namespace: str, pod: str, after_ns: int) -> Iterator[Line]:
        """Yield the lines after a time as they are written, until the container has ended."""
        with self._changed:
            log = self._logs.get((namespace, pod))
        while log is not None:
            with self._changed:
                new = [line for line in log.lines if line.time_ns > after_ns]
                if not new and log.has_ended:
                    return
                if not new:
                    self._changed.wait()
            for line in new:
                after_ns = line.time_ns
                yield line


def nanoseconds(moment: datetime) -> int:
    """Return a time in nanoseconds since 1970."""
    return round(moment.timestamp() * 10**6) * 1000
