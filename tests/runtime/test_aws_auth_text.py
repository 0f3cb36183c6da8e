"""Properties of the edits: they change only the item itself."""

from __future__ import annotations

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from trainyard.components.runtime.aws_auth_text import append, first_document, remove, scan

BLOCK = ["- rolearn: ours", "  groups:", "    - us"]
FLOW = '{"rolearn": "ours", "groups": ["us"]}'
OURS = {"rolearn": "ours", "groups": ["us"]}

words = st.text("abcz:/{}%-é", min_size=1, max_size=12)
comments = st.one_of(st.just(""), words.map(lambda text: f"# {text}"))


def block_item(name, comment, style):
    quoted = json.dumps(name)
    tail = f" {comment}" if comment else ""
    return {
        "keys": [f"- rolearn: {quoted}{tail}", "  groups:", "  - a", f"  # more{tail}"],
        "gap": [f"-   rolearn: {quoted}", "    groups: [a]" + tail],
        "braces": [f"- {{rolearn: {quoted}, groups: [a]}}{tail}"],
        "folded": ["- rolearn: >-", f"    {quoted}", "  username: 'x # y'"],
    }[style]


@st.composite
def block_lists(draw):
    """A list in block style, as users write it."""
    styles = st.sampled_from(["keys", "gap", "braces", "folded"])
    items = draw(st.lists(st.tuples(words, comments, styles), min_size=1, max_size=5))
    lines = draw(st.sampled_from([[], ["---"], ["# ours, do not touch", ""]]))
    indent = draw(st.sampled_from(["", "  ", "     "]))
    for item in items:
        lines = [*lines, *(indent + line for line in block_item(*item))]
        lines += draw(st.sampled_from([[], [""], [f"{indent}# between"], ["# at the margin", ""]]))
    new_line = draw(st.sampled_from(["\n", "\r\n"]))
    return new_line.join(lines) + draw(st.sampled_from(["", new_line, new_line * 3]))


@st.composite
def flow_lists(draw):
    """A list in brackets: JSON, or on several lines with comments."""
    items = [json.dumps({"rolearn": name}) for name in draw(st.lists(words, max_size=5))]
    several_lines = draw(st.booleans())
    if not several_lines:
        return f"[{', '.join(items)}]" + draw(st.sampled_from(["", "\n", " # end\n"]))
    comma = "," if items and draw(st.booleans()) else ""
    tail = draw(st.sampled_from(["", " # why"]))
    lines = [f"  {item},{tail}" for item in items[:-1]]
    lines += [f"  {item}{comma}{tail}" for item in items[-1:]]
    more = draw(st.sampled_from([[], ["  # last words"]])) if items else []
    return "\n".join(["[", *lines, *more, "]"]) + "\n"


lists = st.one_of(block_lists(), flow_lists())


def is_subsequence(part, whole):
    characters = iter(whole)
    return all(character in characters for character in part)


@given(lists)
def test_an_item_more_changes_no_other_character(text):
    longer = append(text, scan(text), BLOCK, FLOW)
    assert first_document(longer) == [*(first_document(text) or []), OURS]
    assert is_subsequence(text, longer)


@given(lists)
def test_taking_the_item_out_again_gives_the_text_back_to_the_byte(text):
    longer = append(text, scan(text), BLOCK, FLOW)
    assert remove(longer, scan(longer), -1 + len(first_document(longer))) == text


@given(lists, st.data())
def test_any_item_can_be_taken_out_and_only_that(text, data):
    items = first_document(text)
    if not items:
        return
    index = data.draw(st.integers(0, len(items) - 1))
    shorter = remove(text, scan(text), index)
    assert (first_document(shorter) or []) == [*items[:index], *items[index + 1 :]]
    assert is_subsequence(shorter, text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("# none yet\n", "# none yet\n" + "\n".join(BLOCK) + "\n", id="comment-only"),
        pytest.param("[]\n", f"[{FLOW}]\n", id="empty-list"),
        pytest.param("", "\n".join(BLOCK) + "\n", id="nothing"),
        pytest.param("- a\n...\n", "- a\n" + "\n".join(BLOCK) + "\n...\n", id="document-end"),
        pytest.param(
            "- a\n---\n- b\n", "- a\n" + "\n".join(BLOCK) + "\n---\n- b\n", id="second-document"
        ),
        pytest.param("\ufeff- a", "\ufeff- a\n" + "\n".join(BLOCK), id="byte-order-mark"),
        pytest.param(
            "- a: |+\n    b\n\n", "- a: |+\n    b\n\n" + "\n".join(BLOCK) + "\n", id="kept-blanks"
        ),
        pytest.param("- a:\tb\t# c\n", "- a:\tb\t# c\n" + "\n".join(BLOCK) + "\n", id="tabs"),
        pytest.param(
            "!!seq &all\n- &a {b: c}\n- *a\n",
            "!!seq &all\n- &a {b: c}\n- *a\n" + "\n".join(BLOCK) + "\n",
            id="anchors",
        ),
    ],
)
def test_an_item_goes_where_the_list_ends(text, expected):
    assert append(text, scan(text), BLOCK, FLOW) == expected


def test_a_tab_as_indentation_is_no_yaml():
    with pytest.raises(yaml.YAMLError):
        scan("- a: b\n\tc: d\n")
