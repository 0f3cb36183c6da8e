"""Generate `keys.txt` from the models of the APIs of AWS Batch and EC2 in botocore.

Run `python -m trainyard.importing.batch_jobs.generate` when the version of botocore changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from botocore.session import get_session

DATA_FILE = Path(__file__).with_name("keys.txt")
NOT_READ = ("ecsProperties", "eksProperties")
"""Keys below which no stack has anything."""

_LISTS = (
    ("batch", "DescribeJobDefinitions", "jobDefinitions"),
    ("batch", "DescribeComputeEnvironments", "computeEnvironments"),
    ("batch", "DescribeJobQueues", "jobQueues"),
    ("ec2", "DescribeLaunchTemplateVersions", "LaunchTemplateVersions"),
)
"""Service, call and the list of its answer; the answers have every key of the requests of Batch."""
_SCALARS = {
    **dict.fromkeys(("string", "timestamp"), "text"),
    **dict.fromkeys(("integer", "long"), "integer"),
    **dict.fromkeys(("float", "double"), "number"),
}


def table() -> str:
    """Return the data file: the keys of one object, and of the lists that AWS answers with."""
    rows: dict[str, str] = {"nextToken": "text", "NextToken": "text"}
    for service, call, listed in _LISTS:
        answer: Any = _model(service).operation_model(call).output_shape
        keys = dict(_keys(answer.members[listed].member))
        if service == "ec2":
            request: Any = _model(service).operation_model("CreateLaunchTemplate").input_shape
            keys |= dict(_keys(request))
        rows |= {**keys, listed: "sections"}
        rows |= {f"{listed}.{path}": kind for path, kind in keys.items()}
    lines = ["# Keys of objects of AWS Batch and of launch templates, from the models of botocore."]
    return "".join(f"{line}\n" for line in (*lines, *map(" ".join, rows.items())))


def definition_keys() -> dict[str, str]:
    """Return the kind of each key of a definition by its path."""
    answer: Any = _model("batch").operation_model("DescribeJobDefinitions").output_shape
    return dict(_keys(answer.members["jobDefinitions"].member))


def _model(service: str) -> Any:
    return get_session().get_service_model(service)


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
