"""Deleted objects of types that make the AWS provider fail on read.

For types on Terraform's plugin framework with a resource identity, a read of a deleted object fails
with "Missing Resource Identity After Read", and the command fails with it:
https://github.com/hashicorp/terraform-provider-aws/issues/45303. The bridge does not store the
identity, so this also affects objects that the provider created.
https://github.com/hashicorp/terraform-provider-aws/pull/46964 (March 2026, after release 6.34)
takes the identity from the state.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from functools import partial
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from trainyard.components.config.provider_settings import OF_ENVIRONMENT, ProviderSettings
from trainyard.engine.engine_process import PulumiCommand
from trainyard.engine.environment import process_environment, profile_environment
from trainyard.workspace.arns import arn_of
from trainyard.workspace.exported_state import exported_state, import_state, resources_of
from trainyard.workspace.recovery.account import FoundObject, LookupAccount, ObjectProgress
from trainyard.workspace.recovery.lookups import LookById
from trainyard.workspace.recovery.operations import taken_up, written_at
from trainyard.workspace.recovery.table import LookupOf, lookup_of
from trainyard.workspace.recovery.timeouts import Timeouts
from trainyard.workspace.urns import name_of, type_of

Report = Callable[[str], None]


def _look_of(urn: str, lookup_of: LookupOf) -> LookById | None:
    """Return the lookup by id for an affected type; None if the provider reads deleted objects."""
    lookup = lookup_of(type_of(urn))
    return lookup.look_by_id if lookup else None


def gone(
    account: LookupAccount,
    objects: Iterable[tuple[str, str]],
    *,
    timeouts: Timeouts,
    written: datetime | None,
    lookup_of: LookupOf,
) -> set[tuple[str, str]]:
    """Return which objects of affected types no longer exist.

    Args:
        account: The account in which they were created.
        objects: URNs and ids, of any types.
        timeouts: How long AWS may take to complete a deletion and to show new objects.
        written: When the state was last written; None if unknown.
        lookup_of: Returns how the objects of a type are found.

    Raises:
        BotoCoreError: the request could not be sent.
        ClientError: AWS rejected the request.
    """
    looks = [(urn, identifier, _look_of(urn, lookup_of)) for urn, identifier in objects]
    return {
        (urn, identifier)
        for urn, identifier, look in looks
        if look is not None and _is_gone(partial(look, account, identifier), timeouts, written)
    }


def forget_gone(
    command: PulumiCommand,
    *,
    stack: str,
    region: str,
    settings: ProviderSettings = OF_ENVIRONMENT,
    timeouts: Timeouts,
    report: Report,
    lookup_of: LookupOf = lookup_of,
) -> None:
    """Remove objects from the state that were deleted outside Pulumi and cannot be refreshed.

    Nothing is removed if the account is not the one that holds the object, or does not respond. The
    account is not changed.
    """
    deployment = exported_state(command, stack)
    candidates = [each for each in resources_of(deployment) if _is_candidate(each, lookup_of)]
    if not candidates:
        return
    with process_environment(profile_environment(command.environment, settings.profile)):
        account = LookupAccount(region, settings)
        try:
            own = account.client("sts").get_caller_identity()["Account"]
            objects = [(r["urn"], r["id"]) for r in candidates if _is_of(r, region, own)]
            written = written_at(deployment)
            missing = gone(
                account, objects, timeouts=timeouts, written=written, lookup_of=lookup_of
            )
        except (BotoCoreError, ClientError) as error:
            report(f"could not check whether objects were deleted outside Pulumi: {error}")
            return
    if not missing:
        return
    import_state(command, taken_up(deployment, (), missing), stack)
    for urn, identifier in sorted(missing):
        report(
            f"{type_of(urn)} {name_of(urn)} ({identifier}) was deleted outside Pulumi: the next "
            "`up` creates it again"
        )


def _is_gone(
    look: Callable[[], list[FoundObject]], timeouts: Timeouts, written: datetime | None
) -> bool:
    deadline = time.monotonic() + timeouts.limit
    while time.monotonic() < deadline:
        found = look()
        if found and found[0].progress is not ObjectProgress.MAKING:
            return False
        if not found and timeouts.is_settled(written):
            return True
        time.sleep(timeouts.poll)
    return False


def _is_candidate(resource: Mapping[str, Any], lookup_of: LookupOf) -> bool:
    # A refresh skips resources that were deleted before their replacement.
    is_read = resource.get("id") and not resource.get("pendingReplacement")
    return bool(is_read and _look_of(resource["urn"], lookup_of))


def _is_of(resource: Mapping[str, Any], region: str, account: str) -> bool:
    found = arn_of(str((resource.get("outputs") or {}).get("arn")))
    return found is not None and (found.region, found.account) == (region, account)
