"""Files in which `capacity` remembers offerings, and purchases that are under way.

EC2 has no call that describes one offering, and PurchaseCapacityBlock and
PurchaseCapacityBlockExtension have no client token. Therefore a search writes down its offerings,
and a purchase is written down before its call: if the answer is lost or the process is killed, the
next command looks it up in the account before it buys anything.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from trainyard.capacity.errors import UnreadableRecordError
from trainyard.capacity.offerings import Offering, offering_of
from trainyard.stack_files.files import file_text, write_private

_BROKEN = (KeyError, TypeError, ValueError, ArithmeticError, AttributeError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Purchase:
    """A purchase that was or will be asked for, and whose result is not written down."""

    purchase_id: str
    """Unique; a tag of the block that is bought."""
    subject: str
    """The stack that gets a block, or the reservation that is extended."""
    offering: Offering
    entry: str = ""
    """The entry of the stack file, which is empty for an extension."""
    is_new_entry: bool = False
    asked_at: datetime
    """When the call began, by the clock of the account."""


class Records:
    """The files of one place.

    Args:
        directory: Directory of the files; created when the first one is written.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    @property
    def _offerings(self) -> Path:
        return self._directory / "offerings.json"

    def path(self, subject: str) -> Path:
        """Return the file of a purchase for a stack or a reservation."""
        return self._directory / f"{subject}.purchase.json"

    def remember(self, offerings: Iterable[Offering], now: datetime) -> None:
        """Add the offerings of a search; those that have started are dropped."""
        known = {each.offering_id: each for each in (*self._remembered(), *offerings)}
        self._write_offerings(each for each in known.values() if each.starts_at > now)

    def forget(self, offering_id: str) -> None:
        """Remove an offering that was bought, so that it is not bought again."""
        self._write_offerings(e for e in self._remembered() if e.offering_id != offering_id)

    def _write_offerings(self, offerings: Iterable[Offering]) -> None:
        content = [each.as_json() for each in offerings]
        write_private(self._offerings, json.dumps(content, indent=2) + "\n")

    def offering(self, offering_id: str) -> Offering | None:
        """Return an offering of an earlier search; None if no search has found it."""
        return next((each for each in self._remembered() if each.offering_id == offering_id), None)

    def _remembered(self) -> list[Offering]:
        try:
            content = json.loads(file_text(self._offerings))
            return [offering_of(each) for each in content]
        except (FileNotFoundError, *_BROKEN):
            return []  # a search finds them again

    def begin(self, purchase: Purchase) -> None:
        """Write a purchase down, before its call."""
        content = {
            "purchase_id": purchase.purchase_id,
            "subject": purchase.subject,
            "offering": purchase.offering.as_json(),
            "entry": purchase.entry,
            "is_new_entry": purchase.is_new_entry,
            "asked_at": purchase.asked_at.isoformat(),
        }
        write_private(self.path(purchase.subject), json.dumps(content, indent=2) + "\n")

    def unfinished(self, subject: str) -> Purchase | None:
        """Return the purchase for a stack or a reservation whose result is not written down.

        Raises:
            UnreadableRecordError: there is one, but its file is damaged.
        """
        path = self.path(subject)
        try:
            return _purchase(json.loads(file_text(path)))
        except FileNotFoundError:
            return None
        except _BROKEN as error:
            raise UnreadableRecordError(
                f"{path}, the record of a purchase, is damaged. Look at the reservations of the "
                "account with `./trainyard capacity list`; delete the file if it has what you "
                "bought, or if nothing was bought"
            ) from error

    def end(self, subject: str) -> None:
        """Delete the record of a purchase, whose result is known."""
        self.path(subject).unlink(missing_ok=True)


def _purchase(content: Mapping[str, Any]) -> Purchase:
    return Purchase(
        purchase_id=content["purchase_id"],
        subject=content["subject"],
        offering=offering_of(content["offering"]),
        entry=content["entry"],
        is_new_entry=content["is_new_entry"],
        asked_at=datetime.fromisoformat(content["asked_at"]),
    )
