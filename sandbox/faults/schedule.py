"""A schedule of faults as YAML, validated before it takes effect.

Example:
    - call: ec2:RunInstances   # service:Operation, as in an IAM policy; `*` matches anything
      nth: 2                   # the first matching call that is hit; default 1
      times: 3                 # how many consecutive matching calls; default 1; or `always`
      happens: throttled
"""

from __future__ import annotations

from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from trainyard.sandbox.faults.fault import Fault
from trainyard.sandbox.faults.kinds import KINDS
from trainyard.sandbox.faults.models import SERVICES, operations
from trainyard.sandbox.faults.recorded_log import DIRECTORY

_KEYS_OF_CALLS = frozenset({"call", "nth", "times"})
"""Keys of all kinds that affect calls."""
_MAXIMUM_FAULTS = 1000
_LISTED = 25
"""Maximum number of names that a message lists if none is similar."""


class FaultScheduleError(ValueError):
    """A schedule is invalid; the message lists every problem, one per line."""


def read_schedule(text: str, directory: Path | None = None) -> list[Fault]:
    """Return the schedule in a YAML text.

    Args:
        text: The YAML text.
        directory: Directory of its file, from which the paths of logs start; None: the root.

    Raises:
        FaultScheduleError: it is not a valid schedule.
    """
    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise FaultScheduleError(f"not YAML: {error}") from error
    return parse_schedule(content if content is not None else [], directory)


def parse_schedule(content: Any, directory: Path | None = None) -> list[Fault]:
    """Return the schedule in parsed data.

    Raises:
        FaultScheduleError: it is not a valid schedule; the message lists every problem.
    """
    if not isinstance(content, list) or len(content) > _MAXIMUM_FAULTS:
        raise FaultScheduleError(
            f"a schedule is a list of at most {_MAXIMUM_FAULTS} entries, each with `call` and "
            "`happens`"
        )
    problems: list[str] = []
    faults: list[Fault] = []
    for number, entry in enumerate(content):
        fault, found = _parsed(entry, directory)
        problems += [f"[{number}]{each}" for each in found]
        faults += [fault] if fault is not None else []
    if problems:
        raise FaultScheduleError("\n".join(problems))
    return faults


def _parsed(entry: Any, directory: Path | None) -> tuple[Fault | None, list[str]]:
    if not isinstance(entry, dict):
        return None, [": an entry is a mapping with `call` and `happens`"]
    # Check the name first, because the required keys depend on it.
    happens = entry.get("happens")
    if happens not in KINDS if isinstance(happens, str) else True:
        return None, [f".happens: {_unknown(happens, KINDS)}"]
    unknown = [key for key in entry if key not in Fault.model_fields]
    if unknown:
        return None, [f": the key {_unknown(key, Fault.model_fields)}" for key in unknown]
    try:
        fault = Fault.model_validate(entry, context={DIRECTORY: directory})
    except ValidationError as error:
        wrong = {_place(each): each["msg"] for each in error.errors()}
        if "times" in wrong:
            wrong["times"] = f"{entry['times']!r} is neither a whole number from 1 nor `always`"
        return None, [f".{place}: {what}" for place, what in wrong.items()]
    return fault, [*_wrong_keys(fault), *_wrong_call(fault)]


def _place(error: Any) -> str:
    return str(error["loc"][0])


def _unknown(given: Any, known: Any) -> str:
    names = sorted(known)
    near = get_close_matches(str(given), names, n=3)
    if near:
        return f"{given!r} is not known; nearest: {', '.join(near)}"
    listed = ", ".join(names[:_LISTED]) + (", …" if len(names) > _LISTED else "")
    return f"{given!r} is not known; there are: {listed}"


def _wrong_keys(fault: Fault) -> list[str]:
    kind = KINDS[fault.happens]
    known = {"happens", *kind.keys, *(_KEYS_OF_CALLS if kind.needs_call else ())}
    wrong = [
        f".{key}: {kind.name} has no such key" for key in sorted(fault.model_fields_set - known)
    ]
    wrong += [
        f": {kind.name} needs `{key}`" for key in sorted(kind.required - fault.model_fields_set)
    ]
    if kind.needs_call and not fault.call:
        wrong.append(f": {kind.name} needs `call`, such as ec2:RunInstances")
    return wrong


def full_call(call: str) -> str:
    """Return `service:Operation` for the value of `call`."""
    return "*:*" if call == "*" else call


def _wrong_call(fault: Fault) -> list[str]:
    if not fault.call:
        return []
    service, colon, operation = full_call(fault.call).partition(":")
    services = [each for each in SERVICES if fnmatchcase(each, service)]
    if not colon or not operation:
        return [f".call: {fault.call!r} is not service:Operation, such as ec2:RunInstances"]
    if not services:
        return [f".call: the service {_unknown(service, SERVICES)}"]
    known = [(each, name) for each in services for name in operations(each)]
    found = [(each, name) for each, name in known if fnmatchcase(name, operation)]
    if not found:
        return [f".call: the call {_unknown(operation, {name for _, name in known})}"]
    kind = KINDS[fault.happens]
    if any(kind.happens_to(*each) for each in found):
        return []
    able = [f"{each}:{name}" for each, name in known if kind.happens_to(each, name)]
    instead = f"it does for {', '.join(able[:8])}" if able else "no call of this service does"
    return [f".call: {fault.call} does not give {fault.happens}; {instead}"]
