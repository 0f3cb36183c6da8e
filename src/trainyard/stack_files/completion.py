"""Complete a stack file with the ids of an account, without changing what it says."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Set
from typing import Any

from trainyard.components.catalog.provider_keys import PROVIDER_KEYS
from trainyard.components.config.provider_settings import (
    ALLOWED_KEY,
    ENDPOINTS_KEY,
    FORBIDDEN_KEY,
    PROFILE_KEY,
    ROLES_KEY,
)
from trainyard.stack_files.installation import INSTALLATION
from trainyard.stack_files.stack_files import (
    CLUSTER_KEY,
    StackFile,
    StackFileError,
    find_stack_file,
)

_NAMED = frozenset({"reservations", "compute_environments"})


def sandbox_completion(stack_file: StackFile) -> dict[str, Any]:
    """Return what the account of a sandbox knows of the `trainyard:cluster` of a stack file.

    A copy of an example gets the reservations of the example.
    """
    # Only commands with --sandbox need it.
    from trainyard.sandboxes.client import completion

    shipped = INSTALLATION.examples / f"Pulumi.{stack_file.stack}.yaml"
    try:
        example = find_stack_file(stack_file.stack, path=shipped)
    except StackFileError:
        return completion(stack_file.cluster)
    return completion(stack_file.cluster, example.cluster)


def complete(values: Any, completion: Mapping[str, Any]) -> Any:
    """Return `values` with missing values taken from `completion`; given values stay.

    A named entry (a reservation, a compute environment) is completed if it exists, but never added,
    because the user may have renamed or removed it on purpose. A mapping with another `kind` than
    the completion's is left unchanged.
    """
    if not isinstance(values, Mapping):
        return values
    if _is_another_kind(values, completion):
        return values
    result = dict(values)
    for key, value in completion.items():
        if key in _NAMED and isinstance(value, Mapping):
            named = result.get(key)
            if isinstance(named, Mapping):
                result[key] = {
                    name: complete(entry, value.get(name, {})) for name, entry in named.items()
                }
        elif isinstance(value, Mapping):
            result[key] = complete(result.get(key) or {}, value)
        else:
            result.setdefault(key, value)
    return result


def _is_another_kind(values: Mapping[str, Any], completion: Mapping[str, Any]) -> bool:
    kind = completion.get("kind")
    return kind is not None and values.get("kind", kind) != kind


def overruled(
    values: Any,
    completion: Mapping[str, Any],
    path: str = "",
    *,
    known: Set[str] = frozenset(),
) -> list[str]:
    """Return the paths of values in a stack file that differ from those of the completion.

    Other objects of the account, given by their ids in `known`, are not included.
    """
    if not isinstance(values, Mapping) or _is_another_kind(values, completion):
        return []
    found: list[str] = []
    for key, value in completion.items():
        here = f"{path}.{key}" if path else key
        if key not in values:
            continue
        if isinstance(value, Mapping):
            found.extend(overruled(values[key], value, here, known=known))
        elif values[key] != value and not _is_known(values[key], known):
            found.append(here)
    return found


def _is_known(value: Any, known: Set[str]) -> bool:
    each = value if isinstance(value, list) else [value]
    return all(isinstance(name, str) and name in known for name in each)


def completed(stack_file: StackFile, completion: Mapping[str, Any]) -> StackFile:
    """Return the stack file with its cluster object completed by the sandbox's account.

    The rest of its configuration is that of `sandbox_config`.
    """
    cluster = complete(stack_file.cluster, completion)
    config = {**sandbox_config(stack_file), CLUSTER_KEY: cluster}
    return dataclasses.replace(stack_file, content={**stack_file.content, "config": config})


_OF_THE_USER = frozenset(
    {PROFILE_KEY, ENDPOINTS_KEY, "aws:stsRegion", "aws:useFipsEndpoint", "aws:useDualstackEndpoint"}
)
"""How the user's account is reached; everything of a sandbox is at its own endpoint."""


def sandbox_config(stack_file: StackFile) -> dict[str, Any]:
    """Return the configuration of a stack file without what only the user's account has.

    The profile and the endpoints are omitted, because they are the user's, and so are roles and
    account ids of none of the sandbox's accounts. Values that Pulumi encrypted are omitted, because
    only the user has the key and the program does not read them; those of providers are refused.
    """
    settings = stack_file.settings
    ids = {
        ROLES_KEY: [role.account_id for role in settings.roles],
        ALLOWED_KEY: settings.allowed_account_ids,
        FORBIDDEN_KEY: settings.forbidden_account_ids,
    }
    foreign = {key for key, accounts in ids.items() if accounts and not _has_sandbox(accounts)}
    return {
        key: value
        for key, value in stack_file.config.items()
        if key not in _OF_THE_USER | foreign
        and not (_is_encrypted(value) and str(key).partition(":")[0] not in PROVIDER_KEYS)
    }


def _has_sandbox(account_ids: Iterable[str]) -> bool:
    # Only commands with --sandbox need it.
    from trainyard.sandboxes.client import accounts

    return any(each in accounts() for each in account_ids)


def _is_encrypted(value: Any) -> bool:
    """Return whether a value is encrypted, or contains an encrypted value: `{secure: TEXT}`.

    https://www.pulumi.com/docs/iac/concepts/secrets/
    """
    if isinstance(value, Mapping):
        return [*value] == ["secure"] or any(map(_is_encrypted, value.values()))
    return isinstance(value, list) and any(map(_is_encrypted, value))
