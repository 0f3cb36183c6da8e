"""Check a file of another tool with the rules of stack files, in the terms of the file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from trainyard.components import clock
from trainyard.components.architectures.plan_stack import plan_stack
from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.components.config.load import load_stack_config
from trainyard.components.config.problems import ROOT, ConfigError, Problem
from trainyard.findings.finding import Finding, Level, Stage, parts_of
from trainyard.importing.imported import Imported
from trainyard.importing.key_table import ShapeProblem
from trainyard.importing.report import Claim
from trainyard.importing.source import Location, Node, is_placeholder, node_at, text_of

_OUR_PATH = re.compile(rf'{ROOT}(?:\.[\w-]+|\[\d+\]|\["[^"]*"\])*')
_OUR_KEY = re.compile(r"(?<=`)[a-z_]+(?=[`:])|\b[a-z]+(?:_[a-z]+)+\b")
"""A key of the stack file in a message: in backticks, or with an underscore."""
_NAMES = "E17"
"""Rule of names that only the stack derives from those of the source; `check` has its problems."""
_MOST_SHAPES = 500
"""Maximum number of wrong keys and values of a file that are shown."""
_ANY_REGION = "us-east-1"
"""Region of a file that names none: the rules of a region do not differ by region here."""


@dataclass(frozen=True, slots=True)
class _Reported:
    """A problem of the stack file, and the stage that found it."""

    problem: Problem
    stage: Stage

    @property
    def rule(self) -> str:
        """The most specific rule; empty for a problem of no rule."""
        return next(iter(self.problem.rules), "")


def lint(imported: Imported) -> list[Finding]:
    """Return the findings about a document, in the order of its lines."""
    found = [*_of_shapes(imported), *_of_unread(imported)]
    if not any(problem.key == "wrong-kind" for problem in imported.problems):
        found += [_of_claim(claim, imported) for claim in _broken_claims(imported)]
        known = {finding.key for finding in found if finding.level == "error"}
        found += [each for each in _of_stack(imported) if each.key not in known]
    return sorted(found, key=lambda finding: (str(finding.file), finding.line))


def _broken_claims(imported: Imported) -> Iterator[Claim]:
    return (claim for claim in imported.report.claims.values() if claim.rule)


def _of_unread(imported: Imported) -> Iterator[Finding]:
    """Yield a note for each way that remains for what is not read, at the first of its objects."""
    claims = [claim for claim in imported.report.claims.values() if claim.shown]
    for why in dict.fromkeys(claim.why for claim in claims):
        same = {claim.location: claim for claim in claims if claim.why == why}
        shown = ", ".join(claim.shown for claim in same.values())
        message = f"{shown}: not checked, and `import` does not read it: {why}"
        yield _finding(imported, next(iter(same)), "schema/not-read", "schema", "note", message)


def _of_shapes(imported: Imported) -> Iterator[Finding]:
    """Yield the first problems of shape of each file, and how many more there are."""
    numbers = Counter[Path | None]()
    for problem in imported.problems:
        node = node_at(imported.document.root, problem.location)
        file = None if node is None else node.file
        numbers[file] += 1
        if numbers[file] <= _MOST_SHAPES:
            yield _of_shape(problem, imported)
        elif numbers[file] == _MOST_SHAPES + 1:
            message = f"more than {_MOST_SHAPES} keys and values are wrong; fix those above first"
            rule = f"schema/{problem.key}"
            yield _finding(imported, problem.location, rule, "schema", "error", message)


def _of_shape(problem: ShapeProblem, imported: Imported) -> Finding:
    message = f"{text_of(problem.location)} {problem.problem}; fix: {problem.remedy}"
    rule = f"schema/{problem.key}"
    return _finding(imported, problem.location, rule, "schema", "error", message)


def _of_claim(claim: Claim, imported: Imported) -> Finding:
    message = f"{text_of(claim.location)}: {claim.why}"
    return _finding(imported, claim.location, claim.rule, "plan", "warning", message)


def _of_stack(imported: Imported) -> Iterator[Finding]:
    for reported in _problems(imported):
        ours = parts_of(reported.problem.path)[1:]
        unknown = any(ours[: len(each)] == each for each in imported.stack.unknown)
        is_name = bool(ours) and ours[-1] == reported.problem.found
        if unknown or ours in imported.stack.own or (is_name and reported.rule == _NAMES):
            continue
        location = imported.report.origin_of(ours) or ()
        node = node_at(imported.document.root, location)
        keys = ".".join(imported.conversion.KEYS.keys_of(imported.document.root, location))
        rule = reported.rule or f"{reported.stage}/{keys or 'document'}"
        problem = reported.problem
        said = f"{problem.path} {problem.problem}; fix: {problem.remedy}"
        if is_name:
            said = (
                f"{problem.path} (`{problem.found}`) {problem.problem}; allowed: "
                f"{problem.allowed}; fix: {problem.remedy}"
            )
        yield _finding(
            imported,
            location,
            rule,
            reported.stage,
            _level(reported, node, is_template=bool(imported.document.note)),
            _in_terms_of(imported, said, ours[:-1]),
        )


def _level(reported: _Reported, node: Node | None, *, is_template: bool) -> Level:
    if is_template and reported.problem.found is None:
        return "note"  # another branch of a condition may have what is missing
    if node is None:
        return "error"
    if node.tag or is_placeholder(node.value) or is_placeholder(reported.problem.found):
        return "note"
    family = str(node.value).partition(".")[0]
    # The catalog leaves out some types of previous generations.
    is_old = reported.rule == "E1" and not any(
        name.startswith(f"{family}.") for name in INSTANCE_TYPES
    )
    return "warning" if is_old else "error"


def _problems(imported: Imported) -> Sequence[_Reported]:
    """Return the problems of the stack file that the document would become."""
    stack, name = imported.stack, str(imported.document.path)
    try:
        config = load_stack_config(stack.completed(), stack_file=name)
    except ConfigError as error:
        return [_Reported(problem, "schema") for problem in error.problems]
    region = stack.region or _ANY_REGION
    try:
        plan_stack(config, stack_file=name, region=region, now=clock.now())
    except ConfigError as error:
        return [_Reported(problem, "plan") for problem in error.problems]
    return []


def _in_terms_of(imported: Imported, message: str, section: Location) -> str:
    """Return a message with the keys of the source instead of those of the stack file.

    Args:
        imported: The document.
        message: The message.
        section: The section of the stack file that the message is about.
    """
    words = imported.conversion.WORDS

    def path(match: re.Match[str]) -> str:
        ours = parts_of(match[0])[1:]
        location = imported.report.origin_of(ours)
        named = [str(part) for part in ours if isinstance(part, str)]
        last = words.get(named[-1], named[-1]) if named else "the document"
        if location is None or ours in imported.report.origins:
            return text_of(location) if location else last
        # A word with a dot begins at the root of the document, or at a node group.
        is_root = len(location) == 1
        return last if is_root and "." in last else f"{text_of(location)}.{last}"

    def key(match: re.Match[str]) -> str:
        location = imported.report.origins.get((*section, match[0]), ())
        own = location[-1] if location else ""
        return own if isinstance(own, str) and own else words.get(match[0], match[0])

    return _OUR_KEY.sub(key, _OUR_PATH.sub(path, message))


def _finding(
    imported: Imported,
    location: Location,
    rule: str,
    stage: Stage,
    level: Level,
    message: str,
) -> Finding:
    node = node_at(imported.document.root, location)
    path = node.file if node is not None and node.file else imported.document.path
    return Finding(
        rule=rule,
        stage=stage,
        level=level,
        message=message,
        stack=imported.stack.name,
        file=path.absolute(),
        line=node.line if node is not None else 1,
        key=text_of(location),
    )
