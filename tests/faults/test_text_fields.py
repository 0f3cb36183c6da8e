"""Texts of a stack file cannot contain commands or control characters, except free texts."""

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
    # Data with AWS's rules, which APIs get in documents of their formats.
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
    # Commands of the user, as lists of words, and settings of the user's programs.
    "JobDefinition.command",
    "JobDefinition.environment",
    "Script.arguments",
    "ComputeResource.slurm_settings",
    "Queue.slurm_settings",
    "Slurm.settings",
    # Explanations, and patterns that only the policy pack reads.
    "Suppression.reason",
    "Suppression.resource",
}
"""Texts that may contain shell commands; `test_documents` proves that they are never executed."""
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
    """By default, `\\d` and `\\w` of a pattern match digits and letters of many alphabets."""
    strict = [field for field in FIELDS if str(field) not in FREE]
    odd = {str(field) for field in strict if accepted(field, "\u0661", "\uff11", "\u212a")}
    assert all(name.endswith(("mount_directory", "scratch_directory")) for name in odd)
