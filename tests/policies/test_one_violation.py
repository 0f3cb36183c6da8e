"""A rule makes one violation of all that it finds on one resource, and names everything in it."""

from __future__ import annotations

import pytest
from pulumi_policy import EnforcementLevel, Severity

from tests.support.policy import UNKNOWN, Declared, check
from trainyard.policies.rule import resource_rule, stack_rule, together

VOLUME = "aws:ebs/volume:Volume"
FIX = "has room for 2 interfaces; set device_index to 0 … 1"


def in_interface(number: int) -> str:
    return f"network interface {number} (card {number}, device {number}): its card {FIX}"


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        (["a is b; c"], "a is b; c"),
        (["a is b; c"] * 33, "a is b; c"),
        (["a is b; c", "it lacks d; add e"], "a is b; c; also: it lacks d; add e"),
        (
            [in_interface(2), in_interface(3)],
            f"network interface 2 (card 2, device 2) (also 3 (card 3, device 3)): its card {FIX}",
        ),
        (
            [
                "its queue a/p5, which is a block, names a group; remove it",
                "its queue b/p5, which is a block, names a group; remove it",
                "its queue c/p5, which is a block, names a group; remove it",
            ],
            "its queue a/p5 (also b/p5 and c/p5), which is a block, names a group; remove it",
        ),
        # More words differ than agree, or one message has only words of the other.
        (["x y z; fix", "u v w; fix"], "x y z; fix; also: u v w; fix"),
        (["it is a; fix it", "it is a a; fix it"], "it is a; fix it; also: it is a a; fix it"),
    ],
)
def test_findings_are_one_message(messages: list[str], said: str) -> None:
    assert together(messages) == said


def test_every_finding_stays_in_the_message() -> None:
    """33 findings about one launch template, and four others."""
    others = ["a is b; c", "it lacks d; add e", "its f is g; set it to h", "it has 3 i; remove one"]
    said = together([*map(in_interface, range(33)), *others])
    assert said.count(FIX) == 1
    for number in range(33):
        assert f"{number} (card {number}, device {number})" in said
    assert said.endswith("; also: ".join(["", *others]))


def findings_of(found: list[str]):
    """Return a rule on volumes with these findings, which reads a size at the end."""

    def check_volume(_type, facts, _config):
        yield from found
        facts.needed("size")

    return resource_rule(
        "trainyard.policies.rules.storage.volumes_of_a_test",
        "Volumes are right.",
        level=EnforcementLevel.MANDATORY,
        severity=Severity.LOW,
        tags=[],
        types=(VOLUME,),
        check=check_volume,
    )


def test_what_was_found_before_an_unknown_value_is_reported() -> None:
    found = check(findings_of(["a; b", "c; d"]), Declared(VOLUME, "disk", {"size": UNKNOWN}))
    assert found.messages == ["disk: a; b; also: c; d"]
    assert found.undecided


def test_a_rule_without_findings_says_nothing() -> None:
    found = check(findings_of([]), Declared(VOLUME, "disk", {"size": 1}))
    assert found.messages == []


def test_a_rule_on_a_stack_speaks_once_of_each_resource() -> None:
    def check_stack(stack, _config):
        volumes = list(stack.of_type(VOLUME))
        for _ in range(2):
            for number, each in enumerate(volumes):
                yield each.urn, f"it is number {number} of the volumes; use one"

    policy = stack_rule(
        "trainyard.policies.rules.storage.volumes_of_a_test",
        "Volumes are right.",
        level=EnforcementLevel.MANDATORY,
        severity=Severity.LOW,
        tags=[],
        check=check_stack,
    )
    found = check(policy, Declared(VOLUME, "a", {}), Declared(VOLUME, "b", {}))
    assert found.messages == [
        "a: it is number 0 of the volumes; use one",
        "b: it is number 1 of the volumes; use one",
    ]
