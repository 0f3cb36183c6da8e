"""Edits of the `mapRoles` text of `aws-auth` that add or remove one role.

`mapRoles` is one string with a YAML list. Only an edit of that string keeps the existing roles;
replacing the whole string would lock them out.

Sources:
    https://docs.aws.amazon.com/eks/latest/userguide/auth-configmap.html
    https://github.com/kubernetes-sigs/aws-iam-authenticator, `pkg/mapper/configmap`
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import yaml

from trainyard.components.runtime import aws_auth_text as text_edit

HOW_TO_REPAIR = (
    "nothing was changed; correct it with `kubectl -n kube-system edit configmap aws-auth` "
    "and run again"
)


NODE_USERNAME = "system:node:{{EC2PrivateDNSName}}"
NODE_GROUPS = ["system:bootstrappers", "system:nodes"]
"""User name and groups of a role of nodes.
https://docs.aws.amazon.com/eks/latest/userguide/auth-configmap.html"""


class MapRolesError(ValueError):
    """`mapRoles` cannot be changed safely; the message is for users."""


@dataclass(frozen=True, slots=True)
class MappedRole:
    """One entry of `mapRoles`: the Kubernetes user and groups of an IAM role."""

    role_arn: str
    """Without the role's path: a caller's ARN has none, so an entry with one never matches."""
    username: str
    groups: tuple[str, ...]


def pathless_role_arn(role_arn: str) -> str:
    """Return the ARN without path, as the API server uses it: `role/node` for `role/eks/node`.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/auth-configmap.html ("The role ARN
    can't include a path").

    Raises:
        ValueError: it is not the ARN of a role.
    """
    prefix, kind, name = role_arn.partition(":role/")
    if not kind or not name or not prefix.startswith("arn:"):
        raise ValueError(f"{role_arn!r} is not the ARN of an IAM role (arn:aws:iam::…:role/…)")
    return f"{prefix}:role/{name.rpartition('/')[2]}"


def find_role(text: str | None, role_arn: str) -> MappedRole | None:
    """Return the entry of a role, the last one if there are several, as the authenticator does.

    Raises:
        MapRolesError: the text is not a YAML list.
    """
    entries = _entries(text)
    found = _matching(entries, role_arn)
    if not found:
        return None
    entry = entries[found[-1]]
    return MappedRole(
        pathless_role_arn(role_arn),
        str(_field(entry, "username") or ""),
        tuple(str(group) for group in _field(entry, "groups") or ()),
    )


def listed_roles(text: str | None) -> list[str]:
    """Return the ARNs of all entries as they are written, with or without a path.

    Raises:
        MapRolesError: the text is not a YAML list.
    """
    return [str(_field(each, "rolearn")) for each in _entries(text) if isinstance(each, Mapping)]


def with_role(text: str | None, role: MappedRole, dropped_groups: Collection[str] = ()) -> str:
    """Return the text with an entry for the role, and everything else unchanged.

    The text is unchanged if the role already has its name and groups. Otherwise only its entry is
    rewritten: with the given name, the given groups, and the groups that others added, but without
    `dropped_groups`.

    Raises:
        MapRolesError: the text is not a YAML list, or the entry cannot be inserted.
    """
    current = find_role(text, role.role_arn)
    if current is None:
        return _append(text or "", role)
    not_theirs = {*role.groups, *dropped_groups}
    more = tuple(group for group in current.groups if group not in not_theirs)
    wanted = replace(role, groups=(*role.groups, *more))
    if current.username == role.username and set(current.groups) == set(wanted.groups):
        return text or ""
    return _replace(text or "", wanted)


def without_role(text: str | None, role_arn: str) -> str | None:
    """Return the text without the entries of a role; None if nothing is left.

    Raises:
        MapRolesError: the text is not a YAML list, or other entries depend on the role's.
    """
    if text is None:
        return None
    entries = _entries(text)
    kept = list(entries)
    for index in reversed(_matching(entries, role_arn)):
        del kept[index]
        text = text_edit.remove(text, _layout(text), index)
        _verify(text, kept, role_arn)
    return text if text.strip() else None


