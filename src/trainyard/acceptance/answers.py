"""Records the shapes of the answers that a command gets from AWS, without values.

Every command of an acceptance appends a line for each answer to a private file of its own, so that
commands can run at the same time, and one that is killed keeps what it has recorded. The acceptance
merges the lines into `shapes.json`, in the form of the tables of `tests/witness/tables`.

A line has no value of an account: keys are those of the API model, and the shapes are public ones
(`trainyard.acceptance.shapes`). Neither requests nor the texts of errors are recorded.
"""

from __future__ import annotations

import json
import os
import re
import secrets
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import botocore
import botocore.session

from trainyard.acceptance.shapes import States, Table, Tally, nodes
from trainyard.stack_files.files import file_text, private_log

FORM = 1
"""Version of the form of `shapes.json`."""
RECORDINGS, EMULATOR = "recordings", "emulator"
"""What a table is evidence of: answers of AWS, or of something in AWS's place."""
REPOSITORY = "trainyard accept"
"""In place of the repository, in the sources of tables of an acceptance."""
OTHER_CODE = "other"
"""In place of an error code that is not a word of AWS."""
_CODE = re.compile(r"[A-Z][A-Za-z]{1,79}(\.[A-Z][A-Za-z]{1,79})?|[45]\d\d")
"""Error codes are words: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html.
S3 answers HEAD without a body, of which botocore makes the HTTP status."""
_KINDS = ("types", "values")


def record(directory: Path) -> None:
    """Record the answers to all clients of boto3 that this process makes from now on.

    A file that cannot be written, for want of space, loses its lines; the command goes on.
    """
    log = _Log(directory / f"{os.getpid()}-{secrets.token_hex(4)}.jsonl")
    # `Session.__init__` calls it for every session, that of boto3 included, and `after-call` comes
    # with each answer, refusals included: `BaseClient._make_api_call`. Handlers that change the
    # answer, such as those for policies of IAM, come before the last one.
    botocore.register_initializer(
        lambda session: session.get_component("event_emitter").register_last("after-call", log.hear)
    )


@dataclass(frozen=True, slots=True)
class _Log:
    path: Path

    def hear(self, *, http_response: Any, parsed: Any, model: Any, **_: Any) -> None:
        """Append a line about an answer; called by botocore."""
        with suppress(Exception):  # the command matters more than its record
            name = f"{model.service_model.service_name}.{model.name}"
            try:
                entry = _entry(http_response, parsed, model)
            except Exception as error:
                entry = {"unread": type(error).__name__}
            self._append(json.dumps({"operation": name, **entry}, separators=(",", ":")))

    def _append(self, line: str) -> None:
        descriptor = private_log(self.path)
        try:
            # One write appends whole lines, and what a full disk has cut ends at the next one.
            os.write(descriptor, f"\n{line}\n".encode())
        finally:
            os.close(descriptor)


def _entry(http_response: Any, parsed: Any, model: Any) -> dict[str, Any]:
    about = {
        "aws": is_of_aws(str(getattr(http_response, "url", ""))),
        "year": datetime.now(UTC).year,
    }
    status = int(http_response.status_code)
    if status >= 300:
        code = str(parsed.get("Error", {}).get("Code", ""))
        return {**about, "status": status, "code": code if _CODE.fullmatch(code) else OTHER_CODE}
    seen = _Seen()
    if model.output_shape is not None:
        seen.answer(parsed, model.output_shape)
    return {**about, "seen": seen.as_json()}


def is_of_aws(url: str) -> bool:
    """Return whether an address is one of AWS's, in any partition."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return False
    return any(host.endswith(f".{suffix}") for suffix in _suffixes())


@cache
def _suffixes() -> tuple[str, ...]:
    """Return the domains of AWS's services: `partitions.json` of botocore."""
    data = botocore.session.Session().get_data("partitions")
    outputs = [each["outputs"] for each in data["partitions"]]
    return tuple({each[key] for each in outputs for key in ("dnsSuffix", "dualStackDnsSuffix")})


