"""What a text of a stack file may be: nothing that is obeyed, but where it is a free text."""

from __future__ import annotations

import pytest

from tests.support.text_fields import (
    COMMANDS,
    TEMPLATES,
    TERMINAL,
    TextField,
    text_fields,
)

FREE = {
    # Data of AWS's own rules, handed to APIs in documents of their own formats.
    "ComputeEnvironment.ssh_key_name",
    "DataRepository.file_system_path",
    "DataRepository.s3_path",
    "NewFsxLustre.export_path",
    "NewFsxLustre.import_path",
    "NodeGroup.ssh_key_name",
    "Odcr.placement_group",
    "OdcrGroup.placement_group",
    "Placement.name",
    "S3Access.key",
    "Ssh.key_name",
    "GivenStack.tags",
    # The user's own commands, as lists of words, and settings of the user's own programs.
    "JobDefinition.command",
    "JobDefinition.environment",
    "Script.arguments",
    "ComputeResource.slurm_settings",
    "Queue.slurm_settings",
    "Slurm.settings",
    # Words for people, and patterns that only the policy pack reads.
    "Suppression.reason",
    "Suppression.resource",
}
"""Texts that may hold what a shell would obey; `test_documents` proves that none does."""
SEVERAL_LINES = {
    "JobDefinition.command",
    "JobDefinition.environment",
    "Script.arguments",
    "Suppression.reason",
}
FIELDS = text_fields()


def accepted(field: TextField, *hostile: str) -> list[str]:
    return [text for each in hostile for text in field.variants(each) if field.accepts(text)]


@pytest.mark.parametrize("field", FIELDS, ids=str)
def test_a_text_with_a_form_takes_nothing_that_a_shell_or_a_template_obeys(
    field: TextField,
) -> None:
    templates = [text for text in TEMPLATES if "{" in text]
    found = accepted(field, *COMMANDS, *templates)
    assert not found or str(field) in FREE


@pytest.mark.parametrize("field", FIELDS, ids=str)
def test_no_text_takes_what_a_terminal_obeys_or_nobody_sees(field: TextField) -> None:
    assert accepted(field, *TERMINAL) == []
    lines = accepted(field, "\nx", "x\n::error::x")
    assert not lines or str(field) in SEVERAL_LINES


def test_the_lists_name_texts_that_exist_and_are_free() -> None:
    free = {str(field) for field in FIELDS if accepted(field, *COMMANDS)}
    assert free == FREE


def test_a_form_takes_digits_and_letters_of_ascii_only() -> None:
    """`\\d` and `\\w` of a pattern are many alphabets' where nobody says otherwise."""
    strict = [field for field in FIELDS if str(field) not in FREE]
    odd = {str(field) for field in strict if accepted(field, "\u0661", "\uff11", "\u212a")}
    assert all(name.endswith(("mount_directory", "scratch_directory")) for name in odd)
