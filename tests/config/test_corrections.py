"""Messages about wrong values suggest the intended value, and name similar ones."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.eks import changed, p5, schema_problems
from tests.support.parallelcluster import raw_trn1
from trainyard.components.config.problems import nearest
from trainyard.components.config.wrong_values import typed
from trainyard.components.look_alikes import odd_characters, plain_characters


@pytest.mark.parametrize(
    ("found", "choices", "meant"),
    [
        (45, ["1", "30", "60", "545"], "60"),
        (44, ["1", "30", "60", "545"], "30"),
        ("45 days", ["30", "60"], "60"),
        ("api_and_config_map", ["CONFIG_MAP", "API_AND_CONFIG_MAP", "API"], "API_AND_CONFIG_MAP"),
        ("APIAndConfigMap", ["CONFIG_MAP", "API_AND_CONFIG_MAP", "API"], "API_AND_CONFIG_MAP"),
        ("self_managed", ["managed", "self-managed"], "self-managed"),
        ("iam", ["CONFIG_MAP", "API_AND_CONFIG_MAP"], None),
        (True, ["30", "60"], None),
    ],
)
def test_the_nearest_value_is_the_one_that_is_meant(found: Any, choices: Any, meant: str | None):
    assert nearest(found, choices) == meant


def test_values_of_commands_are_typed_as_the_engine_types_them():
    assert [typed(each) for each in ("true", "07", "-1", "1.30", "no")] == [
        *(True, "07", -1, "1.30", "no")
    ]


@pytest.mark.parametrize(
    ("changes", "path", "value"),
    [
        ({"network__vpc_id": " VPC-0123456789abcdef0 "}, "network.vpc_id", "vpc-0123456789abcdef0"),
        ({"name": "p5\u2013cb"}, "name", "p5-cb"),
        ({"name": "p5 cb"}, "name", "p5-cb"),
        ({"name": "\u0440\u0435_cb"}, "name", "pe_cb"),
        (
            {"architecture__endpoint": {"public_access_cidrs": ["203.0.113.7/24"]}},
            "architecture.endpoint.public_access_cidrs[0]",
            "203.0.113.0/24",
        ),
        (
            {"architecture__authentication_mode": "api_and_config_map"},
            "architecture.authentication_mode",
            "API_AND_CONFIG_MAP",
        ),
    ],
)
def test_the_fix_is_the_value_that_is_meant(changes: Any, path: str, value: str):
    problem = schema_problems(changed(**changes))[path]
    assert problem.remedy.endswith(f"' {value}")


@pytest.mark.parametrize("written", ["yes", "on", "True"])
def test_yes_and_on_are_true(written: str):
    problem = schema_problems(p5(efa_enabled=written))["architecture.node_groups.p5.efa_enabled"]
    assert problem.remedy.endswith("efa_enabled' true")


def test_what_cannot_be_guessed_is_no_command():
    endpoint = {"public_access_cidrs": ["office"]}
    problem = schema_problems(changed(architecture__endpoint=endpoint))[
        "architecture.endpoint.public_access_cidrs[0]"
    ]
    assert "pulumi config" not in problem.remedy
    assert problem.remedy.endswith("for example to `203.0.113.0/24`")


def test_a_wrong_entry_of_a_list_is_not_also_too_few():
    found = schema_problems(changed(network__private_subnet_ids=["subnet-1"]))
    assert set(found) == {"network.private_subnet_ids[0]"}


@pytest.mark.parametrize(("name", "meant"), [("corends", "coredns"), ("coredns\u200b", "coredns")])
def test_a_wrong_name_of_an_add_on_has_a_path_values_and_a_fix(name: str, meant: str):
    (problem,) = schema_problems(
        changed(architecture__addons={"versions": {name: "v1.13.2-eksbuild.11"}})
    ).values()
    assert problem.path.startswith("trainyard:cluster.architecture.addons.versions")
    assert "vpc-cni" in str(problem.allowed)
    assert problem.remedy == f"rename this entry to `{meant}`"


def test_the_version_of_one_add_on_is_no_example_for_another():
    versions = {"coredns": "latest"}
    (problem,) = schema_problems(changed(architecture__addons={"versions": versions})).values()
    assert "aws eks describe-addon-versions" in problem.remedy
    assert "pulumi config set" not in problem.remedy


@pytest.mark.parametrize(
    ("text", "plain", "named"),
    [
        ("p5\u2013cb", "p5-cb", "U+2013 (EN DASH), which looks like `-`"),
        ("a\u00a0b", "a b", "U+00A0 (NO-BREAK SPACE), which looks like a space"),
        ("a\u200bb", "ab", "U+200B (ZERO WIDTH SPACE), which is invisible"),
        ("\u201cx\u201d", '"x"', "U+201C (LEFT DOUBLE QUOTATION MARK)"),
        ("\u0441pu", "cpu", "U+0441 (CYRILLIC SMALL LETTER ES), which looks like `c`"),
        ("\uff50\uff15", "p5", "U+FF50 (FULLWIDTH LATIN SMALL LETTER P), which looks like `p`"),
    ],
)
def test_look_alikes_are_named_with_their_plain_character(text: str, plain: str, named: str):
    assert plain_characters(text) == plain
    assert named in odd_characters(text)


@pytest.mark.parametrize("text", ["p5-cb", "Zürich", "日本", ""])
def test_other_letters_are_no_look_alikes(text: str):
    assert (plain_characters(text), odd_characters(text)) == (text, "")


def test_the_message_names_the_look_alike():
    problem = schema_problems(changed(name="p5\u2013cb"))["name"]
    assert "it contains U+2013 (EN DASH), which looks like `-`" in problem.problem


def test_a_pasted_private_key_is_not_repeated_and_nobody_elses_key_is_offered():
    key = "-----BEGIN " + "OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\n-----END"
    ssh = {"public_key": key}
    raw = raw_trn1(architecture__head_node__ssh=ssh)
    problem = schema_problems(raw)["architecture.head_node.ssh.public_key"]
    said = str(problem)
    assert "is not shown here" in problem.problem
    assert "b3Blbn" not in said
    assert "AAAAC3" not in said
    assert "`.pub` file" in problem.remedy