@dataclass(slots=True)
class _Seen:
    """What was seen of the objects in answers to one operation, by state and path."""

    objects: Counter[tuple[str, str]] = field(default_factory=Counter)
    keys: dict[tuple[str, str], dict[str, Tally]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(Tally))
    )

    def answer(self, answer: Any, shape: Any) -> None:
        for node in nodes(answer, shape, public=True):
            place = (node.state, node.path)
            self.objects[place] += 1
            for key, (value, inner) in node.values.items():
                self.keys[place][key].see(value, inner, public=True)

    def as_json(self) -> list[Any]:
        """Return a row for each state and path."""
        return [
            [state, path, number, {key: _plain(each) for key, each in self.keys[place].items()}]
            for place, number in self.objects.items()
            for state, path in [place]
        ]

    def add(self, rows: Iterable[Any]) -> None:
        """Add what `as_json` returned: all of it, or nothing."""
        read = [
            ((str(state), str(path)), int(number), {key: _tally(keys[key]) for key in keys})
            for state, path, number, keys in rows
        ]
        for place, number, tallies in read:
            self.objects[place] += number
            for key, tally in tallies.items():
                self.keys[place][key].add(tally)

    def states(self) -> States:
        """Return the facts."""
        found: States = {}
        for (state, path), number in self.objects.items():
            facts = found.setdefault(state, {})
            for key, tally in self.keys[state, path].items():
                facts[f"{path}.{key}".lstrip(".")] = tally.fact(number)
        return {state: facts for state, facts in found.items() if facts}


def _plain(tally: Tally) -> dict[str, Any]:
    kinds = {name: sorted(getattr(tally, name)) for name in _KINDS}
    return {"have": tally.have, "patterns": dict(tally.patterns), **kinds}


def _tally(written: Mapping[str, Any]) -> Tally:
    kinds = {name: set(written[name]) for name in _KINDS}
    return Tally(int(written["have"]), patterns=Counter(written["patterns"]), **kinds)


@dataclass(slots=True)
class _Answers:
    """The answers to one operation, of AWS or of something else."""

    seen: _Seen = field(default_factory=_Seen)
    number: int = 0
    years: set[int] = field(default_factory=set)


def merged(directory: Path, *, sandbox: bool, commit: str) -> str:
    """Return the text of `shapes.json`: what all commands have recorded.

    Args:
        directory: Directory of their files.
        sandbox: Whether the account was a sandbox. Of a real account too, an operation is evidence
            of an emulator if not AWS's hosts have answered it.
        commit: What identifies the program: a git commit, or the hash of its files.

    Raises:
        OSError: a file cannot be read.
    """
    answers: dict[tuple[str, str], _Answers] = defaultdict(_Answers)
    errors: Counter[tuple[str, str, str, int]] = Counter()
    unread = 0
    for line in _lines(directory):
        try:
            operation = str(line["operation"])
            evidence = RECORDINGS if line["aws"] and not sandbox else EMULATOR
            if "code" in line:
                errors[operation, str(line["code"]), evidence, int(line["status"])] += 1
                continue
            year, seen = int(line["year"]), _Seen()
            seen.add(line["seen"])
            found = answers[operation, evidence]
            found.seen.add(seen.as_json())
            found.number += 1
            found.years.add(year)
        except (AttributeError, LookupError, TypeError, ValueError):
            unread += 1
    tables = [
        Table(operation, evidence, _sources(each, commit), each.seen.states()).text().rstrip()
        for (operation, evidence), each in sorted(answers.items())
    ]
    rows = [
        json.dumps({"operation": o, "code": c, "evidence": e, "status": s, "answers": number})
        for (o, c, e, s), number in sorted(errors.items())
    ]
    head = {"form": FORM, "evidence": EMULATOR if sandbox else RECORDINGS, "unread": unread}
    start = "".join(f"{json.dumps(key)}: {json.dumps(value)},\n" for key, value in head.items())
    return f'{{\n{start}"errors": [{_rows(rows)}],\n"tables": [{_rows(tables)}]\n}}\n'


def called_in(path: Path) -> frozenset[str]:
    """Return the calls that AWS has answered, as `eks:DescribeCluster`.

    Args:
        path: `shapes.json`; without it, nothing was recorded.
    """
    try:
        tables = json.loads(file_text(path))["tables"]
    except (OSError, ValueError, LookupError):
        return frozenset()
    return frozenset(
        each["operation"].replace(".", ":", 1) for each in tables if each["evidence"] == RECORDINGS
    )


def _rows(texts: Iterable[str]) -> str:
    joined = ",\n".join(texts)
    return f"\n{joined}\n" if joined else ""


def _sources(answers: _Answers, commit: str) -> list[dict[str, Any]]:
    years = f"{min(answers.years)}-{max(answers.years)}"
    about = {"repository": REPOSITORY, "commit": commit, "path": "shapes.json"}
    return [{**about, "answers": answers.number, "years": years}]


def _lines(directory: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the lines of all files; one that was cut is an empty one."""
    for path in sorted(directory.glob("*.jsonl")):
        for line in file_text(path, errors="replace").splitlines():
            if not line.strip():
                continue
            try:
                found = json.loads(line)
            except (ValueError, RecursionError):
                found = None
            yield found if isinstance(found, dict) else {}
