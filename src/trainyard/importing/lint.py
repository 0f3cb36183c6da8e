"""Check a file of another tool with the rules of stack files, in the terms of the file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from ipaddress import IPv4Network, collapse_addresses
from pathlib import Path
from typing import Any

from trainyard.components import clock
from trainyard.components.architectures.plan_stack import plan_stack, with_plan_problems
from trainyard.components.catalog.instance_types import (
    INSTANCE_TYPES,
    is_left_out,
    types_of_family,
)
from trainyard.components.config.load import load_stack_config
from trainyard.components.config.problems import ROOT, ConfigError, Problem
from trainyard.findings.finding import Finding, Level, Stage, parts_of
from trainyard.importing.imported import Imported, imported_as
from trainyard.importing.key_table import ShapeProblem
from trainyard.importing.report import Claim
from trainyard.importing.source import Location, is_placeholder, node_at, plain, text_of
from trainyard.rules.requirements import requirements

_OUR_PATH = re.compile(
    rf"(?:{ROOT}|(?<=`)(?:architecture|network|reservations|storage)\b)"
    r'(?:\.[\w-]+|\[\d+\]|\["[^"]*"\])*'
)
_OUR_KEY = re.compile(r"(?<=`)[a-z_]+(?=[`:])|\b[a-z]+(?:_[a-z]+)+\b")
"""A key of the stack file in a message: in backticks, or with an underscore."""
_NAMES = "E17"
"""Rule of names that only the stack derives from those of the source; `check` has its problems."""
_MOST_SHAPES = 500
"""Maximum number of wrong keys and values of a file that are shown."""
_ANY_REGION = "us-east-1"
"""Region in which a file that names none is planned; what a problem says of it is left out."""
_ZONE = re.compile(r"\b([a-z]{2}(?:-[a-z]+)+-\d)[a-z]\b")
_LEVELS: Sequence[Level] = ("note", "warning", "error")
_OF_AWS: Sequence[tuple[str, ...]] = (
    *(("network", key) for key in ("cidr", "secondary_cidrs")),
    *(("network", key) for key in ("public_subnet_cidrs", "private_subnet_cidrs")),
    *(("network", "availability_zones"), ("storage",), ("tags",)),
    *(("architecture", "queues"), ("architecture", "slurm"), ("architecture", "head_node")),
    *(("architecture", "node_groups"), ("architecture", "system_node_group")),
)
"""Keys whose conditions without a rule are those of AWS, Slurm or Kubernetes, and no limits of
stacks; findings about others are warnings."""
_ALWAYS_SET = ("eksctl", "terraform")
"""Formats that have a default for every key, so that none of a stack file is missing."""
_OTHER_VALUES: Sequence[Mapping[str, Any]] = (
    {
        "minimum": 0,
        "desired": 1,
        "maximum": 1000,
        "instance_count": 10_000,
        "nodes": 1,
        "instance_type": "p5.48xlarge",
        "size_gib": 2000,
        "efa_enabled": False,
        "vcpus": 1,
        "memory_mib": 1024,
        "accelerators": 0,
        "purchase_option": "on-demand",
    },
    {
        "minimum": 1,
        "desired": 1,
        "maximum": 1,
        "instance_count": 1,
        "nodes": 1,
        "instance_type": "c5.large",
        "size_gib": 100,
        "efa_enabled": False,
        "vcpus": 1,
        "memory_mib": 1024,
        "accelerators": 0,
        "purchase_option": "on-demand",
    },
)
"""Values that a key could have which the file leaves unknown: an error holds for all of them."""
_LARGEST_PREFIX = 16
"""Prefix of the largest block of a VPC:
https://docs.aws.amazon.com/vpc/latest/userguide/vpc-cidr-blocks.html"""


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
    found = _findings(imported)
    if imported.report.guessed:
        # What holds whichever way the conditions go whose parameters have no value.
        other = imported_as(
            imported.format,
            imported.document,
            name=imported.stack.name,
            region="",
            parameters=imported.stack.parameters,
            guess=True,
        )
        same = {(each.rule, each.key) for each in _findings(other)}
        found = [
            each if (each.rule, each.key) in same else replace(each, level="note") for each in found
        ]
    return sorted(found, key=lambda finding: (str(finding.file), finding.line))


