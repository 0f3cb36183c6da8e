"""Properties of a template with the names of the API, as the answers about a cluster have them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.importing.cloudformation.deferred import Deferred
from trainyard.importing.cloudformation.template import Resource
from trainyard.importing.cloudformation.values import claim_unknown, is_known
from trainyard.importing.formats import EKS_ANSWERS
from trainyard.importing.reader import Reader
from trainyard.importing.report import Fate
from trainyard.importing.rewritten import Rewritten
from trainyard.importing.source import Location

_CHOSEN = ("Labels", "Tags")
"""Maps whose keys the user chooses."""
_OPTION = "it is an option of changes by CloudFormation"
_NOT_ANSWERED: Mapping[str, tuple[Fate, str]] = {
    "ActiveCertificateAuthorityId": ("dropped", "the new cluster has its own"),
    "BootstrapSelfManagedAddons": ("implied", "the stack installs VPC CNI, kube-proxy and CoreDNS"),
    "Force": ("dropped", _OPTION),
    "ForceUpdateEnabled": ("dropped", _OPTION),
    "RollbackConfig": ("dropped", _OPTION),
    "PreserveOnDelete": ("dropped", _OPTION),
    "ResolveConflicts": ("implied", "the stack overwrites fields that others have changed"),
}
"""Properties that no answer has."""
_SCALARS = ("text", "integer", "number", "boolean", "any")


def take_properties(
    each: Resource, at: Location, answers: Rewritten, *, without: tuple[str, ...]
) -> None:
    """Take the properties of an object of EKS.

    Args:
        each: The object.
        at: Place of its answer.
        answers: The answers.
        without: Properties that the caller takes.
    """
    for key, value in each.at().entries():
        if key in _NOT_ANSWERED:
            value.claim(*_NOT_ANSWERED[key])
        elif key == "ResourcesVpcConfig":
            for name, part in value.entries():
                if name != "SubnetIds":
                    take_value((*at, "resourcesVpcConfig", _api_name(name)), part, answers)
        elif key not in without:
            take_value((*at, _api_name(key)), value, answers, renames=key not in _CHOSEN)


def _api_name(key: str) -> str:
    """Return a property as the API of EKS spells it."""
    return key[:1].lower() + key[1:]


def take_value(at: Location, source: Reader, answers: Rewritten, *, renames: bool = True) -> None:
    """Take a value and everything below it.

    Args:
        at: Place in the answers.
        source: The value.
        answers: The answers.
        renames: Whether the API begins its names with a small letter, as EKS does and EC2 does not.
    """
    entries, items = [*source.entries()], [*source.items()]
    for key, value in entries:
        name = _api_name(key) if renames else key
        take_value((*at, name), value, answers, renames=renames and key not in _CHOSEN)
    for number, value in enumerate(items):
        take_value((*at, number), value, answers, renames=renames)
    if not entries and not items:
        _take_leaf(at, source, answers)


def _take_leaf(at: Location, source: Reader, answers: Rewritten) -> None:
    conversion = EKS_ANSWERS.conversion()
    keys = tuple(part for part in at if isinstance(part, str))
    kind, above = (conversion.KEYS.kinds.get(each) for each in (keys, keys[:-1]))
    has_row = any(keys[:end] in conversion.FATES for end in range(1, len(keys) + 1))
    if source.value in ({}, []):
        source.implied("it is empty")
    elif at[-1] == "keyArn" and not is_known(source):
        claim_unknown(source, ("architecture", "secrets_key_arn"))
    elif has_row or (
        is_known(source) and (kind in _SCALARS or above == "map" or at[-1] != keys[-1])
    ):
        answers.take(at, source, lambda value: _typed(value, kind))
    elif kind:
        claim_unknown(source, ())
    else:
        source.unsupported("it is no setting of EKS that is known here: set it after `up`")


def _typed(value: Any, kind: str | None) -> Any:
    """Return text as the number or the boolean that the API has in its place."""
    if not isinstance(value, str) or isinstance(value, Deferred):
        return value
    if kind == "integer" and value.isdigit():
        return int(value)
    return {"true": True, "false": False}.get(value, value) if kind == "boolean" else value
