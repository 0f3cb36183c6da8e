"""Recorded answers of AWS in checkouts of other projects, and the facts in them."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from pathlib import Path
from typing import Any

from botocore import xform_name

from trainyard.acceptance.shapes import Fact, States, Tally, model_of, nodes

RARE = 0.05
"""Share below which a pattern is left out: authors of tests have replaced some ids and accounts."""
FEWEST_SINCE = 5
"""Objects, in at least three files, that show since when AWS answers a key."""
_OUTPUT = re.compile(
    r"^[^\n]*Output[^\n]*::?[ \t]*\n\s*\n((?:[ \t]+[^\n]*\n|\s*\n)+)", re.MULTILINE
)
_FILE = re.compile(r"(?P<service>[a-z0-9.-]+)\.(?P<operation>[A-Z]\w+)_\d+\.json")


@dataclass(frozen=True, slots=True)
class Recording:
    """One recorded answer."""

    operation: str
    answer: Mapping[str, Any]
    status: int
    file: str
    """Path in the repository."""
    year: int | None

    @property
    def is_error(self) -> bool:
        """Whether AWS refused the call."""
        return self.status >= 400 or "Error" in self.answer


def flights(
    root: Path, folder: str, services: Iterable[str], years: Mapping[str, int]
) -> Iterator[Recording]:
    """Yield the recordings below a folder of a checkout, in the format of placebo.

    `years` has the year in which each file was added, by its path.

    https://github.com/garnaat/placebo, `placebo/pill.py` and `placebo/serializer.py`
    """
    names = _prefixes(tuple(services))
    for path in sorted((root / folder).rglob("*.json")):
        found = _FILE.fullmatch(path.name)
        if found is None or found["service"] not in names:
            continue
        try:
            pill = json.loads(path.read_text(encoding="utf-8"), object_hook=_time)
        except ValueError:
            continue
        if not isinstance(pill, dict) or not isinstance(pill.get("data"), dict):
            continue
        for service in names[found["service"]]:
            if found["operation"] in model_of(service).operation_names:
                file = path.relative_to(root).as_posix()
                answer, status = pill["data"], int(pill.get("status_code", 200))
                operation = f"{service}.{found['operation']}"
                yield Recording(operation, answer, status, file, _year(answer, years.get(file)))


def examples(
    root: Path, folder: str, operations: Iterable[str], years: Mapping[str, int]
) -> Iterator[Recording]:
    """Yield the outputs in the examples of the AWS CLI."""
    for operation in sorted(operations):
        service, _, name = operation.partition(".")
        file = f"{folder}/{service}/{xform_name(name, '-')}.rst"
        if not (root / file).is_file():
            continue
        for block in _OUTPUT.finditer((root / file).read_text(encoding="utf-8") + "\n"):
            try:
                answer = json.loads(block[1])
            except ValueError:
                continue
            if isinstance(answer, dict):
                yield Recording(operation, answer, 200, file, _year(answer, years.get(file)))


def facts(recordings: Iterable[Recording], shape: Any) -> States:
    """Return what the answers have in common, by state and path."""
    seen: dict[tuple[str, str], list[tuple[Recording, dict[str, Any]]]] = defaultdict(list)
    for recording in recordings:
        for node in nodes(recording.answer, shape):
            seen[node.state, node.path].append((recording, node.values))
    states: States = defaultdict(dict)
    for (state, path), objects in seen.items():
        for key in sorted({key for _, values in objects for key in values}):
            states[state][f"{path}.{key}".lstrip(".")] = _fact(key, objects)
    return states


def _fact(key: str, objects: list[tuple[Recording, dict[str, Any]]]) -> Fact:
    tally = Tally()
    for _, values in objects:
        if key in values:
            tally.see(*values[key])
    fact = tally.fact(len(objects), rare=RARE)
    fact.since = _since(key, objects)
    return fact


def _since(key: str, objects: list[tuple[Recording, dict[str, Any]]]) -> int | None:
    """Return the year from which on all objects have a key that older ones lack."""
    without = [recording.year for recording, values in objects if key not in values]
    known = [year for year in without if year is not None]
    if not without or len(known) < len(without):
        return None
    later = [
        recording
        for recording, _ in objects
        if recording.year is not None and recording.year > max(known)
    ]
    if len(later) < FEWEST_SINCE or len({recording.file for recording in later}) < 3:
        return None
    return max(known) + 1


@cache
def _prefixes(services: tuple[str, ...]) -> Mapping[str, list[str]]:
    """Return services by the name that placebo gives their files."""
    found: dict[str, list[str]] = defaultdict(list)
    for service in services:
        found[model_of(service).endpoint_prefix].append(service)
    return found


def _time(value: dict[str, Any]) -> Any:
    if value.get("__class__") != "datetime":
        return value
    if "iso" in value:
        return datetime.fromisoformat(value["iso"])
    names = ("year", "month", "day", "hour", "minute", "second", "microsecond")
    return datetime(*(value.get(name, 0) for name in names), tzinfo=UTC)


def _year(answer: Mapping[str, Any], added: int | None) -> int | None:
    """Return the year in a header of an answer, else the one in which its file was added."""
    metadata = answer.get("ResponseMetadata")
    headers = metadata.get("HTTPHeaders", {}) if isinstance(metadata, Mapping) else {}
    return parsedate_to_datetime(headers["date"]).year if "date" in headers else added
