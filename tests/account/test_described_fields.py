"""Every field that AWS answers of an object in a stack file is judged, or cannot do harm.

`described_fields.yaml` has the decisions. The fields are those of botocore's service models, so
that a field which a newer botocore has is named here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

import botocore.session
import pytest
import yaml
from pydantic import BaseModel

from trainyard.components.config.base import Form
from trainyard.components.config.given_stack import GivenStack
from trainyard.components.named.checks import OBJECT_KINDS
from trainyard.components.named.made_names import MADE

DECISIONS: Mapping[str, Mapping[str, Any]] = yaml.safe_load(
    Path(__file__).with_name("described_fields.yaml").read_text(encoding="utf-8")
)
NAMES_AN_OBJECT = re.compile(r"\(\?:\[0-9a-f\]\{8\}|(?:^|-)\[0-9a-f\]\{17\}")
"""Patterns of ids of EC2, FSx and EFS."""
OTHERS = {
    "AdoptedFsxLustre.file_system_id",
    "ContainerRepository.name",
    "ExistingFsxLustre.dns_name",
    "ExistingFsxLustre.file_system_id",
    "ExistingFsxLustre.mount_name",
    "NodeGroup.ssh_key_name",
    "Odcr.resource_share_arn",
    "OdcrGroup.group_arn",
    "OdcrGroup.resource_share_arn",
    "Ssh.key_name",
    "ComputeEnvironment.ssh_key_name",
}
"""Keys that name an object, and that neither their form nor their pattern tells."""


@cache
def members(entry: str) -> frozenset[str]:
    """Return the fields of an answer, by botocore."""
    service, operation, path = entry.split(" ")
    model = botocore.session.get_session().get_service_model(service)
    shape: Any = model.operation_model(operation).output_shape
    for name in (each for each in path.split(".") if each):
        shape = shape.members[name]
        shape = shape.member if shape.type_name == "list" else shape
    return frozenset(shape.members)


@pytest.mark.parametrize("entry", DECISIONS)
def test_every_field_of_an_answer_is_decided(entry: str) -> None:
    judged, harmless = (frozenset(DECISIONS[entry][key]) for key in ("judged", "harmless"))
    assert not judged & harmless
    assert sorted(members(entry) - judged - harmless) == [], "decide what they mean for a cluster"
    assert sorted((judged | harmless) - members(entry)) == [], "AWS no longer answers them"


@pytest.mark.parametrize("entry", DECISIONS)
def test_a_judged_field_has_its_check_and_another_one_a_reason(entry: str) -> None:
    for where in set(DECISIONS[entry]["judged"].values()) - {"identity"}:
        module, _, function = where.rpartition(".")
        found = import_module(f"trainyard.components.{module}")
        assert callable(getattr(found, function)), where
    assert all(str(why).strip() for why in DECISIONS[entry]["harmless"].values())


def _models(model: type[BaseModel], seen: set[type[BaseModel]]) -> Iterator[type[BaseModel]]:
    if model in seen:
        return
    seen.add(model)
    yield model
    for info in model.model_fields.values():
        for inner in _inner(info.annotation):
            if isinstance(inner, type) and issubclass(inner, BaseModel):
                yield from _models(inner, seen)


def _inner(annotation: Any) -> Iterator[Any]:
    yield annotation
    for each in get_args(annotation):
        yield from _inner(each)
        yield from getattr(each, "__metadata__", ())


def named_keys() -> Iterator[str]:
    """Yield the keys of stack files that name an existing object, as `Model.key`."""
    for model in _models(GivenStack, set()):
        for key, info in model.model_fields.items():
            forms = (each for each in (*_inner(info.annotation), *info.metadata))
            given = [each for each in forms if isinstance(each, Form)]
            if any(each.names or NAMES_AN_OBJECT.search(each.pattern) for each in given):
                yield f"{model.__name__}.{key}"


def test_every_key_that_names_an_object_has_its_answers() -> None:
    listed = {key for entry in DECISIONS.values() for key in entry["fields"]}
    assert sorted(set(named_keys()) - listed) == [], "which call answers what it names?"
    assert sorted(listed - set(named_keys()) - OTHERS) == [], "no key of a stack file"


def test_every_call_about_a_named_object_is_listed() -> None:
    services = {"elasticfilesystem": "efs", "aps": "amp"}
    calls = {call for name, kind in OBJECT_KINDS.items() if name not in MADE for call in kind.calls}
    wanted = {" ".join((services.get(each[0], each[0]), each[1]))
              for each in (call.split(":") for call in calls)}  # fmt: skip
    assert sorted(wanted - {entry.rpartition(" ")[0] for entry in DECISIONS}) == []


STATED: Mapping[str, Mapping[str, str]] = yaml.safe_load(
    Path(__file__).with_name("stated_fields.yaml").read_text(encoding="utf-8")
)
_RESERVATIONS = ("Odcr", "OdcrGroup", "CapacityBlock")


def describing() -> dict[str, type[BaseModel]]:
    """Return the models of entries about objects that exist, by name."""
    found = {model.__name__: model for model in _models(GivenStack, set())}
    return {
        name: model
        for name, model in found.items()
        if name.startswith(("Existing", "Adopted")) or name in _RESERVATIONS
    }


def test_every_statement_about_an_existing_object_is_compared_or_unreadable() -> None:
    """A new key of such an entry is in neither list."""
    models = describing()
    assert set(STATED) == set(models)
    for name, model in models.items():
        assert set(STATED[name]) == set(model.model_fields), name


def test_every_comparison_exists() -> None:
    for key, what in ((key, what) for each in STATED.values() for key, what in each.items()):
        if " " in what or what in ("identity", "own"):
            continue
        module, _, function = what.rpartition(".")
        found = import_module(f"trainyard.components.{module}")
        assert callable(getattr(found, function)), key
