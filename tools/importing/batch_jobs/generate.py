"""Generate `keys.txt` from the model of the API of AWS Batch in botocore.

Run `python -m tools.importing.batch_jobs.generate` when the version of botocore changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from botocore.session import get_session

DATA_FILE = Path(__file__).with_name("keys.txt")
NOT_READ = ("ecsProperties", "eksProperties")
"""Keys below which no stack has anything."""

_SCALARS = {"string": "text", "integer": "integer", "long": "integer", "boolean": "boolean"}


def table() -> str:
    """Return the data file: the keys of one definition, and of those that AWS answers with."""
    rows = definition_keys()
    lines = [
        "# Keys of RegisterJobDefinition and DescribeJobDefinitions, from the models of botocore.",
        *(f"{path} {kind}" for path, kind in rows.items()),
        "nextToken text",
        "jobDefinitions sections",
        *(f"jobDefinitions.{path} {kind}" for path, kind in rows.items()),
    ]
    return "".join(f"{line}\n" for line in lines)


def definition_keys() -> dict[str, str]:
    """Return the kind of each key of a definition by its path."""
    model = get_session().get_service_model("batch")
    answer: Any = model.operation_model("DescribeJobDefinitions").output_shape
    return dict(_keys(answer.members["jobDefinitions"].member))


def _keys(shape: Any, at: str = "") -> Iterator[tuple[str, str]]:
    for key, member in shape.members.items():
        path = f"{at}.{key}" if at else key
        if key in NOT_READ:
            yield path, "any"
            continue
        inner = member.member if member.type_name == "list" else member
        if inner.type_name == "structure":
            yield path, "sections" if member.type_name == "list" else "section"
            yield from _keys(inner, path)
        elif member.type_name == "list":
            yield path, "list"
        else:
            kind = str(member.type_name)
            yield path, _SCALARS.get(kind, kind)


if __name__ == "__main__":
    DATA_FILE.write_text(table(), encoding="utf-8")
