"""The text of a stack file is edited by key, with the comments above each key."""

from __future__ import annotations

import pytest
import yaml

from tests.support.tracked import ROOT
from trainyard.init.examples import examples, section
from trainyard.init.stack_text import TextEntry, entry_of, parsed, rendered

TEXT = """\
# about the file
config:
  # about one
  one: 1 # not a comment of its own

  # about two
  two:
    # about three
    three: [a, b]
    # after three
  # about four
  four:
    - x
    # about y
    - y: 1
      z: 2
# at the end
"""


@pytest.mark.parametrize("stack", [*examples()])
def test_every_shipped_stack_file_is_written_back_unchanged(stack: str) -> None:
    text = (ROOT / f"Pulumi.{stack}.yaml").read_text(encoding="utf-8")
    assert rendered(parsed(text)) == text


def test_every_kind_of_line_is_written_back_unchanged() -> None:
    assert rendered(parsed(TEXT)) == TEXT


def test_a_removed_key_takes_its_own_comment_and_no_other() -> None:
    root = parsed(TEXT)
    section(root, "config").remove("two")
    text = rendered(root)
    assert "about two" not in text
    assert "after three" not in text
    assert "  # about four\n  four:" in text


def test_a_changed_value_loses_the_comment_that_describes_the_old_one() -> None:
    root = parsed(TEXT)
    section(root, "config", "two").set("three", ["c"])
    text = rendered(root)
    assert "about three" not in text
    assert "  # about two\n  two:\n    three:\n      - c\n" in text


def test_an_equal_value_keeps_its_comment() -> None:
    root = parsed("# why\na: 1\n")
    root.set("a", 1)
    assert rendered(root) == "# why\na: 1\n"


def test_a_new_key_is_inserted_below_the_one_that_is_named() -> None:
    root = parsed("a: 1\nb: 2\n")
    root.set("c", "text", after="a", comment="why")
    assert rendered(root) == "a: 1\n# why\nc: text\nb: 2\n"


def test_a_replaced_section_keeps_the_empty_line_above_it() -> None:
    root = parsed("a: 1\n\n# old\nb: 2\n")
    root.replace(TextEntry("b", "3", ["# new"]))
    assert rendered(root) == "a: 1\n\n# new\nb: 3\n"


@pytest.mark.parametrize(
    "value", ["1.30", "yes", "true", "a: b", "# c", "", "0x1f", "- x", "*a", "'", "ü", 12, False]
)
def test_every_scalar_is_read_back_as_it_was(value: object) -> None:
    assert yaml.safe_load(rendered(TextEntry("", children=[entry_of("key", value)]))) == {
        "key": value
    }


def test_a_line_that_is_not_supported_is_refused() -> None:
    with pytest.raises(ValueError, match="line 1 is not of the form"):
        parsed("? complex\n: key\n")
