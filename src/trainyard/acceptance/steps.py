"""The steps of an acceptance, and their recorded results.

Every step is a command of this program, as a user would type it. Results are saved after each step,
so that an interrupted acceptance goes on where it stopped.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from trainyard.acceptance.remains import MadeObject
from trainyard.stack_files.files import file_text, write_private

Result = Literal["pass", "fail", "stopped"]
RECORD = "acceptance.json"
DESTROY = "destroy"
REMAINS = "remains"
"""Name of the result of looking for what is left behind, after the steps."""
NODE = "{node}"
"""Stands for the name of a node in the arguments of a step."""
_CHANGES = re.compile(
    r"(?:found )?(?:created|updated|replaced|deleted) \S+ \S+|Resources: [1-9]\d* changed"
)
"""Lines of `up` and `refresh` about changes."""
_NOT_IN_PLACE = re.compile(r"(?:created|replaced|deleted) \S+ \S+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Interruption:
    """Another command, which ends the command of a step in the middle."""

    after: str
    """Matches the line of the step's command after which it runs."""
    arguments: tuple[str, ...]
    """Of its command line, without options that all steps have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A command, and what it proves."""

    name: str
    arguments: tuple[str, ...]
    """Of the command line, without options that all steps have; `NODE` stands for a node."""
    proves: str
    minutes: float = 1.0
    """About how long it takes on AWS."""
    in_place: bool = False
    """Whether the command must update something, and neither make nor replace anything."""
    unchanged: bool = False
    """Whether the command must change nothing."""
    says: str = ""
    """Matches the begin of a line that the command must say."""
    interruption: Interruption | None = None
    """What ends the command, which must not end by itself before."""
    cleans: bool = False
    """Whether it runs after a failure too, and without a limit of its time."""

    @property
    def deletes(self) -> bool:
        """Whether it deletes the stack."""
        return self.name == DESTROY


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """The result of a step."""

    name: str
    result: Result
    seconds: float
    reason: str
    """Why it did not pass; empty if it did."""
    began: str = ""
    """RFC 3339, by the account's clock; empty if it did not begin."""
    ended: str = ""
    command: str = ""
    """The command line, without the paths of this machine; empty if no command ran."""

    def timed(self, began: datetime, command: str = "") -> Done:
        """Return the result of a step that began at a time."""
        ended = began + timedelta(seconds=self.seconds)
        return replace(self, began=rfc_3339(began), ended=rfc_3339(ended), command=command)


def rfc_3339(time: datetime) -> str:
    """Return a time in UTC as a text, in milliseconds."""
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def log_of(step: str) -> str:
    """Return the name of the log of a step."""
    return f"{step.replace(' ', '-')}.log"


@dataclass(slots=True)
class Record:
    """The acceptance so far, as it is in the file `RECORD`."""

    directory: Path
    stack: str
    sandbox: bool
    began: str
    """RFC 3339."""
    done: list[Done] = field(default_factory=list[Done])
    before: list[str] = field(default_factory=list[str])
    """What the account had of the cluster before the first step."""
    after: list[str] = field(default_factory=list[str])
    """And after the last one."""
    made: list[MadeObject] = field(default_factory=list[MadeObject])
    """What was in the state before a deletion."""

    def remember(self, made: Iterable[MadeObject]) -> None:
        """Add what is in the state before a deletion; a second one finds less in it."""
        known = {(each.urn, each.identifier) for each in self.made}
        self.made += [each for each in made if (each.urn, each.identifier) not in known]

    def save(self) -> None:
        """Write the record; a command that is killed meanwhile leaves the previous one."""
        values = dataclasses.asdict(self)
        del values["directory"]
        # Inputs of resources can be private; those that are secret are encrypted.
        write_private(self.directory / RECORD, json.dumps(values, indent=2) + "\n")

    def has_done(self, name: str) -> bool:
        """Return whether a step has a result; a deletion that failed is repeated."""
        repeated = ("stopped", "fail") if name == DESTROY else ("stopped",)
        return any(each.name == name and each.result not in repeated for each in self.done)

    @property
    def has_begun(self) -> bool:
        """Whether something may have been made."""
        return any(each.name == "up" for each in self.done)

    @property
    def is_over(self) -> bool:
        """Whether the account is not ready, the stack did not come up, or the time is over."""
        return any(each.name in ("check", "up") or each.result == "stopped" for each in self.failed)

    @property
    def is_deleted(self) -> bool:
        """Whether the stack has been deleted, so that no step may make it again."""
        return any(each.name == DESTROY and each.result == "pass" for each in self.done)

    def add(self, done: Done) -> None:
        """Add the result of a step in place of an earlier one, and save."""
        self.done = [*(each for each in self.done if each.name != done.name), done]
        self.save()

    @property
    def failed(self) -> list[Done]:
        """The steps that did not pass."""
        return [each for each in self.done if each.result != "pass"]

    @property
    def passed(self) -> bool:
        """Whether every step has passed, and the account said that nothing is left."""
        return not self.failed and any(each.name == REMAINS for each in self.done)

    @property
    def left_behind(self) -> list[str]:
        """Objects that were not there before."""
        return sorted({*self.after} - {*self.before})


def read_record(directory: Path) -> Record | None:
    """Return the record of a directory; None if it has none."""
    path = directory / RECORD
    if not path.is_file():
        return None
    values: dict[str, Any] = json.loads(file_text(path))
    done = [Done(**each) for each in values.pop("done")]
    made = [MadeObject(**each) for each in values.pop("made", [])]
    return Record(**{**values, "directory": directory, "done": done, "made": made})


def judged(
    step: Step, exit_code: int | None, said: str, seconds: float, *, interrupted: bool = False
) -> Done:
    """Return the result of a step.

    Args:
        step: The step.
        exit_code: Of its command; None if it was stopped, or not begun, because its time was over.
        said: Its output.
        seconds: Its duration.
        interrupted: Whether its interruption has run, and succeeded.
    """
    values: Mapping[str, Any] = {"name": step.name, "seconds": round(seconds, 1)}
    if exit_code is None:
        return Done(**values, result="stopped", reason="the time limit was reached")
    reason = _failure(step, exit_code, [each for each in said.splitlines() if each.strip()])
    if step.interruption is not None:
        ended_by_itself = f"it ended before `{step.interruption.arguments[0]}` had ended it"
        reason = "" if interrupted and exit_code else reason or ended_by_itself
    return Done(**values, result="fail" if reason else "pass", reason=reason)


def _failure(step: Step, exit_code: int, lines: Sequence[str]) -> str:
    """Return why a command has not proved what it should; empty if it has."""
    if exit_code != 0:
        said_last = next((each for each in lines if each.startswith("error")), "".join(lines[-1:]))
        return f"exit code {exit_code}: {said_last}"
    changes = [each for each in lines if step.unchanged and _CHANGES.match(each)]
    if changes:
        return f"it changed the stack: {changes[0]}"
    made = [each for each in lines if step.in_place and _NOT_IN_PLACE.match(each)]
    if made:
        return f"it changed more than it should: {made[0]}"
    if step.in_place and not any(each.startswith("updated ") for each in lines):
        return "it updated nothing"
    if step.says and not any(re.match(step.says, each) for each in lines):
        return f"no line matches {step.says!r}"
    return ""
