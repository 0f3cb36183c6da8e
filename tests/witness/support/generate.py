"""Write the tables of facts: `python -m tests.witness.support.generate DIRECTORY`.

The directory has a clone of each repository in `sources.json` in `OWNER/NAME`, with its history;
a work tree is not needed.
"""

from __future__ import annotations

import argparse
import io
import json
import subprocess
import tarfile
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.witness.support.accepted import is_of_acceptance
from tests.witness.support.calls import called
from tests.witness.support.errors import ERRORS, errors_text, refusals
from tests.witness.support.recordings import Recording, examples, facts, flights
from tests.witness.support.tables import HERE, TABLES, tables
from trainyard.acceptance.shapes import Fact, States, Table, shape_of

REPORTS: list[dict[str, Any]] = json.loads((HERE / "reports.json").read_text(encoding="utf-8"))
"""What was seen of single answers in a state of which no recording is known, with its source."""
SOURCES: Mapping[str, Any] = json.loads((HERE / "sources.json").read_text(encoding="utf-8"))


def main() -> None:
    """Write the tables."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("directory", type=Path)
    root = options.parse_args().directory
    operations = set(called())
    with TemporaryDirectory() as temporary:
        found = [
            (repository, recording)
            for repository, source in SOURCES.items()
            for recording in _recordings(root / repository, source, operations, Path(temporary))
        ]
    answers: dict[str, list[tuple[str, Recording]]] = defaultdict(list)
    for repository, recording in found:
        if recording.operation in operations and not recording.is_error:
            answers[recording.operation].append((repository, recording))
    kept = {operation for operation, table in tables().items() if is_of_acceptance(table)}
    for old in TABLES.glob("*.json"):
        if old.stem not in kept:
            old.unlink()
    TABLES.mkdir(exist_ok=True)
    for operation, recordings in sorted(answers.items()):
        table = _table(operation, recordings)
        if table.states and operation not in kept:
            (TABLES / f"{operation}.json").write_text(table.text(), encoding="utf-8")
    ERRORS.write_text(errors_text(refusals(found, SOURCES)), encoding="utf-8")


def _recordings(
    clone: Path, source: Mapping[str, Any], operations: Collection[str], temporary: Path
) -> Iterator[Recording]:
    """Yield the recordings in a clone, without those whose authors cut or edited them (`cut`)."""
    place = temporary / clone.name
    packed = _git(clone, "archive", source["commit"], source["folder"])
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(place, filter="data")
    years = _years(clone, source)
    if source["evidence"] == "recordings":
        services = {operation.partition(".")[0] for operation in operations}
        read = flights(place, source["folder"], services, years)
    else:
        read = examples(place, source["folder"], operations, years)
    cut = tuple(source.get("cut", ()))
    yield from (each for each in read if not (cut and each.file.endswith(cut)))


def _years(clone: Path, source: Mapping[str, Any]) -> dict[str, int]:
    """Return the year in which each file was added."""
    log = ("log", "--diff-filter=A", "--no-renames", "--format=@%as", "--name-only")
    years: dict[str, int] = {}
    year = 0
    for line in _git(clone, *log, source["commit"], "--", source["folder"]).decode().splitlines():
        if line.startswith("@"):
            year = int(line[1:5])
        elif line:
            years[line] = year
    return years


def _git(clone: Path, *arguments: str) -> bytes:
    return subprocess.run(["git", "-C", clone, *arguments], check=True, capture_output=True).stdout


def _table(operation: str, recordings: list[tuple[str, Recording]]) -> Table:
    """Return the table of an operation: from recordings if there are any, else from examples."""
    strength = {SOURCES[repository]["evidence"] for repository, _ in recordings}
    evidence = "recordings" if "recordings" in strength else "examples"
    chosen = [each for each in recordings if SOURCES[each[0]]["evidence"] == evidence]
    states = facts((recording for _, recording in chosen), shape_of(operation))
    return Table(operation, evidence, _sources(chosen), _reported(operation, states))


def _reported(operation: str, states: States) -> States:
    """Return the facts of a table together with those that were reported."""
    for report in REPORTS:
        if report["operation"] != operation:
            continue
        facts = states.setdefault(report["state"], {})
        for path, objects in report["absent"].items():
            fact = facts.setdefault(path, Fact())
            fact.of, fact.since = fact.of + objects, None
        for path, written in report["present"].items():
            seen, fact = Fact.of_json(written), facts.setdefault(path, Fact())
            fact.have, fact.of = fact.have + seen.have, fact.of + seen.of
            fact.types |= seen.types
            fact.patterns |= seen.patterns
            fact.values |= seen.values
    return states


def _sources(recordings: list[tuple[str, Recording]]) -> list[dict[str, Any]]:
    by_repository: dict[str, list[Recording]] = defaultdict(list)
    for repository, recording in recordings:
        by_repository[repository].append(recording)
    return [
        {
            "repository": repository,
            "commit": SOURCES[repository]["commit"],
            "path": _path(SOURCES[repository]["folder"], files),
            "answers": len(files),
            "years": _span([each.year for each in files if each.year]),
        }
        for repository, files in sorted(by_repository.items())
    ]


def _path(folder: str, files: list[Recording]) -> str:
    names = {each.file for each in files}
    return names.pop() if len(names) == 1 else folder


def _span(years: list[int]) -> str:
    return f"{min(years)}-{max(years)}" if years else "unknown"


if __name__ == "__main__":
    main()