def _append(text: str, role: MappedRole) -> str:
    expected = [*_entries(text), _entry(role)]
    block, flow = _block_lines(role), json.dumps(_entry(role))
    return _verify(text_edit.append(text, _layout(text), block, flow), expected, role)


def _replace(text: str, role: MappedRole) -> str:
    expected = list(_entries(text))
    index = _matching(expected, role.role_arn)[-1]
    expected[index] = _entry(role)
    block, flow = _block_lines(role), json.dumps(_entry(role))
    edited = text_edit.replace(text, _layout(text), index, block, flow)
    return _verify(edited, expected, role)


def _verify(edited: str, expected: Sequence[Any], role: MappedRole | str) -> str:
    """Return the edited text if its data is exactly as expected.

    The last safeguard: an anchor that other entries use, or an unexpected YAML style, must lead to
    an error and never to a lost role.
    """
    try:
        safe = (text_edit.first_document(edited) or []) == expected
    except yaml.YAMLError:
        safe = False
    if not safe:
        role_arn = role if isinstance(role, str) else role.role_arn
        raise MapRolesError(
            f"the entry of {role_arn} in `mapRoles` of kube-system/aws-auth cannot be changed "
            "without touching other entries (anchors, or an unusual layout); " + HOW_TO_REPAIR
        )
    return edited


def _entries(text: str | None) -> Sequence[Any]:
    try:
        data = text_edit.first_document(text or "")
    except (yaml.YAMLError, ValueError) as error:
        raise MapRolesError(_unreadable(text or "", error)) from None
    if data is None:  # only whitespace and comments
        return []
    if not isinstance(data, list):
        raise MapRolesError(
            "`mapRoles` of kube-system/aws-auth is not a list of roles, so no role in it has "
            f"access; it begins {(text or '').strip()[:60]!r}; {HOW_TO_REPAIR}"
        )
    return data


def _layout(text: str) -> text_edit.ListLayout:
    # The scanner can read beyond the first document and find errors there.
    try:
        return text_edit.scan(text)
    except yaml.YAMLError as error:
        raise MapRolesError(_unreadable(text, error)) from None


def _unreadable(text: str, error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error)
    if mark is None:
        return (
            f"`mapRoles` of kube-system/aws-auth is not YAML ({problem}), so no role in it has "
            f"access; {HOW_TO_REPAIR}"
        )
    lines = text.splitlines()
    line = lines[mark.line].strip() if mark.line < len(lines) else "the end of the text"
    return (
        f"`mapRoles` of kube-system/aws-auth is not YAML: line {mark.line + 1}, {line!r}: "
        f"{problem}, so no role in it has access; {HOW_TO_REPAIR}"
    )


def _matching(entries: Sequence[Any], role_arn: str) -> list[int]:
    wanted = pathless_role_arn(role_arn).lower()
    return [
        index
        for index, entry in enumerate(entries)
        if isinstance(entry, Mapping) and str(_field(entry, "rolearn")).lower() == wanted
    ]


def _field(entry: Mapping[Any, Any], name: str) -> Any:
    # The authenticator uses Go's JSON decoder, which ignores the case of keys.
    return next((value for key, value in entry.items() if str(key).lower() == name), None)


def _entry(role: MappedRole) -> dict[str, Any]:
    return {
        "rolearn": pathless_role_arn(role.role_arn),
        "username": role.username,
        "groups": list(role.groups),
    }


def _block_lines(role: MappedRole) -> list[str]:
    groups = [f"    - {_scalar(group)}" for group in role.groups]
    return [
        f"- rolearn: {_scalar(pathless_role_arn(role.role_arn))}",
        f"  username: {_scalar(role.username)}",
        *(["  groups:", *groups] if groups else ["  groups: []"]),
    ]


def _scalar(value: str) -> str:
    """Return the value as YAML, quoted only if necessary."""
    try:
        plain = yaml.safe_load(f"- k: {value}") == [{"k": value}]
    except yaml.YAMLError:
        plain = False
    return value if plain else json.dumps(value)
