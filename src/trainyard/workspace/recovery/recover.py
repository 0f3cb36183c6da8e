"""Reconcile the state with the account after a killed command."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from trainyard.components.config.provider_settings import OF_ENVIRONMENT, ProviderSettings
from trainyard.components.typed_command import pulumi_command
from trainyard.engine.engine_process import PulumiCommand
from trainyard.engine.environment import process_environment, profile_environment
from trainyard.workspace.exported_state import (
    Deployment,
    exported_state,
    import_state,
    resources_of,
)
from trainyard.workspace.recovery.account import (
    FoundObject,
    LookupAccount,
    ObjectProgress,
    is_tagged,
    requested_tags,
)
from trainyard.workspace.recovery.errors import CreatesPendingError
from trainyard.workspace.recovery.gone import gone
from trainyard.workspace.recovery.leftovers import end_leftovers
from trainyard.workspace.recovery.lookups import By, Lookup
from trainyard.workspace.recovery.operations import (
    PendingCreate,
    TakenUp,
    changes_begun,
    deletions_begun,
    is_pending,
    pending_creates,
    taken_up,
    updates_begun,
    written_at,
)
from trainyard.workspace.recovery.table import IN_STATE, LookupOf, lookup_of
from trainyard.workspace.recovery.timeouts import Timeouts
from trainyard.workspace.urns import name_of

# Objects whose creation was incomplete or failed in AWS.
#
# The provider stopped waiting because AWS reported a failure or rejected further requests. The
# engine keeps the object with `initErrors` and the outputs known at that time, which may be only
# the inputs. The next update compares with those outputs and does not read the object.
# https://github.com/pulumi/pulumi/blob/v3.260.0/sdk/go/common/apitype/core.go, `ResourceV3`


def half_made(deployment: Deployment) -> list[PendingCreate]:
    """Return the incomplete objects, as creates whose object is in the state."""
    return [
        PendingCreate(each["urn"], each.get("inputs") or {})
        for each in resources_of(deployment)
        if _is_half_made(each)
    ]


def read_anew(deployment: Deployment, failed: Collection[str]) -> Deployment:
    """Return the exported state in which incomplete objects are read before they are compared.

    Args:
        deployment: The exported state.
        failed: URNs of objects that failed in AWS, which the next `up` replaces.
    """
    edited = copy.deepcopy(deployment)
    for each in resources_of(edited):
        if _is_half_made(each):
            each["refreshBeforeUpdate"] = True
            if each["urn"] in failed:
                each["taint"] = True
                # Otherwise the engine would leave the object in the account after its replacement.
                # Protection stays on: the user decides whether it may be replaced.
                each["retainOnDelete"] = False
    return edited


def _is_half_made(resource: dict[str, Any]) -> bool:
    return bool(resource.get("initErrors") and resource.get("custom") and resource.get("id"))


Report = Callable[[str], None]
_SHORT_WAIT_SECONDS = 5.0
"""Waits that are not told."""


def recover(
    command: PulumiCommand,
    *,
    stack: str,
    region: str,
    settings: ProviderSettings = OF_ENVIRONMENT,
    timeouts: Timeouts,
    report: Report,
    lookup_of: LookupOf = lookup_of,
) -> None:
    """Complete what an earlier command started and did not finish, and report it.

    Leftover processes are ended; nothing in the account is changed. The account is the one that the
    engine uses: its environment, the region and the settings of the stack.

    Raises:
        CreatesPendingError: it is unknown which objects exist; nothing was changed.
        StackLockedError: the engine that started the operations is running.
    """
    deployment = exported_state(command, stack)
    halves = half_made(deployment)
    if not is_pending(deployment) and not halves:
        return
    for pid in end_leftovers(command.environment, stack=stack):
        report(f"terminated process {pid}, which a killed command left running")
    lookup = _LookUp(stack, timeouts, report, written_at(deployment), lookup_of)
    with process_environment(profile_environment(command.environment, settings.profile)):
        account = LookupAccount(region, settings)
        objects = lookup.objects(account, pending_creates(deployment))
        failed = lookup.failed(account, halves)
        lookup.wait_for_updates(account, updates_begun(deployment))
        missing = lookup.gone(account, deletions_begun(deployment))
    import_state(command, taken_up(read_anew(deployment, failed), objects, missing), stack)
    deleted = {urn for urn, _ in missing}
    for urn in changes_begun(deployment):
        if urn in deleted:
            report(f"{name_of(urn)} is deleted: an earlier command deleted it before it was killed")
        else:
            report(
                f"{name_of(urn)} was being updated when an earlier command was killed: it is read "
                "again"
            )


@dataclass(frozen=True, slots=True)
class _LookUp:
    stack: str
    timeouts: Timeouts
    report: Report
    killed_at: datetime | None
    lookup_of: LookupOf

    def objects(self, account: LookupAccount, creates: list[PendingCreate]) -> list[TakenUp]:
        """Return the objects that exist of the pending creates."""
        found: list[TakenUp] = []
        for create in creates:
            lookup = self._lookup(create)
            if lookup.look is None:
                if lookup is not IN_STATE:
                    self.report(f"{_described(create)} is created again: {lookup.asks}")
                continue
            each = self._found(account, create, lookup)
            if each is not None:
                replaces = each.progress is ObjectProgress.FAILED and not lookup.fixed_name
                found.append(TakenUp(create.urn, each.identifier, replace=replaces))
        return found

    def failed(self, account: LookupAccount, halves: list[PendingCreate]) -> set[str]:
        """Return which created objects failed in AWS; wait for the others."""
        given_up: set[str] = set()
        for half in halves:
            lookup = self.lookup_of(half.type_token, custom=half.custom)
            if lookup is None or lookup.look is None or lookup.by is By.READ:
                continue
            found = self._finished(account, half, lookup)
            if found is None or found.progress is not ObjectProgress.FAILED:
                self.report(f"{_described(half)} was not completed: it is read again")
            elif lookup.fixed_name:
                self.report(
                    f"{_described(half)} failed ({found.said}) and blocks its name: delete it, or "
                    "run destroy and up"
                )
            else:
                self.report(f"{_described(half)} failed ({found.said}): it is created again")
                given_up.add(half.urn)
        return given_up

    def wait_for_updates(self, account: LookupAccount, updates: list[PendingCreate]) -> None:
        """Wait until AWS has completed pending updates, because it rejects changes meanwhile."""
        for update in updates:
            lookup = self.lookup_of(update.type_token, custom=update.custom)
            if lookup is not None and lookup.by is By.NAME:
                self._finished(account, update, lookup)

    def gone(
        self, account: LookupAccount, deletions: list[tuple[str, str]]
    ) -> set[tuple[str, str]]:
        """Return which pending deletions are complete and cannot be read by the provider."""
        try:
            return gone(
                account,
                deletions,
                timeouts=self.timeouts,
                written=self.killed_at,
                lookup_of=self.lookup_of,
            )
        except (BotoCoreError, ClientError):
            return set()  # the engine calls AWS next and reports the error

    def _lookup(self, create: PendingCreate) -> Lookup:
        lookup = self.lookup_of(create.type_token, custom=create.custom)
        if lookup is None:
            raise CreatesPendingError(
                self._refused(create, "objects of its type are not looked up")
            )
        if lookup.by is By.TAG and not is_tagged(create):
            reason = "it was created by a version of the program that did not tag its objects"
            raise CreatesPendingError(self._refused(create, reason))
        return lookup

    def _found(
        self, account: LookupAccount, create: PendingCreate, lookup: Lookup
    ) -> FoundObject | None:
        object_ = self._finished(account, create, lookup)
        if lookup.by is By.READ:
            # The engine reports whether it exists.
            return object_
        if object_ is None:
            self.report(
                f"{_described(create)} was not created: an earlier command was killed before"
            )
            return None
        missing = _missing_tags(create, object_)
        if missing:
            self.report(
                f"{_described(create)} exists ({object_.identifier}) but does not belong to this "
                f"stack, because it has no tag {missing[0]}: it is not changed"
            )
            return None
        self.report(_taken_up(create, object_, lookup))
        return object_

    def _finished(
        self, account: LookupAccount, create: PendingCreate, lookup: Lookup
    ) -> FoundObject | None:
        """Return the object when AWS has completed it; None if it does not exist."""
        deadline, told = time.monotonic() + self.timeouts.limit, False
        while True:
            found = self._look(account, create, lookup)
            if found is None and not self.timeouts.is_settled(self.killed_at):
                if not told:
                    self._tell_search(create)
                    told = True
                time.sleep(self.timeouts.poll)
                continue
            if found is None or found.progress is not ObjectProgress.MAKING:
                return found
            if time.monotonic() > deadline:
                raise CreatesPendingError(
                    f"AWS is still creating {_described(create)} ({found.identifier}, "
                    f"{found.said}); nothing was changed; run this again when it is done"
                )
            if not told:
                self.report(
                    f"waiting for {_described(create)}, which AWS is creating ({found.said})"
                )
                told = True
            time.sleep(self.timeouts.poll)

    def _tell_search(self, create: PendingCreate) -> None:
        left = self.timeouts.unsettled_seconds(self.killed_at)
        if left > _SHORT_WAIT_SECONDS:
            self.report(
                f"looking for {_described(create)} for up to {left:.0f} s, because AWS can take "
                "that long to show a new object"
            )

    def _look(
        self, account: LookupAccount, create: PendingCreate, lookup: Lookup
    ) -> FoundObject | None:
        try:
            found = lookup.look(account, create) if lookup.look else []
        except (BotoCoreError, ClientError) as error:
            raise CreatesPendingError(self._refused(create, str(error))) from error
        except KeyError as error:
            reason = f"its inputs have no {error.args[0]}"
            raise CreatesPendingError(self._refused(create, reason)) from error
        new = [each for each in found if each.identifier not in create.known_ids]
        if len(new) > 1:
            ids = " and ".join(each.identifier for each in new)
            reason = f"the account has more than one: {ids}; delete what is not in use"
            raise CreatesPendingError(self._refused(create, reason))
        return new[0] if new else None

    def _refused(self, create: PendingCreate, reason: str) -> str:
        return (
            f"an earlier command on {self.stack} was killed while it created\n  {create.urn}\nand "
            f"it is unknown whether that object exists: {reason}\nnothing was changed. Check the "
            "account; if the object exists, delete it or import it with `pulumi import`; then "
            "clear the pending create with\n  "
            f"{pulumi_command(f'refresh --stack {self.stack} --clear-pending-creates')}\n"
            "because creating it again would leave a second object that is not in the state"
        )


def _described(create: PendingCreate) -> str:
    return f"{create.type_token} {create.name}"


def _missing_tags(create: PendingCreate, found: FoundObject) -> list[str]:
    # Found by the tag itself, or of a type without tags.
    if found.tags is None:
        return []
    asked = requested_tags(create)
    return sorted(key for key, value in asked.items() if found.tags.get(key) != value)


def _taken_up(create: PendingCreate, found: FoundObject, lookup: Lookup) -> str:
    said = (
        f"added {_described(create)} ({found.identifier}) to the state, which an earlier command "
        "created before it was killed"
    )
    if found.progress is not ObjectProgress.FAILED:
        return said
    if lookup.fixed_name:
        return (
            f"{said}; it failed ({found.said}) and blocks its name: delete it, or run destroy and "
            "up"
        )
    return f"{said}; it failed ({found.said}) and is replaced"
