"""The recording of a case: its calls, without values that differ between runs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tools.conformance.kubernetes.cases import CASES
from tools.conformance.kubernetes.plugin import Values
from tools.conformance.kubernetes.stack import CHECKED
from tools.conformance.kubernetes.world import Start, World, world
from tools.conformance.recordings import difference
from trainyard.sandbox.kubernetes.control_planes import ControlPlane

MADE_UP = frozenset(
    {
        *("clusterIP", "clusterIPs", "creationTimestamp", "deletionTimestamp", "lastProbeTime"),
        *("lastTransitionTime", "lastUpdateTime", "resourceVersion", "startTime", "time", "uid"),
        *("deployment.kubernetes.io/revision", "observedGeneration", "terminatingReplicas"),
    }
)
"""Fields whose value the cluster generates, or changes while the provider reads."""
AS_BEFORE, CHANGED = "<as before>", "<changed>"
"""Placeholder for inputs and outputs that are unchanged since they were last recorded, and key for
what has changed in them since, as a JSON merge patch (RFC 7396)."""
EMPTY = (None, "", [], {}, 0, False)
SCRUBBED: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"https?://127\.0\.0\.1:\d+"), "<server>"),
    (re.compile(r"127\.0\.0\.1:\d+"), "<server>"),
    (re.compile(r"(?<=pulumi-kubernetes-)[0-9a-f]{8}"), "<random>"),
    (re.compile(r"(?<=\bit-)[0-9a-f]{8}"), "<random>"),
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "<uid>"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"), "<time>"),
    (re.compile(r"(?<=scheduler-)[0-9a-f]{8,10}(-[a-z0-9]{5})?\b"), "<random>"),
    (re.compile(r"(?<=plugin-)[a-z0-9]{5}(?=[\"'\]/: ])"), "<random>"),
)


def played(name: str, control_plane: ControlPlane, start: Start) -> list[Values]:
    """Run a case and return its exchanges in comparable form."""
    with world(control_plane, start) as found:
        CASES[name](found)
        return list(_comparable(found))


def _comparable(found: World) -> Iterator[Values]:
    """Yield the exchanges without generated values and without repetitions."""
    secrets = {
        found.control_plane.admin_token: "<token>",
        found.control_plane.certificate_authority_data: "<authority>",
    }
    told = _Told()
    for exchange in found.journal.exchanges:
        shown = {key: _scrubbed(value, secrets) for key, value in _brief(exchange).items()}
        for part in (shown.get("answer"), shown.get("kept")):
            if isinstance(part, dict):
                told.shorten(shown, part)
        yield shown


class _Told:
    """Values that earlier exchanges of a case contain."""

    def __init__(self) -> None:
        self._checked: Any = None
        self._shown: dict[tuple[str, str], Any] = {}

    def shorten(self, exchange: Values, part: Values) -> None:
        """Replace known values with placeholders."""
        resource = exchange.get("resource", "")
        if exchange.get("call") == "Check" and "inputs" in part:
            self._checked = part["inputs"]
            if self._checked == exchange.get("news"):
                part["inputs"] = "<news>"
        if exchange.get("news") and "news" in exchange:
            exchange["news"] = self._changes(resource, "news", exchange["news"])
        properties = part.get("properties")
        if isinstance(properties, dict):
            for values, key in ((properties, "__inputs"), (part, "inputs")):
                if values.get(key) == self._checked:
                    values[key] = CHECKED
            part["properties"] = self._changes(resource, "properties", properties)

    def _changes(self, resource: str, key: str, value: Values) -> Any:
        """Return the changes since the value was last recorded, as a JSON merge patch."""
        before = self._shown.get((resource, key))
        self._shown[resource, key] = value
        if before is None:
            return value
        return {CHANGED: difference(before, value)} if before != value else AS_BEFORE


def _brief(exchange: Values) -> Values:
    """Return an exchange without the request fields that an earlier one contains."""
    request = exchange.get("request", {})
    brief: Values = {key: exchange[key] for key in ("call", "cluster") if key in exchange}
    if "type" in request:
        brief["resource"] = f"{request['type'].removeprefix('kubernetes:')} {request['name']}"
    shown = ("args", "ignoreChanges", "news", "preview", "timeout")
    brief |= {key: request[key] for key in shown if request.get(key) not in (*EMPTY, CHECKED)}
    brief |= {key: exchange[key] for key in ("answer", "error", "kept") if key in exchange}
    answer = brief.get("answer")
    if isinstance(answer, dict):
        changes = answer.get("detailedDiff", {})
        brief["answer"] = {
            **answer,
            **({"detailedDiff": {k: _change(v) for k, v in changes.items()}} if changes else {}),
            **({"replaces": sorted(answer["replaces"])} if "replaces" in answer else {}),
        }
    return brief | {key: exchange[key] for key in ("messages",) if key in exchange}


def _change(difference: Values) -> str:
    return f"{difference['kind']}{' of the inputs' if difference['inputDiff'] else ''}"


def _scrubbed(value: Any, secrets: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        if value.get("kind") == "Deployment" and "status" in value:
            # The controller updates the counters while the provider responds.
            value = {**value, "status": "<status>"}
        return {
            key: _managers(item)
            if key == "managedFields"
            else f"<{key}>"
            if key in MADE_UP and item != "<unknown>"
            else _scrubbed(item, secrets)
            for key, item in sorted(value.items())
        }
    if isinstance(value, list):
        return [_scrubbed(item, secrets) for item in value]
    return _text(value, secrets) if isinstance(value, str) else value


def _text(text: str, secrets: Mapping[str, str]) -> str:
    if "certificate-authority-data" in text:
        return "<kubeconfig>"
    for secret, name in secrets.items():
        text = text.replace(secret, name)
    for pattern, name in SCRUBBED:
        text = pattern.sub(name, text)
    return text


def _managers(fields: Any) -> list[str]:
    """Return managers and operations of fields, without the fields and times."""
    return sorted(
        " ".join(filter(None, (_text(f["manager"], {}), f["operation"], f.get("subresource"))))
        for f in fields
    )


def compared(recorded: list[Values], found: list[Values]) -> list[str]:
    """Return the differences between two runs of a case, one line per value."""
    lines = [
        f"{index} {before.get('call', 'cluster')} {line}"
        for index, (before, after) in enumerate(zip(recorded, found, strict=False))
        for line in differences(before, after)
    ]
    if len(recorded) != len(found):
        lines.append(f"{len(recorded)} exchanges → {len(found)}")
    return lines


class _Absent:
    def __repr__(self) -> str:
        return "nothing"


_NONE = _Absent()


def differences(recorded: Any, found: Any, path: str = "") -> Iterator[str]:
    """Yield the differences, one line per value: path, recorded value, found value."""
    if isinstance(recorded, dict) and isinstance(found, dict):
        for key in sorted({*recorded, *found}):
            here = f"{path}.{key}" if path else key
            yield from differences(recorded.get(key, _NONE), found.get(key, _NONE), here)
    elif isinstance(recorded, list) and isinstance(found, list) and len(recorded) == len(found):
        for index, pair in enumerate(zip(recorded, found, strict=True)):
            yield from differences(*pair, f"{path}[{index}]")
    elif recorded != found:
        yield f"{path}: {recorded!r} → {found!r}"
