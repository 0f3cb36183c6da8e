"""Replacements for parts of moto's IAM.

- AWS's managed policies: loaded once per process, while moto loads them for every new account.
  There are about fifteen hundred, which would take most of the time of a reset.
- RemoveRoleFromInstanceProfile for a role that is not in the profile, on which moto fails.
- The ids of the access keys that the account issues.
- `may`: whether the policies of a role permit a call that a service makes with it.
- What GetRole and GetPolicy say of a name that does not exist: tests/witness/tables/errors.json.
"""

from __future__ import annotations

import secrets
import string
from collections.abc import Callable
from copy import copy
from typing import Any

from moto.iam.access_control import IAMPolicy, PermissionResult
from moto.iam.exceptions import NotFoundException
from moto.iam.models import IAMBackend, iam_backends

from trainyard.sandbox.aws.environment import ACCOUNT_ID

_READ = IAMBackend._init_aws_policies  # noqa: SLF001 - what is replaced, and used once

_CACHE: list[Any] = []


def managed_policies(backend: IAMBackend) -> list[Any]:
    """Return the policies for a new IAM backend (replaces moto's `_init_aws_policies`).

    Each backend gets separate objects, because they count the roles that they are attached to.
    """
    if not _CACHE:
        _CACHE.extend(_READ(backend))
    policies = [copy(policy) for policy in _CACHE]
    for policy in policies:
        policy.account_id = backend.account_id
    return policies


def remove_role(backend: IAMBackend, profile_name: str, role_name: str) -> None:
    """RemoveRoleFromInstanceProfile (replaces moto's `remove_role_from_instance_profile`).

    A role that is not in the profile is NoSuchEntity, which the AWS provider ignores:
    `instanceProfileRemoveRole` in internal/service/iam/instance_profile.go.
    """
    profile, role = backend.get_instance_profile(profile_name), backend.get_role(role_name)
    if role not in profile.roles:
        raise NotFoundException(f"The role with name {role_name} cannot be found.")
    profile.roles.remove(role)


def secret_key_id(account_id: str, prefix: str, total_length: int = 20) -> str:
    """Return the id of an access key that nobody can guess.

    It replaces `generate_access_key_id_from_account_id` of moto, which takes it from a sequence
    that is the same in every sandbox.
    """
    characters = string.ascii_uppercase + string.digits
    return prefix + "".join(secrets.choice(characters) for _ in range(total_length - len(prefix)))


def found(get: Callable[[IAMBackend, str], Any], text: str) -> Callable[[IAMBackend, str], Any]:
    """Return a method of the backend with another message if there is no such object."""

    def get_or_refuse(backend: IAMBackend, name: str) -> Any:
        try:
            return get(backend, name)
        except NotFoundException:
            raise NotFoundException(text.format(name)) from None

    return get_or_refuse


def may(role_arn: str, action: str, resource: str) -> bool:
    """Return whether a role of the account exists and its policies permit a call.

    Conditions are not evaluated: a statement with conditions counts as one without.
    """
    roles = [
        role for role in iam_backends[ACCOUNT_ID]["aws"].roles.values() if role.arn == role_arn
    ]
    policies: list[Any] = [
        each
        for role in roles
        for each in (*role.policies.values(), *role.managed_policies.values())
    ]
    results = {IAMPolicy(each).is_action_permitted(action, resource) for each in policies}
    return PermissionResult.PERMITTED in results and PermissionResult.DENIED not in results
