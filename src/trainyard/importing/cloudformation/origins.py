"""What became of parameters, mappings and conditions: what became of the values that use them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from trainyard.importing.cloudformation.evaluation import Evaluation
from trainyard.importing.cloudformation.parameters import Given, given_parameters
from trainyard.importing.draft import StackDraft
from trainyard.importing.reader import Reader
from trainyard.importing.report import Claim, Fate, Report
from trainyard.importing.source import Location, text_of

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
        for given in given_parameters(document, report):
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
