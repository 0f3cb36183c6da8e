"""The state of an engine operation: what runs now, what is done and what is left.

Source: https://github.com/pulumi/pulumi/blob/v3.260.0/sdk/go/common/apitype/events.go,
`ResourcePreEvent`, `ResOutputsEvent` and `ResOpFailedEvent`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from trainyard.workspace.urns import name_of

Typical = Callable[[str, Mapping[str, Any], Literal["create", "update", "delete"]], float]
"""How long an operation on a resource of a type with these inputs typically takes, in seconds."""


class _Words(NamedTuple):
    """How an operation is named while it runs and afterwards."""

    running: str
    done: str
    latency: Literal["create", "update", "delete"] | None = None
    """The operation whose typical duration it has; None if it takes no time of its own."""


_WORDS: Mapping[str, _Words] = {
    "create": _Words("creating", "created", "create"),
    "create-replacement": _Words("creating", "created", "create"),
    "update": _Words("updating", "updated", "update"),
    "delete": _Words("deleting", "deleted", "delete"),
    "delete-replaced": _Words("deleting", "deleted", "delete"),
    "import": _Words("importing", "imported"),
    "import-replacement": _Words("importing", "imported"),
    "refresh": _Words("reading", "read"),
}
"""By the engine's operation name; the others change nothing, or only group these.
https://github.com/pulumi/pulumi/blob/v3.260.0/pkg/resource/deploy/step.go"""
_PROVIDERS = "pulumi:providers:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """An operation that has begun."""

    doing: str
    done: str
    type: str
    name: str
    is_object: bool
    """False for the stack, components and providers, which exist only in the state."""
    began: int
    """Time of the event, in seconds since 1970."""
    typical_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """An operation that has ended."""

    what: Running
    seconds: int
    failed: bool
    said: str
    """What was done, such as `created`."""


class Operation:
    """What the engine has planned, begun and done."""

    def __init__(self, typical: Typical) -> None:
        self._typical = typical
        self.is_preview = True
        """Whether nothing has begun to change yet."""
        self.seen = 0
        """Number of resources that the preview has reached."""
        self.done = 0
        self.running: dict[str, Running] = {}
        """By URN and operation."""
        self._pending: dict[str, float] = {}
        """Typical seconds of each planned operation that has not begun."""
        self._planned = 0

    @property
    def total(self) -> int:
        """Number of operations, as planned or as begun, whichever is more."""
        return max(self._planned, self.done + len(self.running))

    def read(self, event: Mapping[str, Any]) -> Ended | None:
        """Follow an event; return the operation that ended with it."""
        if "resourcePreEvent" in event:
            self._begin(event["resourcePreEvent"], event.get("timestamp", 0))
        elif "resOutputsEvent" in event:
            return self._end(event, "resOutputsEvent")
        elif "resOpFailedEvent" in event:
            return self._end(event, "resOpFailedEvent")
        return None

    def seconds_left(self, now: float) -> float:
        """Return the least time that is left if each resource takes its typical time.

        The event log has no dependencies. What has not begun waits for something that runs, so the
        longest of both follow each other; there can be more between them.
        """
        running = (each.began + each.typical_seconds - now for each in self.running.values())
        return max(0.0, max(running, default=0.0)) + max(self._pending.values(), default=0.0)

    def _begin(self, event: Mapping[str, Any], timestamp: int) -> None:
        metadata = event["metadata"]
        words, key = _WORDS.get(metadata["op"]), _key(metadata, metadata["op"])
        self.seen += bool(event.get("planning"))
        if words is None or _is_default_provider(metadata):
            return
        state = metadata.get("new") or metadata.get("old") or {}
        seconds = 0.0
        if words.latency:
            seconds = self._typical(metadata["type"], state.get("inputs") or {}, words.latency)
        if event.get("planning"):
            self._pending[key] = seconds
            self._planned = len(self._pending)
            return
        self.is_preview = False
        self._pending.pop(key, None)
        self.running[key] = Running(
            doing=words.running,
            done=words.done,
            type=short_type(metadata["type"]),
            name=name_of(metadata["urn"]),
            is_object=bool(state.get("custom")) and not metadata["type"].startswith(_PROVIDERS),
            began=timestamp,
            typical_seconds=seconds,
        )

    def _end(self, event: Mapping[str, Any], kind: str) -> Ended | None:
        metadata = event[kind]["metadata"]
        operation = metadata["op"]
        # A resource is read with `refresh`, and the event of its end names what has changed.
        begun = self.running.pop(_key(metadata, operation), None)
        refreshed = begun is None
        begun = begun or self.running.pop(_key(metadata, "refresh"), None)
        if begun is None or event[kind].get("planning"):
            return None
        self.done += 1
        return Ended(
            what=begun,
            seconds=max(0, event.get("timestamp", 0) - begun.began),
            failed=kind == "resOpFailedEvent",
            said=_said(begun, metadata, refreshed=refreshed),
        )


def short_type(token: str) -> str:
    """Return a type token as the engine displays it: `aws:eks:Cluster`.

    https://github.com/pulumi/pulumi/blob/v3.260.0/pkg/backend/display/rows.go, `simplifyTypeName`
    """
    package, _, rest = token.partition(":")
    module, _, name = rest.rpartition(":")
    directory, slash, file = module.rpartition("/")
    is_file_of_type = bool(slash) and file.lower() == name.lower()
    return f"{package}:{directory if is_file_of_type else module}:{name}"


def _said(begun: Running, metadata: Mapping[str, Any], *, refreshed: bool) -> str:
    if refreshed:
        words = _WORDS.get(metadata["op"])
        return f"found {words.done}" if words else begun.done
    keeps = (metadata.get("old") or {}).get("retainOnDelete")
    return "kept" if begun.done == "deleted" and keeps else begun.done


def _is_default_provider(metadata: Mapping[str, Any]) -> bool:
    return metadata["type"].startswith(_PROVIDERS) and name_of(metadata["urn"]).startswith(
        "default"
    )


def _key(metadata: Mapping[str, Any], operation: str) -> str:
    return f"{operation} {metadata['urn']}"
