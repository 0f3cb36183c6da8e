"""Files after the shapes of public examples: what becomes of their fields, and what `lint` finds.

`pytest tests/trainyard/importing/test_corpus.py --update-goldens` records the figures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from trainyard.components import clock
from trainyard.components.architectures.plan_stack import plan_stack
from trainyard.components.config.load import load_stack_config
from trainyard.components.config.problems import ConfigError
from trainyard.importing.imported import Imported, import_file, imported_of
from trainyard.importing.lint import lint
from trainyard.importing.report import FATES

CORPUS = Path(__file__).parent / "corpus"
FILES = sorted(
    {
        *CORPUS.rglob("*.yaml"),
        *CORPUS.rglob("*.json"),
        *(each.parent for each in CORPUS.rglob("*.tf")),
    }
)
"""Files, and directories of Terraform."""
REFUSED = {
    "block.json": {"B7"},
    "capacity-block.yaml": {"B7", "D5"},
    "wrong-efa.yaml": {"A1"},
    "wrong-inputs": {"A1"},
}
"""Rules with which `lint` refuses the files in the folders `refused`; the others pass."""


def documents() -> Iterator[Imported]:
    for path in FILES:
        yield from imported_of(import_file(path))


def row(read: Imported) -> str:
    outcomes = Counter(entry.claim.fate for entry in read.entries)
    findings = Counter(f"{each.level} {each.rule}" for each in lint(read))
    counts = ", ".join(f"{outcomes[fate]} {fate}" for fate in FATES if outcomes[fate])
    found = ", ".join(f"{count} {name}" for name, count in sorted(findings.items())) or "none"
    name = read.document.path.relative_to(CORPUS)
    return f"{name}: {len(read.entries)} fields: {counts}; findings: {found}\n"


def test_every_file_is_read_without_a_problem_of_its_schema():
    assert len(FILES) == len(list(documents()))
    assert {str(each.document.path): each.problems for each in documents() if each.problems} == {}


def test_the_figures_are_those_of_the_golden(golden: Callable[[str, str], None]):
    golden("importing/figures.txt", "".join(map(row, documents())))


def test_files_are_refused_for_what_is_wrong_with_them_and_nothing_else():
    found = {
        read.document.path.name: {each.rule for each in lint(read) if each.level == "error"}
        for read in documents()
    }
    assert {name: rules for name, rules in found.items() if rules} == REFUSED


def test_an_import_changes_no_rule_so_that_previews_warn_of_an_open_cluster():
    stacks = [(read.document.path, read.stack.values) for read in documents()]
    assert stacks
    assert [path for path, values in stacks if "policies" in values] == []


def test_what_check_refuses_is_unknown_or_found_by_lint_or_a_limit_of_stacks():
    for read in documents():
        try:
            config = load_stack_config(read.stack.values, stack_file="Pulumi.imported.yaml")
            region = read.stack.region or "us-east-1"
            plan_stack(config, stack_file="Pulumi.imported.yaml", region=region, now=clock.now())
        except ConfigError as error:
            unknown = {"trainyard:cluster." + ".".join(map(str, key)) for key in read.stack.unknown}
            own = {"trainyard:cluster." + ".".join(map(str, key)) for key in read.stack.own}
            others = [each for each in error.problems if each.path not in unknown | own]
            assert not others or read.document.path.name in REFUSED, others
