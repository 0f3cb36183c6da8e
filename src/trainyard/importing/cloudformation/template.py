"""The objects and parameters of a template, the keys that it can have, and where values come from.

A parameter file is that of `aws cloudformation create-stack --parameters file://…`, or of
`aws cloudformation deploy --parameter-overrides file://…`, which also takes the template
configuration of CodePipeline:
https://docs.aws.amazon.com/cli/latest/reference/cloudformation/deploy/index.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typing_extensions import override

from trainyard.importing.cloudformation.evaluation import (
    IF,
    Deferred,
    Evaluation,
    Given,
    deferred_in,
    function_of,
)
from trainyard.importing.draft import Draft, StackDraft
from trainyard.importing.key_table import Keys, KeyTable, ShapeProblem
from trainyard.importing.reading import read_documents
from trainyard.importing.report import Claim, Fate, OutcomeTable, Reader, Report, outcomes_beside
from trainyard.importing.source import Document, Location, Node, child, is_placeholder, text_of
from trainyard.stack_files.yaml_limits import UnreadableYamlError

_PLACEHOLDER = "it is a placeholder: write the value"


def why_unknown(value: Any) -> str:
    """Return why a value is not known; empty if it is."""
    found = deferred_in(value)
    if found is not None:
        return found.why or f"it is known when {found} exists"
    return _PLACEHOLDER if is_placeholder(value) else ""


def is_known(source: Reader) -> bool:
    """Return whether there is a value, and all of it is known."""
    return source.exists and not why_unknown(source.value)


def take_known(draft: Draft, key: str, source: Reader) -> bool:
    """Set a key to a value if it is known, and return whether it is; otherwise say why not."""
    if is_known(source):
        return draft.take(key, source)
    claim_unknown(source, (*draft.at, key))
    return False


def claim_unknown(source: Reader, ours: Location) -> None:
    """Record why a value is not known, and the key that needs it."""
    if source.exists:
        why = why_unknown(source.value) or _PLACEHOLDER
        source.claim("not supported", why, ours=ours)


def take_ids(draft: Draft, key: str, sources: Sequence[Reader], prefix: str) -> None:
    """Add ids of EC2 to a list, and say what to do about those that are not known."""
    for source in sources:
        if isinstance(source.value, Deferred):
            claim_unknown(source, (*draft.at, key))
    draft.take_ids(key, sources, prefix)


TYPES = OutcomeTable(outcomes_beside(__file__, "types.txt"))
"""What becomes of the properties of resources, by type and path, and of attributes, by `*`."""
_ANY = "*"
_LOOP = "Fn::"


@dataclass(frozen=True)
class TemplateKeys(KeyTable):
    """The keys of templates, in which users choose the names of parameters and resources.

    The table has the type of a resource in the place of its logical id, and `*` for other names.
    """

    @override
    def named(self, keys: Keys, key: str, node: Node) -> str:
        """Return the name that the table has for a key of the section at a path."""
        if keys == ("Resources",):
            kind = child(node, "Type")
            found = "" if kind is None else str(kind.value)
            return found if (*keys, found) in self.kinds else _ANY
        return _ANY if keys in (("Parameters",), ("Outputs",)) else key

    @override
    def value_problems(self, node: Node, at: Location, keys: Keys) -> Iterator[ShapeProblem]:
        """Yield the problems of a value, and of both values of an `If`."""
        function = function_of(node, at)
        if function is None:
            if not str(at[-1]).startswith(_LOOP):
                yield from super().value_problems(node, at, keys)
        elif function.name == IF and isinstance(function.argument.value, list):
            for index, each in enumerate(function.argument.value[1:3], 1):
                yield from self.value_problems(each, (*function.at, index), keys)

    @override
    def element_problems(self, node: Node, at: Location, keys: Keys) -> Iterator[ShapeProblem]:
        """Yield the problems of an element of a list, unless a function makes it."""
        if function_of(node, at) is None:
            yield from super().element_problems(node, at, keys)


@dataclass(frozen=True, slots=True)
class Resource:
    """An object of a template."""

    name: str
    """Its logical id."""
    kind: str
    """Its type, such as `AWS::EC2::VPC`."""
    source: Reader

    def at(self, *keys: str | int) -> Reader:
        """Return a place below the properties."""
        return self.source.at("Properties", *keys)

    def claim_made(self, ours: Location, why: str = "") -> None:
        """Record that the stack makes the object."""
        self.source.at("Type").claim("taken over", why, ours=ours)


@dataclass(frozen=True, slots=True)
class Template:
    """The objects of a template."""

    resources: Mapping[str, Resource]

    def of(self, *kinds: str) -> Iterator[Resource]:
        """Yield the objects of some types."""
        return (each for each in self.resources.values() if each.kind in kinds)

    def named_by(self, source: Reader) -> Resource | None:
        """Return the object that a value refers to, or None."""
        value = source.value
        return self.resources.get(value.name) if isinstance(value, Deferred) else None

    def within(self, source: Reader, kind: str) -> Resource | None:
        """Return the object of a type that a value names, also as a part of a text."""
        value = source.value
        names = value.names if isinstance(value, Deferred) else ()
        found = (self.resources[name] for name in names if name in self.resources)
        return next((each for each in found if each.kind == kind), None)


def read_template(source: Reader, evaluation: Evaluation) -> Template:
    """Return the objects that a template creates, and report those that it does not."""
    found: dict[str, Resource] = {}
    for name, given in source.at("Resources").entries():
        if name.startswith("Fn::"):
            given.unsupported(
                "expand loops and macros first: import the template that `aws cloudformation "
                "get-template --template-stage Processed` prints"
            )
            continue
        condition = given.at("Condition")
        if condition.exists and not evaluation.holds(str(condition.value), given.location):
            given.dropped(f"its condition `{condition.value}` is false with these parameters")
            continue
        node = child(child(source.node, "Resources"), name)
        computed = None if node is None else evaluation.value(node, given.location)
        reader = Reader(computed, given.location, source.report)
        found[name] = Resource(name, str(given.at("Type").value or ""), reader)
    return Template(found)


class NoParametersError(Exception):
    """A file that is given as a parameter file is none; the message says what it has to have."""


_KEY, _VALUE = "ParameterKey", "ParameterValue"


def _is_parameter_file(document: Document) -> bool:
    """Return whether a document has values of parameters in one of the forms of the AWS CLI."""
    root = document.at()
    if isinstance(root, dict):
        return isinstance(root.get("Parameters"), dict) and not {"Resources", "Version"} & {*root}
    if not isinstance(root, list) or not root:
        return False
    return all(
        (isinstance(each, dict) and _KEY in each)
        or (isinstance(each, str) and "=" in each.lstrip("-"))
        for each in root
    )


def parameter_files_among(
    files: Sequence[Path], named: Sequence[Path]
) -> tuple[list[Path], list[Document]]:
    """Return the files to read, and the parameter files for them.

    Args:
        files: Templates and other files; a parameter file can be among several.
        named: Files that must be parameter files.

    Raises:
        NoParametersError: a named file is not a parameter file.
        UnreadableYamlError: a named file is not valid YAML or JSON.
    """
    found: list[Document] = []
    for path in named:
        documents = [each for each in read_documents(path) if _is_parameter_file(each)]
        if not documents:
            raise NoParametersError(
                f"{path}: is no parameter file: write a list with `ParameterKey` and "
                '`ParameterValue`, or {"Parameters": {"NAME": "VALUE"}}'
            )
        found += documents
    if len(files) == 1:
        return [*files], found
    sources: list[Path] = []
    for path in files:
        documents = _parameters_in(path)
        found += documents
        if not documents:
            sources.append(path)
    return sources, found


def _parameters_in(path: Path) -> list[Document]:
    try:
        return [each for each in read_documents(path) if _is_parameter_file(each)]
    except UnreadableYamlError:
        return []  # reading it as a source says why


def _given_parameters(document: Document, report: Report) -> Iterator[Given]:
    """Yield the values in a parameter file, and report what has no value."""
    root = Reader(document.root, (), report)
    for name, value in root.at("Parameters").entries():
        yield Given(name, value.value, value)
    for entry in root.items():
        if isinstance(entry.value, str):
            name, _, value = entry.value.partition("=")
            yield Given(name, value, entry)
        elif entry.at(_VALUE).exists:
            yield Given(str(entry.at(_KEY).value), entry.at(_VALUE).value, entry)
        else:
            entry.unsupported(
                "the file has no value: `aws cloudformation describe-stacks --stack-name STACK` "
                "prints the one that the stack uses"
            )
    for name, value in root.entries():
        if name != "Parameters":
            value.dropped("it is no parameter; `tags` of the stack file are those of all resources")


_STRONGEST: Sequence[Fate] = (
    "taken over",
    "taken over better",
    "implied",
    "not supported",
    "dropped",
)
_UNUSED = "nothing that the template creates with these parameters uses it"


def read_parameter_files(source: Reader, stack: StackDraft) -> Mapping[str, Given]:
    """Return the values in the parameter files, the last one of each parameter."""
    found: dict[str, Given] = {}
    for document in stack.parameters:
        report = Report()
        source.report.others.append((document, report))
        for given in _given_parameters(document, report):
            if given.name in found:
                found[given.name].source.dropped("a later file has another value")
            found[given.name] = given
    return found


def claim_branches(report: Report, evaluation: Evaluation) -> None:
    """Report the parts of functions that become no value."""
    for location, why in evaluation.decided.items():
        report.claim(Claim(location=location, fate="dropped", why=why))


def claim_origins(source: Reader, evaluation: Evaluation, given: Mapping[str, Given]) -> None:
    """Report the sections from which values come, and the values of parameter files."""
    for name in ("Conditions", "Mappings", "Parameters"):
        for location in _entries(source.at(name)):
            _claim_entry(location, source, evaluation)
    for name, each in given.items():
        _claim_given(name, each, source, evaluation)
    _claim_outputs(source)


def _entries(section: Reader) -> Iterator[Location]:
    """Yield what values use: a parameter, a condition, or an entry of a mapping."""
    is_mapping = section.location == ("Mappings",)
    for _, entry in section.entries():
        if not is_mapping:
            yield entry.location
            continue
        for _, top in entry.entries():
            yield from (second.location for _, second in top.entries())


def _claim_entry(location: Location, source: Reader, evaluation: Evaluation) -> None:
    best = _best(location, source.report, evaluation)
    if location[0] == "Parameters":
        source.at(*location, "Default").claim(best.fate, best.why, ours=best.ours)
        what = "the stack file has the value itself, and `check` checks it"
        source.at(*location).claim("dropped", best.why if best.why == _UNUSED else what)
    else:
        source.at(*location).claim(best.fate, best.why, ours=best.ours)


def _claim_given(name: str, given: Given, source: Reader, evaluation: Evaluation) -> None:
    if not source.at("Parameters", name).exists:
        given.source.dropped("the template has no such parameter")
        return
    best = _best(("Parameters", name), source.report, evaluation)
    given.source.claim(best.fate, best.why, ours=best.ours)
    overridden = f"the parameter file has another value: {given.value}"
    default = source.at("Parameters", name, "Default")
    if default.exists:
        claim = Claim(location=default.location, fate="dropped", why=overridden)
        source.report.claims[default.location] = claim


def _best(location: Location, report: Report, evaluation: Evaluation) -> Claim:
    """Return the claim of the use of an entry that had the most effect."""
    found = [claim for at in evaluation.users(location) for claim in report.claims_at(at)]
    if not found:
        return Claim(location=location, fate="dropped", why=_UNUSED)
    best = min(found, key=lambda claim: _STRONGEST.index(claim.fate))
    used = f"used by {text_of(best.location)}"
    why = f"{used}: {best.why}" if best.why and not best.why.startswith("used by") else used
    return Claim(location=location, fate=best.fate, ours=best.ours, why=why)


def _claim_outputs(source: Reader) -> None:
    for _, output in source.at("Outputs").entries():
        output.at("Export").unsupported(
            "stacks read each other's outputs (`kind: stack-reference`): give the value to other "
            "CloudFormation stacks as a parameter"
        )
        output.implied("`./trainyard outputs` prints the ids of what a stack has")