def _findings(imported: Imported) -> list[Finding]:
    found = [*_of_shapes(imported), *_of_unread(imported)]
    claims = imported.report.claims.values()
    found += [each for claim in claims if claim.rule for each in _of_claim(claim, imported)]
    known = {finding.key for finding in found if finding.level == "error"}
    found += [each for each in _of_stack(imported) if each.key not in known]
    return found


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
    level = "warning" if problem.unsure else "error"
    return _finding(imported, problem.location, rule, "schema", level, message)


def _of_claim(claim: Claim, imported: Imported) -> Iterator[Finding]:
    """Yield a finding for a claim with a rule that holds in the tool of the source."""
    level = _at_most("note" if claim.is_note else "warning", claim.rule, imported)
    if level is not None:
        why = _in_terms_of(imported, _without_stack(claim.why), ())
        message = f"{text_of(claim.location)}: {why}"
        yield _finding(imported, claim.location, claim.rule, "plan", level, message)


_OF_STACK = re.compile(r"\b(?:the|a|this) stack\b|\bstacks\b|\bstack file\b")


def _without_stack(why: str) -> str:
    """Return a reason without the parts that say what a stack does instead."""
    parts = why.split("; ")
    return "; ".join(part for part in parts if not _OF_STACK.search(part)) or why


def _at_most(level: Level, rule: str, imported: Imported) -> Level | None:
    """Return the level of a finding of a rule in a format; None if the rule does not hold there."""
    known = requirements().get(rule)
    highest = "error" if known is None else known.level_in(imported.format.name)
    if highest == "none":
        return None
    return next(each for each in _LEVELS if each in (level, highest))


def _of_stack(imported: Imported) -> Iterator[Finding]:
    for reported in _problems(imported):
        ours = parts_of(reported.problem.path)[1:]
        location = imported.report.origin_of(ours)
        level = None if location is None else _level(reported, ours, location, imported)
        if location is None or level is None:
            continue
        keys = ".".join(imported.conversion.KEYS.keys_of(imported.document.root, location))
        rule = reported.rule or f"{reported.stage}/{keys or 'document'}"
        message = _message(reported, ours, imported)
        yield _finding(imported, location, rule, reported.stage, level, message)


def _level(
    reported: _Reported, ours: Location, location: Location, imported: Imported
) -> Level | None:
    """Return the level of a finding; None for a problem that is not one of the source."""
    problem, stack = reported.problem, imported.stack
    if any(ours[: len(each)] == each for each in stack.unknown) or ours in stack.own:
        return None
    if reported.rule == _NAMES and ours and ours[-1] == problem.found:
        return None
    is_missing = problem.found is None and problem.problem.startswith("is missing")
    if is_missing and (imported.format.name in _ALWAYS_SET or imported.is_partial):
        return None
    if reported.rule == "E1":
        return _level_of_type(problem.found, imported)
    node = node_at(imported.document.root, location)
    if node is not None and (node.tag or is_placeholder(node.value)):
        return "note"
    if imported.document.is_guessed or is_placeholder(problem.found):
        return "note"
    if imported.document.note and problem.found is None:
        return "note"  # another branch of a template may have what is missing
    is_of_aws = bool(reported.rule) or any(ours[: len(each)] == each for each in _OF_AWS)
    of_job = ours[:2] == ("architecture", "job_definitions")
    # A job is submitted to any queue; on which environment it runs is a guess.
    return _at_most("error" if is_of_aws and not of_job else "warning", reported.rule, imported)


def _level_of_type(name: object, imported: Imported) -> Level | None:
    """Return the level of a type that the catalog does not have; None for one that EC2 has."""
    if is_left_out(str(name)):
        return None
    if is_placeholder(name) or imported.document.is_guessed:
        return "note"
    _, _, size = str(name).partition(".")
    is_size = any(each.endswith(f".{size}") for each in INSTANCE_TYPES)
    return "warning" if is_size else "error"  # EC2 may have a new type, but no new word for a size


def _message(reported: _Reported, ours: Location, imported: Imported) -> str:
    """Return what is wrong in the terms of the source, with the fix where that is possible."""
    problem = reported.problem
    where = _in_terms_of(imported, problem.path, ours[:-1])
    if reported.rule == "E1":
        family = ", ".join(types_of_family(str(problem.found)))
        known = f"; of this family there are {family}" if family else ""
        return f"{where}: EC2 has no instance type `{problem.found}` that is known here{known}"
    said = _in_terms_of(imported, problem.problem, ours[:-1])
    if _is_ours(said, imported) and reported.rule:
        said = f"is against a rule: {requirements()[reported.rule].holds}"
    fix = _in_terms_of(imported, problem.remedy, ours[:-1])
    if ours and ours[-1] == problem.found:
        where, said = f"{where} (`{problem.found}`)", f"{said}; allowed: {problem.allowed}"
    return f"{where} {said}" + ("" if _is_ours(fix, imported) else f"; fix: {fix}")


