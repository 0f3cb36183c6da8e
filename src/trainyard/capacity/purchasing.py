"""Buy exactly once with calls of EC2 that have no client token.

boto3 repeats a request that got no answer, which would buy twice, so these calls are made by a
client without retries. If the answer is missing, what the call did is looked up. EC2 is eventually
consistent, so nothing found means nothing bought only after five minutes.

Sources:
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_PurchaseCapacityBlock.html
    https://docs.aws.amazon.com/ec2/latest/devguide/eventual-consistency.html (five minutes)
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

from botocore.exceptions import BotoCoreError, ClientError

from trainyard.components.account.call_failures import explained
from trainyard.components.account.error_codes import BROKEN, NOT_ALLOWED, THROTTLED
from trainyard.components.preflight.launch_rows import WOULD_HAVE_SUCCEEDED

Found = TypeVar("Found")

VISIBLE_WITHIN = timedelta(minutes=5)
"""Time after which EC2 shows everything that was made."""
_FIRST_WAIT_SECONDS, _LONGEST_WAIT_SECONDS = 2.0, 30.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What a purchase call said."""

    result: Any = None
    """Its answer; None if there is none."""
    refusal: str = ""
    """Why EC2 did nothing."""
    silence: str = ""
    """Why it is unknown whether EC2 did something."""


def dry_run(call: str, do: Callable[..., Any], **arguments: Any) -> str:
    """Make the dry run of a purchase; return why it would be refused, or an empty text.

    It checks the permissions, and EC2 refuses an offering that it no longer has.
    """
    try:
        do(DryRun=True, **arguments)
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "")
        return "" if code == WOULD_HAVE_SUCCEEDED else refusal_text(call, error)
    except BotoCoreError as error:
        return explained(call, error)
    return f"{call}: EC2 did not recognize the dry run"


def purchased(call: str, do: Callable[..., Any], **arguments: Any) -> Answer:
    """Make the call of a purchase, once.

    Args:
        call: `service:Operation`.
        do: Method of a client that does not repeat requests.
        arguments: Its arguments.
    """
    try:
        return Answer(result=do(**arguments))
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "")
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        if code in THROTTLED or (status < 500 and code not in BROKEN):
            return Answer(refusal=refusal_text(call, error))
        return Answer(silence=explained(call, error))
    except BotoCoreError as error:
        return Answer(silence=explained(call, error))


def refusal_text(call: str, error: ClientError) -> str:
    """Return one sentence about a purchase that EC2 refuses."""
    code = error.response.get("Error", {}).get("Code", "")
    if code in NOT_ALLOWED:
        return f"AWS denies {call} ({code}); docs/capacity.md lists the permissions"
    if code.startswith("InvalidCapacityBlockOfferingId"):
        return (
            f"EC2 no longer has this offering ({code}); search again: offerings go to whoever buys "
            "them first"
        )
    return explained(call, error)


def looked_up(
    look: Callable[[], Found | None],
    asked_at: datetime,
    now: datetime,
    *,
    tell: Callable[[str], None],
    sleep: Callable[[float], None] | None = None,
) -> Found | None:
    """Return what a purchase has bought, or None if it has certainly bought nothing.

    It looks until EC2 would show it: for up to five minutes after the call.

    Args:
        look: Returns what EC2 shows of the purchase, or None.
        asked_at: When the call was made.
        now: The time.
        tell: Receives a message before the first wait.
        sleep: Waits a number of seconds, by default `time.sleep`.
    """
    left = (VISIBLE_WITHIN - max(now - asked_at, timedelta())).total_seconds()
    wait = _FIRST_WAIT_SECONDS
    while (found := look()) is None and left > 0:
        if wait == _FIRST_WAIT_SECONDS:
            tell(f"looking for the purchase in the account, for up to {left:.0f} s")
        (sleep or time.sleep)(min(wait, left))
        left -= wait
        wait = min(wait * 2, _LONGEST_WAIT_SECONDS)
    return found
