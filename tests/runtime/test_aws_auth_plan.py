"""The merge of one role into `mapRoles` (PR-25, G10)."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from tests.runtime.support.aws_auth import (
    NODE_GROUPS,
    NODE_ROLE_ARN,
    NODE_ROLE_IN_MAP,
    NODE_USERNAME,
    TWENTY_ROLES,
)
from trainyard.components.runtime.aws_auth_plan import (
    MappedRole,
    MapRolesError,
    find_role,
    pathless_role_arn,
    with_role,
    without_role,
)

NODE = MappedRole(NODE_ROLE_ARN, NODE_USERNAME, NODE_GROUPS)
OUR_LINES = f"""\
- rolearn: {NODE_ROLE_IN_MAP}
  username: {NODE_USERNAME}
  groups:
    - system:bootstrappers
    - system:nodes
"""


def test_nothing_of_twenty_odd_entries_is_lost_or_moved():
    assert len(yaml.safe_load(TWENTY_ROLES.replace("\t", " "))) == 20
    merged = with_role(TWENTY_ROLES, NODE)
    assert merged == TWENTY_ROLES.rstrip() + "\n" + OUR_LINES + "\n"


def test_a_second_merge_returns_the_same_text():
    merged = with_role(TWENTY_ROLES, NODE)
    assert with_role(merged, NODE) is merged


def test_taking_out_gives_the_old_text_back():
    assert without_role(with_role(TWENTY_ROLES, NODE), NODE_ROLE_ARN) == TWENTY_ROLES


def test_a_missing_map_gets_the_entry_and_loses_it_again():
    assert with_role(None, NODE) == OUR_LINES
    assert without_role(OUR_LINES, NODE_ROLE_ARN) is None
    assert without_role(None, NODE_ROLE_ARN) is None


def test_the_path_of_the_role_is_left_out():
    """The API server sees callers without the path, so an entry with a path never matches."""
    assert pathless_role_arn(NODE_ROLE_ARN) == NODE_ROLE_IN_MAP
    found = find_role(with_role(None, NODE), NODE_ROLE_ARN)
    assert found == replace(NODE, role_arn=NODE_ROLE_IN_MAP)


@pytest.mark.parametrize("arn", ["p5-node", "arn:aws:iam::123456789012:user/x", "arn:aws:role/"])
def test_refuses_what_is_not_the_arn_of_a_role(arn):
    with pytest.raises(ValueError, match="not the ARN of an IAM role"):
        pathless_role_arn(arn)


def test_a_dead_entry_with_a_path_is_somebody_elses():
    text = f"- rolearn: {NODE_ROLE_ARN}\n  username: x\n"
    assert find_role(text, NODE_ROLE_ARN) is None
    assert with_role(text, NODE) == text + OUR_LINES


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(OUR_LINES.replace("p5-node", "P5-Node"), id="letter-case-of-the-arn"),
        pytest.param(OUR_LINES.replace("rolearn", "roleARN"), id="letter-case-of-the-key"),
        pytest.param(OUR_LINES + "    - added-by-hand\n", id="a-group-more"),
        pytest.param(OUR_LINES.replace("\n", "\r\n"), id="windows-line-ends"),
    ],
)
def test_an_entry_that_authorizes_the_role_is_left_as_it_is(text):
    assert with_role(text, NODE) == text


def test_only_the_entry_of_the_role_is_written_again_where_it_says_something_else():
    others = "- rolearn: a # first\n", "# between\n- {rolearn: b} # last\n"
    stale = (
        f"- rolearn: {NODE_ROLE_IN_MAP}\n  username: old\n  groups: [windows, system:nodes] # why\n"
    )
    merged = with_role(others[0] + stale + others[1], NODE)
    ours = OUR_LINES.rstrip() + "\n    - windows # why\n"
    assert merged == others[0] + ours + others[1]


def test_a_group_that_we_no_longer_give_leaves_the_entry_and_others_stay():
    text = OUR_LINES + "    - added-by-hand\n"
    fewer = replace(NODE, groups=("system:nodes",))
    found = find_role(with_role(text, fewer, dropped_groups=NODE.groups), NODE_ROLE_ARN)
    assert found
    assert found.groups == ("system:nodes", "added-by-hand")


def test_the_last_of_two_entries_counts_as_for_the_authenticator():
    text = f"- {{rolearn: {NODE_ROLE_IN_MAP}, username: old}}\n{OUR_LINES}"
    assert with_role(text, NODE) == text
    assert without_role(text + "- rolearn: a\n", NODE_ROLE_ARN) == "- rolearn: a\n"


def test_an_entry_in_braces_is_replaced_in_braces():
    text = f"[{{rolearn: {NODE_ROLE_IN_MAP}}}, {{rolearn: a}}]"
    assert with_role(text, NODE) == (
        f'[{{"rolearn": "{NODE_ROLE_IN_MAP}", "username": "{NODE_USERNAME}", '
        '"groups": ["system:bootstrappers", "system:nodes"]}, {rolearn: a}]'
    )
    block = with_role(f"- {{rolearn: {NODE_ROLE_IN_MAP}}}\n", NODE)
    assert re.fullmatch(r'- \{"rolearn": .*\}\n', block)


def test_values_that_yaml_would_read_as_something_else_stand_in_quotes():
    odd = replace(NODE, username="null", groups=("yes", "a: b", "#"))
    assert yaml.safe_load(with_role(None, odd)) == [
        {"rolearn": NODE_ROLE_IN_MAP, "username": "null", "groups": ["yes", "a: b", "#"]}
    ]
    assert "groups: []" in with_role(None, replace(NODE, groups=()))


def test_refuses_text_that_is_not_yaml_and_names_the_line():
    with pytest.raises(MapRolesError) as refused:
        with_role("- rolearn: a\n  groups: [b\n- rolearn: c\n", NODE)
    message = str(refused.value)
    assert "line 3, '- rolearn: c'" in message
    assert "nothing was changed" in message
    assert "kubectl -n kube-system edit configmap aws-auth" in message


@pytest.mark.parametrize("text", ["rolearn: a\n", "just words", "- a: !!python/name:os.system x\n"])
def test_refuses_what_is_not_a_list_of_roles(text):
    with pytest.raises(MapRolesError, match="nothing was changed"):
        with_role(text, NODE)


def test_refuses_to_take_out_an_entry_that_others_depend_on():
    text = f"- &ours\n  rolearn: {NODE_ROLE_IN_MAP}\n- <<: *ours\n  rolearn: b\n"
    with pytest.raises(MapRolesError, match="without touching other entries"):
        without_role(text, NODE_ROLE_ARN)


def test_items_that_are_no_mapping_are_left_alone():
    assert with_role("- words\n", NODE) == f"- words\n{OUR_LINES}"


@example("&-}*")
@example("&-}>")
@given(st.text("-[]{}:,#'\"|>&* \n\r\tab", max_size=40))
def test_any_text_is_either_refused_or_keeps_all_that_it_says(text):
    try:
        merged = with_role(text, NODE)
        before = find_role(text, NODE_ROLE_ARN)
    except MapRolesError:
        return
    assert before is None
    assert find_role(merged, NODE_ROLE_ARN)
    characters = iter(merged)
    assert all(character in characters for character in text)