_KEY_WORD = re.compile(r"(?<![\w.-])[a-z]+(?:_[a-z0-9]+)+(?![\w-])")
_ABOUT_US = re.compile(r"\./trainyard|trainyard:|pulumi |\b(?:the|this) program\b|stack file")


def _is_ours(said: str, imported: Imported) -> bool:
    """Return whether a text is about keys of a stack file that the source does not have."""
    if _ABOUT_US.search(said) or _OF_STACK.search(said):
        return True
    theirs = imported.conversion.KEYS.words | {*imported.conversion.WORDS.values()}
    given = str(plain(imported.document.root))
    return any(each not in theirs and each not in given for each in _KEY_WORD.findall(said))


def _problems(imported: Imported) -> Sequence[_Reported]:
    """Return the problems of the stack file that the document would become.

    Of those, only what holds for every value that the file leaves unknown.
    """
    values = imported.stack.completed()
    found = _problems_of(imported, values)
    for other in _OTHER_VALUES if found else ():
        changed = _with_other_values(imported, other)
        if changed != values:
            same = {
                (each.problem.path, each.problem.problem)
                for each in _problems_of(imported, changed)
            }
            found = [each for each in found if (each.problem.path, each.problem.problem) in same]
    return found


def _with_other_values(imported: Imported, others: Mapping[str, Any]) -> dict[str, Any]:
    """Return the configuration with other values where the file leaves them unknown."""
    claims = imported.report.claims.values()
    unknown = {claim.ours for claim in claims if claim.fate == "not supported" and claim.ours}
    result = imported.stack.completed()
    network = result.get("network", {})
    if network.get("kind") == "new-vpc" and "cidr" not in network:
        block = _block_around(network)
        others = others if block is None else {**others, "cidr": block}
        unknown.add(("network", "cidr"))
    for *parents, key in unknown | set(imported.stack.unknown):
        section: Any = result
        for part in parents:
            section = section.get(part) if isinstance(section, dict) else None
        if isinstance(section, dict) and key in others:
            section[key] = others[str(key)]
    return result


def _block_around(network: Mapping[str, Any]) -> str | None:
    """Return a block of a VPC that has the addresses of subnets, if there is one."""
    keys = ("public_subnet_cidrs", "private_subnet_cidrs", "secondary_cidrs")
    try:
        blocks = [IPv4Network(str(each)) for key in keys for each in network.get(key, ())]
    except ValueError:
        return None
    if not blocks:
        return None
    first = next(iter(collapse_addresses(blocks)))
    return str(first.supernet(new_prefix=min(_LARGEST_PREFIX, first.prefixlen)))


def _problems_of(imported: Imported, values: dict[str, Any]) -> list[_Reported]:
    name = str(imported.document.path)
    zone = _ZONE.search(str(imported.stack.values))
    region = imported.stack.region or (zone[1] if zone else _ANY_REGION)
    found: list[_Reported] = []
    try:
        config = load_stack_config(values, stack_file=name)
        plan_stack(config, stack_file=name, region=region, now=clock.now())
    except ConfigError as error:
        refused = error
        if error.assumed is not None:
            refused = with_plan_problems(error, region=region, now=clock.now())
        of_plan = error.assumed is None
        found = [
            _Reported(each, "plan" if of_plan or each in refused.of_plan else "schema")
            for each in refused.problems
        ]
    if imported.stack.region or zone:
        return found
    return [each for each in found if _ANY_REGION not in f"{each.problem.problem}"]


def _in_terms_of(imported: Imported, message: str, section: Location) -> str:
    """Return a message with the keys of the source instead of those of the stack file.

    Args:
        imported: The document.
        message: The message.
        section: The section of the stack file that the message is about.
    """
    words = imported.conversion.WORDS

    def path(match: re.Match[str]) -> str:
        parts = parts_of(match[0])
        ours = parts[1:] if match[0].startswith(ROOT) else parts
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
        key=".".join(filter(None, (imported.document.within, text_of(location)))),
    )
